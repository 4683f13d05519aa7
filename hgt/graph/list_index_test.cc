#include "hgt/graph/list_index.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "hgt/disk/temporary_test_folder.h"
#include "hgt/graph/graph_test_folder.h"
#include "hgt/random.h"

namespace hgt {
namespace {

using Lengths = std::vector<uint64_t>;
using Offsets = std::vector<uint64_t>;

// The obvious version: where each list begins, and where the last one ends.
Offsets offsets_of(const Lengths& lengths) {
  Offsets offsets(lengths.size() + 1);
  std::partial_sum(lengths.begin(), lengths.end(), offsets.begin() + 1);
  return offsets;
}

// The arrays of an index in memory, as docs/graph-format.md has them, to be damaged.
struct Stored {
  explicit Stored(const Lengths& given) {
    for (uint64_t list = 0; list < given.size(); ++list) {
      if (list % 64 == 0) starts.push_back(static_cast<int64_t>(items));
      lengths.push_back(static_cast<uint8_t>(std::min<uint64_t>(given[list], 255)));
      items += given[list];
      if (given[list] < 255) continue;
      longs.push_back(static_cast<int64_t>(list));
      longs.push_back(static_cast<int64_t>(given[list]) - 255);
    }
    starts.push_back(static_cast<int64_t>(items));
  }
  ListIndex view() const {
    return {{.starts = starts, .lengths = lengths, .longs = longs}, items, "folder/x"};
  }

  std::vector<int64_t> starts;
  std::vector<uint8_t> lengths;
  std::vector<int64_t> longs;
  uint64_t items = 0;
};

void expect_lists(const ListIndex& index, const Offsets& offsets, uint64_t most) {
  ASSERT_EQ(index.size() + 1, offsets.size());
  Offsets found;
  for (uint64_t first = 0; first <= index.size(); ++first) {
    for (uint64_t last = first; last <= std::min(first + most, index.size()); ++last) {
      const ListRange range = index.range(first, last);
      ASSERT_EQ(range.begin, offsets[first]) << first << " to " << last;
      ASSERT_EQ(range.end, offsets[last]) << first << " to " << last;
      found.resize(last - first + 1);
      index.find(first, found);
      for (uint64_t i = first; i <= last; ++i) ASSERT_EQ(found[i - first], offsets[i]);
    }
  }
  index.check();
}

Lengths random_lengths(uint64_t lists, double long_share, uint64_t seed) {
  constexpr std::array<uint64_t, 6> kSpecial = {0, 1, 253, 254, 255, 256};
  Draws draws(hash(seed, lists));
  Lengths lengths(lists);
  for (uint64_t& length : lengths) {
    length = draws.chance(0.1) ? kSpecial.at(draws.below(6)) : draws.below(12);
    if (draws.chance(long_share)) length = 255 + draws.below(100'000);
  }
  return lengths;
}

TEST(ListIndex, FindsWhatTheObviousVersionFinds) {
  for (const uint64_t lists : {0U, 1U, 7U, 8U, 63U, 64U, 65U, 128U, 129U, 700U}) {
    for (const double long_share : {0.0, 0.02, 0.9, 1.0}) {
      const Lengths lengths = random_lengths(lists, long_share, 1);
      const Stored stored(lengths);
      expect_lists(stored.view(), offsets_of(lengths), 140);
    }
  }
}

TEST(ListIndex, ReadsOffsets) {
  const Offsets offsets = offsets_of(random_lengths(200, 0.1, 2));
  const std::vector<int64_t> stored(offsets.begin(), offsets.end());
  expect_lists(ListIndex(stored, offsets.back(), "x"), offsets, 70);
}

// What a writer has written, by the name of the array.
template <typename Array>
std::map<std::string, ArrayRecord> written(const Path& folder, const Lengths& lengths) {
  ListIndexWriter<Array> writer(folder, "x");
  for (const uint64_t length : lengths) writer.append(length);
  std::vector<ArrayRecord> records;
  writer.close(records);
  std::map<std::string, ArrayRecord> by_name;
  for (const ArrayRecord& record : records) by_name.emplace(record.file, record);
  EXPECT_EQ(by_name.size(), names_in(folder).size());
  return by_name;
}
template <typename T>
std::vector<T> items_of(const Path& folder, const ArrayRecord& record) {
  const MappedArray array(folder, record);
  return {array.as<T>().begin(), array.as<T>().end()};
}

TEST(ListIndex, IsWrittenAsDocumented) {
  for (const uint64_t lists : {0U, 1U, 64U, 3000U}) {
    Lengths lengths = random_lengths(lists, 0, 6);
    for (uint64_t& length : lengths) length = std::min<uint64_t>(length, 254);
    if (lists == 3000) lengths[70] = 255;
    if (lists == 3000) lengths[2999] = 70'000;
    const TestFolder folder;
    const auto arrays = written<ArrayStream>(folder.path(), lengths);
    const Stored expected(lengths);
    ASSERT_EQ(arrays.size(), 3U);
    EXPECT_EQ(items_of<int64_t>(folder.path(), arrays.at("x_starts.npy")), expected.starts);
    EXPECT_EQ(items_of<uint8_t>(folder.path(), arrays.at("x_lengths.npy")), expected.lengths);
    EXPECT_EQ(items_of<int64_t>(folder.path(), arrays.at("x_long.npy")), expected.longs);
    EXPECT_EQ(arrays.at("x_long.npy").shape, (std::vector<uint64_t>{expected.longs.size() / 2, 2}));
  }
}

TEST(ListIndex, IsWrittenAsOffsetsWhereLongListsAreNotRare) {
  for (const uint64_t lists : {1U, 1023U, 10'000U}) {
    Lengths lengths = random_lengths(lists, 0.01, 7);
    lengths.back() = 300;
    const TestFolder folder;
    const auto arrays = written<GrowingArray>(folder.path(), lengths);
    ASSERT_EQ(arrays.size(), 1U);
    const Offsets offsets = offsets_of(lengths);
    EXPECT_EQ(items_of<int64_t>(folder.path(), arrays.at("x_offsets.npy")),
              std::vector<int64_t>(offsets.begin(), offsets.end()));
  }
}

TEST(ListIndex, IsReadWhileItIsWritten) {
  const TestFolder folder;
  ListIndexWriter<GrowingArray> writer(folder.path(), "x");
  const Lengths lengths = random_lengths(300, 0.2, 3);
  const Offsets offsets = offsets_of(lengths);
  for (uint64_t list = 0; list < lengths.size(); ++list) {
    writer.append(lengths[list]);
    if (list % 50 == 0) writer.drop_pages();
    const ListIndex index = writer.view("x");
    ASSERT_EQ(index.size(), list + 1);
    for (uint64_t i = list < 70 ? 0 : list - 70; i <= list; ++i) {
      ASSERT_EQ(index.range(i, i + 1).begin, offsets[i]);
      ASSERT_EQ(index.range(i, i + 1).end, offsets[i + 1]);
    }
  }
}

TEST(ListIndex, IsWrittenAlikeInAStreamAndInPlace) {
  for (const double long_share : {0.0, 0.1}) {
    const TestFolder growing;
    const TestFolder stream;
    const Lengths lengths = random_lengths(500, long_share, 4);
    written<GrowingArray>(growing.path(), lengths);
    written<ArrayStream>(stream.path(), lengths);
    EXPECT_EQ(folder_bytes(growing.path()), folder_bytes(stream.path()));
  }
}

// --- damage ---

// What finding and checking says of a damaged index. Whatever is found lies within the items.
struct Verdict {
  std::string first_error;  // of finding
  std::string check_error;
};
Verdict verdict(const Stored& stored) {
  Verdict result;
  const ListIndex index = stored.view();
  Offsets found(4);
  for (uint64_t list = 0; list + 3 <= index.size(); ++list) {
    const std::string error = error_of([&] {
      const ListRange range = index.range(list, list + 3);
      EXPECT_LE(range.begin, range.end);
      EXPECT_LE(range.end, stored.items);
      index.find(list, found);
      EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
      EXPECT_LE(found.back(), stored.items);
    });
    if (result.first_error.empty()) result.first_error = error;
  }
  result.check_error = error_of([&] { index.check(); });
  return result;
}

const Lengths& damaged_lengths() {
  static const Lengths lengths = random_lengths(200, 0.1, 5);
  return lengths;
}

TEST(ListIndex, WithAnyOtherNumberFailsItsCheckAndNeverLeavesTheItems) {
  const Stored good(damaged_lengths());
  ASSERT_EQ(verdict(good).check_error, "");
  const auto refuse = [](const Stored& bad) {
    EXPECT_TRUE(contains(verdict(bad).check_error, "folder/x_")) << verdict(bad).check_error;
  };
  for (size_t i = 0; i < good.lengths.size(); ++i) {
    for (const uint8_t length : {0, 3, 254, 255}) {
      Stored bad = good;
      if (std::exchange(bad.lengths[i], length) != length) refuse(bad);
    }
  }
  const std::vector<int64_t> values = {-1,
                                       0,
                                       5,
                                       int64_t{1} << 40U,
                                       std::numeric_limits<int64_t>::max(),
                                       std::numeric_limits<int64_t>::min()};
  for (auto array : {&Stored::starts, &Stored::longs}) {
    for (size_t i = 0; i < (good.*array).size(); ++i) {
      for (const int64_t value : values) {
        Stored bad = good;
        if (std::exchange((bad.*array)[i], value) != value) refuse(bad);
      }
    }
  }
}

TEST(ListIndex, NamesTheFileThatIsDamaged) {
  const auto error = [](const std::function<void(Stored&)>& damage) {
    Stored bad(damaged_lengths());
    damage(bad);
    return verdict(bad).first_error;
  };
  EXPECT_TRUE(contains(error([](Stored& bad) { bad.starts[1] = -1; }), "folder/x_starts.npy: "));
  EXPECT_TRUE(contains(error([](Stored& bad) { bad.longs.clear(); }), "folder/x_long.npy: "));
  EXPECT_TRUE(contains(error([](Stored& bad) { bad.longs[1] = -1; }), "folder/x_long.npy: "));
  EXPECT_TRUE(contains(error([](Stored& bad) { bad.longs[1] = 1 << 30; }), "folder/x_long.npy: "));
  EXPECT_TRUE(contains(error([](Stored& bad) { std::swap(bad.longs[0], bad.longs[2]); }),
                       "folder/x_long.npy: "));
  EXPECT_TRUE(contains(error([](Stored& bad) { bad.starts[1] = static_cast<int64_t>(bad.items); }),
                       "folder/x_lengths.npy: "));
}

TEST(ListIndex, OfOffsetsNamesItsFile) {
  using Stored1 = std::vector<int64_t>;
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  for (const Stored1& offsets : {Stored1{-1, 2, 3}, Stored1{2, 1, 3}, Stored1{0, 4, 3},
                                 Stored1{0, kLargest, 3}, Stored1{-kLargest, kLargest, kLargest}}) {
    const ListIndex index(offsets, 3, "folder/x");
    Offsets found(3);
    EXPECT_TRUE(
        contains(error_of([&] { index.range(0, 1); }) + error_of([&] { index.range(1, 2); }),
                 "folder/x_offsets.npy: "));
    EXPECT_TRUE(contains(error_of([&] { index.find(0, found); }), "folder/x_offsets.npy: "));
    EXPECT_TRUE(contains(error_of([&] { index.check(); }), "folder/x_offsets.npy: "));
  }
}

}  // namespace
}  // namespace hgt
