// Encoders of every kind on sampled sub-graphs: vectors, gradients, trimming, files and sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "hgt/academic/academic_generator.h"
#include "hgt/error.h"
#include "hgt/graph/graph_test_folder.h"
#include "hgt/model/encoder.h"
#include "hgt/model/model_file.h"
#include "hgt/model/random_batch_test.h"
#include "hgt/sampling/sampler.h"

namespace hgt {
namespace {

constexpr int64_t kEncoderWidth = 8;
constexpr int64_t kLayers = 2;

class SampledGraph : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new TestFolder;
    generate_academic_graph(*folder / "graph", {.preset = "small", .papers = 300});
  }
  static void TearDownTestSuite() {
    delete folder;
    folder = nullptr;
  }

  Subgraph sampled(uint64_t seed = 3) const {
    std::vector<Seed> seeds;
    for (const NodeId node : {2U, 0U, 3U, 2U}) seeds.push_back({.type = paper_, .node = node});
    seeds.push_back({.type = graph_.schema().node_type("author"), .node = 1, .time = 2010});
    return sample(graph_, seeds, {.width = 24, .depth = 3, .seed = seed});
  }

  Encoder encoder_of(ModelKind kind, at::ScalarType precision,
                     const std::vector<std::string>& paths = {}) const {
    torch::manual_seed(5);
    Encoder made(ModelOptions{.kind = kind,
                              .hidden = kEncoderWidth,
                              .heads = 2,
                              .layers = kLayers,
                              .meta_paths = paths},
                 schema_);
    made->to(precision);
    return made;
  }
  static at::Tensor seed_vectors(const Encoder& made, const GraphBatch& batch) {
    return made->forward(batch).index_select(0, batch.seed_rows);
  }

  static inline TestFolder* folder = nullptr;
  const HeteroGraph graph_ = HeteroGraph::open(*folder / "graph");
  const NodeType paper_ = graph_.schema().node_type("paper");
  // A vector for each node without features: otherwise those of a type are all alike.
  const ModelSchema schema_ = model_schema(graph_.schema(), 100'000);
};

class EncoderOfKind : public SampledGraph, public testing::WithParamInterface<std::string> {
 protected:
  ModelKind kind() const { return from_word<ModelKind>(GetParam()); }
  const ModelRow& row() const { return row_of(kind()); }
  Encoder encoder(at::ScalarType precision = at::kFloat) const {
    return encoder_of(kind(), precision);
  }
};
INSTANTIATE_TEST_SUITE_P(Kinds, EncoderOfKind, testing::ValuesIn(all_words<ModelKind>()),
                         [](const auto& test) { return test.param; });

TEST_P(EncoderOfKind, GivesEverySeedAFiniteVector) {
  const Encoder made = encoder();
  EXPECT_EQ(made->options().kind, kind());
  const GraphBatch batch = made->make_batch(graph_, sampled());
  ASSERT_EQ(batch.plans.size(), static_cast<size_t>(kLayers));
  const at::Tensor vectors = seed_vectors(made, batch).detach();
  EXPECT_EQ(vectors.sizes(), at::IntArrayRef({5, kEncoderWidth}));
  EXPECT_TRUE(vectors.isfinite().all().item<bool>());
  EXPECT_TRUE(at::equal(vectors[0], vectors[3])) << "one seed, asked for twice";
  EXPECT_EQ(largest(vectors) == 0, !row().reads_features);
  EXPECT_EQ(distance(vectors[0], vectors[1]) == 0, !row().reads_features);
  GraphBatch unprepared = batch;
  unprepared.plans.clear();
  EXPECT_TRUE(at::equal(seed_vectors(made, unprepared), vectors));
}

TEST_P(EncoderOfKind, IsTheSameForTheSameSeedOfItsWeights) {
  const GraphBatch batch = encoder()->make_batch(graph_, sampled());
  EXPECT_TRUE(at::equal(encoder()->forward(batch), encoder()->forward(batch)));
}

// Does the path lead to other nodes, not only to the same one at other times?
bool leads_to_others(const Subgraph& read, size_t path) {
  for (uint32_t row = 0; row < read.num_rows(); ++row) {
    for (const uint64_t edge : read.incoming(row)) {
      const bool is_other = read.nodes[read.sources[edge]] != read.nodes[row];
      if (read.relations[edge] == Relation(path) && is_other) return true;
    }
  }
  return false;
}

// Why a parameter of han can have no gradient, or nothing. `read`: the graph of its paths.
std::string excuse(const EncoderImpl& encoder, const Subgraph& read, const std::string& name) {
  const std::vector<MetaPath> paths = meta_paths(encoder.options().meta_paths, encoder.schema());
  std::vector<uint32_t> paths_of(encoder.schema().node_types.size(), 0);
  for (size_t i = 0; i < paths.size(); ++i) {
    ++paths_of[paths[i].type];
    const bool scores = contains(name, "path_" + std::to_string(i) + ".at_");
    if (scores && !leads_to_others(read, i)) return "the mean of equal vectors, however weighted";
  }
  for (size_t type = 0; type < paths_of.size(); ++type) {
    const std::string semantic = "semantic_" + std::to_string(type);
    if (contains(name, semantic) && paths_of[type] == 1) return "a path alone has the share one";
  }
  return "";
}

// With a loss on every output and without trimming, so that every type and relation counts.
TEST_P(EncoderOfKind, HandsGradientsToEveryParameterThatCanHaveOne) {
  const Encoder made = encoder(at::kDouble);
  const Subgraph subgraph = sampled();
  const bool joins = row().follows_meta_paths;
  const Subgraph read =
      joins ? follow(meta_paths(made->options().meta_paths, schema_), subgraph) : subgraph;
  const at::Tensor vectors = made->forward(graph_batch(graph_, read, kLayers, Trim::off));
  EXPECT_EQ(vectors.size(0), subgraph.num_rows());
  if (!row().reads_features) {
    EXPECT_TRUE(made->parameters().empty()) << "it has nothing to learn";
    return;
  }
  vectors.backward(random_rows(6, vectors.size(0), kEncoderWidth, at::kDouble));
  size_t excused = 0;
  for (const auto& parameter : made->named_parameters()) {
    const std::string why = joins ? excuse(*made, read, parameter.key()) : "";
    const at::Tensor& gradient = parameter.value().grad();
    ASSERT_TRUE(gradient.defined()) << parameter.key();
    EXPECT_TRUE(gradient.isfinite().all().item<bool>()) << parameter.key();
    if (why.empty()) {
      EXPECT_GT(largest(gradient), 1e-9) << parameter.key();
    } else {
      EXPECT_LE(largest(gradient), 1e-12) << parameter.key() << ": " << why;
      ++excused;
    }
  }
  // Venues and institutes have one path each; a paper is in one venue, so that it leads from a
  // venue to itself.
  EXPECT_EQ(excused, joins ? (2 * 3 + 2) * static_cast<size_t>(kLayers) : 0U);
}

// Every meta relation that the sub-graph has moves its own matrix, and the others do not move.
TEST_F(SampledGraph, MovesTheMatricesOfRgcnOfTheRelationsThatAreThere) {
  const Encoder made = encoder_of(ModelKind::rgcn, at::kDouble);
  const Subgraph subgraph = sampled();
  const at::Tensor vectors = made->forward(graph_batch(graph_, subgraph, kLayers, Trim::off));
  vectors.backward(random_rows(6, vectors.size(0), kEncoderWidth, at::kDouble));
  const at::Tensor gradient = made->named_parameters()["layer_1.weight"].grad();
  std::vector<bool> is_there(static_cast<size_t>(gradient.size(0)), false);
  for (const Relation relation : subgraph.relations) {
    is_there[std::min<size_t>(index(relation), is_there.size() - 1)] = true;
  }
  for (size_t relation = 0; relation < is_there.size(); ++relation) {
    EXPECT_EQ(largest(gradient[static_cast<int64_t>(relation)]) > 0, is_there[relation])
        << relation;
  }
}

// The shares of han's paths are means over the targets that are computed, and so depend on trimming
// unless a type has one path, with the share one.
TEST_P(EncoderOfKind, GivesTheSeedsTheSameVectorsWhenTrimmed) {
  const std::vector<std::string> paths = {"paper-author-paper", "author-paper-author"};
  const bool joins = row().follows_meta_paths;
  const Encoder made =
      joins ? encoder_of(kind(), at::kDouble, paths) : encoder_of(kind(), at::kDouble);
  for (uint64_t seed = 0; seed < 4; ++seed) {
    const Subgraph subgraph =
        joins ? follow(meta_paths(paths, schema_), sampled(seed)) : sampled(seed);
    const GraphBatch whole = graph_batch(graph_, subgraph, kLayers, Trim::off);
    const GraphBatch trimmed = graph_batch(graph_, subgraph, kLayers, Trim::on);
    EXPECT_LT(trimmed.layers[1]->num_targets(), whole.layers[1]->num_targets());
    EXPECT_LE(distance(seed_vectors(made, trimmed), seed_vectors(made, whole)), 1e-12)
        << "seed " << seed;
  }
}

TEST_P(EncoderOfKind, ComesBackFromAFile) {
  const Encoder made = encoder();
  const Path file = *folder / (GetParam() + ".safetensors");
  save_encoder(file, *made);
  const Encoder again = load_encoder(file, schema_);
  EXPECT_EQ(again->options(), made->options());
  EXPECT_EQ(num_parameters(*again), num_parameters(*made));
  const Subgraph subgraph = sampled();
  EXPECT_TRUE(at::equal(again->forward(again->make_batch(graph_, subgraph)),
                        made->forward(made->make_batch(graph_, subgraph))));
}

TEST_P(EncoderOfKind, ShowsAttentionOnlyWhereItIsPaidAlongEdges) {
  const Encoder made = encoder();
  const GraphBatch batch = made->make_batch(graph_, sampled());
  AttentionTrace trace;
  if (!row().pays_attention) {
    const std::string text = error_of([&] { made->forward(batch, &trace); });
    EXPECT_TRUE(contains(text, "kind " + GetParam())) << text;
    return;
  }
  made->forward(batch, &trace);
  ASSERT_EQ(trace.size(), static_cast<size_t>(kLayers));
  for (size_t layer = 0; layer < trace.size(); ++layer) {
    EXPECT_EQ(trace[layer].edge_ids, batch.layers[layer]->edge_ids);
    EXPECT_EQ(trace[layer].weights.size(0), static_cast<int64_t>(batch.layers[layer]->num_edges()));
  }
}

// --- meta paths ---

TEST_P(EncoderOfKind, ReadsTheSubgraphOfItsMetaPathsIfItHasSome) {
  const Encoder made = encoder();
  const Subgraph subgraph = sampled();
  const GraphBatch batch = made->make_batch(graph_, subgraph);
  EXPECT_EQ(made->reads_edges(), !row().follows_meta_paths);
  if (!row().follows_meta_paths) {
    EXPECT_TRUE(made->options().meta_paths.empty());
    EXPECT_EQ(batch.layers[0]->sources, graph_batch(graph_, subgraph, kLayers).layers[0]->sources);
    return;
  }
  EXPECT_EQ(made->options().meta_paths, propose_meta_paths(schema_));
  const Subgraph joined = follow(meta_paths(made->options().meta_paths, schema_), subgraph);
  const GraphBatch expected = graph_batch(graph_, joined, kLayers);
  EXPECT_EQ(batch.layers[0]->sources, expected.layers[0]->sources);
  EXPECT_EQ(batch.layers[0]->relations, expected.layers[0]->relations);
}

TEST(HanEncoder, TakesTheMetaPathsThatItIsGivenAndNeedsOne) {
  const ModelSchema schema{.node_types = {{"paper", 3}, {"author", 0}},
                           .edge_types = {"writes", "rev_writes", "self"},
                           .relations = {{1, 0, 0}, {0, 1, 1}, {0, 2, 0}, {1, 2, 1}}};
  ModelOptions options{.kind = ModelKind::han, .hidden = 4, .heads = 2, .layers = 1};
  options.meta_paths = {"paper-(writes)-author-paper"};
  EXPECT_EQ(Encoder(options, schema)->options().meta_paths, options.meta_paths);
  options.meta_paths = {"paper-author"};
  EXPECT_THROW(Encoder(options, schema), Error);
  options.meta_paths = {};
  EXPECT_NO_THROW(Encoder(options, schema));
  const ModelSchema alone{
      .node_types = {{"paper", 3}}, .edge_types = {"self"}, .relations = {{0, 0, 0}}};
  EXPECT_TRUE(contains(error_of([&] { Encoder(options, alone); }), "han needs a meta path"));
}

// --- sizes ---

// Two types and three relations besides `self`; papers have 5 features, authors none.
const ModelSchema kSized = {.node_types = {{"paper", 5}, {"author", 0}},
                            .edge_types = {"writes", "rev_writes", "cites", "self"},
                            .relations = {{1, 0, 0}, {0, 1, 1}, {0, 2, 0}, {0, 3, 0}, {1, 3, 1}}};

TEST(NumParametersOfBaselines, IsWhatTheFormulasCountTo) {
  constexpr int64_t d = 16;
  constexpr int64_t kDeep = 3;
  constexpr int64_t kAdaptation = (5 * d + d) + d;
  constexpr int64_t kLinear = d * d + d;
  constexpr int64_t kAttention = kLinear + 2 * d;  // W, b and the two halves of a
  // Two directions of d / 2: four gates read d numbers and d / 2 of their own, with a bias.
  constexpr int64_t kReader = 2 * 4 * (d / 2) * (d + d / 2 + 1);
  const std::map<std::string, int64_t> layers = {
      {"gcn", kLinear},
      {"gat", kAttention},
      {"rgcn", (3 + 1) * d * d + d},
      {"hetgnn", 2 * kReader + 2 * d},
      // paper-paper, paper-author-paper, author-paper-author; W, b and q of two types
      {"han", 3 * kAttention + 2 * (kLinear + d)},
      {"mlp", kLinear}};
  for (const auto& [name, count] : layers) {
    const ModelOptions options{
        .kind = from_word<ModelKind>(name), .hidden = d, .heads = 4, .layers = kDeep};
    EXPECT_EQ(num_parameters(*Encoder(options, kSized)), kAdaptation + kDeep * count) << name;
  }
  EXPECT_EQ(num_parameters(*Encoder(ModelOptions{.kind = ModelKind::majority}, kSized)), 0);
}

// The last layer hands on what the task reads: no activation cuts it off. HetGNN's and HAN's have
// none, or the same, in every place.
TEST(BaselineEncoders, HaveNoActivationAtTheirEnd) {
  LayerGraph graph{.source_offsets = {0, 64, 64},
                   .target_offsets = {0, 64, 64},
                   .edge_offsets = {0},
                   .sources = {},
                   .relations = std::vector<Relation>(64, Relation(3)),
                   .gaps = std::vector<uint32_t>(64, 0),
                   .gap_values = {0},
                   .edge_ids = std::vector<uint64_t>(64, 0)};
  for (uint32_t row = 0; row < 64; ++row) {
    graph.sources.push_back(row);
    graph.edge_offsets.push_back(graph.sources.size());
  }
  for (const std::string name : {"gcn", "gat", "rgcn", "mlp"}) {
    const ModelOptions options{
        .kind = from_word<ModelKind>(name), .hidden = 16, .heads = 4, .layers = 2};
    const Encoder encoder(options, kSized);
    GraphBatch batch;
    batch.type_offsets = graph.source_offsets;
    batch.features = {10 * torch::randn({64, 5}), {}};
    batch.layers.assign(2, std::make_shared<const LayerGraph>(graph));
    EXPECT_LT(encoder->forward(batch).min().item<double>(), -1.0) << name;
    const at::Tensor inner =
        encoder->layers()[0]->forward(10 * torch::randn({64, 16}), graph, nullptr, nullptr);
    EXPECT_GE(inner.min().item<double>(), name == "gat" ? -1.0 : 0.0) << name;
    EXPECT_GT(inner.max().item<double>(), 1.0) << name;
  }
}

}  // namespace
}  // namespace hgt
