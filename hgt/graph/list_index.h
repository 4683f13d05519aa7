// Where lists begin that are stored one after another in one array: the incoming lists of nodes,
// their names and ids, their classes.
//
// Three arrays on disk (docs/graph-format.md): X_lengths.npy, a byte for each list, its length, or
// 255 for a longer one; X_long.npy, of each longer one its number and its length - 255;
// X_starts.npy, where each block of 64 lists begins. A list begins at the start of its block plus
// the lengths in front of it: two cache lines and a sum over 63 bytes at most.
//
// Where long lists are not rare, searching for them would cost more than the space is worth. Then,
// and in graphs of version 1, there is X_offsets.npy instead: where each list begins, and where the
// last one ends.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hgt/disk/mapping.h"
#include "hgt/graph/array_file.h"
#include "hgt/graph/types.h"

namespace hgt {

// A view; the arrays must outlive it. What it finds ascends and lies within the items, or there is
// an Error that names the damaged file.
class ListIndex {
 public:
  static constexpr uint64_t kBlock = 64;  // lists
  static constexpr uint8_t kLong = 255;
  static constexpr uint64_t kListsPerLong = 1024;  // fewer: offsets are stored

  struct Arrays {
    std::span<const int64_t> starts;   // [ceil(lists / kBlock) + 1]; the last may still be missing
    std::span<const uint8_t> lengths;  // [lists]
    std::span<const int64_t> longs;    // [2 * lists with kLong]
  };

  // Of no list.
  ListIndex() = default;
  // Of lists in an array of `items`. `prefix`: X in the names of the files, for errors.
  ListIndex(const Arrays& arrays, uint64_t items, std::string_view prefix)
      : arrays_(arrays), items_(items), prefix_(prefix) {}
  // The same of offsets. [lists + 1]
  ListIndex(std::span<const int64_t> offsets, uint64_t items, std::string_view prefix)
      : offsets_(offsets), items_(items), prefix_(prefix) {}

  // Lists.
  uint64_t size() const { return offsets_.empty() ? arrays_.lengths.size() : offsets_.size() - 1; }
  uint64_t items() const { return items_; }
  std::string_view prefix() const { return prefix_; }

  // The lists from `first` up to, not including, `last`: all their items.
  ListRange range(uint64_t first, uint64_t last) const;
  // The same for each of them: offsets[i] .. offsets[i + 1] are the items of list first + i.
  void find(uint64_t first, std::span<uint64_t> offsets) const;
  void prefetch(uint64_t first, uint64_t last) const;  // to have them cached soon
  // Where it is stored what range() reads, but for long lists: for will_need() of mapping.h.
  void append_memory(uint64_t first, uint64_t last, std::vector<MemoryRange>& ranges) const;

  // Throws Error unless all lists, one after another, are all items, and nothing else is stored.
  void check() const;

 private:
  struct Sum {
    uint64_t items = 0;
    bool has_long = false;
  };

  Sum sum(uint64_t first, uint64_t last) const;
  uint64_t start(uint64_t first) const;
  size_t first_long_row(uint64_t list) const;
  uint64_t excess(uint64_t first, uint64_t last, size_t& row) const;
  void find_stored(uint64_t first, std::span<uint64_t> offsets) const;
  void check_stored() const;
  ListRange checked(uint64_t first, uint64_t last, ListRange range) const;
  [[noreturn]] void fail(std::string_view file, const std::string& what) const;

  Arrays arrays_;
  std::span<const int64_t> offsets_;
  uint64_t items_ = 0;
  std::string_view prefix_;
};

// Writes the offsets of lists whose three arrays are there, and removes these.
ArrayRecord replace_by_offsets(const Path& folder, const std::string& prefix,
                               const std::array<ArrayRecord, 3>& arrays);

// Writes the arrays of a ListIndex. `Array`: ArrayStream, or GrowingArray to read while writing.
template <typename Array>
class ListIndexWriter {
 public:
  ListIndexWriter(const Path& folder, const std::string& prefix)
      : folder_(folder),
        prefix_(prefix),
        starts_(folder, prefix + "_starts.npy", dtype_of<int64_t>()),
        lengths_(folder, prefix + "_lengths.npy", dtype_of<uint8_t>()),
        longs_(folder, prefix + "_long.npy", dtype_of<int64_t>()) {}

  // The next list.
  void append(uint64_t length) {
    if (lengths_.items() % ListIndex::kBlock == 0) starts_.append(static_cast<int64_t>(items_));
    if (length >= ListIndex::kLong) {
      longs_.append(static_cast<int64_t>(lengths_.items()));
      longs_.append(static_cast<int64_t>(length - ListIndex::kLong));
    }
    lengths_.append(static_cast<uint8_t>(std::min<uint64_t>(length, ListIndex::kLong)));
    items_ += length;
  }
  uint64_t size() const { return lengths_.items(); }

  // Of the lists so far; valid until the next call.
  ListIndex view(std::string_view prefix) {
    return {{.starts = starts_.template as<int64_t>(),
             .lengths = lengths_.template as<uint8_t>(),
             .longs = longs_.template as<int64_t>()},
            items_,
            prefix};
  }
  void drop_pages() {
    for (Array* array : {&starts_, &lengths_, &longs_}) array->drop_pages();
  }

  void close(std::vector<ArrayRecord>& records) {
    starts_.append(static_cast<int64_t>(items_));
    const uint64_t longs = longs_.items() / 2;
    const std::array<ArrayRecord, 3> arrays = {starts_.close({starts_.items()}),
                                               lengths_.close({lengths_.items()}),
                                               longs_.close({longs, 2})};
    if (longs * ListIndex::kListsPerLong > size()) {
      records.push_back(replace_by_offsets(folder_, prefix_, arrays));
    } else {
      records.insert(records.end(), arrays.begin(), arrays.end());
    }
  }

 private:
  Path folder_;
  std::string prefix_;
  Array starts_;
  Array lengths_;
  Array longs_;
  uint64_t items_ = 0;
};

}  // namespace hgt
