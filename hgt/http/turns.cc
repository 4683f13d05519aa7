#include "hgt/http/turns.h"

#include <algorithm>

#include "hgt/http/refusal.h"

namespace hgt {

namespace {

constexpr std::chrono::milliseconds kLookAtWanted(100);

}  // namespace

bool Turns::is_full() const {
  const auto wanted = std::count_if(waiting_.begin(), waiting_.end(),
                                    [](const Unwanted* unwanted) { return !(*unwanted)(); });
  return static_cast<size_t>(wanted) >= most_waiting_;
}

Turns::Turn::Turn(Turns& turns, const Unwanted& unwanted) : turns_(turns) {
  using Clock = std::chrono::steady_clock;
  std::unique_lock lock(turns.mutex_);
  if (turns.taken_ && turns.is_full()) {
    throw Busy("too many requests of this kind are waiting; try again in a moment");
  }
  const Clock::time_point latest = Clock::now() + turns.patience_;
  const auto place = turns.waiting_.insert(turns.waiting_.end(), &unwanted);
  while (turns.taken_ && !unwanted() && Clock::now() < latest) {
    turns.free_.wait_until(lock, std::min(latest, Clock::now() + kLookAtWanted));
  }
  turns.waiting_.erase(place);
  if (unwanted()) throw Busy("the server is stopping");
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
