// Search in what is sorted, from a place that is probably near.
#pragma once

#include <algorithm>
#include <cstddef>

namespace hgt {

// The first of the places 0 .. size - 1 for which below(place) is false; `size`: there is none.
// Requires that below() is true up to there. It begins at `guess` and widens from there, so that a
// good guess costs few cache lines; it ends for any below(), in range.
template <typename Below>
size_t first_not_below(size_t size, size_t guess, const Below& below) {
  size_t low = 0;      // all places in front of it are below
  size_t high = size;  // no place from here on is
  size_t at = std::min(guess, size);
  for (size_t step = 16; low < high; step *= 2) {  // backward
    if (at == high) at = high - 1;
    if (below(at)) {
      low = at + 1;
      break;
    }
    high = at;
    at = high - low > step ? high - step : low;
  }
  for (size_t step = 16; low < high; step *= 2) {  // forward
    at = high - low > step ? low + step : high - 1;
    if (!below(at)) {
      high = at;
      break;
    }
    low = at + 1;
  }
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    below(middle) ? low = middle + 1 : high = middle;
  }
  return low;
}

}  // namespace hgt
