#include "hgt/http/http_connection.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "hgt/http/request_head.h"

namespace hgt {

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;
using Response = http::response<http::string_body>;

constexpr Milliseconds kReadAwayTime(300);
constexpr Milliseconds kWriteGrace(1000);           // for an answer that is on its way at the end
constexpr size_t kMostReadAway = size_t{1} << 20U;  // bytes

Response to_response(Reply reply, unsigned version, bool kept_alive, bool head_only) {
  Response response;
  response.version(version);
  response.result(static_cast<unsigned>(reply.status));
  response.keep_alive(kept_alive);
  response.set(http::field::content_type, reply.answer.type);
  response.set(http::field::accept_ranges, "none");
  response.set(http::field::cache_control, "no-store");
  if (!reply.answer.policy.empty()) {
    response.set("Content-Security-Policy", reply.answer.policy);
  }
  response.set("Cross-Origin-Resource-Policy", "same-origin");
  response.set("Referrer-Policy", "no-referrer");
  response.set("X-Content-Type-Options", "nosniff");
  if (!reply.allow.empty()) response.set(http::field::allow, reply.allow);
  response.content_length(reply.answer.body.size());
  if (!head_only) response.body() = std::move(reply.answer.body);
  return response;
}

template <typename Name>
std::string value_of(const http::fields& fields, Name name) {
  const auto found = fields.find(name);
  return found == fields.end() ? std::string() : std::string(found->value());
}

RequestHead to_head(const http::request<http::string_body>& request) {
  RequestHead head{.method = std::string(request.method_string()),
                   .target = std::string(request.target()),
                   .hosts = {},
                   .origin = value_of(request, http::field::origin),
                   .fetch_site = value_of(request, "Sec-Fetch-Site"),
                   .fetch_mode = value_of(request, "Sec-Fetch-Mode"),
                   .fetch_destination = value_of(request, "Sec-Fetch-Dest")};
  const auto hosts = request.equal_range(http::field::host);
  for (auto host = hosts.first; host != hosts.second; ++host) {
    head.hosts.emplace_back(host->value());
  }
  return head;
}

}  // namespace

// A connection that is closed over unread bytes is reset and the answer lost, so what has already
// arrived is read.
void turn_away(tcp::socket socket) {
  error_code ignored;
  socket.non_blocking(true, ignored);
  const Response response =
      to_response(refusal_reply(503, "the server is busy; try again"), 11, false, false);
  http::write(socket, response, ignored);
  socket.shutdown(tcp::socket::shutdown_send, ignored);
  std::array<char, 4096> block;
  error_code ended;
  for (int i = 0; i < 16 && !ended; ++i) socket.read_some(asio::buffer(block), ended);
}

void HttpConnection::begin(Stage stage, Milliseconds time) {
  stage_ = stage;
  latest_ = Clock::now() + time;
}

void HttpConnection::read_head() {
  begin(Stage::reading, loop_.options.read_time);
  late_ = false;
  parser_.emplace();
  parser_->header_limit(kMaxHead);
  // A route has its own limit, and which one it is the head will tell.
  parser_->body_limit(std::numeric_limits<uint64_t>::max());
  http::async_read_header(
      socket_, buffer_, *parser_,
      [self = shared_from_this()](error_code error, size_t) { self->on_head(error); });
}

void HttpConnection::on_head(error_code error) {
  if (!socket_.is_open()) return;
  ++requests_;
  if (error) return refuse_unread(error);
  try {
    admit();
  } catch (...) {
    write(reply_to_exception());
  }
}

// The request, or what is left of it, cannot be read.
void HttpConnection::refuse_unread(error_code error) {
  const bool silent = !parser_->got_some() && buffer_.size() == 0;
  if (late_ && !silent) return write(refusal_reply(408, "the request did not arrive in time"));
  if (error == http::error::header_limit) {
    return write(refusal_reply(
        431, fmt::format("the request line or its headers are longer than {} bytes", kMaxHead)));
  }
  if (error == http::error::body_limit) {
    return write(refusal_reply(413, fmt::format("the body may have at most {} bytes here",
                                                admitted_.entry->route.most_body)));
  }
  const bool ended = error == http::error::end_of_stream || error == http::error::partial_message;
  if (ended || error.category() != make_error_code(http::error::bad_method).category()) {
    return close();
  }
  write(refusal_reply(400, fmt::format("the request is malformed ({})", error.message())));
}

void HttpConnection::admit() {
  const auto& message = parser_->get();
  if (message.method() == http::verb::unknown) throw BadRequest("unknown method");
  admitted_ = loop_.routes.admit(to_head(message), loop_.options.address, loop_.url());
  const size_t most = admitted_.entry->route.most_body;
  const bool encoded = message.count(http::field::transfer_encoding) > 0;
  const bool has_body = encoded || parser_->content_length().value_or(0) > 0;
  if (!has_body) return respond();
  if (most == 0) throw Refusal(413, "requests may not have a body here");
  if (encoded && !parser_->chunked())
    throw Refusal(501, "unsupported transfer encoding; send the body as it is, or in chunks");
  if (parser_->content_length().value_or(0) > most) return refuse_unread(http::error::body_limit);
  parser_->body_limit(most);
  if (boost::beast::iequals(message[http::field::expect], "100-continue")) return go_on();
  read_body();
}

// Tells a client that waits before it sends a large body that it may.
void HttpConnection::go_on() {
  continue_ = {http::status::continue_, parser_->get().version()};
  http::async_write(socket_, continue_, [self = shared_from_this()](error_code error, size_t) {
    if (!self->socket_.is_open()) return;
    if (error) return self->close();
    self->read_body();
  });
}

void HttpConnection::read_body() {
  http::async_read(socket_, buffer_, *parser_,
                   [self = shared_from_this()](error_code error, size_t) { self->on_body(error); });
}

void HttpConnection::on_body(error_code error) {
  if (!socket_.is_open()) return;
  if (error) return refuse_unread(error);
  respond();
}

void HttpConnection::respond() {
  stage_ = Stage::answering;
  auto& message = parser_->get();
  admitted_.request.body = std::move(message.body());
  admitted_.request.type = value_of(message, http::field::content_type);
  loop_.compute(shared_from_this(), admitted_.entry->heavy);
}

Reply HttpConnection::answer() const {
  const Clock::time_point begin = Clock::now();
  Reply reply;
  try {
    if (loop_.stopping) throw Busy("the server is stopping");
    reply.answer = admitted_.entry->responder(admitted_.request, [this] { return is_unwanted(); });
  } catch (...) {
    reply = reply_to_exception();
  }
  loop_.counters.nanoseconds += std::chrono::nanoseconds(Clock::now() - begin).count();
  return reply;
}

void HttpConnection::write(Reply reply) {
  begin(Stage::writing, loop_.stopping ? kWriteGrace : loop_.options.write_time);
  const bool whole = parser_->is_done();
  kept_alive_ = whole && parser_->keep_alive() && !loop_.stopping &&
                requests_ < loop_.options.requests_per_connection;
  const auto& message = parser_->get();
  const bool head_only = parser_->is_header_done() && message.method() == http::verb::head;
  loop_.counters.count(reply.status);
  response_ = to_response(std::move(reply), parser_->is_header_done() ? message.version() : 11,
                          kept_alive_, head_only);
  http::async_write(socket_, response_, [self = shared_from_this()](error_code error, size_t) {
    self->on_written(error);
  });
}

void HttpConnection::on_written(error_code error) {
  if (!socket_.is_open()) return;
  if (error) return close();
  if (kept_alive_) return buffer_.size() > 0 ? read_head() : wait_for_next();
  if (parser_->is_done() || loop_.stopping) return close();
  socket_.shutdown(tcp::socket::shutdown_send, error);
  begin(Stage::reading_away, kReadAwayTime);
  read_away();
}

void HttpConnection::wait_for_next() {
  response_ = {};
  admitted_ = {};
  begin(Stage::idle, loop_.options.idle_time);
  socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](error_code error) {
    if (!self->socket_.is_open()) return;
    if (error) return self->close();
    self->read_head();
  });
}

// For an answer to a client that is still sending: see turn_away.
void HttpConnection::read_away() {
  socket_.async_read_some(asio::buffer(block_),
                          [self = shared_from_this()](error_code error, size_t count) {
                            if (!self->socket_.is_open()) return;
                            self->read_away_ += count;
                            if (error || self->read_away_ > kMostReadAway) return self->close();
                            self->read_away();
                          });
}

void HttpConnection::close() {
  error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_both, ignored);
  socket_.close(ignored);
  loop_.forget(shared_from_this());
}

bool HttpConnection::is_gone() {
  pollfd state{.fd = socket_.native_handle(), .events = POLLRDHUP, .revents = 0};
  if (::poll(&state, 1, 0) > 0) gone_ = true;
  return gone_;
}

void HttpConnection::look() {
  if (stage_ == Stage::answering) {
    is_gone();
    return;
  }
  if (loop_.stopping) {
    if (stage_ != Stage::writing) return close();
    latest_ = std::min(latest_, Clock::now() + kWriteGrace);
  }
  if (Clock::now() < latest_) return;
  if (stage_ != Stage::reading) return close();
  // Again at each look: the cancellation is lost where bytes have arrived that nobody looked at
  // yet.
  late_ = true;
  error_code ignored;
  socket_.cancel(ignored);
}

}  // namespace hgt
