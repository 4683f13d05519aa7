// Layer-wise inference against the definition: the vector of an instance after layer l, worked out
// from those of its neighbors' instances after layer l - 1, one target at a time and with the
// reference path.
#include "hgt/training/whole_graph.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "hgt/academic/academic_generator.h"
#include "hgt/graph/graph_test_folder.h"
#include "hgt/model/torch.h"
#include "hgt/random.h"
#include "hgt/training/run.h"

namespace hgt {
namespace {

ModelOptions small_model(uint32_t layers, bool temporal) {
  ModelOptions options = release_preset();
  options.hidden = 16;
  options.heads = 2;
  options.layers = layers;
  options.rte = temporal;
  return options;
}

class Definition {
 public:
  Definition(HeteroGraph graph, Encoder encoder, const WholeGraphOptions& options)
      : graph_(std::move(graph)), encoder_(std::move(encoder)), options_(options) {
    at_ = options.inference.at;
    if (at_ == kNoTime && graph_.schema().time_range) at_ = graph_.schema().time_range->second;
  }

  at::Tensor asked_for(NodeType type, NodeId node) {
    const auto all = static_cast<uint32_t>(encoder_->layers().size());
    return vector(type, node, at_, options_.layers > 0 ? options_.layers : all);
  }

 private:
  using Key = std::tuple<uint32_t, NodeId, Time, uint32_t>;
  struct Read {
    NodeType type;
    NodeId node;
    Relation relation;
    int64_t gap;
    at::Tensor vector;
  };

  Time time_of(NodeType type, NodeId node, Time inherited) const {
    const Time own = graph_.time(type, node);
    return own == kNoTime ? inherited : own;
  }

  at::Tensor input(NodeType type, NodeId node) const {
    const uint64_t width = graph_.features(type).width;
    at::Tensor features = at::full({1}, static_cast<int64_t>(node), at::kLong);
    if (width > 0) {
      features = at::empty({1, static_cast<int64_t>(width)});
      graph_.copy_features(type, node, {features.data_ptr<float>(), width});
    }
    return encoder_->adapt_type(index(type), features, 1)[0];
  }

  bool is_hidden(Relation relation) const {
    return std::any_of(options_.hidden.begin(), options_.hidden.end(), [&](Relation hidden) {
      return relation == hidden || relation == graph_.schema().reverse(hidden);
    });
  }

  std::vector<Read> sources(NodeType type, NodeId node, Time time, uint32_t layer) {
    std::vector<Read> found = {
        {type, node, self_relation(graph_.schema(), type), 0, vector(type, node, time, layer - 1)}};
    const bool single = options_.inference.instances == Instances::single;
    for (const Relation relation : graph_.schema().incoming(type)) {
      if (is_hidden(relation)) continue;
      const NodeType other = graph_.schema().at(relation).source;
      const Neighbors list = graph_.incoming(relation, node);
      for (size_t i = 0; i < list.size(); ++i) {
        const Time source = time_of(other, list.sources[i], single ? at_ : time);
        const bool late = source > at_ || (!list.times.empty() && list.times[i] > at_);
        if (late) continue;
        found.push_back({other, list.sources[i], relation, time_gap(time, source),
                         vector(other, list.sources[i], source, layer - 1)});
      }
    }
    return found;
  }

  // What an instance of the node reads, itself included.
  uint32_t degree(NodeType type, NodeId node) const {
    uint32_t count = 1;
    for (const Relation relation : graph_.schema().incoming(type)) {
      if (is_hidden(relation)) continue;
      const NodeType other = graph_.schema().at(relation).source;
      const Neighbors list = graph_.incoming(relation, node);
      for (size_t i = 0; i < list.size(); ++i) {
        const Time edge = list.times.empty() ? kNoTime : list.times[i];
        count += std::max(edge, graph_.time(other, list.sources[i])) <= at_ ? 1 : 0;
      }
    }
    return count;
  }

  at::Tensor vector(NodeType type, NodeId node, Time time, uint32_t layer) {
    time = time_of(type, node, time);
    const Key key{index(type), node, time, layer};
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    if (layer == 0) return known_[key] = input(type, node);
    std::vector<Read> reads = sources(type, node, time, layer);
    std::stable_sort(reads.begin(), reads.end(),
                     [](const Read& a, const Read& b) { return index(a.type) < index(b.type); });
    return known_[key] = compute(type, reads, layer);
  }

  // A graph with one target; a row for each source, the target's own first among its type's.
  at::Tensor compute(NodeType type, const std::vector<Read>& reads, uint32_t layer) const {
    LayerGraph graph;
    const size_t types = graph_.schema().node_types().size();
    std::vector<at::Tensor> rows;
    graph.source_offsets.assign(types + 1, 0);
    graph.target_offsets.assign(types + 1, 0);
    for (const Read& read : reads) {
      graph.sources.push_back(static_cast<uint32_t>(rows.size()));
      graph.relations.push_back(read.relation);
      graph.gaps.push_back(static_cast<uint32_t>(rows.size()));
      graph.gap_values.push_back(static_cast<double>(read.gap));
      graph.source_degrees.push_back(degree(read.type, read.node));
      rows.push_back(read.vector);
      for (size_t i = index(read.type) + 1; i <= types; ++i) ++graph.source_offsets[i];
    }
    for (size_t i = index(type) + 1; i <= types; ++i) graph.target_offsets[i] = 1;
    graph.edge_offsets = {0, reads.size()};
    graph.edge_ids.resize(reads.size());
    return encoder_->layers()[layer - 1]->forward(at::stack(rows), graph, nullptr, nullptr)[0];
  }

  HeteroGraph graph_;
  Encoder encoder_;
  WholeGraphOptions options_;
  Time at_ = kNoTime;
  std::map<Key, at::Tensor> known_;
};

// The vectors of all nodes of a type, by node; undefined: not seen.
std::vector<at::Tensor> embed(const HeteroGraph& graph, const Encoder& encoder, NodeType type,
                              const WholeGraphOptions& options) {
  std::vector<at::Tensor> vectors(graph.num_nodes(type));
  WholeGraph(graph, options)
      .embed(encoder, {type},
             [&](NodeType of, std::span<const NodeId> nodes, const at::Tensor& block) {
               EXPECT_EQ(of, type);
               for (size_t i = 0; i < nodes.size(); ++i) {
                 EXPECT_FALSE(vectors[nodes[i]].defined()) << "node " << nodes[i] << " twice";
                 vectors[nodes[i]] = block[static_cast<int64_t>(i)].clone();
               }
             });
  return vectors;
}

Encoder make_encoder(const HeteroGraph& graph, const ModelOptions& options) {
  torch::manual_seed(7);
  Encoder encoder(options, model_schema(graph.schema(), 200));
  encoder->eval();
  return encoder;
}

Encoder on_reference_path(const HeteroGraph& graph, const Encoder& like) {
  ModelOptions options = like->options();
  options.path = LayerPath::reference;
  torch::manual_seed(7);
  Encoder encoder(options, model_schema(graph.schema(), 200));
  encoder->eval();
  return encoder;
}

ModelOptions with_full_matrices() {
  ModelOptions options = small_model(2, true);
  options.matrix_per_relation = true;
  return options;
}

ModelOptions symmetric_gcn() {
  return {.kind = ModelKind::gcn,
          .hidden = 16,
          .heads = 2,
          .layers = 2,
          .degree_weights = DegreeWeights::symmetric};
}

struct InferenceCase {
  const char* name;
  const char* type;
  uint32_t layers;
  WholeGraphOptions options = {};
  bool hide_venues = false;
  std::optional<ModelOptions> model = {};  // instead of HGT with that many layers
};

class WholeGraphTest : public testing::TestWithParam<InferenceCase> {};

TEST_P(WholeGraphTest, GivesWhatTheDefinitionGives) {
  const torch::NoGradGuard no_gradient;
  const TestFolder folder;
  generate_academic_graph(folder / "graph", {.preset = "small", .papers = 150, .features = 8});
  const HeteroGraph graph = HeteroGraph::open(folder / "graph");
  const NodeType type = graph.schema().node_type(GetParam().type);
  WholeGraphOptions options = GetParam().options;
  options.scratch = folder.path();
  if (GetParam().hide_venues) {
    options.hidden = {graph.schema().relation("paper", "pub_journal", "venue")};
  }
  const Encoder encoder =
      make_encoder(graph, GetParam().model.value_or(small_model(GetParam().layers, true)));
  const std::vector<at::Tensor> vectors = embed(graph, encoder, type, options);
  Definition definition(graph, on_reference_path(graph, encoder), options);
  const Time last =
      options.inference.at == kNoTime ? std::numeric_limits<Time>::max() : options.inference.at;
  uint64_t compared = 0;
  for (NodeId node = 0; node < vectors.size(); ++node) {
    const bool seen = graph.time(type, node) <= last;
    ASSERT_EQ(vectors[node].defined(), seen) << node;
    if (!seen || node % (vectors.size() / 12 + 1) != 0) continue;
    const at::Tensor expected = definition.asked_for(type, node);
    EXPECT_LT((vectors[node] - expected).abs().max().item<double>(), 2e-4) << node;
    ++compared;
  }
  EXPECT_GT(compared, 2U);
}

INSTANTIATE_TEST_SUITE_P(
    All, WholeGraphTest,
    testing::Values(
        InferenceCase{"papers", "paper", 2}, InferenceCase{"papers_one_layer", "paper", 1},
        InferenceCase{"papers_hidden_links", "paper", 2, {}, true},
        InferenceCase{"papers_full_matrices", "paper", 2, {}, true, with_full_matrices()},
        InferenceCase{"papers_symmetric_gcn", "paper", 2, {}, true, symmetric_gcn()},
        InferenceCase{"venues_symmetric_gcn",
                      "venue",
                      2,
                      {.inference = {.at = 2008}},
                      false,
                      symmetric_gcn()},
        InferenceCase{"papers_until_2005", "paper", 2, {.inference = {.at = 2005}}},
        InferenceCase{"venues", "venue", 2, {.inference = {.at = 2010}}},
        InferenceCase{"venues_three_layers", "venue", 3, {.inference = {.at = 2008}}},
        InferenceCase{"authors", "author", 3},
        InferenceCase{"authors_first_layer", "author", 3, {.layers = 1}},
        InferenceCase{
            "venues_first_of_three", "venue", 3, {.inference = {.at = 2010}, .layers = 2}},
        InferenceCase{"papers_single", "paper", 2, {.inference = {.instances = Instances::single}}},
        InferenceCase{"venues_single",
                      "venue",
                      2,
                      {.inference = {.at = 2010, .instances = Instances::single}}}),
    [](const auto& given) { return given.param.name; });

TEST(WholeGraph, WorksWithoutAnyTimes) {
  const torch::NoGradGuard no_gradient;
  const TestFolder folder;
  Schema schema;
  schema.add_node_type("user", NodeKind::plain);
  schema.add_node_type("item", NodeKind::plain);
  schema.add_relation({.source = "user", .edge = "buys", .target = "item"});
  schema.number_relations();
  {
    GraphBuilder builder(folder / "graph", schema);
    for (int i = 0; i < 40; ++i) builder.add_node(schema.node_type("user"), {});
    for (int i = 0; i < 9; ++i) builder.add_node(schema.node_type("item"), {});
    Draws draws(3);
    for (int i = 0; i < 80; ++i) {
      builder.add_edge(schema.relation("user", "buys", "item"),
                       {.source = static_cast<NodeId>(draws.below(40)),
                        .target = static_cast<NodeId>(draws.below(9))});
    }
    builder.finish();
  }
  const HeteroGraph graph = HeteroGraph::open(folder / "graph");
  const Encoder encoder = make_encoder(graph, small_model(2, true));
  const NodeType item = graph.schema().node_type("item");
  const auto vectors = embed(graph, encoder, item, {});
  Definition definition(graph, on_reference_path(graph, encoder), {});
  for (NodeId node = 0; node < vectors.size(); ++node) {
    EXPECT_LT((vectors[node] - definition.asked_for(item, node)).abs().max().item<double>(), 2e-4);
  }
}

TEST(WholeGraph, RefusesMoreInstancesThanAnybodyWants) {
  const TestFolder folder;
  Schema schema;
  schema.add_node_type("event", NodeKind::event);
  schema.add_node_type("place", NodeKind::plain);
  schema.add_relation({.source = "event", .edge = "at", .target = "place"});
  schema.number_relations();
  {
    GraphBuilder builder(folder / "graph", schema);
    for (int i = 0; i < 300; ++i) builder.add_node(schema.node_type("event"), {.time = i});
    for (int i = 0; i < 300; ++i) builder.add_node(schema.node_type("place"), {});
    for (NodeId event = 0; event < 300; ++event) {  // everybody meets every place
      for (NodeId place = 0; place < 300; ++place) {
        builder.add_edge(schema.relation("event", "at", "place"),
                         {.source = event, .target = place});
      }
    }
    builder.finish();
  }
  const HeteroGraph graph = HeteroGraph::open(folder / "graph");
  const Encoder encoder = make_encoder(graph, small_model(2, true));
  const NodeType event = graph.schema().node_type("event");
  EXPECT_TRUE(contains(error_of([&] { embed(graph, encoder, event, {}); }), "--instances single"));
  const auto vectors =
      embed(graph, encoder, event, {.inference = {.instances = Instances::single}});
  EXPECT_TRUE(vectors[0].defined());
}

}  // namespace
}  // namespace hgt
