// For the tests of HttpServer: a server that runs, and a client that sends any bytes it likes.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "hgt/http/http_server.h"

namespace hgt {

// One connection. Nothing here fails on a server that closes early.
class RawClient {
 public:
  explicit RawClient(uint16_t port, int family = AF_INET)
      : descriptor_(::socket(family, SOCK_STREAM, 0)) {
    const timeval patience{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    ::setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sockaddr_in6 address6{};
    address6.sin6_family = AF_INET6;
    address6.sin6_port = htons(port);
    address6.sin6_addr = in6addr_loopback;
    connected_ =
        (family == AF_INET6
             ? ::connect(descriptor_, reinterpret_cast<sockaddr*>(&address6), sizeof(address6))
             : ::connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof(address))) == 0;
    if (!connected_) note_trouble("connect");
  }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  ~RawClient() { ::close(descriptor_); }

  bool connected() const { return connected_; }
  const std::string& trouble() const { return trouble_; }  // the first call that failed, and why

  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return note_trouble("send");
      bytes.remove_prefix(static_cast<size_t>(count));
    }
  }

  // One answer of several on a connection, by its Content-Length; less where the connection ends.
  std::string receive_one() const {
    std::string text;
    char byte = 0;
    const auto more = [&] {
      if (receive_some(&byte, 1) != 1) return false;
      text += byte;
      return true;
    };
    while (!text.ends_with("\r\n\r\n")) {
      if (!more()) return text;
    }
    const std::string_view name = "Content-Length: ";
    const size_t found = text.find(name);
    if (found == std::string::npos) return text;
    for (size_t left = std::stoul(text.substr(found + name.size())); left > 0; --left) {
      if (!more()) return text;
    }
    return text;
  }

  // Up to the end of the connection.
  std::string receive() const {
    std::string text;
    std::array<char, 4096> block{};
    for (;;) {
      const ssize_t count = receive_some(block.data(), block.size());
      if (count < 0) note_trouble("recv");
      if (count <= 0) return text;
      text.append(block.data(), static_cast<size_t>(count));
    }
  }

 private:
  // A socket with a deadline is interrupted by what the system does for io_uring on this thread,
  // such as the end of a ring that was used before.
  ssize_t receive_some(char* into, size_t size) const {
    ssize_t count = 0;
    do {
      count = ::recv(descriptor_, into, size, 0);
    } while (count < 0 && errno == EINTR);
    return count;
  }

  void note_trouble(const char* call) const {
    if (trouble_.empty()) trouble_ = std::string(call) + ": " + std::strerror(errno);
  }

  int descriptor_;
  bool connected_ = false;
  mutable std::string trouble_;
};

struct RawAnswer {
  std::string text;
  std::string trouble = {};  // of the client, which may be why there is no text
  int status() const { return text.size() < 12 ? 0 : std::stoi(text.substr(9, 3)); }
  bool has(std::string_view part) const { return text.find(part) != std::string::npos; }
  std::string body() const {
    const size_t end = text.find("\r\n\r\n");
    return end == std::string::npos ? "" : text.substr(end + 4);
  }
  // The sentence of a refusal; "" for anything else.
  std::string error() const {
    const auto json = nlohmann::json::parse(body(), nullptr, false);
    return json.is_object() ? json.value("error", "") : "";
  }
};

inline RawAnswer ask(uint16_t port, std::string_view bytes) {
  const RawClient client(port);
  client.send(bytes);
  std::string text = client.receive();
  return {std::move(text), client.trouble()};
}

inline RawAnswer get(uint16_t port, const std::string& target) {
  return ask(port, "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
}

// Serves in a thread of its own until it is destroyed.
class RunningServer {
 public:
  template <typename AddRoutes>
  explicit RunningServer(const AddRoutes& add_routes, HttpOptions options = {})
      : server_(std::move(options)) {
    add_routes(server_);
    server_.bind();
    thread_ = std::thread([this] { server_.serve(); });
  }
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;
  ~RunningServer() { end(); }

  void end() {
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }
  HttpServer& server() { return server_; }
  uint16_t port() const { return server_.port(); }

 private:
  HttpServer server_;
  std::thread thread_;
};

}  // namespace hgt
