// Requests that cannot be met, and graphs that are damaged: an Error, never a crash.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "hgt/graph/graph_test_folder.h"
#include "hgt/sampling/hub_test_graph.h"
#include "hgt/sampling/random_test_graph.h"
#include "hgt/sampling/sampler.h"

namespace hgt {
namespace {

class SamplerErrors : public testing::Test {
 protected:
  SamplerErrors() { build_small_graph(folder_ / "small.graph"); }

  HeteroGraph graph() const { return HeteroGraph::open(folder_ / "small.graph"); }
  NodeType type(const char* name) const { return graph().schema().node_type(name); }
  std::string error(const Seed& seed, const SamplingOptions& options = {}) const {
    return error_of([&] { sample(graph(), std::vector{seed}, options); });
  }

  TestFolder folder_;
};

TEST_F(SamplerErrors, NameASeedThatIsNoNode) {
  EXPECT_TRUE(contains(error({.type = type("venue"), .node = 2}), "node 2 of type number"));
  EXPECT_NE(error({.type = type("paper"), .node = ~NodeId{0}}), "");
  EXPECT_NE(error({.type = NodeType(3), .node = 0}), "");
  EXPECT_NE(error({.type = NodeType(65535), .node = 0}), "");
}

TEST_F(SamplerErrors, NameASeedLaterThanTheSplit) {
  const Seed paper{.type = type("paper"), .node = 3};  // of 2020
  const std::string late = error(paper, {.split_end = 2019});
  EXPECT_TRUE(contains(late, "paper:\xc3\xa9") && contains(late, "2020") && contains(late, "2019"))
      << late;
  EXPECT_EQ(error(paper, {.split_end = 2020}), "");
  EXPECT_EQ(error(paper, {.time_bound = TimeBound::none, .split_end = 2019}), "");
  EXPECT_EQ(error(paper, {.time_bound = TimeBound::seed, .split_end = 2019}), "");
  const std::string venue =
      error({.type = type("venue"), .node = 1, .time = 2020}, {.split_end = 2019});
  EXPECT_TRUE(contains(venue, "venue:8")) << venue;
}

TEST_F(SamplerErrors, NameAnEventNodeAskedForAtAnotherTime) {
  const std::string text = error({.type = type("paper"), .node = 2, .time = 2018});
  EXPECT_TRUE(contains(text, "paper:07") && contains(text, "2019") && contains(text, "2018"))
      << text;
  EXPECT_EQ(error({.type = type("paper"), .node = 2, .time = 2019}), "");
  EXPECT_EQ(error({.type = type("paper"), .node = 1, .time = 2018}), "") << "it has no own time";
}

TEST_F(SamplerErrors, ComeFromOptionsThatMakeNoSense) {
  const auto refusal = [&](const SamplingOptions& options) {
    return error_of([&] { const Sampler sampler(graph(), options); });
  };
  EXPECT_TRUE(contains(refusal({.width = 0}), "width"));
  EXPECT_EQ(refusal({.strategy = Strategy::full, .width = 0}), "");
  EXPECT_TRUE(contains(refusal({.strategy = Strategy::neighbors}), "fan-outs"));
  EXPECT_NE(refusal({.hidden = {.everywhere = {Relation(99)}}}), "");
  EXPECT_NE(refusal({.hidden = {.at_seeds = {Relation(99)}}}), "");
}

TEST_F(SamplerErrors, ComeFromAHiddenEdgeOfARelationThatTheGraphDoesNotHave) {
  const Seed paper{.type = type("paper"), .node = 0};
  const HiddenEdge edge{.relation = Relation(99), .source = 0, .target = 0};
  EXPECT_TRUE(contains(error(paper, {.hidden = {.edges = {edge}}}), "99"));
  Sampler sampler(graph(), {});
  Subgraph subgraph;
  EXPECT_TRUE(contains(
      error_of([&] { sampler.sample({.seeds = {paper}, .hidden = {edge}}, 0, subgraph); }), "99"));
}

TEST_F(SamplerErrors, ComeFromUnknownNames) {
  EXPECT_EQ(from_word<Strategy>("hgsampling"), Strategy::hgsampling);
  EXPECT_EQ(from_word<Strategy>("neighbors"), Strategy::neighbors);
  EXPECT_EQ(from_word<Strategy>("full"), Strategy::full);
  EXPECT_TRUE(contains(error_of([] { from_word<Strategy>("fill"); }), "'fill'"));
  EXPECT_EQ(from_word<TimeBound>("split"), TimeBound::split);
  EXPECT_EQ(from_word<TimeBound>("seed"), TimeBound::seed);
  EXPECT_EQ(from_word<TimeBound>("none"), TimeBound::none);
  EXPECT_TRUE(contains(error_of([] { from_word<TimeBound>(""); }), "automatic, split, seed, none"));
}

TEST_F(SamplerErrors, LeaveTheSamplerAsGoodAsNew) {
  const Seed paper{.type = type("paper"), .node = 0};
  const HiddenEdge unknown{.relation = Relation(99), .source = 0, .target = 0};
  const HiddenEdge known{
      .relation = graph().schema().relation("paper", "cites", "paper"), .source = 3, .target = 0};
  Sampler sampler(graph(), {.width = 3, .depth = 2});
  Subgraph subgraph;
  const Subgraph expected = sample(graph(), std::vector{paper}, {.width = 3, .depth = 2});
  for (const Request& bad : {Request{.seeds = {paper, {.type = type("paper"), .node = 9}}},
                             Request{.seeds = {paper}, .hidden = {known, unknown}}}) {
    EXPECT_NE(error_of([&] { sampler.sample(bad, 0, subgraph); }), "");
    sampler.sample({.seeds = {paper}}, 0, subgraph);
    EXPECT_EQ(subgraph, expected);
  }
}

// --- damaged graphs ---

constexpr size_t kHeader = 128;  // bytes of a .npy file before its data

template <typename Value>
void overwrite(const Path& file, size_t at, Value value) {
  std::string bytes = read_bytes(file);
  ASSERT_GE(bytes.size(), kHeader + (at + 1) * sizeof(Value));
  std::memcpy(bytes.data() + kHeader + at * sizeof(Value), &value, sizeof(Value));
  write_bytes(file, bytes);
}

std::vector<Seed> all_nodes(const HeteroGraph& graph) {
  std::vector<Seed> seeds;
  for (size_t i = 0; i < graph.schema().node_types().size(); ++i) {
    const NodeType type{static_cast<uint16_t>(i)};
    for (NodeId node = 0; node < graph.num_nodes(type); ++node) {
      seeds.push_back({.type = type, .node = node});
    }
  }
  return seeds;
}

std::vector<std::string> errors_from_all_nodes(const Path& folder) {
  const HeteroGraph graph = HeteroGraph::open(folder);
  std::vector<std::string> errors;
  for (const Strategy strategy : {Strategy::hgsampling, Strategy::neighbors, Strategy::full}) {
    const SamplingOptions options{
        .strategy = strategy, .width = 50, .depth = 1, .neighbor_cap = 0, .fanout = {0}};
    errors.push_back(error_of([&] { sample(graph, all_nodes(graph), options); }));
  }
  return errors;
}

TEST_F(SamplerErrors, ComeFromListsThatNameNoNode) {
  const Path folder = folder_ / "small.graph";
  for (const char* name : {"paper", "author", "venue"}) {
    const Path file = folder / name / "incoming_sources.npy";
    const std::string good = read_bytes(file);
    const size_t entries = graph().num_entries(type(name));
    ASSERT_GT(entries, 0U);
    for (size_t entry = 0; entry < entries; ++entry) {
      for (const uint32_t node : {4U, 1000U, ~0U}) {
        overwrite(file, entry, node);
        for (const std::string& text : errors_from_all_nodes(folder)) {
          EXPECT_TRUE(contains(text, "damaged")) << name << " entry " << entry << ": " << text;
        }
      }
      write_bytes(file, good);
    }
  }
  EXPECT_EQ(errors_from_all_nodes(folder), std::vector<std::string>(3));
}

TEST_F(SamplerErrors, ComeFromStartsOfListsThatAreDamaged) {
  const Path folder = folder_ / "small.graph";
  for (const char* name : {"paper", "author", "venue"}) {
    const Path file = folder / name / "incoming_starts.npy";
    const std::string good = read_bytes(file);
    for (const int64_t value : {int64_t{-1}, int64_t{1} << 40U, std::numeric_limits<int64_t>::min(),
                                std::numeric_limits<int64_t>::max()}) {
      overwrite(file, 0, value);
      for (const std::string& text : errors_from_all_nodes(folder)) {
        EXPECT_TRUE(contains(text, "incoming_starts.npy")) << name << ": " << text;
      }
    }
    write_bytes(file, good);
  }
}

TEST_F(SamplerErrors, ComeFromListsThatLeaveTheStore) {
  const Path folder = folder_ / "small.graph";
  for (const char* name : {"paper", "author", "venue"}) {
    const Path file = folder / name / "incoming_lengths.npy";
    const std::string good = read_bytes(file);
    for (size_t at = 0; at < good.size() - kHeader; ++at) {
      overwrite(file, at, uint8_t{254});
      for (const std::string& text : errors_from_all_nodes(folder)) {
        EXPECT_TRUE(contains(text, "incoming_lengths.npy")) << name << " " << at << ": " << text;
      }
      overwrite(file, at, uint8_t{255});
      for (const std::string& text : errors_from_all_nodes(folder)) {
        EXPECT_TRUE(contains(text, "incoming_long.npy")) << name << " " << at << ": " << text;
      }
      write_bytes(file, good);
    }
  }
}

// What cannot be noticed (a wrong node that exists, a list out of order) must not crash either.
TEST(Sampler, SurvivesAnyDamageToListsOfHubs) {
  const TestGraph good = hub_test_graph();
  std::vector<Seed> seeds;
  for (NodeId node = 0; node < 28; ++node)
    seeds.push_back({.type = good.type("author"), .node = node});
  for (NodeId node = 0; node < 10; ++node)
    seeds.push_back({.type = good.type("paper"), .node = node});
  Draws draws(31);
  uint32_t noticed = 0;
  std::vector<std::string> files = {"paper/time.npy"};
  for (const std::string type : {"author", "paper", "venue"}) {
    for (const std::string& name : names_in(good.path() / type)) {
      if (name.starts_with("incoming")) files.push_back(type + "/" + name);
    }
  }
  for (const std::string& file : files) {
    const std::string bytes = read_bytes(good.path() / file);
    if (bytes.size() == kHeader) continue;  // an empty array
    for (int round = 0; round < 12; ++round) {
      std::string damaged = bytes;
      for (int i = 0; i < 40; ++i) {
        const size_t at = kHeader + draws.below(bytes.size() - kHeader);
        // The low bytes of a number: it often stays within its range.
        damaged[round % 2 == 0 ? at : at / 4 * 4] = static_cast<char>(draws.bits());
      }
      write_bytes(good.path() / file, damaged);
      const HeteroGraph graph = HeteroGraph::open(good.path());
      const SamplingOptions options{.width = 200, .depth = 2, .split_end = 2009};
      noticed += error_of([&] { sample(graph, seeds, options); }).empty() ? 0 : 1;
    }
    write_bytes(good.path() / file, bytes);
  }
  EXPECT_GT(noticed, 0U);
}

}  // namespace
}  // namespace hgt
