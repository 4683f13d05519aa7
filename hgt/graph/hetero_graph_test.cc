#include "hgt/graph/hetero_graph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "hgt/error.h"
#include "hgt/graph/array_file.h"
#include "hgt/graph/graph_check.h"
#include "hgt/graph/graph_test_folder.h"
#include "hgt/graph/version_1_test_graph.h"

namespace hgt {
namespace {

template <typename T>
std::vector<T> items_of(std::span<const T> items) {
  return {items.begin(), items.end()};
}

std::vector<Time> items_of(const EdgeTimes& times) {
  std::vector<Time> items;
  for (size_t i = 0; i < times.size(); ++i) items.push_back(times[i]);
  return items;
}

using Nodes = std::vector<NodeId>;
using Times = std::vector<Time>;
using Floats = std::vector<float>;

// The small graph in both versions of the format, built once for all tests of this file.
class SmallGraph : public testing::TestWithParam<int> {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TestFolder>();
    build_small_graph(*folder_ / "small2.graph");
    build_small_graph(*folder_ / "small1.graph");
    convert_to_version_1(*folder_ / "small1.graph");
  }
  static void TearDownTestSuite() { folder_.reset(); }

  Neighbors incoming(const char* source, const char* edge, const char* target, NodeId node) const {
    return graph_.incoming(schema_.relation(source, edge, target), node);
  }
  Nodes sources(const char* source, const char* edge, const char* target, NodeId node) const {
    return items_of(incoming(source, edge, target, node).sources);
  }

  Path path() const { return *folder_ / ("small" + std::to_string(GetParam()) + ".graph"); }

  static std::unique_ptr<TestFolder> folder_;
  HeteroGraph graph_ = HeteroGraph::open(path());
  const Schema& schema_ = graph_.schema();
  NodeType paper_ = schema_.node_type("paper");
  NodeType author_ = schema_.node_type("author");
  NodeType venue_ = schema_.node_type("venue");
};
std::unique_ptr<TestFolder> SmallGraph::folder_;
INSTANTIATE_TEST_SUITE_P(Versions, SmallGraph, testing::Values(1, 2));

TEST_P(SmallGraph, IsOfItsVersionAndVerifies) {
  EXPECT_EQ(schema_.format_version, GetParam());
  EXPECT_EQ(std::filesystem::exists(path() / "paper/incoming_offsets.npy"), GetParam() == 1);
  EXPECT_EQ(std::filesystem::exists(path() / "paper/incoming_lengths.npy"), GetParam() == 2);
  verify(graph_);
}

TEST_P(SmallGraph, HasItsNodesAndEdges) {
  EXPECT_EQ(graph_.folder(), path());
  EXPECT_EQ(graph_.num_nodes(paper_), 4U);
  EXPECT_EQ(graph_.num_nodes(author_), 3U);
  EXPECT_EQ(graph_.num_nodes(venue_), 2U);
  EXPECT_EQ(graph_.num_edges(schema_.relation("author", "writes", "paper")), 5U);
  EXPECT_EQ(graph_.num_edges(schema_.relation("paper", "cites", "paper")), 3U);
  EXPECT_EQ(graph_.num_edges(schema_.relation("author", "knows", "author")), 5U);
  EXPECT_EQ(graph_.num_entries(venue_), 4U);
  EXPECT_EQ(graph_.num_entries(author_), 5U + 5U);
  EXPECT_EQ(graph_.num_entries(paper_), 5U + 3U + 3U + 4U);
  EXPECT_EQ(schema_.time_range, (std::pair<Time, Time>(2016, 2021)));
  EXPECT_EQ(schema_.origin.at("made"), "by hand");
}

TEST_P(SmallGraph, ListsIncomingSourcesInOrder) {
  EXPECT_EQ(sources("author", "writes", "paper", 0), (Nodes{0, 1}));
  EXPECT_EQ(sources("author", "writes", "paper", 1), Nodes{});
  EXPECT_EQ(sources("author", "writes", "paper", 2), (Nodes{1, 1}));
  EXPECT_EQ(sources("author", "writes", "paper", 3), Nodes{2});
  EXPECT_EQ(sources("paper", "rev_writes", "author", 1), (Nodes{0, 2, 2}));
  EXPECT_EQ(sources("paper", "cites", "paper", 0), (Nodes{2, 3}));
  EXPECT_EQ(sources("paper", "is_cited_by", "paper", 3), (Nodes{0, 2}));
  EXPECT_EQ(sources("paper", "appears_in", "venue", 1), (Nodes{1, 2, 3}));
  EXPECT_EQ(sources("venue", "rev_appears_in", "paper", 0), Nodes{0});
  EXPECT_EQ(sources("author", "knows", "author", 0), Nodes{1});
  EXPECT_EQ(sources("author", "knows", "author", 1), (Nodes{0, 1, 2}));
  EXPECT_EQ(sources("author", "knows", "author", 2), Nodes{1});
}

TEST_P(SmallGraph, GivesTimesAndWeightsInBothDirections) {
  EXPECT_EQ(items_of(incoming("author", "writes", "paper", 0).weights), (Floats{1.0F, 0.5F}));
  EXPECT_EQ(items_of(incoming("author", "writes", "paper", 0).times), Times{});
  EXPECT_EQ(items_of(incoming("paper", "rev_writes", "author", 2).weights), Floats{-1.5F});
  EXPECT_EQ(items_of(incoming("paper", "appears_in", "venue", 1).times),
            (Times{kNoTime, 2019, 2021}));
  EXPECT_EQ(items_of(incoming("paper", "appears_in", "venue", 1).weights), Floats{});
  EXPECT_EQ(items_of(incoming("venue", "rev_appears_in", "paper", 3).times), Times{2021});
  const Neighbors knows = incoming("author", "knows", "author", 1);
  EXPECT_EQ(items_of(knows.times), (Times{2018, kNoTime, 2016}));
  EXPECT_EQ(items_of(knows.weights), (Floats{1.0F, 3.0F, 0.5F}));
  EXPECT_EQ(items_of(incoming("author", "knows", "author", 2).times), Times{2016});
  EXPECT_TRUE(incoming("paper", "cites", "paper", 0).times.empty());
}

TEST_P(SmallGraph, PlacesEveryListInTheArraysOfItsTarget) {
  for (size_t r = 0; r < schema_.relations().size(); ++r) {
    const RelationSpec& spec = schema_.at(Relation(r));
    const auto sources = graph_.incoming_sources(spec.target);
    std::vector<EdgePosition> buffer;
    for (NodeId node = 0; node < graph_.num_nodes(spec.target); ++node) {
      const Neighbors list = graph_.incoming(Relation(r), node);
      const auto offsets = graph_.incoming_offsets(spec.target, node, buffer);
      ASSERT_EQ(offsets.size(), schema_.incoming(spec.target).size() + 1);
      EXPECT_EQ(offsets[spec.slot], list.first);
      EXPECT_EQ(offsets[spec.slot + 1], list.first + list.size());
      const auto slots = static_cast<uint32_t>(offsets.size() - 1);
      EXPECT_EQ(graph_.incoming_range(spec.target, node, 0, slots).begin, offsets[0]);
      EXPECT_EQ(graph_.incoming_range(spec.target, node, 0, slots).end, offsets[slots]);
      EXPECT_EQ(items_of(sources.subspan(list.first, list.size())), items_of(list.sources));
      for (size_t i = 0; i < list.size(); ++i) {
        EXPECT_EQ(graph_.edge_time(Relation(r), node, list.first + i),
                  list.times.empty() ? kNoTime : list.times[i]);
      }
    }
  }
}

TEST_P(SmallGraph, KnowsIdsInBothDirections) {
  const std::vector<std::string> papers = {"P19-1001", "P 2", "07", "\xc3\xa9"};
  for (NodeId node = 0; node < 4; ++node) {
    EXPECT_EQ(graph_.id(paper_, node), papers[node]);
    EXPECT_EQ(graph_.find(paper_, papers[node]), node);
  }
  EXPECT_EQ(graph_.id(venue_, 1), "8");
  EXPECT_EQ(graph_.find(venue_, "7"), 0U);
  for (const char* id : {"7", "", "P19-100", "P19-10011", "ada"}) {
    EXPECT_EQ(graph_.find(paper_, id), std::nullopt) << id;
  }
  for (const char* id : {"0", "1", "6", "9", "07", ""}) {
    EXPECT_EQ(graph_.find(venue_, id), std::nullopt) << id;
  }
  EXPECT_EQ(schema_.at(venue_).first_id, 7);
  EXPECT_EQ(schema_.at(paper_).first_id, std::nullopt);
}

TEST_P(SmallGraph, KeepsNamesOfAnyBytes) {
  EXPECT_EQ(graph_.name(paper_, 0), "Attention");
  EXPECT_EQ(graph_.name(paper_, 1), "");
  EXPECT_EQ(graph_.name(paper_, 2), std::string_view("a\n\"\xff\0z", 6));
  EXPECT_EQ(graph_.name(paper_, 3), "The last");
  EXPECT_EQ(graph_.name(author_, 2), "Cy");
  EXPECT_EQ(graph_.name(venue_, 0), "");
}

TEST_P(SmallGraph, KnowsTheTimesOfEventNodesOnly) {
  EXPECT_EQ(items_of(graph_.times(paper_)), (Times{2017, kNoTime, 2019, 2020}));
  EXPECT_EQ(graph_.time(paper_, 3), 2020);
  EXPECT_EQ(graph_.time(paper_, 1), kNoTime);
  EXPECT_EQ(graph_.time(author_, 0), kNoTime);
  EXPECT_TRUE(graph_.times(author_).empty());
}

TEST_P(SmallGraph, KeepsFeaturesWithZeroRowsWhereTheyAreMissing) {
  const auto row = [&](NodeType type, NodeId node, size_t width) {
    Floats values(width, 99.0F);
    graph_.copy_features(type, node, values);
    return values;
  };
  EXPECT_EQ(row(author_, 0, 2), (Floats{1.5F, -2.25F}));
  EXPECT_EQ(row(author_, 1, 2), (Floats{0.0F, 0.0F}));
  EXPECT_EQ(row(author_, 2, 2), (Floats{0.1F, 3e38F}));
  EXPECT_EQ(row(paper_, 2, 3), (Floats{0.5F, -1.0F, 65504.0F}));
  EXPECT_EQ(row(paper_, 3, 3), (Floats{0.0F, 0.0F, 0.0F}));
  EXPECT_NEAR(row(paper_, 0, 3)[0], 0.1F, 0.1F / 2048);
  EXPECT_EQ(graph_.features(author_).floats.size(), 6U);
  EXPECT_TRUE(graph_.features(author_).halves.empty());
  EXPECT_EQ(graph_.features(paper_).halves.size(), 12U);
  EXPECT_TRUE(graph_.features(paper_).floats.empty());
  EXPECT_EQ(graph_.features(venue_).width, 0U);
  EXPECT_EQ(schema_.at(author_).features->missing, 1U);
  EXPECT_EQ(schema_.at(paper_).features->missing, 2U);
}

TEST_P(SmallGraph, CopiesTheFeaturesOfSeveralNodesInTheOrderAskedFor) {
  Floats rows(8, 99.0F);
  graph_.copy_features(author_, Nodes{2, 0, 1, 2}, rows);
  EXPECT_EQ(rows, (Floats{0.1F, 3e38F, 1.5F, -2.25F, 0.0F, 0.0F, 0.1F, 3e38F}));
  rows.assign(3, 99.0F);
  graph_.copy_features(paper_, Nodes{2}, rows);
  EXPECT_EQ(rows, (Floats{0.5F, -1.0F, 65504.0F}));
  EXPECT_NO_THROW(graph_.copy_features(paper_, Nodes{}, {}));
  EXPECT_NO_THROW(graph_.copy_features(venue_, Nodes{0, 1}, {}));
}

TEST_P(SmallGraph, NumbersClassesInTheirNaturalOrder) {
  using Strings = std::vector<std::string>;
  const auto topic = graph_.find_label(paper_, "topic");
  ASSERT_TRUE(topic);
  const LabelSpec& spec = schema_.at(paper_).labels[*topic];
  EXPECT_EQ(spec.classes, (Strings{"9", "10", "100"}));  // numbers: by value
  EXPECT_EQ(spec.class_names, (Strings{"nine", "10", "100"}));
  EXPECT_EQ(items_of(graph_.label_classes(paper_, *topic, 0)), (Nodes{0, 1}));
  EXPECT_EQ(items_of(graph_.label_classes(paper_, *topic, 1)), Nodes{});
  EXPECT_EQ(items_of(graph_.label_classes(paper_, *topic, 2)), Nodes{0});
  EXPECT_EQ(items_of(graph_.label_classes(paper_, *topic, 3)), Nodes{2});
  const auto country = graph_.find_label(author_, "country");
  ASSERT_TRUE(country);
  EXPECT_EQ(schema_.at(author_).labels[*country].classes, (Strings{"10", "at", "se"}));
  EXPECT_TRUE(schema_.at(author_).labels[*country].class_names.empty());
  EXPECT_EQ(items_of(graph_.label_classes(author_, *country, 0)), Nodes{2});
  EXPECT_EQ(graph_.find_label(author_, "topic"), std::nullopt);
}

TEST_P(SmallGraph, KnowsTheSplitWhereTablesGaveOne) {
  EXPECT_EQ(graph_.split(paper_, 0, 0), Split::train);
  EXPECT_EQ(graph_.split(paper_, 0, 1), Split::none);
  EXPECT_EQ(graph_.split(paper_, 0, 2), Split::validation);
  EXPECT_EQ(graph_.split(paper_, 0, 3), Split::test);
  EXPECT_EQ(graph_.split(author_, 0, 0), Split::none);
  EXPECT_TRUE(schema_.at(paper_).labels[0].split);
  EXPECT_FALSE(schema_.at(author_).labels[0].split);
}

TEST_P(SmallGraph, StaysOpenWhileAnyCopyLives) {
  auto first = std::make_unique<HeteroGraph>(HeteroGraph::open(path()));
  const HeteroGraph copy = *first;
  const std::string_view name = first->name(paper_, 0);
  first.reset();
  EXPECT_EQ(name, "Attention");
  EXPECT_EQ(copy.num_nodes(paper_), 4U);
}

TEST_P(SmallGraph, CanBeReadByManyThreads) {
  std::vector<std::thread> threads;
  std::vector<int> good(4);
  for (size_t t = 0; t < good.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        good[t] += graph_.find(paper_, "07") == 2U && graph_.name(author_, 1) == "Bob" &&
                           sources("paper", "cites", "paper", 0) == Nodes{2, 3}
                       ? 1
                       : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, (std::vector<int>{500, 500, 500, 500}));
}

TEST_P(SmallGraph, WorksFromARelativePathAndASymbolicLink) {
  const TestFolder other;
  std::filesystem::create_directory_symlink(path(), other / "link");
  EXPECT_EQ(HeteroGraph::open(other / "link").num_nodes(paper_), 4U);
  EXPECT_EQ(HeteroGraph::open(path().lexically_relative(std::filesystem::current_path()))
                .num_nodes(paper_),
            4U);
}

TEST(HeteroGraph, NamesAFolderThatIsMissingOrNoGraph) {
  const TestFolder folder;
  const std::string missing = error_of([&] { HeteroGraph::open(folder / "none.graph"); });
  EXPECT_TRUE(contains(missing, (folder / "none.graph").string())) << missing;
  const std::string empty = error_of([&] { HeteroGraph::open(folder.path()); });
  EXPECT_TRUE(contains(empty, folder.path().string())) << empty;
  write_bytes(folder / "file", "x");
  EXPECT_NE(error_of([&] { HeteroGraph::open(folder / "file"); }), "");
  std::filesystem::create_directory(folder / "schema.json");
  EXPECT_NE(error_of([&] { HeteroGraph::open(folder.path()); }), "");
}

TEST(HeteroGraph, OpensAGraphWithoutNodesOrEdges) {
  const TestFolder folder;
  {
    GraphBuilder builder(folder / "empty.graph", small_schema());
    builder.finish();
  }
  const HeteroGraph graph = HeteroGraph::open(folder / "empty.graph");
  for (size_t type = 0; type < 3; ++type) {
    EXPECT_EQ(graph.num_nodes(NodeType(type)), 0U);
    EXPECT_EQ(graph.num_entries(NodeType(type)), 0U);
    EXPECT_EQ(graph.find(NodeType(type), "0"), std::nullopt);
  }
  EXPECT_EQ(graph.schema().time_range, std::nullopt);
}

TEST(HeteroGraph, ReadsRowsOfAnyWidthInEitherPrecision) {
  for (const FeatureType precision : {FeatureType::float16, FeatureType::float32}) {
    const TestFolder folder;
    constexpr uint64_t kWidth = 2500;
    const auto value = [](NodeId node, size_t i) {
      return static_cast<float>(node + 1) * static_cast<float>(i % 1000);
    };
    {
      GraphBuilder builder(folder / "wide.graph", small_schema());
      const NodeType venue = builder.schema().node_type("venue");
      builder.declare_features(venue, {.width = kWidth, .type = precision});
      for (NodeId node = 0; node < 2; ++node) {
        builder.add_node(venue, {});
        Floats row(kWidth);
        for (size_t i = 0; i < kWidth; ++i) row[i] = value(node, i);
        builder.set_features(venue, node, row);
      }
      builder.finish();
    }
    const HeteroGraph graph = HeteroGraph::open(folder / "wide.graph");
    for (NodeId node = 0; node < 2; ++node) {
      Floats row(kWidth, 99.0F);
      graph.copy_features(graph.schema().node_type("venue"), node, row);
      for (size_t i = 0; i < kWidth; ++i) ASSERT_EQ(row[i], value(node, i)) << node << ' ' << i;
    }
  }
}

TEST(HeteroGraph, OpensAGraphWithoutTypes) {
  const TestFolder folder;
  {
    Schema schema;
    schema.number_relations();
    GraphBuilder(folder / "none.graph", schema).finish();
  }
  EXPECT_TRUE(HeteroGraph::open(folder / "none.graph").schema().node_types().empty());
}

// --- numbers out of range, without a look at checksums ---

class OutOfRange : public testing::Test {
 protected:
  OutOfRange() { build_small_graph(graph_); }

  template <typename Value>
  void overwrite(const std::string& file, size_t at, Value value) const {
    std::string bytes = read_bytes(graph_ / file);
    ASSERT_GE(bytes.size(), kArrayHeaderBytes + (at + 1) * sizeof(Value));
    std::memcpy(bytes.data() + kArrayHeaderBytes + at * sizeof(Value), &value, sizeof(Value));
    write_bytes(graph_ / file, bytes);
  }
  // Tells the file, the place and the value.
  template <typename Use>
  void expect_named(const std::string& file, std::vector<std::string> parts, const Use& use) const {
    const HeteroGraph graph = HeteroGraph::open(graph_);
    const std::string error = error_of([&] { use(graph); });
    parts.push_back((graph_ / file).string() + ": ");
    for (const std::string& part : parts)
      EXPECT_TRUE(contains(error, part)) << part << ": " << error;
  }

  TestFolder folder_;
  Path graph_ = folder_ / "small.graph";
};

TEST_F(OutOfRange, ASourceIsNamed) {
  const HeteroGraph good = HeteroGraph::open(graph_);
  const Relation cites = good.schema().relation("paper", "cites", "paper");
  const EdgePosition first = good.incoming(cites, 0).first;
  overwrite<NodeId>("paper/incoming_sources.npy", first + 1, 4);  // papers are 0 to 3
  expect_named("paper/incoming_sources.npy",
               {"entry " + std::to_string(first + 1), "node 4", "4 nodes"},
               [&](const HeteroGraph& graph) { graph.incoming(cites, 0); });
  const std::vector<NodeId> sources = {2, 9};
  const std::vector<EdgePosition> positions = {70, 80};
  expect_named("paper/incoming_sources.npy", {"entry 80", "node 9"},
               [&](const HeteroGraph& graph) { graph.check_sources(cites, sources, positions); });
  EXPECT_EQ(good.unchecked_incoming(cites, 0).sources[1], 4U);
}

TEST_F(OutOfRange, ATimeIsNamed) {
  const NodeType paper = HeteroGraph::open(graph_).schema().node_type("paper");
  for (const Time time : {2015, 2022, std::numeric_limits<Time>::max()}) {
    overwrite<Time>("paper/time.npy", 2, time);
    expect_named("paper/time.npy", {"time " + std::to_string(time), "node 2"},
                 [&](const HeteroGraph& graph) { graph.time(paper, 2); });
  }
  overwrite<Time>("paper/time.npy", 2, kNoTime);
  EXPECT_EQ(HeteroGraph::open(graph_).time(paper, 2), kNoTime);
}

TEST_F(OutOfRange, ATimeOfAnEdgeIsNamed) {
  overwrite<int16_t>("venue/incoming_times.npy", 2, 1);
  expect_named("venue/incoming_times.npy", {"time 1 of entry 2"}, [](const HeteroGraph& graph) {
    graph.incoming(graph.schema().relation("paper", "appears_in", "venue"), 1);
  });
}

TEST_F(OutOfRange, AClassOrASplitIsNamed) {
  overwrite<uint32_t>("paper/label_topic_classes.npy", 2, 3);
  overwrite<uint8_t>("paper/label_topic_split.npy", 3, 4);
  const NodeType paper = HeteroGraph::open(graph_).schema().node_type("paper");
  expect_named("paper/label_topic_classes.npy", {"class 3 of node 2", "3 classes"},
               [&](const HeteroGraph& graph) { graph.label_classes(paper, 0, 2); });
  expect_named("paper/label_topic_split.npy", {"split 4 of node 3"},
               [&](const HeteroGraph& graph) { graph.split(paper, 0, 3); });
}

TEST_F(OutOfRange, ANameAndAnIdAreNamed) {
  overwrite<uint8_t>("author/name_lengths.npy", 1, 99);
  overwrite<int64_t>("author/id_starts.npy", 0, -1);
  const NodeType author = HeteroGraph::open(graph_).schema().node_type("author");
  expect_named("author/name_lengths.npy", {"lists 1 to 2", "105"},
               [&](const HeteroGraph& graph) { graph.name(author, 1); });
  expect_named("author/id_starts.npy", {"list 0"},
               [&](const HeteroGraph& graph) { graph.id(author, 0); });
  expect_named("author/name", {"no row 3"},
               [&](const HeteroGraph& graph) { graph.name(author, 3); });
}

TEST_F(OutOfRange, TimesAndWeightsThatFitNoListAreNamed) {
  const Schema schema = HeteroGraph::open(graph_).schema();
  const Relation knows = schema.relation("author", "knows", "author");
  const Relation writes = schema.relation("author", "writes", "paper");
  overwrite<uint8_t>("author/incoming_time_lengths.npy", 1, 2);  // 3 before
  expect_named("author/incoming_time_lengths.npy", {"list 1", "2 items", "3 edges"},
               [&](const HeteroGraph& graph) { graph.unchecked_incoming(knows, 1); });
  overwrite<uint8_t>("paper/incoming_weight_lengths.npy", 2, 0);
  expect_named("paper/incoming_weight_lengths.npy", {"list 2", "0 items", "2 edges"},
               [&](const HeteroGraph& graph) { graph.unchecked_incoming(writes, 2); });
}

}  // namespace
}  // namespace hgt
