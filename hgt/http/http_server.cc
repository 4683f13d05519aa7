#include "hgt/http/http_server.h"

#include <cassert>
#include <utility>

#include "hgt/http/http_loop.h"
#include "hgt/http/routes.h"

namespace hgt {

struct HttpServer::State {
  explicit State(HttpOptions options) : loop(std::move(options)) {}
  HttpLoop loop;
};

HttpServer::HttpServer(HttpOptions options) : state_(std::make_unique<State>(std::move(options))) {}

HttpServer::~HttpServer() = default;

void HttpServer::route(HttpRoute route, Responder responder) {
  assert(responder);
  state_->loop.routes.add(
      {std::move(route),
       [respond = std::move(responder)](const HttpRequest& request, const Unwanted&) {
         return respond(request);
       },
       false});
}

void HttpServer::heavy_route(HttpRoute route, HeavyResponder responder) {
  state_->loop.routes.add({std::move(route), std::move(responder), true});
}

void HttpServer::bind() { state_->loop.bind(); }

uint16_t HttpServer::port() const { return state_->loop.port; }

std::string HttpServer::url() const { return state_->loop.url(); }

void HttpServer::serve(const std::function<bool()>& stopped) {
  assert(port() != 0);
  state_->loop.run(stopped);
}

void HttpServer::stop() noexcept { state_->loop.stopping = true; }

bool HttpServer::stopping() const noexcept { return state_->loop.stopping; }

HttpStatistics HttpServer::statistics() const {
  const Counters& counters = state_->loop.counters;
  return {.succeeded = counters.succeeded,
          .client_errors = counters.client_errors,
          .server_errors = counters.server_errors,
          .refused = counters.refused,
          .open = counters.open,
          .seconds = static_cast<double>(counters.nanoseconds) * 1e-9};
}

}  // namespace hgt
