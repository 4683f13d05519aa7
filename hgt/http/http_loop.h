// The loop behind HttpServer. Not installed, since it includes Boost (Asio for sockets, Beast for
// HTTP), which compiles slowly.
//
// One thread, the one that calls run(), owns every socket and reads, parses and writes without
// waiting for any of them; responders run in threads of their own, and their answers are posted
// back. Hence nothing here needs a lock. Ten times a second that thread checks which requests take
// too long and which clients are gone.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "hgt/http/http_server.h"
#include "hgt/http/routes.h"

namespace hgt {

class HttpConnection;
using ConnectionPointer = std::shared_ptr<HttpConnection>;

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
  explicit HttpLoop(HttpOptions given);
  HttpLoop(const HttpLoop&) = delete;
  HttpLoop& operator=(const HttpLoop&) = delete;
  ~HttpLoop();

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
    explicit Threads(size_t workers);
    boost::asio::thread_pool light;
    boost::asio::thread_pool heavy;
  };
  struct Waiting {
    ConnectionPointer connection;
    std::chrono::steady_clock::time_point latest;
  };

  void accept();
  void on_accept(boost::system::error_code error, boost::asio::ip::tcp::socket socket);
  void look(const std::function<bool()>& stopped);
  void look_at_waiting();
  void queue_heavy(const ConnectionPointer& connection);
  void start_heavy();
  void post_work(boost::asio::thread_pool& threads, ConnectionPointer connection, bool heavy);

  boost::asio::io_context io_;
  boost::asio::ip::tcp::acceptor acceptor_{io_};
  bool accepts_ = false;
  boost::asio::steady_timer timer_{io_};
  std::set<ConnectionPointer> connections_;
  std::list<Waiting> waiting_;  // for the heavy thread
  bool heavy_taken_ = false;
  std::exception_ptr failure_;
  std::optional<Threads> threads_;  // they end before what is above
};

}  // namespace hgt
