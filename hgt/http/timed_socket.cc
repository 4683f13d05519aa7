#include "hgt/http/timed_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace hgt {

namespace {

constexpr std::chrono::milliseconds kPollSlice(100);
constexpr int kWriteGrace = 10;                     // slices for an answer that is on its way
constexpr size_t kMostReadAway = size_t{1} << 20U;  // bytes
constexpr std::string_view kEmptyLine = "\r\n\r\n";

bool is_passing(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

TimedSocket::~TimedSocket() {
  ::shutdown(descriptor_, SHUT_RDWR);
  ::close(descriptor_);
}

bool TimedSocket::is_ready(short events, Clock::time_point latest, int grace) const {
  for (;;) {
    if (stopping_ && grace-- <= 0) return false;
    const auto left = std::chrono::ceil<Milliseconds>(latest - Clock::now());
    if (left.count() <= 0) return false;
    pollfd waiting{.fd = descriptor_, .events = events, .revents = 0};
    const int found = ::poll(&waiting, 1, static_cast<int>(std::min(left, kPollSlice).count()));
    if (found > 0) return true;
    if (found < 0 && errno != EINTR) return false;
  }
}

TimedSocket::Head TimedSocket::read_head(std::string& head, size_t limit, Milliseconds time) {
  const Clock::time_point latest = Clock::now() + time;
  std::array<char, 4096> block;
  while (is_ready(POLLIN, latest, 0)) {
    const ssize_t count = ::recv(descriptor_, block.data(), block.size(), MSG_DONTWAIT);
    if (count < 0 && is_passing(errno)) continue;
    if (count <= 0) return Head::gone;
    const size_t before = head.size();
    head.append(block.data(), static_cast<size_t>(count));
    const size_t from = before - std::min(before, kEmptyLine.size() - 1);
    const size_t end = head.find(kEmptyLine, from);
    if (std::min(end, head.size()) > limit) return Head::too_long;
    if (end == std::string::npos) continue;
    head.resize(end + kEmptyLine.size());
    return Head::whole;
  }
  return head.empty() || stopping_ ? Head::gone : Head::late;
}

bool TimedSocket::write(std::string_view bytes) {
  while (!broken_ && !bytes.empty()) {
    const ssize_t count =
        ::send(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count > 0) {
      bytes.remove_prefix(static_cast<size_t>(count));
    } else {
      broken_ = !is_passing(errno) || !is_ready(POLLOUT, written_by_, kWriteGrace);
    }
  }
  return !broken_;
}

bool TimedSocket::is_gone() const {
  pollfd state{.fd = descriptor_, .events = POLLRDHUP, .revents = 0};
  return ::poll(&state, 1, 0) > 0;
}

void TimedSocket::read_away(Milliseconds time) {
  ::shutdown(descriptor_, SHUT_WR);
  const Clock::time_point latest = Clock::now() + time;
  std::array<char, 4096> block;
  for (size_t total = 0; total < kMostReadAway;) {
    const ssize_t count = ::recv(descriptor_, block.data(), block.size(), MSG_DONTWAIT);
    if (count == 0 || (count < 0 && !is_passing(errno))) return;
    total += count > 0 ? static_cast<size_t>(count) : 0;
    if (count < 0 && !is_ready(POLLIN, latest, 0)) return;
  }
}

}  // namespace hgt
