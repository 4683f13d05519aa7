// HttpServer: answers a browser on this machine, with nothing but the routes that it was given.
//
//   HttpServer server({.port = 8765});
//   server.route("/", {}, [&](const Query&) { return Answer{"text/html", page, policy}; });
//   server.route("/api/search", {"type", "q"}, [&](const Query& query) { return found(query); });
//   server.heavy_route("/api/tree", {}, [&](const Query&, const Unwanted& unwanted) { ... });
//   server.bind();                             // from here on url() can be shown
//   server.serve([&] { return interrupted; });  // until that is true, or stop() was called
//
// What it refuses, so that a responder need not: methods other than GET and HEAD; bodies; requests
// under a foreign name (DNS rebinding) or made by another site's page; paths that are not exactly a
// route; parameters that are unknown, repeated, longer than 4 KB together, no UTF-8 or with control
// characters. No file is ever served. Every answer closes its connection.
//
// No client can hold it up for long: a request has to arrive, and an answer to be taken, within a
// time; connections that wait for a thread are bounded, and so are requests for heavy routes, which
// run one at a time and are given up when their client is gone.
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
#include "hgt/http/turns.h"

namespace hgt {

using Query = std::map<std::string, std::string, std::less<>>;  // parameters, decoded

struct Answer {
  std::string type;  // content type
  std::string body;
  // The header Content-Security-Policy; "": none. A page needs one of its own: with this one, a
  // browser runs and loads nothing.
  std::string policy = "default-src 'none'; frame-ancestors 'none'";
};

// Called from several threads at once. Throws a Refusal (BadRequest, NotFound, Busy), which the
// client gets with its status; another Error, whose text the client gets with status 500; anything
// else is a status 500 that says nothing of the inside.
using Responder = std::function<Answer(const Query&)>;
// The same, of what takes long: one of them is called at a time, and should end soon once it is
// unwanted (the client is gone, or the server is stopping).
using HeavyResponder = std::function<Answer(const Query&, const Unwanted&)>;

struct HttpOptions {
  // 127.0.0.1, ::1 or localhost: reachable from this machine only. Another address of this machine,
  // or 0.0.0.0 for all: reachable by everybody who reaches that address.
  std::string address = "127.0.0.1";
  uint16_t port = 0;                            // 0: a free one
  size_t workers = 4;                           // threads that heavy routes leave to light ones
  size_t waiting = 64;                          // connections that wait for a thread
  std::chrono::milliseconds read_time{5000};    // until the whole request has arrived
  std::chrono::milliseconds write_time{30000};  // until the whole answer has been taken
  size_t heavy_waiting = 8;                     // requests that wait for a heavy route
  std::chrono::milliseconds heavy_time{60000};  // and for how long they do
};

class HttpServer {
 public:
  explicit HttpServer(HttpOptions options = {});
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  // Before serve(). The path is compared as it was sent, undecoded; parameters that are not listed
  // are refused. A listed one may still be missing from the Query.
  void route(const std::string& path, std::vector<std::string> parameters, Responder responder);
  void heavy_route(const std::string& path, std::vector<std::string> parameters,
                   HeavyResponder responder);

  // Throws Error: the port is taken or not allowed, the address is none of this machine. Clients
  // that connect before serve() are answered then.
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

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hgt
