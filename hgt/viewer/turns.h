// Heavy work takes turns: one at a time, a few wait, for a bounded time.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace hgt {

class Turns {
 public:
  Turns(size_t waiting, std::chrono::milliseconds patience, const std::atomic<bool>& stopping)
      : most_waiting_(waiting), patience_(patience), stopping_(stopping) {}

  // The caller's turn lasts as long as this does.
  class Turn {
   public:
    // Blocks. Throws Busy: too many wait already, or nobody made way in time, or all is stopping.
    explicit Turn(Turns& turns);
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn();

   private:
    Turns& turns_;
  };

 private:
  size_t most_waiting_;
  std::chrono::milliseconds patience_;
  const std::atomic<bool>& stopping_;
  std::mutex mutex_;
  std::condition_variable free_;
  bool taken_ = false;
  size_t waiting_ = 0;
};

}  // namespace hgt
