// A connection to somebody who may be slow, silent or gone.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace hgt {

class TimedSocket {
 public:
  using Milliseconds = std::chrono::milliseconds;

  // Owns the descriptor. Once `stopping` is true, nothing more is read, and writing ends soon.
  TimedSocket(int descriptor, const std::atomic<bool>& stopping)
      : descriptor_(descriptor), stopping_(stopping) {}
  TimedSocket(const TimedSocket&) = delete;
  TimedSocket& operator=(const TimedSocket&) = delete;
  ~TimedSocket();

  enum class Head { whole, too_long, late, gone };
  // Reads up to the empty line that ends a request's head, at most `limit` bytes of it, all of it
  // within `time`. What is read beyond that line is dropped.
  Head read_head(std::string& head, size_t limit, Milliseconds time);

  // From here on, all writes together may take that long.
  void begin_writing(Milliseconds time) { written_by_ = Clock::now() + time; }
  // False: not all of it was taken in time; nothing is written afterwards.
  bool write(std::string_view bytes);

  // Has the other side hung up? Who closed only the half that sends counts as gone too. From any
  // thread.
  bool is_gone() const;

  // For an answer to somebody who still sends: a connection that is closed over unread bytes is
  // reset, and the answer lost. Reads and forgets for at most `time`.
  void read_away(Milliseconds time);

 private:
  using Clock = std::chrono::steady_clock;
  // False: not ready by then, or stopping for longer than `grace` tenths of a second.
  bool is_ready(short events, Clock::time_point latest, int grace) const;

  int descriptor_;
  const std::atomic<bool>& stopping_;
  Clock::time_point written_by_;
  bool broken_ = false;
};

}  // namespace hgt
