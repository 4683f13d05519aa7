// The only source that includes Boost (Asio for sockets, Beast for HTTP), which compiles slowly.
//
// One thread, that of serve(), owns every socket and reads, parses and writes without waiting for
// any; responders run in threads of their own, and what they made is posted back. Hence nothing
// here needs a lock. Ten times a second that thread looks at what takes too long and at who is
// gone. Deadlines are kept here rather than by beast::tcp_stream, which closes a socket that is
// late: nobody could be told status 408 then.
#include "hgt/http/http_server.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <cassert>
#include <exception>
#include <limits>
#include <list>
#include <optional>
#include <set>
#include <utility>

#include "hgt/http/request_head.h"
#include "hgt/http/routes.h"

namespace hgt {

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;
using Response = http::response<http::string_body>;

constexpr int kBacklog = 128;
constexpr Milliseconds kLook(100);
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

// For whom there is no room: told so without waiting, and without reading first. A connection that
// is closed over unread bytes is reset, and the answer lost, so what is there already is read.
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

class Connection;
using ConnectionPointer = std::shared_ptr<Connection>;

struct Counters {
  std::atomic<uint64_t> succeeded = 0;
  std::atomic<uint64_t> client_errors = 0;
  std::atomic<uint64_t> server_errors = 0;
  std::atomic<uint64_t> refused = 0;
  std::atomic<size_t> open = 0;
  std::atomic<int64_t> nanoseconds = 0;

  void count(int status) {
    ++(status < 400 ? succeeded : status < 500 ? client_errors : server_errors);
  }
};

class HttpLoop {
 public:
  explicit HttpLoop(HttpOptions given) : options(std::move(given)) {}

  void bind();
  void run(const std::function<bool()>& stopped);
  std::string url() const;

  // For connections.
  void compute(const ConnectionPointer& connection, bool heavy);
  void forget(const ConnectionPointer& connection);

  const HttpOptions options;
  Routes routes;
  Counters counters;
  std::atomic<bool> stopping = false;
  uint16_t port = 0;  // 0: not bound

 private:
  struct Threads {
    explicit Threads(size_t workers) : light(std::max<size_t>(workers, 1)), heavy(1) {}
    asio::thread_pool light;
    asio::thread_pool heavy;
  };
  struct Waiting {
    ConnectionPointer connection;
    Clock::time_point latest;
  };

  void accept();
  void on_accept(error_code error, tcp::socket socket);
  void look(const std::function<bool()>& stopped);
  void look_at_waiting();
  void queue_heavy(const ConnectionPointer& connection);
  void start_heavy();
  void post_work(asio::thread_pool& threads, ConnectionPointer connection, bool heavy);

  asio::io_context io_;
  tcp::acceptor acceptor_{io_};
  bool accepts_ = false;
  asio::steady_timer timer_{io_};
  std::set<ConnectionPointer> connections_;
  std::list<Waiting> waiting_;  // for the heavy thread
  bool heavy_taken_ = false;
  std::exception_ptr failure_;
  std::optional<Threads> threads_;  // they end before what is above
};

// One client. All but answer() and is_unwanted() is called from the thread of the loop. Whatever
// is under way in Asio keeps the connection alive.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(HttpLoop& loop, tcp::socket socket) : loop_(loop), socket_(std::move(socket)) {}

  void read_head();
  // From a thread of responders.
  Reply answer() const;
  void write(Reply reply);
  void close();
  // Closes or refuses whatever has taken too long, or must end because the server does.
  void look();
  // Has the client hung up? Who closed only the half that sends counts as gone, too.
  bool is_gone();

 private:
  enum class Stage { idle, reading, answering, writing, reading_away };

  void begin(Stage stage, Milliseconds time);
  bool is_unwanted() const { return gone_ || loop_.stopping; }
  void on_head(error_code error);
  void admit();
  void go_on();
  void read_body();
  void on_body(error_code error);
  void respond();
  void refuse_unread(error_code error);
  void on_written(error_code error);
  void wait_for_next();
  void read_away();

  HttpLoop& loop_;
  tcp::socket socket_;
  boost::beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::empty_body> continue_;
  Response response_;
  Routes::Admitted admitted_;
  Stage stage_ = Stage::idle;
  Clock::time_point latest_;
  bool late_ = false;
  bool kept_alive_ = false;
  size_t requests_ = 0;
  size_t read_away_ = 0;
  std::array<char, 4096> block_{};
  std::atomic<bool> gone_ = false;
};

void Connection::begin(Stage stage, Milliseconds time) {
  stage_ = stage;
  latest_ = Clock::now() + time;
}

void Connection::read_head() {
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

void Connection::on_head(error_code error) {
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
void Connection::refuse_unread(error_code error) {
  const bool silent = !parser_->got_some() && buffer_.size() == 0;
  if (late_ && !silent) return write(refusal_reply(408, "the request did not arrive in time"));
  if (error == http::error::header_limit) {
    return write(refusal_reply(
        431, fmt::format("the request line or its headers are longer than {} bytes", kMaxHead)));
  }
  if (error == http::error::body_limit) {
    return write(refusal_reply(
        413, fmt::format("a body has at most {} bytes here", admitted_.entry->route.most_body)));
  }
  const bool ended = error == http::error::end_of_stream || error == http::error::partial_message;
  if (ended || error.category() != make_error_code(http::error::bad_method).category()) {
    return close();
  }
  write(refusal_reply(400, fmt::format("the request is malformed ({})", error.message())));
}

void Connection::admit() {
  const auto& message = parser_->get();
  if (message.method() == http::verb::unknown) throw BadRequest("there is no such method");
  admitted_ = loop_.routes.admit(to_head(message), loop_.options.address, loop_.url());
  const size_t most = admitted_.entry->route.most_body;
  const bool encoded = message.count(http::field::transfer_encoding) > 0;
  const bool has_body = encoded || parser_->content_length().value_or(0) > 0;
  if (!has_body) return respond();
  if (most == 0) throw Refusal(413, "requests have no body here");
  if (encoded && !parser_->chunked()) throw Refusal(501, "send the body as it is, or in chunks");
  if (parser_->content_length().value_or(0) > most) return refuse_unread(http::error::body_limit);
  parser_->body_limit(most);
  if (boost::beast::iequals(message[http::field::expect], "100-continue")) return go_on();
  read_body();
}

// Tells a client that waits before it sends a large body that it may.
void Connection::go_on() {
  continue_ = {http::status::continue_, parser_->get().version()};
  http::async_write(socket_, continue_, [self = shared_from_this()](error_code error, size_t) {
    if (!self->socket_.is_open()) return;
    if (error) return self->close();
    self->read_body();
  });
}

void Connection::read_body() {
  http::async_read(socket_, buffer_, *parser_,
                   [self = shared_from_this()](error_code error, size_t) { self->on_body(error); });
}

void Connection::on_body(error_code error) {
  if (!socket_.is_open()) return;
  if (error) return refuse_unread(error);
  respond();
}

void Connection::respond() {
  stage_ = Stage::answering;
  auto& message = parser_->get();
  admitted_.request.body = std::move(message.body());
  admitted_.request.type = value_of(message, http::field::content_type);
  loop_.compute(shared_from_this(), admitted_.entry->heavy);
}

Reply Connection::answer() const {
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

void Connection::write(Reply reply) {
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

void Connection::on_written(error_code error) {
  if (!socket_.is_open()) return;
  if (error) return close();
  if (kept_alive_) return buffer_.size() > 0 ? read_head() : wait_for_next();
  if (parser_->is_done() || loop_.stopping) return close();
  socket_.shutdown(tcp::socket::shutdown_send, error);
  begin(Stage::reading_away, kReadAwayTime);
  read_away();
}

void Connection::wait_for_next() {
  response_ = {};
  admitted_ = {};
  begin(Stage::idle, loop_.options.idle_time);
  socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](error_code error) {
    if (!self->socket_.is_open()) return;
    if (error) return self->close();
    self->read_head();
  });
}

// For an answer to somebody who still sends: see turn_away.
void Connection::read_away() {
  socket_.async_read_some(asio::buffer(block_),
                          [self = shared_from_this()](error_code error, size_t count) {
                            if (!self->socket_.is_open()) return;
                            self->read_away_ += count;
                            if (error || self->read_away_ > kMostReadAway) return self->close();
                            self->read_away();
                          });
}

void Connection::close() {
  error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_both, ignored);
  socket_.close(ignored);
  loop_.forget(shared_from_this());
}

bool Connection::is_gone() {
  pollfd state{.fd = socket_.native_handle(), .events = POLLRDHUP, .revents = 0};
  if (::poll(&state, 1, 0) > 0) gone_ = true;
  return gone_;
}

void Connection::look() {
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

void HttpLoop::bind() {
  const bool named = options.address == "localhost";
  error_code error;
  const auto address = asio::ip::make_address(named ? "127.0.0.1" : options.address, error);
  if (error) {
    throw Error(fmt::format("'{}' is no numeric address; 127.0.0.1 is this machine alone",
                            options.address));
  }
  const tcp::endpoint place(address, options.port);
  acceptor_.open(place.protocol(), error);
  // Not SO_REUSEPORT: with it, two servers would share a port.
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error && address.is_v6()) acceptor_.set_option(asio::ip::v6_only(false), error);
  if (!error) acceptor_.bind(place, error);
  if (!error) acceptor_.listen(kBacklog, error);
  if (!error) port = acceptor_.local_endpoint(error).port();
  if (!error) return;
  const std::string where = fmt::format("port {} of {}", options.port, options.address);
  if (error == asio::error::address_in_use) {
    throw Error(where + " is taken; choose another port, or 0 for a free one");
  }
  if (error == asio::error::access_denied) {
    throw Error(where + " needs privileges; choose a port above 1023");
  }
  throw Error(fmt::format("{} cannot be listened to ({}); choose 127.0.0.1 and port 0", where,
                          error.message()));
}

std::string HttpLoop::url() const {
  const bool bracketed = options.address.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}/", bracketed ? "[" : "", options.address,
                     bracketed ? "]" : "", port);
}

void HttpLoop::run(const std::function<bool()>& stopped) {
  threads_.emplace(options.workers);
  accept();
  look(stopped);
  io_.run();  // until look() finds the end and nothing is under way
  threads_.reset();
  if (failure_) std::rethrow_exception(failure_);
}

void HttpLoop::accept() {
  accepts_ = true;
  acceptor_.async_accept([this](error_code error, tcp::socket socket) {
    accepts_ = false;
    on_accept(error, std::move(socket));
  });
}

void HttpLoop::on_accept(error_code error, tcp::socket socket) {
  if (!acceptor_.is_open()) return;
  if (error == asio::error::bad_descriptor || error == asio::error::invalid_argument) {
    failure_ = std::make_exception_ptr(Error(fmt::format(
        "port {} can no longer be listened to ({}); start again", port, error.message())));
    stopping = true;
  }
  if (error) return;  // no descriptors, no memory: the next look() tries again
  if (connections_.size() >= options.connections) {
    ++counters.refused;
    turn_away(std::move(socket));
  } else {
    socket.set_option(tcp::no_delay(true), error);
    const auto connection = std::make_shared<Connection>(*this, std::move(socket));
    connections_.insert(connection);
    counters.open = connections_.size();
    connection->read_head();
  }
  accept();
}

void HttpLoop::look(const std::function<bool()>& stopped) {
  try {
    if (!stopping && stopped && stopped()) stopping = true;
  } catch (...) {
    failure_ = std::current_exception();
    stopping = true;
  }
  error_code ignored;
  if (stopping) acceptor_.close(ignored);
  if (acceptor_.is_open() && !accepts_) accept();
  look_at_waiting();
  const std::vector<ConnectionPointer> all(connections_.begin(), connections_.end());
  for (const ConnectionPointer& connection : all) connection->look();
  // Not `stopping`, which may have become true after it was asked above.
  if (!acceptor_.is_open() && connections_.empty()) return;
  timer_.expires_after(kLook);
  timer_.async_wait([this, &stopped](error_code) { look(stopped); });
}

void HttpLoop::forget(const ConnectionPointer& connection) {
  connections_.erase(connection);
  counters.open = connections_.size();
  if (stopping && connections_.empty()) timer_.cancel();  // look at once
}

void HttpLoop::compute(const ConnectionPointer& connection, bool heavy) {
  if (heavy) return queue_heavy(connection);
  post_work(threads_->light, connection, false);
}

void HttpLoop::post_work(asio::thread_pool& threads, ConnectionPointer connection, bool heavy) {
  asio::post(threads, [this, heavy, connection = std::move(connection)]() mutable {
    Reply reply = connection->answer();
    asio::post(
        io_, [this, heavy, connection = std::move(connection), reply = std::move(reply)]() mutable {
          connection->write(std::move(reply));
          if (!heavy) return;
          heavy_taken_ = false;
          start_heavy();
        });
  });
}

void HttpLoop::queue_heavy(const ConnectionPointer& connection) {
  look_at_waiting();
  if (heavy_taken_ && waiting_.size() >= options.heavy_waiting) {
    return connection->write(
        refusal_reply(503, "too many requests of this kind are waiting; try again in a moment"));
  }
  waiting_.push_back({connection, Clock::now() + options.heavy_time});
  start_heavy();
}

// Removes those who are gone or have waited too long.
void HttpLoop::look_at_waiting() {
  std::list<Waiting> all;
  all.swap(waiting_);
  for (Waiting& one : all) {
    if (one.connection->is_gone()) {
      one.connection->close();
    } else if (stopping) {
      one.connection->write(refusal_reply(503, "the server is stopping"));
    } else if (Clock::now() >= one.latest) {
      one.connection->write(
          refusal_reply(503, "another request took too long; try again in a moment"));
    } else {
      waiting_.push_back(std::move(one));
    }
  }
}

void HttpLoop::start_heavy() {
  look_at_waiting();
  if (heavy_taken_ || waiting_.empty()) return;
  heavy_taken_ = true;
  const ConnectionPointer next = waiting_.front().connection;
  waiting_.pop_front();
  post_work(threads_->heavy, next, true);
}

}  // namespace

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
