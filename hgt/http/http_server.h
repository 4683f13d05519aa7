// HttpServer: answers a browser or a program, with nothing but the routes that it was given.
//
//   HttpServer server({.port = 8765});
//   server.route({.path = "/"},
//                [&](const HttpRequest&) { return Answer{"text/html", page, policy}; });
//   server.route({.path = "/api/search", .parameters = {"type", "q"}},
//                [&](const HttpRequest& request) { return found(request.query); });
//   server.heavy_route({.path = "/api/tree"},
//                      [&](const HttpRequest&, const Unwanted& unwanted) { ... });
//   server.bind();                             // from here on url() can be shown
//   server.serve([&] { return interrupted; });  // until that is true, or stop() was called
//
// It refuses, so that responders do not have to: methods and bodies that a route does not accept
// (by default everything but GET and HEAD, and every body); requests under a foreign host name (DNS
// rebinding) or made by a page of another site; paths that are not exactly a route; parameters that
// are unknown, repeated, longer than 4 KB together, not UTF-8 or with control characters. No file
// is ever served.
//
// No client can hold it up for long: a request must arrive, and an answer must be received, within
// a time limit; the number of open connections is limited, and so is the number of requests for
// heavy routes, which run one at a time and are given up when their client is gone. Only responders
// occupy a thread; slow clients do not.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hgt/http/refusal.h"

namespace hgt {

using Query = std::map<std::string, std::string, std::less<>>;  // parameters, decoded

enum class HttpMethod { get, post };  // HEAD is a GET whose answer is sent without its body

struct HttpRequest {
  HttpMethod method = HttpMethod::get;
  Query query{};
  std::string body{};
  std::string type{};  // content type of the body, as sent
};

struct HttpRoute {
  std::string path;                                  // compared as it was sent, undecoded
  std::vector<std::string> parameters{};             // a listed one may be missing from the Query
  std::vector<HttpMethod> methods{HttpMethod::get};  // others are refused
  size_t most_body = 0;                              // bytes; 0: bodies are refused
};

struct Answer {
  std::string type;  // content type
  std::string body;
  // The header Content-Security-Policy; "": none. A page needs one of its own: with this one, a
  // browser runs and loads nothing.
  std::string policy = "default-src 'none'; frame-ancestors 'none'";
};

// True: nobody is waiting for the answer any more (the client is gone, or the server is stopping).
// May be asked from any thread.
using Unwanted = std::function<bool()>;

// Called from several threads at once. Throws a Refusal (BadRequest, NotFound, Busy), which the
// client gets with its status; another Error, whose text the client gets with status 500; anything
// else is a status 500 that reveals nothing about the cause.
using Responder = std::function<Answer(const HttpRequest&)>;
// The same, of what takes long: one of them is called at a time, all from one thread, and should
// end soon once it is unwanted.
using HeavyResponder = std::function<Answer(const HttpRequest&, const Unwanted&)>;

// Times are kept to a tenth of a second.
struct HttpOptions {
  // 127.0.0.1, ::1 or localhost: reachable from this machine only. Another address of this machine,
  // or 0.0.0.0 for all: reachable by anyone who can reach that address.
  std::string address = "127.0.0.1";
  uint16_t port = 0;                            // 0: a free one
  size_t workers = 4;                           // threads of light routes; heavy ones have another
  size_t connections = 80;                      // open at once; others are refused
  std::chrono::milliseconds read_time{5000};    // until the whole request has arrived
  std::chrono::milliseconds write_time{30000};  // until the whole answer has been taken
  size_t requests_per_connection = 1;           // more: connections are kept alive in between,
  std::chrono::milliseconds idle_time{15000};   // for that long
  size_t heavy_waiting = 8;                     // requests that wait for a heavy route
  std::chrono::milliseconds heavy_time{60000};  // and for how long they do
};

// Since the server was made. Each number is right by itself; together they may be of slightly
// different moments.
struct HttpStatistics {
  uint64_t succeeded = 0;      // requests answered with a status of 200 to 299
  uint64_t client_errors = 0;  // 400 to 499
  uint64_t server_errors = 0;  // 500 to 599
  uint64_t refused = 0;        // connections that there was no room for; not counted above
  size_t open = 0;             // connections at this moment
  double seconds = 0;          // spent by responders

  uint64_t requests() const { return succeeded + client_errors + server_errors; }
};

class HttpServer {
 public:
  explicit HttpServer(HttpOptions options = {});
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  // Before serve(). A route replaces an earlier one of the same path.
  void route(HttpRoute route, Responder responder);
  void heavy_route(HttpRoute route, HeavyResponder responder);

  // Throws Error: the port is taken or not allowed, the address does not belong to this machine.
  // Clients that connect before serve() are answered then.
  void bind();
  uint16_t port() const;    // after bind()
  std::string url() const;  // after bind(): "http://127.0.0.1:8765/"

  // Blocks; call once, after bind(). Ends within a moment after stop(), or after `stopped` has
  // returned true: it is asked ten times a second, from this thread. What it throws is passed on
  // once the server has ended. Responders that run are waited for. Throws Error when the system
  // takes the port away.
  void serve(const std::function<bool()>& stopped = {});

  // From any thread, and from a signal handler. Final.
  void stop() noexcept;
  bool stopping() const noexcept;

  HttpStatistics statistics() const;  // at any time, from any thread

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hgt
