// Heavy work takes turns: one at a time, a few wait, for a bounded time and while they are wanted.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <mutex>

namespace hgt {

// Does nobody wait for the answer any more? Asked from any thread.
using Unwanted = std::function<bool()>;

class Turns {
 public:
  Turns(size_t waiting, std::chrono::milliseconds patience)
      : most_waiting_(waiting), patience_(patience) {}

  // The caller's turn lasts as long as this does.
  class Turn {
   public:
    // Blocks. Throws Busy: too many that are wanted wait already, nobody made way in time, or the
    // turn is unwanted.
    Turn(Turns& turns, const Unwanted& unwanted);
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn();

   private:
    Turns& turns_;
  };

 private:
  bool is_full() const;

  size_t most_waiting_;
  std::chrono::milliseconds patience_;
  std::mutex mutex_;
  std::condition_variable free_;
  bool taken_ = false;
  std::list<const Unwanted*> waiting_;
};

}  // namespace hgt
