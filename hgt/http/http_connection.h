// One client of the loop: reads its requests, sends the answers and keeps the deadlines of both.
// Not installed, since it includes Boost.
//
// Deadlines are kept here rather than by beast::tcp_stream, which closes a socket that is late:
// the client could not be sent status 408 then.
#pragma once

#include <array>
#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "hgt/http/http_loop.h"
#include "hgt/http/routes.h"

namespace hgt {

// For a client that there is no room for: sends status 503 without waiting or reading first.
void turn_away(boost::asio::ip::tcp::socket socket);

// Everything but answer() and is_unwanted() is called from the thread of the loop. Whatever
// is under way in Asio keeps the connection alive.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(HttpLoop& loop, boost::asio::ip::tcp::socket socket)
      : loop_(loop), socket_(std::move(socket)) {}

  void read_head();
  // From a thread of responders.
  Reply answer() const;
  void write(Reply reply);
  void close();
  // Closes or refuses whatever has taken too long, or must end because the server does.
  void look();
  // Has the client hung up? One that closed only its sending half counts as gone, too.
  bool is_gone();

 private:
  enum class Stage { idle, reading, answering, writing, reading_away };

  void begin(Stage stage, std::chrono::milliseconds time);
  bool is_unwanted() const { return gone_ || loop_.stopping; }
  void on_head(boost::system::error_code error);
  void admit();
  void go_on();
  void read_body();
  void on_body(boost::system::error_code error);
  void respond();
  void refuse_unread(boost::system::error_code error);
  void on_written(boost::system::error_code error);
  void wait_for_next();
  void read_away();

  HttpLoop& loop_;
  boost::asio::ip::tcp::socket socket_;
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  boost::beast::http::response<boost::beast::http::empty_body> continue_;
  boost::beast::http::response<boost::beast::http::string_body> response_;
  Routes::Admitted admitted_;
  Stage stage_ = Stage::idle;
  std::chrono::steady_clock::time_point latest_;
  bool late_ = false;
  bool kept_alive_ = false;
  size_t requests_ = 0;
  size_t read_away_ = 0;
  std::array<char, 4096> block_{};
  std::atomic<bool> gone_ = false;
};

}  // namespace hgt
