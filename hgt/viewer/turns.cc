#include "hgt/viewer/turns.h"

#include <algorithm>

#include "hgt/viewer/refusal.h"

namespace hgt {

namespace {

constexpr std::chrono::milliseconds kLookAtStopping(100);

}  // namespace

Turns::Turn::Turn(Turns& turns) : turns_(turns) {
  using Clock = std::chrono::steady_clock;
  std::unique_lock lock(turns.mutex_);
  if (turns.taken_ && turns.waiting_ >= turns.most_waiting_) {
    throw Busy("too many requests of this kind are waiting; try again in a moment");
  }
  const Clock::time_point latest = Clock::now() + turns.patience_;
  ++turns.waiting_;
  while (turns.taken_ && !turns.stopping_ && Clock::now() < latest) {
    turns.free_.wait_until(lock, std::min(latest, Clock::now() + kLookAtStopping));
  }
  --turns.waiting_;
  if (turns.stopping_) throw Busy("the server is stopping");
  if (turns.taken_) throw Busy("another request took too long; try again in a moment");
  turns.taken_ = true;
}

Turns::Turn::~Turn() {
  {
    const std::lock_guard lock(turns_.mutex_);
    turns_.taken_ = false;
  }
  turns_.free_.notify_all();
}

}  // namespace hgt
