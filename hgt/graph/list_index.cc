#include "hgt/graph/list_index.h"

#include <fmt/format.h>

#include <array>
#include <cassert>
#include <cstring>
#include <filesystem>

#include "hgt/error.h"
#include "hgt/graph/sorted_search.h"
#include "hgt/random.h"

namespace hgt {

namespace {

constexpr uint64_t kBytes = 0x0101010101010101U;       // 1 in each byte of a word
constexpr uint64_t kLowBytes = 0x00ff00ff00ff00ffU;    // every second byte
constexpr uint64_t kLowInPairs = 0x0001000100010001U;  // 1 in each pair of bytes

// 255 for each list of a block, and 0 for those of the next.
constexpr auto kMask = [] {
  std::array<uint8_t, 2 * ListIndex::kBlock> mask{};
  std::fill_n(mask.begin(), ListIndex::kBlock, uint8_t{255});
  return mask;
}();

uint64_t word_at(const uint8_t* bytes) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

}  // namespace

// Of lists in one block, from its first. All words of the block are added, those behind `last` as
// zeros: a loop that ends in different places costs more, as no processor foresees where.
ListIndex::Sum ListIndex::sum(uint64_t first, uint64_t last) const {
  assert(first % kBlock == 0 && last - first <= kBlock);
  std::array<uint8_t, kBlock> end{};
  const uint8_t* lengths = arrays_.lengths.data() + first;
  const uint64_t stored = arrays_.lengths.size() - first;
  if (stored < kBlock) lengths = std::copy_n(lengths, stored, end.begin()) - stored;
  const uint8_t* mask = kMask.data() + kBlock - (last - first);
  uint64_t pairs = 0;  // sums of bytes, in 16 bits each
  uint64_t full = 0;   // the top bits of bytes that are 255: only these carry, and have the bit
  for (size_t at = 0; at < kBlock; at += sizeof(uint64_t)) {
    const uint64_t word = word_at(lengths + at) & word_at(mask + at);
    pairs += (word & kLowBytes) + ((word >> 8U) & kLowBytes);
    full |= ((word & kBytes * 0x7f) + kBytes) & word;
  }
  return {.items = (pairs * kLowInPairs) >> 48U, .has_long = (full & kBytes * 0x80) != 0};
}

// Of the block that the list is in.
uint64_t ListIndex::start(uint64_t first) const {
  const auto start = static_cast<uint64_t>(arrays_.starts[first / kBlock]);
  if (start > items_) {
    fail("_starts.npy",
         fmt::format("list {} begins behind all {} items", first / kBlock * kBlock, items_));
  }
  return start;
}

// The numbers of long lists are spread over all lists: the search begins where this one should be.
size_t ListIndex::first_long_row(uint64_t list) const {
  const size_t rows = arrays_.longs.size() / 2;
  const auto guess = static_cast<size_t>(Uint128{rows} * list / size());
  return first_not_below(
      rows, guess, [&](size_t row) { return arrays_.longs[2 * row] < static_cast<int64_t>(list); });
}

// By how much the long ones among these lists exceed what their bytes say. `row`: of the first long
// one from `first` on; afterwards, from `last` on.
uint64_t ListIndex::excess(uint64_t first, uint64_t last, size_t& row) const {
  uint64_t result = 0;
  for (uint64_t list = first; list < last; ++list) {
    if (arrays_.lengths[list] != kLong) continue;
    const auto found = arrays_.longs.subspan(std::min(2 * row++, arrays_.longs.size()));
    if (found.size() < 2 || found[0] != static_cast<int64_t>(list)) {
      fail("_long.npy", fmt::format("it has no row for list {}, which is a long one", list));
    }
    if (found[1] < 0 || static_cast<uint64_t>(found[1]) > items_) {
      fail("_long.npy", fmt::format("list {} exceeds {} by {}; there are {} items", list, kLong,
                                    found[1], items_));
    }
    result += static_cast<uint64_t>(found[1]);
  }
  return result;
}

ListRange ListIndex::range(uint64_t first, uint64_t last) const {
  assert(first <= last && last <= size());
  if (!offsets_.empty()) {
    return checked(first, last,
                   {static_cast<uint64_t>(offsets_[first]), static_cast<uint64_t>(offsets_[last])});
  }
  const uint64_t block = first / kBlock * kBlock;
  const Sum before = sum(block, first);
  ListRange found{.begin = start(first) + before.items};
  found.end = found.begin;
  bool has_long = before.has_long;
  for (uint64_t list = first; list < last; ++list) {
    found.end += arrays_.lengths[list];
    has_long |= arrays_.lengths[list] == kLong;
  }
  if (has_long) {
    size_t row = first_long_row(block);
    const uint64_t more = excess(block, first, row);
    found.begin += more;
    found.end += more + excess(first, last, row);
  }
  return checked(first, last, found);
}

void ListIndex::find(uint64_t first, std::span<uint64_t> offsets) const {
  assert(!offsets.empty() && first + offsets.size() - 1 <= size());
  const uint64_t last = first + offsets.size() - 1;
  if (offsets_.empty()) {
    find_stored(first, offsets);
  } else {
    for (size_t i = 0; i < offsets.size(); ++i) {
      offsets[i] = static_cast<uint64_t>(offsets_[first + i]);
      checked(first, last, {offsets[i > 0 ? i - 1 : 0], offsets[i]});
    }
  }
  checked(first, last, {offsets.front(), offsets.back()});
}

void ListIndex::find_stored(uint64_t first, std::span<uint64_t> offsets) const {
  const uint64_t block = first / kBlock * kBlock;
  const Sum before = sum(block, first);
  const auto lengths = arrays_.lengths.subspan(first, offsets.size() - 1);
  bool has_long = before.has_long;
  uint64_t at = start(first) + before.items;
  for (size_t i = 0; i < lengths.size(); ++i) {
    offsets[i] = at;
    at += lengths[i];
    has_long |= lengths[i] == kLong;
  }
  offsets.back() = at;
  if (!has_long) return;
  size_t row = first_long_row(block);
  uint64_t more = excess(block, first, row);
  offsets[0] += more;
  for (size_t i = 1; i < offsets.size(); ++i) {
    more += excess(first + i - 1, first + i, row);
    offsets[i] += more;
  }
}

void ListIndex::prefetch(uint64_t first, uint64_t last) const {
  if (!offsets_.empty()) {
    constexpr uint64_t kPerCacheLine = 8;
    for (uint64_t i = first; i <= last; i += kPerCacheLine) __builtin_prefetch(&offsets_[i]);
    return;
  }
  __builtin_prefetch(&arrays_.starts[first / kBlock]);
  for (uint64_t line = first / kBlock; line * kBlock < last; ++line) {
    __builtin_prefetch(&arrays_.lengths[line * kBlock]);
  }
}

void ListIndex::append_memory(uint64_t first, uint64_t last,
                              std::vector<MemoryRange>& ranges) const {
  if (!offsets_.empty()) {
    ranges.push_back(std::as_bytes(offsets_.subspan(first, last - first + 1)));
    return;
  }
  const uint64_t block = first / kBlock;
  ranges.push_back(std::as_bytes(arrays_.starts.subspan(block, 1)));
  ranges.push_back(std::as_bytes(arrays_.lengths.subspan(block * kBlock, last - block * kBlock)));
}

ListRange ListIndex::checked(uint64_t first, uint64_t last, ListRange range) const {
  if (range.begin <= range.end && range.end <= items_) [[likely]]
    return range;
  fail(offsets_.empty() ? "_lengths.npy" : "_offsets.npy",
       fmt::format("the lists {} to {} have the items {} to {} of {}", first, last,
                   static_cast<int64_t>(range.begin), static_cast<int64_t>(range.end), items_));
}

void ListIndex::fail(std::string_view file, const std::string& what) const {
  throw Error(fmt::format("{}{}: {}; the file is damaged, restore it or make the graph again",
                          prefix_, file, what));
}

ArrayRecord replace_by_offsets(const Path& folder, const std::string& prefix,
                               const std::array<ArrayRecord, 3>& arrays) {
  constexpr uint64_t kListsAtOnce = 4096;
  const MappedArray starts(folder, arrays[0]);
  const MappedArray lengths(folder, arrays[1]);
  const MappedArray longs(folder, arrays[2]);
  const int64_t items = starts.as<int64_t>().back();
  const ListIndex lists({.starts = starts.as<int64_t>(),
                         .lengths = lengths.as<uint8_t>(),
                         .longs = longs.as<int64_t>()},
                        static_cast<uint64_t>(items), prefix);
  ArrayStream offsets(folder, prefix + "_offsets.npy", dtype_of<int64_t>());
  std::vector<uint64_t> found;
  for (uint64_t first = 0; first < lists.size(); first += kListsAtOnce) {
    found.resize(std::min(kListsAtOnce, lists.size() - first) + 1);
    lists.find(first, found);
    found.pop_back();
    for (const uint64_t offset : found) offsets.append(static_cast<int64_t>(offset));
  }
  offsets.append(items);
  for (const ArrayRecord& array : arrays) std::filesystem::remove(folder / array.file);
  return offsets.close();
}

// --- checking everything ---

void ListIndex::check() const {
  if (offsets_.empty()) return check_stored();
  if (offsets_.front() != 0 || offsets_.back() != static_cast<int64_t>(items_)) {
    fail("_offsets.npy", fmt::format("its offsets do not run from 0 to {}", items_));
  }
  const auto fall = std::is_sorted_until(offsets_.begin(), offsets_.end());
  if (fall != offsets_.end()) {
    fail("_offsets.npy", fmt::format("its offsets decrease at {}", fall - offsets_.begin()));
  }
}

void ListIndex::check_stored() const {
  uint64_t at = 0;
  size_t row = 0;
  for (uint64_t block = 0; block <= size(); block += kBlock) {
    if (arrays_.starts[block / kBlock] != static_cast<int64_t>(at)) {
      fail("_starts.npy", fmt::format("list {} begins at {}, but the lengths in front of it sum up "
                                      "to {}",
                                      block, arrays_.starts[block / kBlock], at));
    }
    const uint64_t end = std::min(block + kBlock, size());
    const Sum own = sum(block, end);
    at += own.items + (own.has_long ? excess(block, end, row) : 0);
  }
  if (at != items_ || arrays_.starts.back() != static_cast<int64_t>(at)) {
    fail("_starts.npy", fmt::format("the lists end at {} and have {} items, but there are {}",
                                    arrays_.starts.back(), at, items_));
  }
  if (2 * row != arrays_.longs.size()) {
    fail("_long.npy",
         fmt::format("it has {} rows, but {} lists are long ones", arrays_.longs.size() / 2, row));
  }
}

}  // namespace hgt
