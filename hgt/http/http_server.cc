// The only source that includes cpp-httplib, which accepts connections, parses a request and writes
// an answer. What it would do to a stranger's bytes before our code sees them is kept from it:
// heads are read and cleaned here (its own reading has no bound on time or headers, and matches
// ranges with recursive regular expressions), and its way to stop from another thread, which
// closes a descriptor in use, is not used.
#include "hgt/http/http_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "hgt/http/request_head.h"
#include "hgt/http/timed_socket.h"
#include "hgt/http/worker_queue.h"

namespace hgt {

namespace {

constexpr int kBacklog = 128;
constexpr std::chrono::milliseconds kLookAtStopped(100);
constexpr std::chrono::milliseconds kReadAwayTime(300);
constexpr const char* kJson = "application/json";
constexpr const char* kPolicyHeader = "Content-Security-Policy";

const std::map<std::string, std::string>& constant_headers() {
  static const std::map<std::string, std::string> headers = {
      {"Accept-Ranges", "none"},          {"Cache-Control", "no-store"},
      {kPolicyHeader, Answer{}.policy},   {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Referrer-Policy", "no-referrer"}, {"X-Content-Type-Options", "nosniff"}};
  return headers;
}

std::string error_json(std::string_view why) {
  using nlohmann::json;
  return json{{"error", why}}.dump(-1, ' ', false, json::error_handler_t::replace);
}

// An answer to what cpp-httplib is not shown.
std::string refusal_text(int status, std::string_view reason, std::string_view why) {
  const std::string body = error_json(why);
  std::string text = fmt::format(
      "HTTP/1.1 {} {}\r\nConnection: close\r\nContent-Type: {}\r\nContent-Length: {}\r\n", status,
      reason, kJson, body.size());
  for (const auto& [name, value] : constant_headers()) {
    text += fmt::format("{}: {}\r\n", name, value);
  }
  return text + "\r\n" + body;
}

void set_refusal(httplib::Response& response, int status, std::string_view why) {
  response.status = status;
  response.set_content(error_json(why), kJson);
  if (status == 405) response.set_header("Allow", "GET, HEAD");
}

bool has_body(const httplib::Request& request) {
  return request.has_header("Transfer-Encoding") ||
         (request.has_header("Content-Length") &&
          request.get_header_value("Content-Length") != "0");
}

// Another site's page may lead a user to the page, but not make requests of its own: neither in the
// background nor by opening what has to be computed.
bool is_foreign(const httplib::Request& request) {
  const std::string site = request.get_header_value("Sec-Fetch-Site");
  if (site != "cross-site" && site != "same-site") return false;
  return request.target != "/" || request.get_header_value("Sec-Fetch-Mode") != "navigate" ||
         request.get_header_value("Sec-Fetch-Dest") != "document";
}

// Whom this thread answers; cpp-httplib shows responders the request alone.
thread_local const TimedSocket* asking = nullptr;

// A head that was read already, and the socket that the answer goes to.
class HeadStream final : public httplib::Stream {
 public:
  HeadStream(std::string head, TimedSocket& socket) : head_(std::move(head)), socket_(socket) {}

  bool is_readable() const override { return true; }
  bool is_writable() const override { return true; }
  ssize_t read(char* bytes, size_t size) override {
    const size_t count = head_.copy(bytes, size, position_);
    position_ += count;
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* bytes, size_t size) override {
    return socket_.write({bytes, size}) ? static_cast<ssize_t>(size) : -1;
  }
  void get_remote_ip_and_port(std::string& /*unused*/, int& /*unused*/) const override {}
  void get_local_ip_and_port(std::string& /*unused*/, int& /*unused*/) const override {}
  socket_t socket() const override { return -1; }

 private:
  std::string head_;
  size_t position_ = 0;
  TimedSocket& socket_;
};

// cpp-httplib's threads, which are our WorkerQueue. Called from the accepting thread.
class ConnectionQueue final : public httplib::TaskQueue {
 public:
  ConnectionQueue(size_t threads, size_t waiting, std::function<void()> look)
      : workers_(threads, waiting), look_(std::move(look)) {}

  void enqueue(std::function<void()> connection) override {
    // A connection that finds no room is worked on here: HttpLoop then refuses it.
    if (!workers_.add(connection)) connection();
    look_();
  }
  void on_idle() override { look_(); }
  void shutdown() override { workers_.finish(); }

 private:
  WorkerQueue workers_;
  std::function<void()> look_;
};

struct Route {
  std::vector<std::string> parameters;
  HeavyResponder responder;
  bool heavy = false;
};

class HttpLoop final : public httplib::Server {
 public:
  explicit HttpLoop(HttpOptions options);
  ~HttpLoop() override { close_listener(); }
  HttpLoop(const HttpLoop&) = delete;
  HttpLoop& operator=(const HttpLoop&) = delete;

  void bind();
  void run(const std::function<bool()>& stopped);
  std::string url() const;

  const HttpOptions options;
  std::map<std::string, Route, std::less<>> routes;
  std::atomic<bool> stopping = false;
  uint16_t port = 0;  // 0: not bound

 private:
  bool process_and_close_socket(socket_t descriptor) override;
  void answer_head(TimedSocket& socket, const std::string& head);
  void answer(const httplib::Request& request, httplib::Response& response);
  Answer respond(const httplib::Request& request);
  void look(const std::function<bool()>& stopped);
  void close_listener();

  Turns turns_;
  std::thread::id accepting_;
  std::exception_ptr failure_;  // what `stopped` threw
};

HttpLoop::HttpLoop(HttpOptions given)
    : options(std::move(given)), turns_(options.heavy_waiting, options.heavy_time) {
  set_default_headers({constant_headers().begin(), constant_headers().end()});
  set_idle_interval(0, std::chrono::microseconds(kLookAtStopped).count());
  set_tcp_nodelay(true);
  // Not SO_REUSEPORT, cpp-httplib's own choice: with it, two servers would share a port.
  set_socket_options([](socket_t descriptor) {
    const int yes = 1;
    ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  });
  set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
    answer(request, response);
    return HandlerResponse::Handled;
  });
  // For what cpp-httplib refuses by itself.
  set_error_handler(HandlerWithResponse([](const httplib::Request&, httplib::Response& response) {
    if (response.body.empty()) set_refusal(response, response.status, "the request is malformed");
    return HandlerResponse::Handled;
  }));
}

void HttpLoop::bind() {
  std::array<char, sizeof(in6_addr)> numeric{};
  if (options.address != "localhost" &&
      ::inet_pton(AF_INET, options.address.c_str(), numeric.data()) != 1 &&
      ::inet_pton(AF_INET6, options.address.c_str(), numeric.data()) != 1) {
    throw Error(fmt::format("'{}' is no numeric address; 127.0.0.1 is this machine alone",
                            options.address));
  }
  errno = 0;
  const int bound = options.port == 0 ? bind_to_any_port(options.address)
                    : bind_to_port(options.address, options.port) ? options.port
                                                                  : -1;
  const int error = errno;
  if (bound <= 0) {
    const std::string place = fmt::format("port {} of {}", options.port, options.address);
    if (error == EADDRINUSE) {
      throw Error(place + " is taken; choose another port, or 0 for a free one");
    }
    if (error == EACCES) throw Error(place + " needs privileges; choose a port above 1023");
    throw Error(fmt::format("{} cannot be listened to ({}); choose 127.0.0.1 and port 0", place,
                            error == 0 ? "no reason given" : std::strerror(error)));
  }
  port = static_cast<uint16_t>(bound);
  // A client that gives up between select() and accept() must not block the loop.
  ::fcntl(svr_sock_, F_SETFL, ::fcntl(svr_sock_, F_GETFL) | O_NONBLOCK);
  ::listen(svr_sock_, kBacklog);
}

std::string HttpLoop::url() const {
  const bool bracketed = options.address.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}/", bracketed ? "[" : "", options.address,
                     bracketed ? "]" : "", port);
}

void HttpLoop::run(const std::function<bool()>& stopped) {
  accepting_ = std::this_thread::get_id();
  // Those that wait for a heavy route take no thread from the others.
  const size_t threads = options.workers + 1 + options.heavy_waiting;
  new_task_queue = [this, threads, &stopped] {
    return new ConnectionQueue(threads, options.waiting, [this, &stopped] { look(stopped); });
  };
  const bool ended_well = listen_after_bind();
  const int error = errno;
  close_listener();
  if (failure_) std::rethrow_exception(failure_);
  if (!ended_well && !stopping) {
    throw Error(fmt::format("port {} can no longer be listened to ({}); start again", port,
                            std::strerror(error)));
  }
}

// On the accepting thread, ten times a second and after each connection.
void HttpLoop::look(const std::function<bool()>& stopped) {
  try {
    if (!stopping && stopped && stopped()) stopping = true;
  } catch (...) {
    failure_ = std::current_exception();
    stopping = true;
  }
  if (stopping) close_listener();  // which ends the loop
}

void HttpLoop::close_listener() {
  const socket_t listener = svr_sock_.exchange(INVALID_SOCKET);
  if (listener != INVALID_SOCKET) ::close(listener);
}

bool HttpLoop::process_and_close_socket(socket_t descriptor) {
  TimedSocket socket(descriptor, stopping);
  if (std::this_thread::get_id() == accepting_ || stopping) {
    socket.begin_writing(TimedSocket::Milliseconds(0));
    socket.write(refusal_text(503, "Service Unavailable", "the server is busy; try again"));
    socket.read_away(TimedSocket::Milliseconds(0));
    return false;
  }
  std::string head;
  const TimedSocket::Head read = socket.read_head(head, kMaxHead, options.read_time);
  socket.begin_writing(options.write_time);
  if (read == TimedSocket::Head::whole) {
    answer_head(socket, head);
  } else if (read == TimedSocket::Head::too_long) {
    socket.write(refusal_text(431, "Request Header Fields Too Large",
                              fmt::format("the request is longer than {} bytes", kMaxHead)));
    socket.read_away(kReadAwayTime);
  } else if (read == TimedSocket::Head::late) {
    socket.write(refusal_text(408, "Request Timeout", "the request did not arrive in time"));
  }
  return true;
}

void HttpLoop::answer_head(TimedSocket& socket, const std::string& head) {
  bool body_follows = false;
  asking = &socket;
  try {
    HeadStream stream(clean_head(head), socket);
    bool closed = true;
    process_request(stream, true, closed,
                    [&](httplib::Request& request) { body_follows = has_body(request); });
  } catch (const Refusal& refusal) {
    socket.write(refusal_text(refusal.status(), "Bad Request", refusal.what()));
  } catch (...) {
    socket.write(refusal_text(500, "Internal Server Error", "something went wrong"));
  }
  if (body_follows) socket.read_away(kReadAwayTime);
}

void HttpLoop::answer(const httplib::Request& request, httplib::Response& response) {
  try {
    Answer answer = respond(request);
    response.headers.erase(kPolicyHeader);
    if (!answer.policy.empty()) response.set_header(kPolicyHeader, answer.policy);
    response.status = 200;
    response.set_header("Content-Type", answer.type);
    response.body = std::move(answer.body);
  } catch (const Refusal& refusal) {
    set_refusal(response, refusal.status(), refusal.what());
  } catch (const Interrupted&) {
    set_refusal(response, 503, "the server is stopping");
  } catch (const Error& error) {
    set_refusal(response, 500, error.what());
  } catch (...) {
    set_refusal(response, 500, "something went wrong");
  }
}

Answer HttpLoop::respond(const httplib::Request& request) {
  if (request.get_header_value_count("Host") != 1 ||
      !is_own_host(request.get_header_value("Host"), options.address)) {
    const bool everywhere = options.address == "0.0.0.0" || options.address == "::";
    throw Refusal(403, fmt::format("open {} instead: other names are refused, so that no web page "
                                   "can reach in under one of its own",
                                   everywhere ? "the numeric address of this machine" : url()));
  }
  if (is_foreign(request)) throw Refusal(403, "other sites' pages may not ask");
  if (request.method != "GET" && request.method != "HEAD") {
    throw Refusal(405, "only GET and HEAD are answered");
  }
  if (has_body(request)) throw Refusal(413, "requests have no body here");
  const RequestTarget target = parse_target(request.target);
  const auto found = routes.find(target.path);
  if (found == routes.end()) throw NotFound("there is nothing here");
  const Route& route = found->second;
  for (const auto& [name, value] : target.query) {
    if (std::ranges::find(route.parameters, name) == route.parameters.end()) {
      throw BadRequest(fmt::format("there is no parameter '{}' here; there are: {}", name,
                                   fmt::join(route.parameters, ", ")));
    }
  }
  const Unwanted unwanted = [this, socket = asking] { return stopping || socket->is_gone(); };
  std::optional<Turns::Turn> turn;
  if (route.heavy) turn.emplace(turns_, unwanted);
  return route.responder(target.query, unwanted);
}

}  // namespace

struct HttpServer::State {
  explicit State(HttpOptions options) : loop(std::move(options)) {}
  HttpLoop loop;
};

HttpServer::HttpServer(HttpOptions options) : state_(std::make_unique<State>(std::move(options))) {}

HttpServer::~HttpServer() = default;

void HttpServer::route(const std::string& path, std::vector<std::string> parameters,
                       Responder responder) {
  assert(path.starts_with('/') && responder);
  state_->loop.routes[path] = {std::move(parameters),
                               [respond = std::move(responder)](
                                   const Query& query, const Unwanted&) { return respond(query); },
                               false};
}

void HttpServer::heavy_route(const std::string& path, std::vector<std::string> parameters,
                             HeavyResponder responder) {
  assert(path.starts_with('/') && responder);
  state_->loop.routes[path] = {std::move(parameters), std::move(responder), true};
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

}  // namespace hgt
