// Shares a range of numbers out to threads.
#pragma once

#include <cstdint>
#include <functional>

namespace hgt {

struct NumberRange {
  uint64_t first = 0;
  uint64_t last = 0;  // one past the end
};

// Cuts the range into pieces of `piece` numbers and calls work(piece) for each of them once: in
// order with one thread, else from any thread and in about that order. The calling thread works
// too, and alone calls report(numbers done so far) after its pieces. The first exception, of report
// too, stops everybody and is passed on.
void share_out(const NumberRange& range, uint64_t piece, uint32_t threads,
               const std::function<void(const NumberRange&)>& work,
               const std::function<void(uint64_t)>& report);

}  // namespace hgt
