// Many rows, and processes that are killed while they write them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <vector>

#include "hgt/graph/feature_writer.h"
#include "hgt/graph/feature_writer_test_folder.h"
#include "hgt/graph/graph_check.h"

namespace hgt {
namespace {

constexpr uint64_t kManyNodes = 70'000;  // more than a writer saves at once

class ManyRows : public FeatureWriterTest {
 protected:
  ManyRows() {
    Schema schema;
    const NodeType type = schema.add_node_type("dot", NodeKind::plain);
    schema.number_relations();
    GraphBuilder builder(path(), schema, {.replace = true});
    for (uint64_t i = 0; i < kManyNodes; ++i) builder.add_node(type, {});
    builder.finish();
  }
  static float value(uint64_t node) { return static_cast<float>(node % 1000); }
  static void append_up_to(FeatureWriter& writer, uint64_t end) {
    while (writer.rows() < end) {
      const uint64_t count = std::min<uint64_t>(4096, end - writer.rows());
      std::vector<float> numbers;
      for (uint64_t i = 0; i < count; ++i) numbers.push_back(value(writer.rows() + i));
      writer.append(numbers, std::vector<bool>(count, false));
    }
  }
  void expect_whole() const {
    const HeteroGraph graph = open();
    verify(graph);
    const auto numbers = graph.features(NodeType(0)).floats;
    ASSERT_EQ(numbers.size(), kManyNodes);
    for (uint64_t i = 0; i < kManyNodes; ++i) ASSERT_EQ(numbers[i], value(i)) << i;
  }
};

TEST_F(ManyRows, AKilledProcessLosesOnlyTheLastRows) {
  const int code = in_child([&] {
    const FeatureLock lock(path());
    FeatureSetWriter set = begin(lock);
    FeatureWriter writer(set, "dot", spec("one", 1));
    append_up_to(writer, 66'000);
    ::raise(SIGKILL);
    return 0;
  });
  ASSERT_EQ(code, 128 + SIGKILL);
  verify(open());
  const FeatureLock lock(path());  // died with the process
  FeatureSetWriter set = begin(lock);
  FeatureWriter writer(set, "dot", spec("one", 1));
  EXPECT_EQ(writer.rows(), 65'536U);
  append_up_to(writer, kManyNodes);
  EXPECT_FALSE(writer.finish().flagged);
  expect_whole();
}

TEST_F(ManyRows, AProcessKilledEarlyLeavesNothingToGoOnFrom) {
  const int code = in_child([&] {
    const FeatureLock lock(path());
    FeatureSetWriter set = begin(lock);
    FeatureWriter writer(set, "dot", spec("one", 1));
    append_up_to(writer, 10'000);
    ::_exit(7);
    return 0;
  });
  ASSERT_EQ(code, 7);
  verify(open());
  const FeatureLock lock(path());
  FeatureSetWriter set = begin(lock);
  FeatureWriter writer(set, "dot", spec("one", 1));
  EXPECT_EQ(writer.rows(), 0U);
  append_up_to(writer, kManyNodes);
  writer.finish();
  expect_whole();
}

TEST_F(ManyRows, TakesOffTheFlagsOfRowsThatDoNotFitInMemoryAtOnce) {
  constexpr uint64_t kWidth = 40;  // 11 MB: three pieces
  const FeatureLock lock(path());
  FeatureSetWriter set = begin(lock);
  FeatureWriter writer(set, "dot", spec("one", kWidth));
  std::vector<float> numbers(kManyNodes * kWidth);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = value(i);
  writer.append(numbers, std::vector<bool>(kManyNodes, false));
  EXPECT_FALSE(writer.finish().flagged);
  const HeteroGraph graph = open();
  const auto got = graph.features(NodeType(0)).floats;
  EXPECT_TRUE(std::equal(got.begin(), got.end(), numbers.begin(), numbers.end()));
}

TEST_F(ManyRows, FindsTheOneMissingNode) {
  const FeatureLock lock(path());
  FeatureSetWriter set = begin(lock);
  FeatureWriter writer(set, "dot", spec("one", 1, FeatureType::float16));
  append_up_to(writer, kManyNodes - 1);
  writer.append(std::vector<float>{1}, {true});
  const FeatureSpec made = writer.finish();
  EXPECT_TRUE(made.flagged);
  EXPECT_EQ(made.missing, 1U);
  verify(open());
}

}  // namespace
}  // namespace hgt
