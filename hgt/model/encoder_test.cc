// The encoder on sampled and random sub-graphs, its parts that have no test of their own (dropout,
// RTE), and its size.
#include "hgt/model/encoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hgt/academic/academic_generator.h"
#include "hgt/disk/temporary_test_folder.h"
#include "hgt/error.h"
#include "hgt/model/dropout.h"
#include "hgt/model/graph_batch.h"
#include "hgt/model/random_batch_test.h"
#include "hgt/model/torch.h"
#include "hgt/sampling/sampler.h"

namespace hgt {
namespace {

constexpr double kDouble = 1e-10;  // different orders of summation in double

ModelOptions small_options(ModelOptions options, int64_t layers) {
  options.hidden = 16;
  options.heads = 2;
  options.layers = layers;
  options.dropout = 0;
  return options;
}

Encoder double_encoder(const ModelOptions& options, const ModelSchema& schema) {
  torch::manual_seed(5);
  Encoder encoder(options, schema);
  encoder->to(at::kDouble);
  return encoder;
}

// A sub-graph as a batch for that number of layers.
using MakeBatch = std::function<GraphBatch(uint32_t layers, Trim trim)>;

// The seeds' vectors and the gradients of a loss on them, by name.
Results seed_results(Encoder& encoder, const MakeBatch& make, Trim trim) {
  const GraphBatch batch = make(static_cast<uint32_t>(encoder->options().layers), trim);
  encoder->zero_grad();
  const at::Tensor seeds = encoder->forward(batch).index_select(0, batch.seed_rows);
  seeds.backward(random_rows(9, seeds.size(0), seeds.size(1), seeds.scalar_type()));
  Results results = {{"seeds", seeds.detach()}};
  for (const auto& parameter : encoder->named_parameters()) {
    const at::Tensor& gradient = parameter.value().grad();
    results[parameter.key()] =
        gradient.defined() ? gradient.clone() : at::zeros_like(parameter.value()).detach();
  }
  return results;
}

void expect_trimming_changes_nothing(const MakeBatch& make, const ModelSchema& schema,
                                     int64_t seeds) {
  for (int64_t layers = 1; layers <= 4; ++layers) {
    for (const ModelOptions& preset : {paper_preset(), release_preset()}) {
      Encoder encoder = double_encoder(small_options(preset, layers), schema);
      const Results whole = seed_results(encoder, make, Trim::off);
      for (const auto& [name, values] : seed_results(encoder, make, Trim::on)) {
        EXPECT_LE(distance(values, whole.at(name)), kDouble * std::max(1.0, largest(values)))
            << layers << " layers, " << name;
      }
      EXPECT_EQ(whole.at("seeds").size(0), seeds);
      EXPECT_GT(largest(whole.at("layer_0.projection_weight")), 0);
    }
  }
}

// --- sampled sub-graphs ---

class SampledEncoder : public testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() {
    folder = new TestFolder;
    generate_academic_graph(*folder / "tiny", {.preset = "tiny"});
    generate_academic_graph(*folder / "small", {.preset = "small", .papers = 300});
  }
  static void TearDownTestSuite() { delete folder; }

  Subgraph sampled() const {
    std::vector<Seed> seeds;
    for (const NodeId node : {2U, 0U, 3U, 2U}) seeds.push_back({.type = paper_, .node = node});
    seeds.push_back({.type = graph_.schema().node_type("author"), .node = 1, .time = 2010});
    return sample(graph_, seeds, {.width = 5, .depth = 3, .seed = 3});
  }
  MakeBatch make_batch() const {
    return [this, subgraph = sampled()](uint32_t layers, Trim trim) {
      return graph_batch(graph_, subgraph, layers, trim);
    };
  }

  static inline TestFolder* folder = nullptr;
  const HeteroGraph graph_ = HeteroGraph::open(*folder / GetParam());
  const NodeType paper_ = graph_.schema().node_type("paper");
  const ModelSchema schema_ = model_schema(graph_.schema());
};
INSTANTIATE_TEST_SUITE_P(Graphs, SampledEncoder, testing::Values("tiny", "small"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(SampledEncoder, GivesTheSeedsTheSameVectorsAndGradientsWhenTrimmed) {
  expect_trimming_changes_nothing(make_batch(), schema_, 5);
}

TEST_P(SampledEncoder, ReadsTheFeaturesOfTheRightInstances) {
  const Subgraph subgraph = sampled();
  const GraphBatch trimmed = graph_batch(graph_, subgraph, 2);
  const ReceptiveField field = receptive_field(subgraph, 2);
  const uint32_t type = index(paper_);
  ASSERT_EQ(trimmed.features[type].size(0),
            trimmed.type_offsets[type + 1] - trimmed.type_offsets[type]);
  std::vector<float> row(static_cast<size_t>(trimmed.features[type].size(1)));
  for (uint32_t i = trimmed.type_offsets[type]; i < trimmed.type_offsets[type + 1]; ++i) {
    graph_.copy_features(paper_, subgraph.nodes[field.rows[i]], row);
    EXPECT_TRUE(at::equal(trimmed.features[type][i - trimmed.type_offsets[type]], at::tensor(row)));
  }
}

TEST_P(SampledEncoder, GivesTheSameBitsWithAPreparedBatch) {
  const Subgraph subgraph = sampled();
  const Encoder encoder(small_options(release_preset(), 3), schema_);
  for (const Trim trim : {Trim::on, Trim::off}) {
    GraphBatch made = graph_batch(graph_, subgraph, 3, trim);
    const at::Tensor expected = encoder->forward(made);
    encoder->prepare(made);
    ASSERT_EQ(made.plans.size(), 3U);
    EXPECT_EQ(made.plans[0] == made.plans[1], trim == Trim::off) << "one graph, one plan";
    EXPECT_TRUE(at::equal(encoder->forward(made), expected));
  }
}

TEST_P(SampledEncoder, TracesTheSameAttentionTowardSeedsWhenTrimmed) {
  const Subgraph subgraph = sampled();
  const Encoder encoder = double_encoder(small_options(paper_preset(), 3), schema_);
  AttentionTrace whole(7);  // what was in it goes
  AttentionTrace trimmed;
  encoder->forward(graph_batch(graph_, subgraph, 3, Trim::off), &whole);
  encoder->forward(graph_batch(graph_, subgraph, 3), &trimmed);
  ASSERT_EQ(whole.size(), 3U);
  ASSERT_EQ(trimmed.size(), 3U);
  for (size_t layer = 0; layer < 3; ++layer) {
    const std::vector<int64_t> edges(trimmed[layer].edge_ids.begin(),
                                     trimmed[layer].edge_ids.end());
    ASSERT_FALSE(edges.empty());
    const at::Tensor same = whole[layer].weights.index_select(0, at::tensor(edges, at::kLong));
    EXPECT_LE(distance(trimmed[layer].weights, same), kDouble) << "layer " << layer;
  }
  EXPECT_EQ(whole[0].edge_ids.size(), subgraph.num_edges());
}

TEST_P(SampledEncoder, WorksWithOneHeadAndOneLayer) {
  ModelOptions options = small_options(paper_preset(), 1);
  options.heads = 1;
  Encoder encoder = double_encoder(options, schema_);
  const Results fused = seed_results(encoder, make_batch(), Trim::on);
  options.path = LayerPath::reference;
  Encoder other = double_encoder(options, schema_);
  for (const auto& [name, values] : seed_results(other, make_batch(), Trim::off)) {
    EXPECT_LE(distance(values, fused.at(name)), kDouble * std::max(1.0, largest(values))) << name;
  }
}

// --- random sub-graphs ---

MakeBatch random_batch(const ModelSchema& schema, Draws& draws) {
  const Subgraph subgraph = random_subgraph(schema, draws, 6);
  std::vector<at::Tensor> features;
  for (uint32_t type = 0; type < schema.node_types.size(); ++type) {
    const auto width = static_cast<int64_t>(schema.node_types[type].features);
    const int64_t rows = subgraph.num_rows(NodeType(type));
    std::vector<float> block;
    for (int64_t i = 0; i < rows * width; ++i) {
      block.push_back(static_cast<float>(draws.unit() - 0.5));
    }
    features.push_back(width > 0 ? at::tensor(block).view({rows, width}) : at::Tensor());
  }
  return [=](uint32_t layers, Trim trim) {
    return batch_with_features(subgraph, features, layers, trim);
  };
}

TEST(Encoder, GivesTheSameWhenTrimmedForTypesWithoutFeaturesOrInstances) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    Draws draws(hash(seed, 8));
    const ModelSchema schema = random_schema(draws, 3 + draws.below(3), 16);
    expect_trimming_changes_nothing(random_batch(schema, draws), schema, 7);
  }
}

TEST(Encoder, LeavesTheWeightsOfATypeWithoutInstancesAlone) {
  Draws draws(4);
  ModelSchema schema = random_schema(draws, 3, 10);
  schema.node_types[2].features = 4;  // the last type is the one without instances
  Encoder encoder = double_encoder(small_options(paper_preset(), 2), schema);
  const Results results = seed_results(encoder, random_batch(schema, draws), Trim::on);
  EXPECT_TRUE(results.at("seeds").isfinite().all().item<bool>());
  EXPECT_EQ(largest(results.at("adaptation_type_2_weight")), 0);
  EXPECT_EQ(largest(results.at("adaptation_type_2_bias")), 0);
  EXPECT_EQ(largest(results.at("layer_0.projection_weight")[2]), 0);
}

// --- the adaptation layer, seen through a layer without edges, which adds the bias of A-Linear ---

const ModelSchema kTwoTypes = {.node_types = {{"paper", 3}, {"author", 0}},
                               .edge_types = {"self"},
                               .relations = {{0, 0, 0}, {1, 0, 1}}};

GraphBatch batch_without_edges(uint32_t papers, uint32_t authors) {
  auto graph = std::make_shared<LayerGraph>();
  graph->source_offsets = {0, papers, papers + authors};
  graph->target_offsets = graph->source_offsets;
  graph->edge_offsets.assign(papers + authors + size_t{1}, 0);
  return {.type_offsets = graph->source_offsets,
          .features = {random_rows(3, papers, 3, at::kFloat), at::Tensor()},
          .nodes = {},
          .layers = {graph},
          .seed_rows = {},
          .plans = {}};
}

TEST(Encoder, StartsFromFeaturesOrFromOneVectorForAllNodesOfAType) {
  for (const bool tanh : {false, true}) {
    ModelOptions options = small_options(paper_preset(), 1);
    options.tanh_adaptation = tanh;
    Encoder encoder = double_encoder(options, kTwoTypes);
    const GraphBatch batch = batch_without_edges(5, 3);
    const at::Tensor output = encoder->forward(batch);
    const auto weights = encoder->named_parameters();
    const auto expected = [&](const at::Tensor& adapted, int64_t type) {
      return (tanh ? adapted.tanh() : adapted) + weights["layer_0.output_bias"][type];
    };
    const at::Tensor papers =
        at::mm(batch.features[0].to(at::kDouble), weights["adaptation_paper_weight"].t()) +
        weights["adaptation_paper_bias"];
    const at::Tensor author = weights["adaptation_author_bias"];
    EXPECT_LE(distance(output.slice(0, 0, 5), expected(papers, 0)), kDouble);
    EXPECT_LE(distance(output.slice(0, 5), expected(author, 1).expand({3, -1})), kDouble);
    EXPECT_FALSE(weights.contains("adaptation_author_weight"));
    output.sum().backward();
    const at::Tensor slope = tanh ? 1 - author.tanh().square() : at::ones_like(author);
    EXPECT_LE(distance(author.grad(), 3 * slope), kDouble) << "of three authors";
  }
}

TEST(Encoder, TakesTypesWithADotInTheirName) {
  ModelSchema schema;
  schema.node_types = {{"shop.v1", 3}, {"shop-v1", 0}};
  schema.edge_types = {"self"};
  schema.relations = {{0, 0, 0}, {1, 0, 1}};
  ModelOptions options = paper_preset();
  options.hidden = 8;
  options.heads = 2;
  EXPECT_NO_THROW(Encoder(options, schema));
}

TEST(Encoder, RefusesBatchesThatDoNotFitAndNamesTheType) {
  const Encoder encoder(small_options(paper_preset(), 1), kTwoTypes);
  const auto refusal = [&](const GraphBatch& batch) -> std::string {
    try {
      encoder->forward(batch);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const auto expect = [&](const GraphBatch& batch, const std::string& part) {
    EXPECT_NE(refusal(batch).find(part), std::string::npos) << refusal(batch);
  };
  EXPECT_EQ(refusal(batch_without_edges(5, 3)), "");
  GraphBatch batch = batch_without_edges(5, 3);
  batch.layers.push_back(batch.layers[0]);
  expect(batch, "made for 2 layers and 2 node types, but the model has 1 and 2");
  for (const at::Tensor& features : {torch::zeros({5, 4}), torch::zeros({4, 3}), at::Tensor()}) {
    batch = batch_without_edges(5, 3);
    batch.features[0] = features;
    expect(batch, "3 features for each of 5 instances of 'paper'");
  }
  batch = batch_without_edges(5, 3);
  batch.features.emplace_back();
  expect(batch, "3 node types");
}

// --- dropout ---

// The share of numbers that became zero is within five standard deviations of the probability, and
// the others are the old ones over what is left of them.
void expect_dropped(const at::Tensor& values, const at::Tensor& before, double probability) {
  const at::Tensor zero = values == 0;
  const auto count = static_cast<double>(values.numel());
  EXPECT_NEAR(zero.sum().item<double>() / count, probability,
              5 * std::sqrt(probability * (1 - probability) / count));
  const at::Tensor kept = at::where(zero, at::zeros_like(before), before / (1 - probability));
  EXPECT_LE(largest(values - kept), 1e-5);
}

TEST(Dropout, IsAFunctionOfTheSeedAlone) {
  const at::Tensor ones = torch::ones({700, 300});
  const int before = at::get_num_threads();
  std::vector<at::Tensor> drawn;
  for (const int threads : {1, 2, 1}) {
    at::set_num_threads(threads);
    torch::manual_seed(threads == 1 && drawn.size() == 2 ? 12 : 11);
    drawn.push_back(drop_out(ones, 0.3, true));
  }
  at::set_num_threads(before);
  EXPECT_TRUE(at::equal(drawn[0], drawn[1])) << "threads make a difference";
  EXPECT_FALSE(at::equal(drawn[0], drawn[2])) << "another seed makes none";
  EXPECT_FALSE(at::equal(drawn[2], drop_out(ones, 0.3, true))) << "the pattern comes again";
  expect_dropped(drawn[0], ones, 0.3);
  expect_dropped(drawn[0].slice(1, 0, 1), ones.slice(1, 0, 1), 0.3);
  expect_dropped(drop_out(ones.to(at::kDouble), 0.75, true), ones.to(at::kDouble), 0.75);
}

TEST(Dropout, LeavesAloneWhatIsNotTrained) {
  const at::Tensor values = torch::randn({10, 10});
  EXPECT_TRUE(drop_out(values, 0.5, false).is_same(values));
  EXPECT_TRUE(drop_out(values, 0, true).is_same(values));
}

TEST(Dropout, StandsAfterTheAdaptationAndAfterALinearInTrainingOnly) {
  ModelOptions options = small_options(paper_preset(), 1);
  options.dropout = 0.2;
  const GraphBatch batch = batch_without_edges(2000, 10);
  for (const std::string silenced : {"layer_0.output_bias", "adaptation"}) {
    Encoder encoder(options, kTwoTypes);
    {
      const torch::NoGradGuard no_gradient;
      for (const auto& parameter : encoder->named_parameters()) {
        if (parameter.key().starts_with(silenced)) parameter.value().zero_();
      }
    }
    const at::Tensor trained = encoder->forward(batch).detach();
    encoder->eval();
    const at::Tensor all = encoder->forward(batch).detach();
    EXPECT_GT(all.abs().min().item<double>(), 0) << "a zero without dropout";
    expect_dropped(trained, all, 0.2);
  }
}

TEST(Dropout, GivesTheEncoderTheSameOutputForOneAndTwoThreads) {
  Draws draws(6);
  const ModelSchema schema = random_schema(draws, 3, 8);
  const GraphBatch batch = random_batch(schema, draws)(2, Trim::on);
  ModelOptions options = small_options(release_preset(), 2);
  options.dropout = 0.4;
  const Encoder encoder = double_encoder(options, schema);
  const int before = at::get_num_threads();
  std::vector<at::Tensor> outputs;
  for (const int threads : {1, 2}) {
    at::set_num_threads(threads);
    torch::manual_seed(21);
    outputs.push_back(encoder->forward(batch).detach());
  }
  at::set_num_threads(before);
  EXPECT_LE(distance(outputs[0], outputs[1]), kDouble);
  EXPECT_GT(distance(outputs[0], encoder->forward(batch).detach()), 1e-3) << "no dropout at all";
}

// --- relative temporal encoding ---

TEST(RelativeTemporalEncoding, BaseIsSineOnEvenAndCosineOnOddColumns) {
  const std::vector<double> gaps = {2, -1.5};
  // 10000^(j/4) = 1, 10, 100, 1000
  const at::Tensor four = sinusoids(gaps, {.hidden = 4}, at::kDouble);
  const at::Tensor expected =
      at::tensor({std::sin(2.0), std::cos(0.2), std::sin(0.02), std::cos(0.002), std::sin(-1.5),
                  std::cos(-0.15), std::sin(-0.015), std::cos(-0.0015)},
                 at::kDouble);
  EXPECT_LE(distance(four, expected.view({2, 4})), 1e-15);
  const at::Tensor one = sinusoids(gaps, {.hidden = 1}, at::kFloat);
  EXPECT_EQ(one.scalar_type(), at::kFloat);
  EXPECT_FLOAT_EQ(one[0].item<float>(), std::sin(2.0F));
  const at::Tensor days = sinusoids(gaps, {.hidden = 4, .time_scale = 0.5}, at::kDouble);
  EXPECT_LE(distance(days, sinusoids(std::vector<double>{4, -3}, {.hidden = 4}, at::kDouble)),
            1e-15);
}

TEST(RelativeTemporalEncoding, HasOnePeriodPerPairAndDividesBySqrtDWhereOptionsSaySo) {
  const std::vector<double> gaps = {2};
  // Pairs: 10000^(0/4) = 1 and 10000^(2/4) = 100.
  const at::Tensor paired =
      at::tensor({std::sin(2.0), std::cos(2.0), std::sin(0.02), std::cos(0.02)}, at::kDouble);
  const at::Tensor as_printed =
      at::tensor({std::sin(2.0), std::cos(0.2), std::sin(0.02), std::cos(0.002)}, at::kDouble);
  ModelOptions options{.hidden = 4, .paired_sinusoids = true};
  EXPECT_LE(distance(sinusoids(gaps, options, at::kDouble)[0], paired), 1e-15);
  options.scaled_sinusoids = true;
  EXPECT_LE(distance(sinusoids(gaps, options, at::kDouble)[0], paired / 2), 1e-15);
  options.paired_sinusoids = false;
  EXPECT_LE(distance(sinusoids(gaps, options, at::kDouble)[0], as_printed / 2), 1e-15);
}

// Rows 120, 127 and 87 of the table of the authors' code for d = 6, worked out in double precision
// in Python: gaps 0, 7 and -33.
TEST(RelativeTemporalEncoding, ScaledAndPairedIsTheTableOfTheAuthorsForGapsFrom120On) {
  const ModelOptions options{.hidden = 6, .scaled_sinusoids = true, .paired_sinusoids = true};
  const at::Tensor table = sinusoids(std::vector<double>{120, 127, 87}, options, at::kDouble);
  const at::Tensor expected =
      at::tensor({0.2370335233788764, 0.3323879893456777, -0.2671236779785927, 0.3087257801510198,
                  0.1043734814783217, 0.3946806848969951, 0.3970745622054652, 0.0948602061773262,
                  -0.1545946398045044, 0.3778454234344810, 0.1103135831529864, 0.3930618018055378,
                  -0.3355057268772436, 0.2325995999550282, -0.3189245604303080, -0.2548603370887700,
                  0.0760730841422827, 0.4010979338462713},
                 at::kDouble);
  EXPECT_LE(distance(table, expected.view({3, 6})), 1e-14);
}

// So their offset of 120 is no difference: T-Linear can undo it, whatever the gap.
TEST(RelativeTemporalEncoding, PairedIsTurnedByAnOffsetPairByPair) {
  const ModelOptions options{.hidden = 8, .paired_sinusoids = true};
  const std::vector<double> gaps = {-30, -1, 0, 0.5, 12, 1000};
  std::vector<double> moved = gaps;
  for (double& gap : moved) gap += 120;
  at::Tensor rotation = at::zeros({8, 8}, at::kDouble);
  for (int64_t i = 0; i < 4; ++i) {
    const double angle = 120 / std::pow(10000, static_cast<double>(2 * i) / 8);
    const at::Tensor turn = at::tensor(
        {std::cos(angle), std::sin(angle), -std::sin(angle), std::cos(angle)}, at::kDouble);
    rotation.slice(0, 2 * i, 2 * i + 2).slice(1, 2 * i, 2 * i + 2).copy_(turn.view({2, 2}));
  }
  EXPECT_LE(distance(sinusoids(moved, options, at::kDouble),
                     at::mm(sinusoids(gaps, options, at::kDouble), rotation.t())),
            1e-12);
}

TEST(RelativeTemporalEncoding, TellsAnyGapsApart) {
  const std::vector<double> gaps = {-120, -1, 0, 0.5, 1, 120, 365.25, 1e6, 1e6 + 1};
  const ModelOptions options{.hidden = 64};
  RelativeTemporalEncoding encoding(options);
  const at::Tensor vectors = encoding->forward(gaps);
  EXPECT_TRUE(vectors.isfinite().all().item<bool>());
  for (int64_t a = 0; a < vectors.size(0); ++a) {
    for (int64_t b = 0; b < a; ++b) EXPECT_GT(largest(vectors[a] - vectors[b]), 0.01) << a << b;
  }
  const at::Tensor base = sinusoids(gaps, options, at::kFloat);
  EXPECT_LE(distance(vectors, at::linear(base, encoding->weight, encoding->bias)), 1e-5);
}

TEST(RelativeTemporalEncoding, HasTwoParametersAndNoBuffer) {
  const RelativeTemporalEncoding encoding(ModelOptions{.hidden = 8});
  EXPECT_EQ(encoding->parameters().size(), 2U);
  EXPECT_TRUE(encoding->buffers().empty());
  EXPECT_EQ(num_parameters(*encoding), 8 * 8 + 8);
}

// --- sizes ---

// ogbn-mag as the authors' release reads it: 129 features for every type, reverses and self.
ModelSchema mag_schema() {
  return {.node_types = {{"paper", 129}, {"author", 129}, {"field", 129}, {"institution", 129}},
          .edge_types = {"cites", "rev_cites", "writes", "rev_writes", "has_topic", "rev_has_topic",
                         "affiliated", "rev_affiliated", "self"},
          .relations = {{0, 0, 0},
                        {0, 1, 0},
                        {1, 2, 0},
                        {0, 3, 1},
                        {0, 4, 2},
                        {2, 5, 0},
                        {1, 6, 3},
                        {3, 7, 1},
                        {0, 8, 0},
                        {1, 8, 1},
                        {2, 8, 2},
                        {3, 8, 3}}};
}

TEST(NumParameters, IsThePublishedOneForTheReleaseOnOgbnMag) {
  ModelOptions options = release_preset();
  options.hidden = 512;
  options.layers = 4;
  constexpr int64_t kLinear = 512 * 512 + 512;
  constexpr int64_t kAdaptation = 4 * (512 * 129 + 512);
  constexpr int64_t kClassifier = 512 * 349 + 349;
  constexpr int64_t kTable = 4 * 240 * 512;  // sinusoids that the release trains and we do not have
  const int64_t all = num_parameters(*Encoder(options, mag_schema()));
  EXPECT_EQ(all + kClassifier, 20'681'869);
  EXPECT_EQ(all + kClassifier + kTable, 21'173'389);
  options.rte = false;  // no T-Linear
  EXPECT_EQ(num_parameters(*Encoder(options, mag_schema())), all - 4 * kLinear);
  options.rte = true;
  options.heter = false;  // K, M, Q, A, T; two matrices per head; prior, skip, norm
  EXPECT_EQ(num_parameters(*Encoder(options, mag_schema())),
            kAdaptation + 4 * (5 * kLinear + 2 * 8 * 64 * 64 + 8 + 1 + 2 * 512));
}

TEST(NumParameters, IsWhatTheEquationsOfThePaperCountTo) {
  // 4 types of K, M, Q, A; 9 edge types of 2 matrices of 32 x 32; 12 priors; T.
  constexpr int64_t kLinear = 256 * 256 + 256;
  constexpr int64_t kLayer = 4 * 4 * kLinear + 9 * 2 * 32 * 32 + 12 + kLinear;
  EXPECT_EQ(num_parameters(*Encoder(paper_preset(), mag_schema())),
            4 * (256 * 129 + 256) + 3 * kLayer);
}

}  // namespace
}  // namespace hgt
