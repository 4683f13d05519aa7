#include "hgt/sampling/page_requests.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "hgt/graph/graph_test_folder.h"
#include "hgt/sampling/hub_test_graph.h"
#include "hgt/sampling/random_test_graph.h"
#include "hgt/sampling/sampler.h"

namespace hgt {
namespace {

constexpr uint64_t kNoMemory = 0;
constexpr uint64_t kPlenty = UINT64_MAX;

// Something that the thread reads from the disk.
class FileOnDisk {
 public:
  FileOnDisk() {
    write_bytes(folder_ / "file", std::string(100'000, 'x'));
    file_ = File::open_to_read(folder_ / "file");
    file_.sync();
  }
  void read() const {
    ::posix_fadvise(file_.descriptor(), 0, 0, POSIX_FADV_DONTNEED);
    char byte = 0;
    file_.read_at(&byte, 1, 50'000);
  }

 private:
  TestFolder folder_{"."};
  File file_;
};

TEST(PageRequests, AreMadeForGraphsThatAreMuchOfWhatMemoryThereIs) {
  const TestGraph graph = hub_test_graph();
  const uint64_t bytes = graph->bytes_on_disk();
  EXPECT_GT(bytes, 100'000U);
  EXPECT_TRUE(PageRequests(*graph, kNoMemory).are_wanted());
  EXPECT_TRUE(PageRequests(*graph, bytes).are_wanted());
  EXPECT_FALSE(PageRequests(*graph, 2 * bytes).are_wanted());
  EXPECT_FALSE(PageRequests(*graph, kPlenty).are_wanted());
}

TEST(PageRequests, StopWhileNothingIsReadFromTheDiskAndBeginAgain) {
  const TestGraph graph = hub_test_graph();
  const FileOnDisk file;
  PageRequests pages(*graph, kNoMemory);
  const auto batches_until_they_stop = [&] {
    int batches = 0;
    for (; pages.are_wanted() && batches < 1000; ++batches) {
      pages.begin_batch();
      pages.end_batch();
    }
    return batches;
  };
  EXPECT_EQ(batches_until_they_stop(), 8);
  pages.begin_batch();
  file.read();
  pages.end_batch();
  if (!pages.are_wanted()) GTEST_SKIP() << "this file system keeps files in memory";
  EXPECT_EQ(batches_until_they_stop(), 8);
}

TEST(PageRequests, ForTheListsOfSeedsAreMadeOnlyWhereThereIsLittleMemory) {
  const TestGraph graph = hub_test_graph();
  std::vector<Seed> seeds;
  for (NodeId node = 0; node < kTestAuthors; ++node) {
    seeds.push_back({.type = graph.type("author"), .node = node});  // hubs, too
  }
  EXPECT_NO_THROW(ask_for_lists(*graph, seeds, kNoMemory));
  EXPECT_NO_THROW(ask_for_lists(*graph, {}, kNoMemory));
  Path file = graph.path() / "author" / "incoming_starts.npy";
  if (!std::filesystem::exists(file)) file = graph.path() / "author" / "incoming_offsets.npy";
  write_bytes(file, std::string(std::filesystem::file_size(file), '\x77'));
  EXPECT_NE(error_of([&] { ask_for_lists(*graph, seeds, kNoMemory); }), "") << "they are checked";
  EXPECT_NO_THROW(ask_for_lists(*graph, seeds, kPlenty)) << "nothing is looked at";
}

std::vector<SamplingOptions> many_options() {
  return {{.width = 8, .depth = 3},
          {.width = 40, .depth = 2, .neighbor_cap = 3, .split_end = kFirstTestYear + 5},
          {.width = 5, .depth = 4, .neighbor_cap = 0, .time_bound = TimeBound::seed},
          {.strategy = Strategy::neighbors, .fanout = {600, 2}},
          {.strategy = Strategy::neighbors, .fanout = {5, 3, 0}, .recent = true, .same_time = true},
          {.strategy = Strategy::full, .depth = 2}};
}

// More of a type than are read together, none later than `last`.
std::vector<Seed> many_seeds(const HeteroGraph& graph, Time last) {
  std::vector<Seed> seeds;
  for (size_t type = 0; type < graph.schema().node_types().size(); ++type) {
    for (NodeId node = 0; node < std::min<uint64_t>(300, graph.num_nodes(NodeType(type))); ++node) {
      if (graph.time(NodeType(type), node) > last) continue;
      seeds.push_back({.type = NodeType(type), .node = node});
    }
  }
  return seeds;
}

void expect_same_batches(const HeteroGraph& graph, const SamplingOptions& options) {
  Sampler plain(graph, options, kPlenty);
  Sampler asking(graph, options, kNoMemory);
  const std::vector<Seed> all = many_seeds(graph, options.split_end);
  for (uint64_t batch = 0; batch < 12; ++batch) {  // the last ones do not ask any more
    const size_t count = batch % 3 == 0 ? all.size() : std::min<size_t>(all.size(), 7);
    const Request request{.seeds = {all.begin(), all.begin() + static_cast<ptrdiff_t>(count)}};
    Subgraph expected;
    Subgraph found;
    plain.sample(request, batch, expected);
    asking.sample(request, batch, found);
    EXPECT_TRUE(found == expected) << "batch " << batch;
  }
}

TEST(PageRequests, ChangeNoBatch) {
  const TestGraph hubs = hub_test_graph();
  for (const SamplingOptions& options : many_options()) expect_same_batches(*hubs, options);
}

TEST(PageRequests, ChangeNoBatchOfRandomGraphs) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const TestGraph graph = random_test_graph(seed);
    for (const SamplingOptions& options : many_options()) expect_same_batches(*graph, options);
  }
}

}  // namespace
}  // namespace hgt
