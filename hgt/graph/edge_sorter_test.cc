#include "hgt/graph/edge_sorter.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <limits>
#include <tuple>
#include <vector>

#include "hgt/error.h"
#include "hgt/graph/graph_test_folder.h"
#include "hgt/limited_threads_test.h"
#include "hgt/random.h"

namespace hgt {
namespace {

constexpr uint64_t kSmallMemory = uint64_t{256} << 10U;
constexpr uint64_t kLargeMemory = uint64_t{64} << 20U;

bool before(const Edge& a, const Edge& b) {
  const auto key = [](const Edge& edge) {
    // -0 and 0 are equal numbers: -0 goes first.
    return std::tuple(edge.target, edge.source, edge.time, edge.weight, !std::signbit(edge.weight));
  };
  return key(a) < key(b);
}

bool same(const Edge& a, const Edge& b) { return !before(a, b) && !before(b, a); }

Time random_time(Draws& draws) {
  switch (draws.below(6)) {
    case 0:
      return kNoTime;
    case 1:
      return std::numeric_limits<Time>::max();
    case 2:
      return kNoTime + 1;
    default:
      return static_cast<Time>(draws.below(41)) - 20;
  }
}

float random_weight(Draws& draws) {
  constexpr std::array<float, 6> kSpecial = {0.0F,
                                             -0.0F,
                                             1e-45F,
                                             -1e-45F,
                                             std::numeric_limits<float>::max(),
                                             -std::numeric_limits<float>::infinity()};
  if (draws.chance(0.2)) return kSpecial.at(draws.below(kSpecial.size()));
  return static_cast<float>(draws.unit() * 8 - 4);
}

// Few ends, so that many edges agree in both of them; some of the largest node numbers.
std::vector<Edge> random_edges(uint64_t count, bool times, bool weights, uint64_t seed) {
  Draws draws(seed);
  std::vector<Edge> edges(count);
  for (Edge& edge : edges) {
    edge.source = static_cast<NodeId>(draws.below(200));
    edge.target = static_cast<NodeId>(draws.below(300));
    if (draws.chance(0.05)) edge.source = std::numeric_limits<NodeId>::max() - edge.source;
    if (draws.chance(0.05)) edge.target = std::numeric_limits<NodeId>::max() - edge.target;
    if (times) edge.time = random_time(draws);
    if (weights) edge.weight = random_weight(draws);
  }
  return edges;
}

std::vector<Edge> read_all(EdgeSorter& sorter) {
  std::vector<Edge> edges;
  sorter.begin_reading();
  for (; sorter.current() != nullptr; sorter.advance()) edges.push_back(*sorter.current());
  return edges;
}

void expect_same(const std::vector<Edge>& found, std::vector<Edge> expected) {
  std::sort(expected.begin(), expected.end(), before);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_TRUE(same(found[i], expected[i])) << "place " << i;
  }
}

struct Sorted {
  std::vector<Edge> edges;
  uint64_t runs;
};

Sorted sort_with(uint64_t memory, bool times, bool weights, const std::vector<Edge>& edges,
                 unsigned threads = 1) {
  const TestFolder folder;
  SortSpace space(folder.path(), memory, threads);
  EdgeSorter sorter(space, times, weights);
  for (const Edge& edge : edges) sorter.add(edge);
  EXPECT_EQ(sorter.size(), edges.size());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "a run is visible in the folder";
  Sorted result{.edges = read_all(sorter), .runs = sorter.runs()};
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "a run is visible in the folder";
  return result;
}

class EdgeSorterKinds : public testing::TestWithParam<std::tuple<bool, bool>> {
 protected:
  bool times() const { return std::get<0>(GetParam()); }
  bool weights() const { return std::get<1>(GetParam()); }
};

TEST_P(EdgeSorterKinds, SortsInMemoryLikeStdSort) {
  const auto edges = random_edges(100'000, times(), weights(), 5);
  const Sorted sorted = sort_with(kLargeMemory, times(), weights(), edges);
  EXPECT_EQ(sorted.runs, 0U);
  expect_same(sorted.edges, edges);
}

TEST_P(EdgeSorterKinds, SortsThroughRunsOnDiskLikeStdSort) {
  const auto edges = random_edges(100'000, times(), weights(), 6);
  const Sorted sorted = sort_with(kSmallMemory, times(), weights(), edges);
  EXPECT_GT(sorted.runs, 1U);
  expect_same(sorted.edges, edges);
}

TEST_P(EdgeSorterKinds, GivesTheSameOrderWhateverTheMemoryBound) {
  const auto edges = random_edges(50'000, times(), weights(), 7);
  const auto expected = sort_with(kLargeMemory, times(), weights(), edges).edges;
  uint64_t last_runs = std::numeric_limits<uint64_t>::max();
  for (const uint64_t memory : {uint64_t{0}, uint64_t{100'000}, kSmallMemory, kLargeMemory}) {
    const Sorted sorted = sort_with(memory, times(), weights(), edges);
    EXPECT_LE(sorted.runs, last_runs) << memory;
    last_runs = sorted.runs;
    ASSERT_EQ(sorted.edges.size(), expected.size());
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), sorted.edges.begin(), same)) << memory;
  }
  EXPECT_EQ(last_runs, 0U);
}

TEST_P(EdgeSorterKinds, GivesTheSameOrderWithAnyNumberOfThreads) {
  const auto edges = random_edges(200'000, times(), weights(), 9);
  for (const unsigned threads : {0, 2, 5}) {
    for (const uint64_t memory : {kSmallMemory, kLargeMemory}) {
      expect_same(sort_with(memory, times(), weights(), edges, threads).edges, edges);
    }
  }
}

TEST_P(EdgeSorterKinds, SortsAnyNumberOfEdgesAroundABlock) {
  const uint64_t block = (64U << 10U) / (times() || weights() ? 16 : 8);
  for (const uint64_t count : {uint64_t{0}, uint64_t{1}, uint64_t{2}, block - 1, block, block + 1,
                               2 * block, 3 * block + 1}) {
    const auto edges = random_edges(count, times(), weights(), 8 + count);
    expect_same(sort_with(0, times(), weights(), edges).edges, edges);
  }
}

INSTANTIATE_TEST_SUITE_P(All, EdgeSorterKinds, testing::Combine(testing::Bool(), testing::Bool()),
                         [](const auto& kind) {
                           const std::string times = std::get<0>(kind.param) ? "Times" : "";
                           const std::string weights = std::get<1>(kind.param) ? "Weights" : "";
                           return times + weights + (times + weights == "" ? "Plain" : "");
                         });

TEST(EdgeSorter, OfPlainEdgesGivesTheDefaultTimeAndWeight) {
  const auto edges = sort_with(kLargeMemory, false, false, {{.source = 3, .target = 4}}).edges;
  ASSERT_EQ(edges.size(), 1U);
  EXPECT_TRUE(same(edges[0], {.source = 3, .target = 4, .time = kNoTime, .weight = 1.0F}));
}

TEST(EdgeSorter, KeepsEveryBitOfTimesAndWeights) {
  Draws draws(9);
  std::vector<Edge> edges;
  for (NodeId i = 0; i < 5000; ++i) {
    Edge edge{.source = i, .target = 0, .time = static_cast<Time>(draws.bits())};
    do edge.weight = std::bit_cast<float>(static_cast<uint32_t>(draws.bits()));
    while (std::isnan(edge.weight));
    edges.push_back(edge);
  }
  const auto sorted = sort_with(0, true, true, edges).edges;
  ASSERT_EQ(sorted.size(), edges.size());
  for (size_t i = 0; i < edges.size(); ++i) {
    ASSERT_EQ(sorted[i].time, edges[i].time);
    ASSERT_EQ(std::bit_cast<uint32_t>(sorted[i].weight), std::bit_cast<uint32_t>(edges[i].weight));
  }
}

class EdgeSorterThreads : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(All, EdgeSorterThreads, testing::Values(0, 1, 3));

TEST_P(EdgeSorterThreads, ShareASpaceWithOthers) {
  const TestFolder folder;
  SortSpace space(folder.path(), uint64_t{512} << 10U, GetParam());
  std::vector<EdgeSorter> sorters;  // grows: sorters move
  std::vector<std::vector<Edge>> edges;
  for (uint64_t i = 0; i < 5; ++i) {
    sorters.emplace_back(space, i % 2 == 1, i >= 2);
    edges.push_back(random_edges(i == 0 ? 0 : 40'000 / i, i % 2 == 1, i >= 2, 10 + i));
  }
  for (size_t place = 0; place < 40'000; ++place) {
    for (size_t i = 0; i < 5; ++i) {
      if (place < edges[i].size()) sorters[i].add(edges[i][place]);
    }
  }
  uint64_t runs = 0;
  for (const EdgeSorter& sorter : sorters) runs += sorter.runs();
  EXPECT_GT(runs, 1U);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  // Read all of them side by side, as the writer of incoming lists does.
  std::vector<std::vector<Edge>> found(5);
  for (EdgeSorter& sorter : sorters) sorter.begin_reading();
  for (size_t place = 0; place < 40'001; ++place) {
    for (size_t i = 0; i < 5; ++i) {
      if (sorters[i].current() == nullptr) continue;
      found[i].push_back(*sorters[i].current());
      sorters[i].advance();
    }
  }
  for (size_t i = 0; i < 5; ++i) expect_same(found[i], edges[i]);
}

TEST(EdgeSorter, GivesItsMemoryBackWhenItIsDestroyed) {
  const TestFolder folder;
  SortSpace space(folder.path(), kLargeMemory);
  const auto edges = random_edges(30'000, false, false, 21);
  for (int round = 0; round < 400; ++round) {  // 400 blocks of 512 KB exceed the bound
    EdgeSorter sorter(space, false, false);
    for (size_t i = 0; i < 100; ++i) sorter.add(edges[i]);
    ASSERT_EQ(sorter.runs(), 0U);
  }
  EdgeSorter sorter(space, false, false);
  for (const Edge& edge : edges) sorter.add(edge);
  EXPECT_EQ(sorter.runs(), 0U);
  expect_same(read_all(sorter), edges);
}

TEST(EdgeSorter, AThreadThatCannotBeStartedIsAnError) {
  if (!kThreadsCanBeLimited) GTEST_SKIP() << "under the thread sanitizer";
  const TestFolder folder;
  const ThreadLimit limit(0);
  EXPECT_TRUE(contains(error_of([&] { SortSpace(folder.path(), 1 << 20); }), "start a thread"));
}

TEST(EdgeSorter, WithoutEdgesIsAtItsEndAtOnce) {
  const TestFolder folder;
  SortSpace space(folder.path(), 0);
  EdgeSorter sorter(space, true, true);
  EXPECT_EQ(sorter.size(), 0U);
  EXPECT_EQ(sorter.runs(), 0U);
  sorter.begin_reading();
  EXPECT_EQ(sorter.current(), nullptr);
}

TEST(EdgeSorter, MayBeLeftUnread) {
  const TestFolder folder;
  SortSpace space(folder.path(), kSmallMemory);
  EdgeSorter unread(space, false, false);
  EdgeSorter half_read(space, false, false);
  for (const Edge& edge : random_edges(60'000, false, false, 22)) {
    unread.add(edge);
    half_read.add(edge);
  }
  half_read.begin_reading();
  half_read.advance();
  EXPECT_NE(half_read.current(), nullptr);
}

// While it lives, files cannot grow beyond so many bytes.
class FileLimit {
 public:
  explicit FileLimit(uint64_t bytes) : before_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit lower{bytes, limit_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &lower);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;
  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &limit_);
    std::signal(SIGXFSZ, before_);
  }

 private:
  void (*before_)(int);
  rlimit limit_{};
};

TEST_P(EdgeSorterThreads, NameTheRunThatDoesNotFitOnTheDisk) {
  const TestFolder folder;
  SortSpace space(folder.path(), kSmallMemory, GetParam());
  EdgeSorter sorter(space, false, false);
  const auto edges = random_edges(200'000, false, false, 24);
  const FileLimit limit(1000);
  const std::string error = error_of([&] {
    for (const Edge& edge : edges) sorter.add(edge);
    sorter.begin_reading();
  });
  EXPECT_TRUE(contains(error, (folder / ".run-0").string() + ": cannot write")) << error;
}

TEST(EdgeSorter, NamesTheRunThatItCannotWrite) {
  const TestFolder folder;
  SortSpace space(folder / "missing", 0);
  EdgeSorter sorter(space, false, false);
  const std::string error = error_of([&] {
    for (const Edge& edge : random_edges(60'000, false, false, 23)) sorter.add(edge);
  });
  EXPECT_TRUE(contains(error, (folder / "missing").string())) << error;
}

}  // namespace
}  // namespace hgt
