#include "hgt/http/http_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <utility>
#include <vector>

#include "hgt/http/http_connection.h"
#include "hgt/parallel.h"

namespace hgt {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

constexpr int kBacklog = 128;
constexpr std::chrono::milliseconds kLook(100);

}  // namespace

HttpLoop::Threads::Threads(size_t workers) : light(std::max<size_t>(workers, 1)), heavy(1) {}

HttpLoop::HttpLoop(HttpOptions given) : options(std::move(given)) {}

HttpLoop::~HttpLoop() = default;

void HttpLoop::bind() {
  const bool named = options.address == "localhost";
  error_code error;
  const auto address = asio::ip::make_address(named ? "127.0.0.1" : options.address, error);
  if (error) {
    throw Error(fmt::format("'{}' is not a numeric address; 127.0.0.1 serves this machine only",
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
    throw Error(where + " is already in use; choose another port, or 0 for any free one");
  }
  if (error == asio::error::access_denied) {
    throw Error(where + " needs privileges; choose a port above 1023");
  }
  throw Error(
      fmt::format("cannot listen on {} ({}); choose 127.0.0.1 and port 0", where, error.message()));
}

std::string HttpLoop::url() const {
  const bool bracketed = options.address.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}/", bracketed ? "[" : "", options.address,
                     bracketed ? "]" : "", port);
}

void HttpLoop::run(const std::function<bool()>& stopped) {
  require_threads(static_cast<unsigned>(options.workers) + 1);  // Asio would wait for one forever
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
    failure_ = std::make_exception_ptr(Error(
        fmt::format("cannot listen on port {} any more ({}); start again", port, error.message())));
    stopping = true;
  }
  if (error) return;  // no descriptors, no memory: the next look() tries again
  if (connections_.size() >= options.connections) {
    ++counters.refused;
    turn_away(std::move(socket));
  } else {
    socket.set_option(tcp::no_delay(true), error);
    const auto connection = std::make_shared<HttpConnection>(*this, std::move(socket));
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

// Removes clients that are gone or have waited too long.
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

}  // namespace hgt
