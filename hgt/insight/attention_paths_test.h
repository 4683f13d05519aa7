// For the tests of attention trees: a tree as shares by path, and what must hold for each.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <vector>

#include "hgt/insight/attention_tree.h"

namespace hgt {

using RelationSteps = std::vector<uint32_t>;         // from the target on
using PathShares = std::map<RelationSteps, double>;  // of paths of all lengths

inline void collect_shares(const std::vector<AttentionBranch>& branches, RelationSteps path,
                           PathShares& shares) {
  path.push_back(0);
  for (const AttentionBranch& branch : branches) {
    path.back() = index(branch.relation);
    EXPECT_TRUE(shares.emplace(path, branch.attention).second) << "a path is there twice";
    collect_shares(branch.children, path, shares);
  }
}

inline PathShares path_shares(const AttentionTree& tree) {
  PathShares shares;
  collect_shares(tree.children, {}, shares);
  return shares;
}

inline void expect_same_shares(const PathShares& got, const PathShares& expected, double error) {
  ASSERT_EQ(got.size(), expected.size());
  for (const auto& [path, share] : expected) {
    ASSERT_TRUE(got.contains(path)) << testing::PrintToString(path);
    EXPECT_NEAR(got.at(path), share, error) << testing::PrintToString(path);
  }
}

inline void expect_sum(const std::vector<AttentionBranch>& branches, double sum, double error) {
  double shares = 0;
  for (const AttentionBranch& branch : branches) {
    shares += branch.attention;
    if (!branch.children.empty()) expect_sum(branch.children, branch.attention, error);
  }
  EXPECT_NEAR(shares, sum, error);
}

// The shares of paths of each length sum to one, children to their parent.
inline void expect_whole(const AttentionTree& tree, double error) {
  expect_sum(tree.children, 1, error);
  std::map<size_t, double> by_length;
  for (const auto& [path, share] : path_shares(tree)) by_length[path.size()] += share;
  EXPECT_EQ(by_length.size(), tree.layers);
  for (const auto& [length, sum] : by_length) EXPECT_NEAR(sum, 1, error) << length;
}

}  // namespace hgt
