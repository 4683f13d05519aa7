// Representations against sub-graphs that the tests draw and encode themselves.
#include "hgt/insight/representations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "hgt/error.h"
#include "hgt/insight/insight_test_runs.h"
#include "hgt/model/torch.h"
#include "hgt/random.h"
#include "hgt/sampling/sampler.h"
#include "hgt/training/trained_model.h"

namespace hgt {
namespace {

using Vectors = std::vector<float>;
using Nodes = std::vector<NodeId>;

constexpr uint64_t kRepresentationStream = 0x71e5;  // of the draws
constexpr uint64_t kSeedsAtOnce = 16;               // in a sub-graph

Nodes first_nodes(NodeId count) {
  Nodes nodes(count);
  std::iota(nodes.begin(), nodes.end(), NodeId{0});
  return nodes;
}

double largest_gap(const Vectors& a, const Vectors& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    largest = std::max(largest, std::abs(double{a[i]} - b[i]));
  }
  return largest;
}

// --- against single sub-graphs ---

// One sub-graph seeded with the nodes, as the given layer of the model sees it: [nodes * width].
Vectors encoded(const hgt::Run& run, uint32_t layer, const std::vector<Seed>& seeds,
                uint64_t draw) {
  const HeteroGraph& graph = run.task().graph();
  SamplingOptions sampling = run.options().training.sampling;
  sampling.time_bound = TimeBound::none;
  sampling.hidden.everywhere = run.task().left_out();
  Subgraph subgraph;
  Sampler(graph, sampling).sample({.seeds = seeds}, draw, subgraph);
  const torch::NoGradGuard no_gradient;
  TaskModel model = best_model(run, run.options().training.seed);
  model->eval();
  const Encoder encoder = model->encoder();
  const GraphBatch batch = encoder->make_batch(graph, subgraph, layer);
  const at::Tensor rows =
      encoder->forward_first(batch).index_select(0, batch.seed_rows).contiguous();
  return {rows.data_ptr<float>(), rows.data_ptr<float>() + rows.numel()};
}

// Sixteen seeds to a sub-graph; several sub-graphs for the same seeds follow one another.
Vectors averaged(const hgt::Run& run, uint32_t layer, NodeType type, Time time, const Nodes& nodes,
                 uint32_t samples) {
  Vectors all;
  for (uint64_t first = 0; first < nodes.size(); first += kSeedsAtOnce) {
    std::vector<Seed> seeds;
    for (uint64_t i = first; i < std::min<uint64_t>(first + kSeedsAtOnce, nodes.size()); ++i) {
      seeds.push_back({.type = type, .node = nodes[i], .time = time});
    }
    std::vector<double> sums;
    for (uint32_t sample = 0; sample < samples; ++sample) {
      const uint64_t number = first / kSeedsAtOnce * samples + sample;
      const Vectors one = encoded(run, layer, seeds,
                                  hash(run.options().training.seed, kRepresentationStream, number));
      sums.resize(one.size());
      for (size_t i = 0; i < one.size(); ++i) sums[i] += one[i];
    }
    for (const double sum : sums) all.push_back(static_cast<float>(sum / samples));
  }
  return all;
}

TEST(Representations, AreMeansOverSubgraphsOfFewSeeds) {
  const hgt::Run& run = tiny_run();
  const NodeType author = type_in(run, "author");
  Nodes nodes = first_nodes(40);
  std::reverse(nodes.begin(), nodes.end());
  for (const uint32_t layer : {1U, 2U, 3U}) {
    for (const uint32_t samples : {1U, 3U}) {
      const Representations authors(run, author, {.samples = samples, .layer = layer});
      EXPECT_EQ(authors.layer(), layer);
      const Vectors got = authors.at(2010, nodes);
      ASSERT_EQ(got.size(), 40 * authors.width());
      EXPECT_LE(largest_gap(got, averaged(run, layer, author, 2010, nodes, samples)), 1e-6);
    }
  }
}

TEST(Representations, ReadNoRelationThatIsLeftOut) {
  const hgt::Run& run = tiny_run({.task = "paper-field", .adjust = [](TaskSpec& task) {
                                    task.leave_out = {"cites", "pub_journal", "writes_first"};
                                  }});
  const NodeType author = type_in(run, "author");
  const Nodes nodes = first_nodes(20);
  ASSERT_EQ(run.task().left_out().size(), 3U);
  EXPECT_LE(largest_gap(Representations(run, author, {.samples = 2}).at(2010, nodes),
                        averaged(run, 2, author, 2010, nodes, 2)),
            1e-6);
}

TEST(Representations, OfEventsAreThoseAtTheirOwnTime) {
  const hgt::Run& run = tiny_run();
  const NodeType paper = type_in(run, "paper");
  const Representations papers(run, paper, {.samples = 2});
  EXPECT_EQ(papers.layer(), 3U);
  const Nodes nodes = {250, 3, 17};
  EXPECT_LE(largest_gap(papers.at(kNoTime, nodes), averaged(run, 3, paper, kNoTime, nodes, 2)),
            1e-6);
  const std::string error = error_of([&] { papers.at(1950, nodes); });
  EXPECT_TRUE(contains(error, "1950")) << error;
}

TEST(Representations, AreTheSameAgainAndWithAnyNumberOfWorkers) {
  hgt::Run& run = tiny_run();
  const Nodes nodes = first_nodes(50);
  const auto vectors = [&] {
    return Representations(run, type_in(run, "venue"), {.samples = 3}).at(2005, nodes);
  };
  const Vectors first = vectors();
  EXPECT_EQ(vectors(), first);
  for (const unsigned workers : {1U, 3U}) {
    run.set_pipeline({.threads = 1, .workers = workers});
    EXPECT_EQ(vectors(), first) << workers;
  }
  run.set_pipeline({.threads = 1, .workers = 0});
}

TEST(Representations, OfNoNodesAreNone) {
  const hgt::Run& run = tiny_run();
  EXPECT_TRUE(Representations(run, type_in(run, "venue"), {}).at(2005, Nodes()).empty());
}

TEST(Representations, TellHowFarTheyAre) {
  const hgt::Run& run = tiny_run();
  std::vector<Progress> steps;
  Representations(run, type_in(run, "venue"), {.samples = 2})
      .at(2005, first_nodes(20), [&](const Progress& progress) { steps.push_back(progress); });
  ASSERT_EQ(steps.size(), 4U);
  EXPECT_EQ(steps.front().stage, "vectors of venue at 2005");
  EXPECT_EQ(steps[1].count, 16U);
  EXPECT_EQ(steps.back().count, 20U);
  EXPECT_TRUE(steps.back().finished);
  EXPECT_FALSE(steps[2].finished);
  EXPECT_EQ(steps[1].fraction, 0.5);
}

// --- times ---

// No paper has one of these times, so in both the same instances are drawn.
TEST(Representations, DifferAtTwoTimesByTheModelsSenseOfTimeAlone) {
  for (const bool temporal : {false, true}) {
    const hgt::Run& run = tiny_run({.rte = temporal});
    for (const char* type : {"venue", "author", "field"}) {
      const Representations nodes(run, type_in(run, type), {.samples = 2});
      const Vectors then = nodes.at(1950, first_nodes(20));
      const Vectors now = nodes.at(2030, first_nodes(20));
      EXPECT_EQ(then == now, !temporal) << type;
      EXPECT_EQ(largest_gap(then, now) > 1e-3, temporal) << type;
    }
  }
}

constexpr NodeId kPapersAYear = 3;
constexpr Time kFirstYear = 2001;

// Papers of every year, those of a year after the earlier ones, who are written, appear and cite.
TestGraph yearly_papers(Time last_year) {
  Schema schema;
  schema.add_node_type("paper", NodeKind::event);
  schema.add_node_type("author", NodeKind::plain);
  schema.add_node_type("venue", NodeKind::plain);
  schema.add_relation({.source = "author", .edge = "writes", .target = "paper"});
  schema.add_relation({.source = "paper", .edge = "in", .target = "venue"});
  schema.add_relation({.source = "paper", .edge = "cites", .target = "paper"});
  schema.number_relations();
  return TestGraph(schema, [&](GraphBuilder& builder) {
    const auto type = [&](const char* name) { return builder.schema().node_type(name); };
    const auto relation = [&](const char* source, const char* edge, const char* target) {
      return builder.schema().relation(source, edge, target);
    };
    for (NodeId i = 0; i < 7; ++i) builder.add_node(type("author"), {});
    for (NodeId i = 0; i < 5; ++i) builder.add_node(type("venue"), {});
    builder.declare_features(type("paper"), {.width = 3, .origin = "by hand"});
    const auto papers = static_cast<NodeId>(last_year - kFirstYear + 1) * kPapersAYear;
    Draws draws(hash(5));
    for (NodeId i = 0; i < papers; ++i) {
      builder.add_node(type("paper"), {.time = kFirstYear + static_cast<Time>(i / kPapersAYear)});
      const Vectors features = {static_cast<float>(draws.unit()), static_cast<float>(draws.unit()),
                                static_cast<float>(draws.unit())};
      builder.set_features(type("paper"), i, features);
      builder.add_edge(relation("author", "writes", "paper"), {.source = i % 7, .target = i});
      builder.add_edge(relation("paper", "in", "venue"), {.source = i, .target = i * i % 5});
      const auto cited = static_cast<NodeId>(draws.below(i + 1));
      if (cited != i) {
        builder.add_edge(relation("paper", "cites", "paper"), {.source = i, .target = cited});
      }
    }
  });
}

void split_early(TaskSpec& task) {
  task.train_end = "2008";
  task.validation_end = "2010";
}

std::map<std::string, std::string> best_weights(const hgt::Run& run) {
  auto tensors = tensor_bytes(run.folder() / "seed-1" / "best.safetensors");
  std::erase_if(tensors, [](const auto& entry) { return !entry.first.starts_with("tensor "); });
  return tensors;
}

// What comes after the end of training leaves the same weights behind.
TEST(Representations, SeeNothingLaterThanTheirTimeIfToldSo) {
  const TestGraph more = yearly_papers(2020);
  const TestGraph less = yearly_papers(2013);
  const hgt::Run& long_run = tiny_run({.full = true, .graph = more.path(), .adjust = split_early});
  const hgt::Run& short_run = tiny_run({.full = true, .graph = less.path(), .adjust = split_early});
  ASSERT_EQ(best_weights(long_run), best_weights(short_run));
  const auto gap = [&](const char* type, Time time, bool until) {
    const Nodes nodes = first_nodes(5);
    const auto vectors = [&](const hgt::Run& run) {
      return Representations(run, type_in(run, type), {.samples = 1, .layer = 2, .until = until})
          .at(time, nodes);
    };
    return largest_gap(vectors(long_run), vectors(short_run));
  };
  for (const char* type : {"venue", "author"}) {
    EXPECT_LE(gap(type, 2013, true), 1e-6) << type;
    EXPECT_LE(gap(type, 2005, true), 1e-6) << type;
    EXPECT_GE(gap(type, 2014, true), 1e-4) << type;
    EXPECT_GE(gap(type, 2005, false), 1e-4) << type;
  }
  EXPECT_LE(gap("paper", kNoTime, true), 1e-6);  // each at its own time
  EXPECT_GE(gap("paper", kNoTime, false), 1e-4);
}

// --- errors ---

TEST(Representations, NeedALayerThatTheModelHasAndThatWasTrained) {
  const hgt::Run& run = tiny_run({.layers = 2});
  const NodeType venue = type_in(run, "venue");
  EXPECT_EQ(error_of([&] { Representations(run, venue, {.layer = 3}); }),
            "layer is 3; the model has layers 1 to 2");
  const std::string error = error_of([&] { Representations(run, venue, {}); });
  EXPECT_TRUE(contains(error,
                       "in a model with 2 layers, task paper-venue makes no use of what nodes "
                       "of type venue read from their neighbors"))
      << error;
  EXPECT_EQ(Representations(run, venue, {.layer = 2}).layer(), 2U);  // given if asked for
}

TEST(Representations, NeedAModelThatHasVectors) {
  const hgt::Run& majority = tiny_run({.kind = ModelKind::majority});
  for (const uint32_t layer : {0U, 1U}) {
    const std::string error =
        error_of([&] { Representations(majority, type_in(majority, "paper"), {.layer = layer}); });
    EXPECT_TRUE(contains(error, "the model majority has no vectors for nodes")) << error;
  }
  EXPECT_EQ(represented_layer(majority, type_in(majority, "paper")), 0U);
}

TEST(Representations, OfAModelThatReadsNoNeighborsAreThoseOfTheTasksOwnNodes) {
  const hgt::Run& mlp = tiny_run({.kind = ModelKind::mlp});
  EXPECT_EQ(Representations(mlp, type_in(mlp, "paper"), {.samples = 1}).layer(), 3U);
  const std::string error = error_of([&] { Representations(mlp, type_in(mlp, "venue"), {}); });
  EXPECT_TRUE(contains(error,
                       "the model mlp does not read neighbors, so training on paper-venue "
                       "taught it nothing about nodes of type venue"))
      << error;
}

TEST(Representations, AreCutAtATimeOnlyWhereThereAreTimes) {
  const TestGraph graph = ratings(false);
  const hgt::Run& run =
      tiny_run({.task = "user:mood", .graph = graph.path(), .adjust = split_at_random});
  const std::string error =
      error_of([&] { Representations(run, type_in(run, "movie"), {.until = true}); });
  EXPECT_TRUE(contains(error, "--until cuts off the graph at a time")) << error;
}

TEST(Representations, NeedASubgraph) {
  const hgt::Run& run = tiny_run();
  const std::string error =
      error_of([&] { Representations(run, type_in(run, "venue"), {.samples = 0}); });
  EXPECT_TRUE(contains(error, "samples is 0")) << error;
}

TEST(Representations, NeedATrainedRun) {
  const TestFolder folder;
  const hgt::Run run = hgt::Run::create(folder / "run", tiny_options({}));
  const std::string error = error_of([&] { Representations(run, type_in(run, "venue"), {}); });
  EXPECT_TRUE(contains(error, "seed 1 has no trained weights yet")) << error;
}

TEST(Representations, CanBeMoved) {
  const hgt::Run& run = tiny_run();
  Representations venues(run, type_in(run, "venue"), {.samples = 1});
  const Vectors before = venues.at(2000, first_nodes(3));
  const Representations moved(std::move(venues));
  EXPECT_EQ(moved.at(2000, first_nodes(3)), before);
  EXPECT_EQ(moved.width(), 8U);
  EXPECT_EQ(moved.type(), type_in(run, "venue"));
}

}  // namespace
}  // namespace hgt
