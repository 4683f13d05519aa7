#include "hgt/graph/id_map.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "hgt/graph/graph_test_folder.h"
#include "hgt/graph/listed_arrays.h"
#include "hgt/random.h"

namespace hgt {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(CanonicalNumber, IsWhatToStringPrints) {
  for (const int64_t number : {int64_t{0}, int64_t{7}, int64_t{-3}, int64_t{10}, kMin, kMax}) {
    EXPECT_EQ(canonical_number(std::to_string(number)), number);
  }
  for (const char* text :
       {"", "-", "+3", "07", "00", "-0", "-07", "--1", " 7", "7 ", "7.0", "1e3", "0x7", "x",
        "9223372036854775808", "-9223372036854775809", "99999999999999999999999"}) {
    EXPECT_EQ(canonical_number(text), std::nullopt) << text;
  }
  EXPECT_EQ(canonical_number(std::string_view("7\0", 2)), std::nullopt);
}

TEST(SequenceNode, CountsFromTheFirstIdAndNoFurtherThanTheNodes) {
  EXPECT_EQ(sequence_node(7, 3, "7"), 0U);
  EXPECT_EQ(sequence_node(7, 3, "9"), 2U);
  EXPECT_EQ(sequence_node(7, 3, "10"), std::nullopt);
  EXPECT_EQ(sequence_node(7, 3, "6"), std::nullopt);
  EXPECT_EQ(sequence_node(7, 3, "08"), std::nullopt);
  EXPECT_EQ(sequence_node(-2, 5, "0"), 2U);
  EXPECT_EQ(sequence_node(kMin, 5, std::to_string(kMin + 4)), 4U);
  EXPECT_EQ(sequence_node(kMin, 5, std::to_string(kMax)), std::nullopt);
  EXPECT_EQ(sequence_node(kMax, 1, std::to_string(kMax)), 0U);
  EXPECT_EQ(sequence_node(kMax, 1, std::to_string(kMin)), std::nullopt);
  EXPECT_EQ(sequence_node(0, 0, "0"), std::nullopt);
}

// The arrays of a column of strings, read back as a graph would.
class MappedStrings {
 public:
  MappedStrings() = default;
  MappedStrings(const Path& folder, const std::vector<ArrayRecord>& records,
                const std::string& prefix, uint64_t strings) {
    Schema schema;
    schema.arrays = records;
    const ListedArrays listed(folder, schema);
    listed.map(bytes_, prefix + "_bytes.npy", "|u1");
    listed.map_lists(*lists_, prefix, strings, bytes_.as<char>().size());
  }
  StringColumn column() const { return {.strings = lists_->lists, .bytes = bytes_.as<char>()}; }

 private:
  std::unique_ptr<ListArrays> lists_ = std::make_unique<ListArrays>();
  MappedArray bytes_;
};

// What a map has written, read back as a graph would.
class Written {
 public:
  Written(const Path& folder, IdMap& map) {
    std::vector<ArrayRecord> records;
    first_ = map.close(records);
    if (first_) {
      EXPECT_TRUE(records.empty());
      return;
    }
    strings_ = MappedStrings(folder, records, "id", map.size());
    index_ = MappedArray(folder, records.back());
  }
  std::optional<int64_t> first() const { return first_; }
  IdIndex index() const { return {.slots = index_.as<uint32_t>(), .ids = strings_.column()}; }

 private:
  std::optional<int64_t> first_;
  MappedStrings strings_;
  MappedArray index_;
};

void expect_sequence(int64_t first, uint64_t count) {
  const TestFolder folder;
  IdMap map(folder.path(), "id");
  for (uint64_t i = 0; i < count; ++i) {
    const std::string id = std::to_string(first + static_cast<int64_t>(i));
    ASSERT_EQ(map.insert(id), i) << id;
    ASSERT_EQ(map.insert(id), std::nullopt) << "a duplicate";
    ASSERT_EQ(map.find(id), i) << id;
  }
  EXPECT_EQ(map.size(), count);
  EXPECT_EQ(Written(folder.path(), map).first(), first);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "ids that count up need no files";
}

TEST(IdMap, NeedsNoFilesForIdsThatCountUpFromAnywhere) {
  expect_sequence(0, 1000);
  expect_sequence(7, 1000);
  expect_sequence(-500, 1000);
  expect_sequence(kMin, 10);
  expect_sequence(kMax - 9, 10);
}

TEST(IdMap, WithoutIdsNeedsNoFiles) {
  const TestFolder folder;
  IdMap map(folder.path(), "id");
  EXPECT_EQ(map.find("0"), std::nullopt);
  EXPECT_EQ(map.find(""), std::nullopt);
  EXPECT_EQ(Written(folder.path(), map).first(), 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(IdMap, NumbersNodesWithoutAnId) {
  const TestFolder folder;
  IdMap map(folder.path(), "id");
  for (NodeId i = 0; i < 100; ++i) EXPECT_EQ(map.insert_number(), i);
  EXPECT_EQ(map.find("99"), 99U);
  EXPECT_EQ(map.find("100"), std::nullopt);
  EXPECT_EQ(Written(folder.path(), map).first(), 0);
}

TEST(IdMap, KeepsEarlierIdsWhenTheSequenceBreaks) {
  for (const std::string breaker :
       {"13", "011", "x", "", "9", "-8", "+11", "11 ", "1e1", "99999999999999999999999"}) {
    const TestFolder folder;
    IdMap map(folder.path(), "id");
    for (int i = 8; i < 11; ++i) ASSERT_TRUE(map.insert(std::to_string(i)));
    if (breaker == "9") {  // a duplicate is refused and breaks nothing
      EXPECT_EQ(map.insert(breaker), std::nullopt);
      EXPECT_EQ(Written(folder.path(), map).first(), 8);
      continue;
    }
    ASSERT_EQ(map.insert(breaker), 3U) << breaker;
    ASSERT_EQ(map.insert("11"), 4U) << breaker;  // back to numbers: no way back to a sequence
    ASSERT_EQ(map.insert("8"), std::nullopt);
    ASSERT_EQ(map.insert(breaker), std::nullopt);
    const std::vector<std::string> ids = {"8", "9", "10", breaker, "11"};
    for (NodeId node = 0; node < ids.size(); ++node) ASSERT_EQ(map.find(ids[node]), node);
    const Written written(folder.path(), map);
    EXPECT_EQ(written.first(), std::nullopt);
    ASSERT_EQ(written.index().ids.size(), 5U);
    for (NodeId node = 0; node < ids.size(); ++node) {
      EXPECT_EQ(written.index().ids.at(node), ids[node]);
      EXPECT_EQ(written.index().find(ids[node]), node);
    }
    EXPECT_EQ(written.index().find("12"), std::nullopt);
  }
}

TEST(IdMap, DoesNotCountOnFromTheLargestNumberToTheSmallest) {
  const TestFolder folder;
  IdMap map(folder.path(), "id");
  const std::vector<std::string> ids = {std::to_string(kMax), std::to_string(kMin)};
  ASSERT_EQ(map.insert(ids[0]), 0U);
  ASSERT_EQ(map.insert(ids[1]), 1U);
  EXPECT_EQ(map.find(ids[0]), 0U);
  EXPECT_EQ(map.find(ids[1]), 1U);
  EXPECT_EQ(map.insert(ids[1]), std::nullopt);
}

TEST(IdMap, NeverGivesANodeWithoutAnIdTheIdOfAnother) {
  const TestFolder folder;
  IdMap map(folder.path(), "id");
  ASSERT_EQ(map.insert("x"), 0U);
  ASSERT_EQ(map.insert("2"), 1U);
  EXPECT_EQ(map.insert_number(), std::nullopt) << "the third node's own number is taken";
  EXPECT_EQ(map.size(), 2U);
  EXPECT_EQ(map.find("2"), 1U);
}

// Ids of many kinds: short and long, numbers, any bytes.
std::string random_id(Draws& draws) {
  switch (draws.below(5)) {
    case 0:
      return std::to_string(draws.below(20'000));
    case 1:
      return "P" + std::to_string(draws.below(30'000));
    case 2:
      return std::string(draws.below(40), '\0');
    case 3:
      return std::string(1000 + draws.below(3000), static_cast<char>(draws.below(256)));
    default:
      break;
  }
  std::string id(draws.below(12), ' ');
  for (char& c : id) c = static_cast<char>(draws.below(256));
  return id;
}

TEST(IdMap, AgreesWithAnUnorderedMapOnRandomIds) {
  const TestFolder folder;
  std::unordered_map<std::string, NodeId> oracle;
  std::vector<std::string> ids;
  IdMap map(folder.path(), "id");
  Draws draws(81);
  for (int i = 0; i < 60'000; ++i) {
    const std::string id = random_id(draws);
    const auto [at, is_new] = oracle.emplace(id, static_cast<NodeId>(oracle.size()));
    const auto expected = is_new ? std::optional(at->second) : std::nullopt;
    ASSERT_EQ(map.insert(id), expected);
    if (is_new) ids.push_back(id);
    if (i % 10'000 == 0) map.drop_pages();
    const std::string other = random_id(draws);
    const auto found = oracle.find(other);
    ASSERT_EQ(map.find(other), found == oracle.end() ? std::nullopt : std::optional(found->second));
  }
  ASSERT_GT(ids.size(), 20'000U);
  ASSERT_EQ(map.size(), ids.size());
  const Written written(folder.path(), map);
  ASSERT_EQ(written.index().ids.size(), ids.size());
  for (NodeId node = 0; node < ids.size(); ++node) {
    ASSERT_EQ(written.index().ids.at(node), ids[node]);
    ASSERT_EQ(written.index().find(ids[node]), node);
  }
}

TEST(IdMap, WritesAnIndexThatIsAPowerOfTwoAndAtLeastTwiceTheNodes) {
  for (const uint64_t count : {1U, 511U, 512U, 513U, 3000U}) {
    const TestFolder folder;
    IdMap map(folder.path(), "id");
    for (uint64_t i = 0; i < count; ++i) ASSERT_TRUE(map.insert("n" + std::to_string(i)));
    const Written written(folder.path(), map);
    const uint64_t slots = written.index().slots.size();
    EXPECT_EQ(slots & (slots - 1), 0U);
    EXPECT_GE(slots, 2 * count);
    const auto used = slots - static_cast<uint64_t>(std::count(written.index().slots.begin(),
                                                               written.index().slots.end(), 0U));
    EXPECT_EQ(used, count);
  }
}

TEST(IdMap, WritesTheSameBytesWhetherTheIdsBeganAsASequenceOrNot) {
  const TestFolder first;
  const TestFolder second;
  IdMap sequence(first.path(), "id");
  for (int i = 0; i < 2000; ++i) sequence.insert_number();
  ASSERT_TRUE(sequence.insert("end"));
  IdMap text(second.path(), "id");
  for (int i = 0; i < 2000; ++i) ASSERT_TRUE(text.insert(std::to_string(i)));
  ASSERT_TRUE(text.insert("end"));
  EXPECT_FALSE(Written(first.path(), sequence).first());
  EXPECT_FALSE(Written(second.path(), text).first());
  EXPECT_EQ(folder_bytes(first.path()), folder_bytes(second.path()));
}

TEST(IdIndex, WithoutAFreeSlotStillEndsItsSearch) {
  const std::vector<int64_t> offsets = {0, 1};
  const std::string bytes = "a";
  const std::vector<uint32_t> slots(4, 1);
  const IdIndex index{.slots = slots,
                      .ids = {.strings = {offsets, bytes.size(), "id"}, .bytes = bytes}};
  EXPECT_EQ(index.find("zzz"), std::nullopt);
  EXPECT_EQ(index.find(""), std::nullopt);
  EXPECT_EQ(index.find("a"), 0U);
  EXPECT_EQ(IdIndex{}.find("a"), std::nullopt);
}

TEST(IdIndex, NamesItsFileWhenItHoldsNoNode) {
  const std::vector<int64_t> offsets = {0, 1};
  const std::string bytes = "a";
  for (const uint32_t slot : {2U, 0xffffffffU}) {
    const std::vector<uint32_t> slots(4, slot);
    const IdIndex index{.slots = slots,
                        .ids = {.strings = {offsets, bytes.size(), "id"}, .bytes = bytes},
                        .file = "id_index.npy"};
    for (const char* id : {"zzz", "", "a"}) {
      EXPECT_TRUE(contains(error_of([&] { index.find(id); }), "id_index.npy: names node"));
    }
  }
}

TEST(StringColumn, GivesItsStringsAndNoOthers) {
  const TestFolder folder;
  const std::string text = "bc";
  const std::vector<std::string> strings = {"", "a", std::string(300, 'x'), text, ""};
  StringColumnStream stream(folder.path(), "name");
  for (const std::string& string : strings) stream.append(string);
  std::vector<ArrayRecord> records;
  stream.close(records);
  const MappedStrings mapped(folder.path(), records, "name", strings.size());
  const StringColumn column = mapped.column();
  ASSERT_EQ(column.size(), strings.size());
  for (size_t row = 0; row < strings.size(); ++row) EXPECT_EQ(column.at(row), strings[row]);
  EXPECT_TRUE(contains(error_of([&] { column.at(5); }), "name: has no row 5, only 5 rows"));
  EXPECT_EQ(StringColumn{}.size(), 0U);
}

}  // namespace
}  // namespace hgt
