#include "hgt/graph/graph_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "hgt/error.h"
#include "hgt/graph/graph_check.h"
#include "hgt/graph/graph_test_folder.h"
#include "hgt/graph/hetero_graph.h"
#include "hgt/graph/stored_features.h"
#include "hgt/random.h"

namespace hgt {
namespace {

// --- a naive model: what the graph should hold, as plain lists ---

struct ModelNodes {
  std::vector<std::string> ids;
  std::vector<std::string> names;
  std::vector<Time> times;
  std::vector<std::vector<float>> features;  // empty: none given
};

struct Model {
  Schema schema;
  std::vector<ModelNodes> nodes;                          // per type
  std::vector<std::pair<Relation, Edge>> edges;           // declared ones, as given
  std::vector<std::optional<FeatureSpec>> feature_specs;  // per type
};

using Entry = std::tuple<NodeId, Time, float>;  // source, time, weight

// The list of one target by its definition; what is dropped or kept twice is counted.
std::vector<Entry> model_list(const Model& model, Relation relation, NodeId target,
                              uint64_t& repeated) {
  const RelationSpec& spec = model.schema.at(relation);
  const Relation reverse = model.schema.reverse(relation);
  std::map<std::pair<NodeId, Time>, std::vector<float>> by_key;
  for (const auto& [declared, edge] : model.edges) {
    if (declared == relation && edge.target == target) {
      by_key[{edge.source, edge.time}].push_back(edge.weight);
    }
    const bool twice = declared == relation && edge.source == edge.target;
    if (declared == reverse && edge.source == target && !twice) {
      by_key[{edge.target, edge.time}].push_back(edge.weight);
    }
  }
  std::vector<Entry> list;
  for (auto& [key, weights] : by_key) {
    std::sort(weights.begin(), weights.end());
    repeated += weights.size() - 1;
    if (spec.unique) weights.resize(1);
    for (const float weight : weights) list.emplace_back(key.first, key.second, weight);
  }
  return list;
}

Schema random_schema(Draws& draws) {
  Schema schema;
  const uint64_t types = 1 + draws.below(3);
  for (uint64_t i = 0; i < types; ++i) {
    const NodeType type = schema.add_node_type(
        fmt::format("type{}", i), draws.chance(0.5) ? NodeKind::event : NodeKind::plain);
    schema.at(type).names = draws.chance(0.5);
  }
  const uint64_t relations = draws.below(5);
  for (uint64_t i = 0; i < relations; ++i) {
    RelationDeclaration declaration{.source = fmt::format("type{}", draws.below(types)),
                                    .edge = fmt::format("edge{}", i),
                                    .target = fmt::format("type{}", draws.below(types)),
                                    .times = draws.chance(0.5),
                                    .weights = draws.chance(0.5),
                                    .unique = draws.chance(0.4)};
    declaration.symmetric = declaration.source == declaration.target && draws.chance(0.6);
    schema.add_relation(declaration);
  }
  schema.time_unit = TimeUnit::day;
  schema.number_relations();
  return schema;
}

ModelNodes random_nodes(const NodeTypeSpec& spec, const std::optional<FeatureSpec>& features,
                        Draws& draws) {
  ModelNodes nodes;
  const uint64_t count = draws.chance(0.1) ? 0 : draws.below(30);
  const bool text = draws.chance(0.5);
  const auto first = static_cast<int64_t>(draws.below(20)) - 10;
  for (uint64_t i = 0; i < count; ++i) {
    nodes.ids.push_back(text ? fmt::format("n{}", hash(i, 3) % 100'000)
                             : std::to_string(first + static_cast<int64_t>(i)));
    std::string name(draws.below(draws.chance(0.05) ? 600 : 6), ' ');
    for (char& c : name) c = static_cast<char>(draws.below(256));
    nodes.names.push_back(spec.names ? name : "");
    const bool timed = spec.kind == NodeKind::event && draws.chance(0.8);
    nodes.times.push_back(timed ? static_cast<Time>(draws.below(2000)) - 1000 : kNoTime);
    auto& row = nodes.features.emplace_back();
    if (!features || draws.chance(0.3)) continue;
    for (uint64_t k = 0; k < features->width; ++k) {
      row.push_back(static_cast<float>(draws.unit() * 4 - 2));
    }
  }
  return nodes;
}

// Few nodes and many edges, so that edges repeat and meet themselves. Some lists are long, some
// times need more than two bytes.
void add_random_edges(Model& model, Draws& draws) {
  const Time step = draws.chance(0.3) ? 8192 : 1;
  for (size_t r = 0; r < model.schema.relations().size(); ++r) {
    const RelationSpec& spec = model.schema.at(Relation(r));
    const uint64_t sources = model.nodes[index(spec.source)].ids.size();
    const uint64_t targets = model.nodes[index(spec.target)].ids.size();
    if (spec.reverse || sources == 0 || targets == 0 || draws.chance(0.1)) continue;
    const uint64_t count = draws.below(draws.chance(0.1) ? 4000 : 150);
    for (uint64_t i = 0; i < count; ++i) {
      Edge edge{
          .source = static_cast<NodeId>(draws.below(draws.chance(0.5) ? 1 + sources / 3 : sources)),
          .target = static_cast<NodeId>(draws.below(targets))};
      if (spec.times && draws.chance(0.8))
        edge.time = (static_cast<Time>(draws.below(9)) - 4) * step;
      if (spec.weights) edge.weight = static_cast<float>(draws.below(9)) / 2 - 2;
      model.edges.emplace_back(Relation(r), edge);
    }
  }
}

Model random_model(uint64_t seed) {
  Draws draws(hash(111, seed));
  Model model{.schema = random_schema(draws), .nodes = {}, .edges = {}, .feature_specs = {}};
  for (const NodeTypeSpec& spec : model.schema.node_types()) {
    auto& features = model.feature_specs.emplace_back();
    if (draws.chance(0.6)) {
      constexpr std::array kTypes = {FeatureType::float32, FeatureType::float16, FeatureType::int8};
      features = FeatureSpec{.width = 1 + draws.below(5), .type = kTypes[draws.below(3)]};
    }
    model.nodes.push_back(random_nodes(spec, features, draws));
  }
  add_random_edges(model, draws);
  return model;
}

Schema build(const Model& model, const Path& folder, const BuildOptions& options = {}) {
  GraphBuilder builder(folder, model.schema, options);
  for (size_t t = 0; t < model.nodes.size(); ++t) {
    const ModelNodes& nodes = model.nodes[t];
    const auto type = NodeType(t);
    if (model.feature_specs[t]) builder.declare_features(type, *model.feature_specs[t]);
    for (NodeId node = 0; node < nodes.ids.size(); ++node) {
      const NodeRow row{
          .id = nodes.ids[node], .name = nodes.names[node], .time = nodes.times[node]};
      EXPECT_EQ(builder.add_node(type, row), node);
      EXPECT_EQ(builder.add_node(type, row), std::nullopt) << "a duplicate was added";
      EXPECT_EQ(builder.find_node(type, row.id), node);
    }
    for (NodeId node = 0; node < nodes.ids.size(); ++node) {
      if (nodes.features[node].empty()) continue;
      EXPECT_TRUE(builder.set_features(type, node, nodes.features[node]));
      EXPECT_FALSE(builder.set_features(type, node, nodes.features[node]));
    }
    EXPECT_EQ(builder.num_nodes(type), nodes.ids.size());
  }
  for (const auto& [relation, edge] : model.edges) builder.add_edge(relation, edge);
  EXPECT_EQ(builder.num_edges(), model.edges.size());
  return builder.finish();
}

std::vector<float> as_stored(std::vector<float> row, FeatureType type) {
  std::vector<std::byte> stored(stored_row_bytes(type, row.size()));
  store_row(row, type, stored.data());
  EXPECT_TRUE(load_row(stored.data(), type, row));
  return row;
}

void expect_nodes(const HeteroGraph& graph, const Model& model, NodeType type) {
  const ModelNodes& nodes = model.nodes[index(type)];
  ASSERT_EQ(graph.num_nodes(type), nodes.ids.size());
  const auto& spec = model.feature_specs[index(type)];
  uint64_t missing = 0;
  for (NodeId node = 0; node < nodes.ids.size(); ++node) {
    ASSERT_EQ(graph.id(type, node), nodes.ids[node]);
    ASSERT_EQ(graph.find(type, nodes.ids[node]), node);
    ASSERT_EQ(graph.name(type, node), nodes.names[node]);
    ASSERT_EQ(graph.time(type, node), nodes.times[node]);
    if (!spec) continue;
    std::vector<float> expected(spec->width, 0.0F);
    missing += nodes.features[node].empty() ? 1 : 0;
    if (!nodes.features[node].empty()) expected = nodes.features[node];
    expected = as_stored(expected, spec->type);
    std::vector<float> row(spec->width, 99.0F);
    graph.copy_features(type, node, row);
    ASSERT_EQ(row, expected);
  }
  ASSERT_EQ(graph.schema().at(type).features.has_value(), spec.has_value());
  if (spec) {
    EXPECT_EQ(graph.schema().at(type).features->missing, missing);
  }
}

void expect_degrees(const DegreeSummary& found, std::vector<uint64_t> degrees) {
  if (degrees.empty()) degrees.push_back(0);
  std::sort(degrees.begin(), degrees.end());
  double sum = 0;
  for (const uint64_t degree : degrees) sum += static_cast<double>(degree);
  const size_t size = degrees.size();
  EXPECT_DOUBLE_EQ(found.mean, sum / static_cast<double>(size));
  EXPECT_EQ(found.median, static_cast<double>(degrees[(size - 1) / 2] + degrees[size / 2]) / 2);
  EXPECT_EQ(found.maximum, degrees.back());
}

void expect_edges(const HeteroGraph& graph, const Model& model, Relation relation) {
  const RelationSpec& spec = graph.schema().at(relation);
  uint64_t repeated = 0;
  uint64_t edges = 0;
  std::vector<uint64_t> degrees;
  for (NodeId node = 0; node < graph.num_nodes(spec.target); ++node) {
    const auto expected = model_list(model, relation, node, repeated);
    const Neighbors found = graph.incoming(relation, node);
    ASSERT_EQ(found.size(), expected.size()) << graph.schema().describe(relation) << " " << node;
    ASSERT_EQ(found.times.size(), spec.times ? expected.size() : 0);
    ASSERT_EQ(found.weights.size(), spec.weights ? expected.size() : 0);
    for (size_t i = 0; i < expected.size(); ++i) {
      const auto& [source, time, weight] = expected[i];
      ASSERT_EQ(found.sources[i], source);
      ASSERT_EQ(spec.times ? found.times[i] : kNoTime, time);
      ASSERT_EQ(spec.weights ? found.weights[i] : 1.0F, weight);
    }
    edges += expected.size();
    degrees.push_back(expected.size());
  }
  EXPECT_EQ(spec.edges, edges);
  EXPECT_EQ(spec.repeated, repeated);
  EXPECT_EQ(spec.degrees.without,
            static_cast<uint64_t>(std::count(degrees.begin(), degrees.end(), 0U)));
  expect_degrees(spec.degrees, degrees);
}

TEST(GraphBuilder, WritesWhatANaiveModelHolds) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const TestFolder folder;
    const Model model = random_model(seed);
    const Schema written = build(model, folder / "g");
    const HeteroGraph graph = HeteroGraph::open(folder / "g");
    EXPECT_EQ(graph.schema().to_json(), written.to_json());
    for (size_t type = 0; type < model.nodes.size(); ++type) {
      expect_nodes(graph, model, NodeType(type));
    }
    for (size_t r = 0; r < model.schema.relations().size(); ++r) {
      expect_edges(graph, model, Relation(r));
    }
    verify(graph);
    EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"g"});
    if (HasFailure()) return;
  }
}

TEST(GraphBuilder, WritesTheTimeRangeOfNodesAndEdges) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    const TestFolder folder;
    const Model model = random_model(seed);
    std::optional<std::pair<Time, Time>> range;
    const auto include = [&](Time time) {
      if (time == kNoTime) return;
      if (!range) range = {time, time};
      range = {std::min(range->first, time), std::max(range->second, time)};
    };
    for (const ModelNodes& nodes : model.nodes) {
      for (const Time time : nodes.times) include(time);
    }
    for (const auto& [relation, edge] : model.edges) include(edge.time);
    EXPECT_EQ(build(model, folder / "g").time_range, range) << seed;
  }
}

// --- the same bytes ---

TEST(GraphBuilder, WritesTheSameBytesForEdgesInAnotherOrder) {
  for (const uint64_t seed : {3U, 4U, 5U}) {
    const TestFolder folder;
    Model model = random_model(seed);
    build(model, folder / "a");
    std::reverse(model.edges.begin(), model.edges.end());
    build(model, folder / "b");
    const auto edges = model.edges;
    const Permutation shuffle(edges.size(), seed);
    for (size_t i = 0; i < edges.size(); ++i) model.edges[i] = edges[shuffle(i)];
    build(model, folder / "c", {.memory = kMinBuildMemory});
    EXPECT_EQ(folder_bytes(folder / "a"), folder_bytes(folder / "b"));
    EXPECT_EQ(folder_bytes(folder / "a"), folder_bytes(folder / "c"));
  }
}

// 1.2 million edges in both directions at 16 bytes are 38 MB; the smallest bound gives 32 MB to
// them.
TEST(GraphBuilder, WritesTheSameBytesWhateverTheMemoryBound) {
  const TestFolder folder;
  Schema schema;
  const NodeType node = schema.add_node_type("node", NodeKind::plain);
  schema.add_relation({.source = "node", .edge = "to", .target = "node", .times = true});
  schema.number_relations();
  const Relation to = schema.relation("node", "to", "node");
  for (const uint64_t memory : {kMinBuildMemory, 8 * kMinBuildMemory}) {
    GraphBuilder builder(folder / std::to_string(memory), schema, {.memory = memory});
    for (int i = 0; i < 50'000; ++i) builder.add_node(node, {});
    Draws draws(121);
    for (int i = 0; i < 1'200'000; ++i) {
      builder.add_edge(to, {.source = static_cast<NodeId>(draws.below(50'000)),
                            .target = static_cast<NodeId>(draws.below(50'000)),
                            .time = static_cast<Time>(draws.below(50))});
    }
    EXPECT_EQ(builder.finish().at(to).edges, 1'200'000U);
  }
  EXPECT_TRUE(folder_bytes(folder / std::to_string(kMinBuildMemory)) ==
              folder_bytes(folder / std::to_string(8 * kMinBuildMemory)));
}

TEST(GraphBuilder, WritesTheSmallGraphWithTheSameBytesTwice) {
  const TestFolder folder;
  build_small_graph(folder / "a");
  build_small_graph(folder / "b", {.memory = kMinBuildMemory});
  EXPECT_EQ(folder_bytes(folder / "a"), folder_bytes(folder / "b"));
}

// --- edges ---

Schema one_type(const RelationDeclaration& relation) {
  Schema schema;
  schema.add_node_type("node", NodeKind::plain);
  schema.add_relation(relation);
  schema.number_relations();
  return schema;
}

TEST(GraphBuilder, StoresASymmetricEdgeOfANodeWithItselfOnce) {
  const TestFolder folder;
  const Schema schema =
      one_type({.source = "node", .edge = "e", .target = "node", .symmetric = true});
  GraphBuilder builder(folder / "g", schema);
  for (int i = 0; i < 2; ++i) builder.add_node(NodeType(0), {});
  builder.add_edge(Relation(0), {.source = 0, .target = 0});
  builder.add_edge(Relation(0), {.source = 0, .target = 1});
  EXPECT_EQ(builder.num_edges(), 2U);
  EXPECT_EQ(builder.finish().at(Relation(0)).edges, 3U);
  const HeteroGraph graph = HeteroGraph::open(folder / "g");
  EXPECT_EQ(graph.incoming(Relation(0), 0).size(), 2U);
  EXPECT_EQ(graph.incoming(Relation(0), 1).size(), 1U);
  verify(graph);
}

TEST(GraphBuilder, KeepsOneOfTheEdgesThatAgreeInEndsAndTimeWhenUnique) {
  const TestFolder folder;
  const Schema schema = one_type({.source = "node",
                                  .edge = "e",
                                  .target = "node",
                                  .times = true,
                                  .weights = true,
                                  .unique = true});
  GraphBuilder builder(folder / "g", schema);
  for (int i = 0; i < 2; ++i) builder.add_node(NodeType(0), {});
  const Relation e = schema.relation("node", "e", "node");
  builder.add_edge(e, {.source = 0, .target = 1, .time = 5, .weight = 2.0F});
  builder.add_edge(e, {.source = 0, .target = 1, .time = 5, .weight = 1.0F});
  builder.add_edge(e, {.source = 0, .target = 1, .time = 6, .weight = 1.0F});
  builder.add_edge(e, {.source = 0, .target = 1});
  builder.add_edge(e, {.source = 0, .target = 1});
  const Schema written = builder.finish();
  for (const RelationSpec& spec : written.relations()) {
    EXPECT_EQ(spec.edges, 3U);
    EXPECT_EQ(spec.repeated, 2U);
  }
  const HeteroGraph graph = HeteroGraph::open(folder / "g");
  EXPECT_EQ(graph.incoming(e, 1).weights[1], graph.incoming(schema.reverse(e), 0).weights[1]);
  verify(graph);
}

TEST(GraphBuilder, SummarizesDegreesOfAnySize) {
  const TestFolder folder;
  const Schema schema = one_type({.source = "node", .edge = "e", .target = "node"});
  GraphBuilder builder(folder / "g", schema);
  for (int i = 0; i < 5; ++i) builder.add_node(NodeType(0), {});
  const Relation e = schema.relation("node", "e", "node");
  const std::vector<uint64_t> degrees = {4095, 0, 4096, 9000, 5000};  // some counted one by one
  for (NodeId target = 0; target < degrees.size(); ++target) {
    for (uint64_t i = 0; i < degrees[target]; ++i) {
      builder.add_edge(e, {.source = static_cast<NodeId>(i % 5), .target = target});
    }
  }
  const DegreeSummary found = builder.finish().at(e).degrees;
  EXPECT_EQ(found.without, 1U);
  expect_degrees(found, degrees);
  verify(HeteroGraph::open(folder / "g"));
}

// --- nodes ---

TEST(GraphBuilder, NumbersNodesWithoutAnId) {
  const TestFolder folder;
  GraphBuilder builder(folder / "g", one_type({.source = "node", .edge = "e", .target = "node"}));
  for (NodeId i = 0; i < 5; ++i) EXPECT_EQ(builder.add_node(NodeType(0), {}), i);
  EXPECT_EQ(builder.add_node(NodeType(0), {.id = "3"}), std::nullopt);
  builder.finish();
  const HeteroGraph graph = HeteroGraph::open(folder / "g");
  EXPECT_EQ(graph.id(NodeType(0), 4), "4");
  EXPECT_EQ(graph.schema().at(NodeType(0)).first_id, 0);
}

TEST(GraphBuilder, KeepsItsColumnsInStepWhenANumberIsTakenByAnId) {
  const TestFolder folder;
  Schema schema;
  const NodeType node = schema.add_node_type("node", NodeKind::event);
  schema.at(node).names = true;
  schema.number_relations();
  GraphBuilder builder(folder / "g", schema);
  ASSERT_EQ(builder.add_node(node, {.id = "x", .name = "first", .time = 1}), 0U);
  ASSERT_EQ(builder.add_node(node, {.id = "2", .name = "second", .time = 2}), 1U);
  const auto third = builder.add_node(node, {.name = "third", .time = 3});  // its number is 2
  EXPECT_EQ(builder.num_nodes(node), third ? 3U : 2U);
  builder.finish();
  EXPECT_EQ(error_of([&] { verify(HeteroGraph::open(folder / "g")); }), "");
}

TEST(GraphBuilder, GivesTheFirstClassOfANode) {
  const TestFolder folder;
  GraphBuilder builder(folder / "g", one_type({.source = "node", .edge = "e", .target = "node"}));
  for (int i = 0; i < 3; ++i) builder.add_node(NodeType(0), {});
  const uint32_t label = builder.declare_label(NodeType(0), "kind");
  EXPECT_EQ(builder.declare_label(NodeType(0), "kind"), label);
  EXPECT_NE(builder.declare_label(NodeType(0), "other"), label);
  EXPECT_THROW(builder.declare_label(NodeType(0), "a/b"), Error);
  builder.add_label(NodeType(0), label, 1, "z");
  builder.add_label(NodeType(0), label, 1, "a");
  EXPECT_EQ(builder.label(NodeType(0), label, 1), "z");
  EXPECT_EQ(builder.label(NodeType(0), label, 0), std::nullopt);
  EXPECT_EQ(builder.label(NodeType(0), label, 2), std::nullopt);
}

TEST(GraphBuilder, WritesEveryClassOfANodeOnceAndInOrder) {
  const TestFolder folder;
  GraphBuilder builder(folder / "g", one_type({.source = "node", .edge = "e", .target = "node"}));
  std::vector<std::map<uint32_t, int>> expected(50);
  const uint32_t label = builder.declare_label(NodeType(0), "kind");
  Draws draws(131);
  for (NodeId node = 0; node < expected.size(); ++node) builder.add_node(NodeType(0), {});
  for (uint32_t i = 0; i < 20; ++i) builder.add_label(NodeType(0), label, 49, std::to_string(i));
  for (uint32_t i = 0; i < 20; ++i) expected[49][i] = 1;
  for (int i = 0; i < 300; ++i) {
    const auto node = static_cast<NodeId>(draws.below(45));
    const auto value = static_cast<uint32_t>(draws.below(20));
    builder.add_label(NodeType(0), label, node, std::to_string(value));
    expected[node][value] = 1;
  }
  const Schema written = builder.finish();
  EXPECT_EQ(written.at(NodeType(0)).labels[label].classes[10], "10");
  const HeteroGraph graph = HeteroGraph::open(folder / "g");
  for (NodeId node = 0; node < expected.size(); ++node) {
    const auto classes = graph.label_classes(NodeType(0), label, node);
    std::vector<uint32_t> wanted;
    for (const auto& [value, unused] : expected[node]) wanted.push_back(value);
    EXPECT_EQ(std::vector<uint32_t>(classes.begin(), classes.end()), wanted) << node;
  }
}

TEST(GraphBuilder, OrdersClassesByBytesWhenOneIsNoCanonicalNumber) {
  for (const auto& [values, expected] :
       std::map<std::vector<std::string>, std::vector<std::string>>{
           {{"10", "9", "-1"}, {"-1", "9", "10"}},
           {{"10", "9", "01"}, {"01", "10", "9"}},
           {{"10", "9", "b"}, {"10", "9", "b"}}}) {
    const TestFolder folder;
    GraphBuilder builder(folder / "g", one_type({.source = "node", .edge = "e", .target = "node"}));
    builder.add_node(NodeType(0), {});
    builder.declare_label(NodeType(0), "kind");
    for (const std::string& value : values) builder.add_label(NodeType(0), 0, 0, value);
    EXPECT_EQ(builder.finish().at(NodeType(0)).labels[0].classes, expected);
  }
}

// --- the folder ---

TEST(GraphBuilder, RefusesLessThanTheSmallestMemory) {
  const TestFolder folder;
  const std::string error = error_of(
      [&] { GraphBuilder(folder / "g", small_schema(), {.memory = kMinBuildMemory - 1}); });
  EXPECT_TRUE(contains(error, "64 MB")) << error;
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(GraphBuilder, LeavesNothingWithoutFinish) {
  const TestFolder folder;
  {
    GraphBuilder builder(folder / "g", small_schema());
    add_small_papers(builder);
    add_small_authors_and_venues(builder);
    add_small_edges(builder);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(GraphBuilder, LeavesNothingWhenItIsInterrupted) {
  const TestFolder folder;
  const auto stop = [](const Progress&) { throw Interrupted(); };
  EXPECT_THROW(build_small_graph(folder / "g", {.progress = stop}), Interrupted);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(GraphBuilder, ReportsEveryTypeToItsEnd) {
  const TestFolder folder;
  std::vector<std::string> finished;
  build_small_graph(folder / "g", {.progress = [&](const Progress& progress) {
                      EXPECT_GE(progress.fraction, 0.0);
                      EXPECT_LE(progress.fraction, 1.0);
                      if (progress.finished) finished.push_back(progress.stage);
                    }});
  EXPECT_EQ(finished,
            (std::vector<std::string>{"writing paper", "writing author", "writing venue"}));
}

TEST(GraphBuilder, ReplacesAGraphOnlyWhenTold) {
  const TestFolder folder;
  build_small_graph(folder / "g");
  const auto before = folder_bytes(folder / "g");
  EXPECT_TRUE(contains(error_of([&] { build_small_graph(folder / "g"); }), "exists"));
  EXPECT_EQ(folder_bytes(folder / "g"), before);
  {
    GraphBuilder builder(folder / "g", small_schema(), {.replace = true});
    EXPECT_EQ(folder_bytes(folder / "g"), before) << "replaced before the end";
    builder.finish();
  }
  EXPECT_EQ(HeteroGraph::open(folder / "g").num_nodes(NodeType(0)), 0U);
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"g"});
}

TEST(GraphBuilder, RefusesASecondBuilderOfTheSameFolder) {
  const TestFolder folder;
  const GraphBuilder builder(folder / "g", small_schema());
  EXPECT_TRUE(
      contains(error_of([&] { GraphBuilder(folder / "g", small_schema()); }), "being written"));
}

// Names that the builder uses itself in the folder: such a type works or is refused with an Error.
TEST(GraphBuilder, IsNotConfusedByATypeNamedLikeOneOfItsFiles) {
  for (const char* name : {"lock", "schema.json", "run-0"}) {
    const TestFolder folder;
    try {
      Schema schema;
      schema.add_node_type(name, NodeKind::plain);
      schema.number_relations();
      GraphBuilder builder(folder / "g", schema);
      builder.add_node(NodeType(0), {.id = "x"});
      builder.finish();
      verify(HeteroGraph::open(folder / "g"));
    } catch (const Error&) {
      EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << name;
    } catch (const std::exception& error) {
      ADD_FAILURE() << name << ": not an hgt::Error: " << error.what();
    }
  }
}

}  // namespace
}  // namespace hgt
