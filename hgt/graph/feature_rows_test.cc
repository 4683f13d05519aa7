#include "hgt/graph/feature_rows.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "hgt/graph/array_file.h"
#include "hgt/graph/graph_test_folder.h"
#include "hgt/graph/stored_features.h"
#include "hgt/random.h"

namespace hgt {
namespace {

constexpr uint64_t kNodes = 500;

class FeatureRowsTest : public testing::TestWithParam<FeatureType> {
 protected:
  // A file of rows of that width, and their numbers as they must come back.
  void make(uint64_t width) {
    Draws draws(width);
    numbers_.assign(kNodes, std::vector<float>(width));
    std::string bytes =
        array_header(stored_dtype(type_), std::vector{kNodes, stored_columns(type_, width)});
    std::vector<std::byte> row(stored_row_bytes(type_, width));
    for (std::vector<float>& values : numbers_) {
      for (float& value : values) value = static_cast<float>(draws.unit() * 2 - 1);
      store_row(values, type_, row.data());
      EXPECT_TRUE(load_row(row.data(), type_, values));
      bytes.append(reinterpret_cast<const char*>(row.data()), row.size());
    }
    write_bytes(file_, bytes);
    rows_ = FeatureRows(file_, type_, width);
  }

  // Some lie together, some are asked for twice.
  static std::vector<NodeId> random_nodes(Draws& draws) {
    std::vector<NodeId> nodes;
    while (nodes.size() < 300) {
      const auto first = static_cast<NodeId>(draws.below(kNodes));
      const uint64_t run = draws.chance(0.5) ? 1 : 1 + draws.below(30);
      for (uint64_t i = 0; i < run && first + i < kNodes; ++i) {
        nodes.push_back(first + static_cast<NodeId>(i));
      }
    }
    return nodes;
  }

  const FeatureType type_ = GetParam();
  const TestFolder folder_;
  const Path file_ = folder_ / "rows.npy";
  RangeReader reader_;
  FeatureRows rows_;
  std::vector<std::vector<float>> numbers_;  // by node
};

INSTANTIATE_TEST_SUITE_P(EveryType, FeatureRowsTest,
                         testing::Values(FeatureType::float32, FeatureType::float16,
                                         FeatureType::int8),
                         [](const auto& type) { return std::string(to_string(type.param)); });

TEST_P(FeatureRowsTest, AreThoseOfTheNodesInTheirOrder) {
  Draws draws(1);
  for (const uint64_t width : {1U, 2U, 3U, 64U, 129U, 1500U}) {
    make(width);
    for (const uint64_t more : {0U, 1U, 7U}) {
      const std::vector<NodeId> nodes = random_nodes(draws);
      const uint64_t stride = width + more;
      std::vector<float> into(nodes.size() * stride);
      rows_.read(nodes, reader_, into, stride);
      for (size_t i = 0; i < nodes.size(); ++i) {
        const auto row = into.begin() + static_cast<ptrdiff_t>(i * stride);
        ASSERT_TRUE(std::equal(numbers_[nodes[i]].begin(), numbers_[nodes[i]].end(), row))
            << "width " << width << ", stride " << stride << ", row " << i;
      }
    }
  }
}

TEST_P(FeatureRowsTest, OfAFileThatWasCutAreAnError) {
  make(5);
  std::filesystem::resize_file(file_, std::filesystem::file_size(file_) - 1);
  std::vector<float> into(10);
  EXPECT_NO_THROW(rows_.read(std::vector<NodeId>{7, kNodes - 2}, reader_, into, 5));
  const std::string error = error_of([&] {
    rows_.read(std::vector<NodeId>{7, kNodes - 1}, reader_, into, 5);
  });
  EXPECT_TRUE(contains(error, file_.native())) << error;
}

using FeatureRowsInBytes = FeatureRowsTest;
INSTANTIATE_TEST_SUITE_P(Damaged, FeatureRowsInBytes, testing::Values(FeatureType::int8));

TEST_P(FeatureRowsInBytes, WithoutAFiniteSizeAreAnError) {
  make(5);
  std::string bytes = read_bytes(file_);
  const float bad = std::numeric_limits<float>::infinity();
  std::memcpy(bytes.data() + kArrayHeaderBytes + 9 * stored_row_bytes(type_, 5), &bad, sizeof(bad));
  write_bytes(file_, bytes);
  std::vector<float> into(10);
  const std::string error = error_of([&] {
    rows_.read(std::vector<NodeId>{8, 9}, reader_, into, 5);
  });
  EXPECT_TRUE(contains(error, file_.native())) << error;
  EXPECT_TRUE(contains(error, "node 9")) << error;
}

}  // namespace
}  // namespace hgt
