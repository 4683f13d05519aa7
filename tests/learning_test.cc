// Is learning real, and does nothing leak? Slow: trains whole models on generated graphs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hgt/academic/academic_generator.h"
#include "hgt/disk/temporary_test_folder.h"
#include "hgt/graph/graph_builder.h"
#include "hgt/graph/hetero_graph.h"
#include "hgt/random.h"
#include "hgt/task/metrics.h"
#include "hgt/training/run.h"

namespace hgt {
namespace {

RunOptions small_run(const Path& graph, const std::string& task) {
  RunOptions options{.graph = graph.string()};
  options.task = find_task(task, HeteroGraph::open(graph).schema());
  TrainOptions& training = options.training;
  training.model.hidden = 64;
  training.model.heads = 4;
  training.model.layers = 2;
  training.sampling.width = 48;
  training.sampling.depth = 3;
  training.learning_rate = 3e-3;
  training.epochs = 6;
  return options;
}

double metric(const RunResult& result, const std::string& name) {
  for (const auto& [key, value] : result.metrics) {
    if (key == name) return value.mean;
  }
  ADD_FAILURE() << "no metric " << name;
  return 0;
}

double score(const Path& folder, const RunOptions& options, const std::string& name) {
  Run run = Run::create(folder, options);
  run.train();
  const double value = metric(run.evaluate(Split::test, {}), name);
  testing::Test::RecordProperty(folder.filename().string(), fmt::format("{} {:.4f}", name, value));
  fmt::print("{}: {} {:.4f}\n", folder.filename().string(), name, value);
  return value;
}

// --- what only a cheat can know ---

// Papers with random venues, classes and fields, random authors of which four have one name, and
// random ratings.
// Two of ten fields to a paper, and a class that only the field tells under which it is filed.
void add_random_fields(GraphBuilder& builder, NodeType paper, NodeType field) {
  constexpr NodeId kFields = 10;
  const Relation topic = builder.schema().relation("paper", "of_topic", "field");
  const Relation filed_as = builder.schema().relation("paper", "filed_as", "field");
  const uint32_t shelf = builder.declare_label(paper, "shelf");
  Draws draws(6);
  for (NodeId i = 0; i < 2 * kFields; ++i) builder.add_node(field, {});
  for (NodeId i = 0; i < builder.num_nodes(paper); ++i) {
    const auto first = static_cast<NodeId>(draws.below(kFields));
    const auto second = static_cast<NodeId>((first + 1 + draws.below(kFields - 1)) % kFields);
    for (const NodeId target : {first, second}) {
      builder.add_edge(topic, {.source = i, .target = target});
    }
    const auto number = static_cast<NodeId>(draws.below(kFields));
    builder.add_label(paper, shelf, i, fmt::format("shelf {}", number));
    builder.add_edge(filed_as, {.source = i, .target = kFields + number});
  }
}

void build_random_graph(const Path& folder) {
  Schema schema;
  const NodeType paper = schema.add_node_type("paper", NodeKind::event);
  const NodeType author = schema.add_node_type("author", NodeKind::plain);
  const NodeType venue = schema.add_node_type("venue", NodeKind::plain);
  const NodeType item = schema.add_node_type("item", NodeKind::plain);
  const NodeType field = schema.add_node_type("field", NodeKind::plain);
  schema.at(author).names = true;
  schema.add_relation({.source = "paper", .edge = "pub", .target = "venue"});
  schema.add_relation({.source = "paper", .edge = "of_topic", .target = "field"});
  schema.add_relation({.source = "paper", .edge = "filed_as", .target = "field"});
  schema.add_relation({.source = "author", .edge = "writes", .target = "paper"});
  schema.add_relation({.source = "paper", .edge = "cites", .target = "paper"});
  // Many links to each end: where a node has two, hiding one of them is a hint by itself.
  schema.add_relation({.source = "author", .edge = "rates", .target = "item", .times = true});
  schema.number_relations();
  GraphBuilder builder(folder, schema);
  constexpr NodeId kPapers = 4000;
  constexpr NodeId kAuthors = 800;
  constexpr NodeId kVenues = 10;
  constexpr NodeId kItems = 200;
  Draws draws(5);
  for (NodeId i = 0; i < kPapers; ++i) {
    builder.add_node(paper, {.time = static_cast<Time>(2005 + draws.below(15))});
  }
  for (NodeId i = 0; i < kAuthors; ++i) {
    builder.add_node(author, {.id = fmt::format("a{}", i), .name = fmt::format("Name {}", i / 4)});
  }
  for (NodeId i = 0; i < kVenues; ++i) builder.add_node(venue, {});
  const Relation pub = schema.relation("paper", "pub", "venue");
  const Relation writes = schema.relation("author", "writes", "paper");
  const Relation cites = schema.relation("paper", "cites", "paper");
  for (NodeId i = 0; i < kPapers; ++i) {
    builder.add_edge(pub, {.source = i, .target = static_cast<NodeId>(draws.below(kVenues))});
    for (int k = 0; k < 2; ++k) {
      builder.add_edge(writes, {.source = static_cast<NodeId>(draws.below(kAuthors)), .target = i});
      builder.add_edge(cites, {.source = i, .target = static_cast<NodeId>(draws.below(kPapers))});
    }
  }
  const Relation rates = schema.relation("author", "rates", "item");
  for (NodeId i = 0; i < kItems; ++i) builder.add_node(item, {});
  // Each pair once: a rating that is repeated could be known from before.
  std::set<std::pair<NodeId, NodeId>> rated;
  while (rated.size() < 4000) {
    rated.emplace(static_cast<NodeId>(draws.below(kAuthors)),
                  static_cast<NodeId>(draws.below(kItems)));
  }
  for (const auto& [source, target] : rated) {
    builder.add_edge(
        rates,
        {.source = source, .target = target, .time = static_cast<Time>(2005 + draws.below(15))});
  }
  add_random_fields(builder, paper, field);
  builder.finish();
}

struct Cheat {
  const char* name;
  const char* task;
  const char* metric;
  double chance;
  std::vector<std::string> also_hide = {};
};

class LeakageGuard : public testing::TestWithParam<Cheat> {};

TEST_P(LeakageGuard, RandomTruthIsAtChanceWithItAndNotWithoutIt) {
  const TestFolder folder;
  build_random_graph(folder / "graph");
  RunOptions options = small_run(folder / "graph", GetParam().task);
  options.task.min_links = options.task.kind == TaskKind::name ? 1 : 0;
  options.task.also_hide = GetParam().also_hide;
  options.task.negatives = 64;
  options.task.test_negatives = 99;
  options.training.model.hidden = 32;
  options.training.epochs = options.task.kind == TaskKind::link ? 30 : 8;
  options.training.learning_rate = 5e-3;
  options.training.validate_every = 1000;
  const double guarded = score(folder / "guarded", options, GetParam().metric);
  options.task.guard = false;
  const double open = score(folder / "open", options, GetParam().metric);
  EXPECT_NEAR(guarded, GetParam().chance, 0.25 * GetParam().chance + 0.02);
  EXPECT_GT(open, 1.7 * GetParam().chance);
}

INSTANTIATE_TEST_SUITE_P(
    All, LeakageGuard,
    testing::Values(Cheat{"venue", "paper-venue", "accuracy", 0.1},
                    Cheat{"author", "author-disambiguation", "accuracy", 0.25},
                    Cheat{"link", "link:rates", "mrr", 0.054},
                    Cheat{"fields", "paper-field-topic", "hits@1", 0.2},
                    Cheat{"label", "paper:shelf", "accuracy", 0.1, {"filed_as"}}),
    [](const auto& given) { return given.param.name; });

// --- what can be learned ---

class GeneratedGraph : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TestFolder;
    generate_academic_graph(*folder_ / "graph", {});
  }
  static void TearDownTestSuite() { delete folder_; }
  static Path graph() { return *folder_ / "graph"; }
  static Path run(const std::string& name) { return *folder_ / name; }

 private:
  static TestFolder* folder_;
};
TestFolder* GeneratedGraph::folder_ = nullptr;

// The share of the most frequent class of the training examples among the test examples.
double majority_accuracy(const Task& task) {
  std::vector<uint64_t> counts(task.num_classes());
  const auto count = [&](Split split) {
    std::vector<uint32_t> all(task.num_examples(split));
    for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    std::vector<uint64_t> found(task.num_classes());
    for (const uint32_t answer : task.question(split, all, Task::kNoDraw).answers) ++found[answer];
    return found;
  };
  const auto train = count(Split::train);
  const auto best = std::max_element(train.begin(), train.end()) - train.begin();
  return static_cast<double>(count(Split::test)[static_cast<size_t>(best)]) /
         static_cast<double>(task.num_examples(Split::test));
}

TEST_F(GeneratedGraph, BeatsTheMajorityAndTheTitlesByAWideMargin) {
  RunOptions options = small_run(graph(), "paper-venue");
  options.training.epochs = 8;
  const double full = score(run("venue"), options, "accuracy");
  const auto task = open_task(HeteroGraph::open(graph()), options.task);
  RunOptions titles = options;  // depth 0: the seed alone, and so its own features alone
  titles.training.sampling.depth = 0;
  EXPECT_GT(full, 2 * majority_accuracy(*task));
  EXPECT_GT(full, 1.3 * score(run("titles"), titles, "accuracy"));
}

TEST_F(GeneratedGraph, TimeMattersWhereVenuesDrift) {
  std::vector<double> with;
  std::vector<double> without;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    RunOptions options = small_run(graph(), "paper-venue");
    options.training.seed = seed;
    with.push_back(score(run(fmt::format("time{}", seed)), options, "ndcg"));
    options.training.model.rte = false;
    without.push_back(score(run(fmt::format("timeless{}", seed)), options, "ndcg"));
  }
  EXPECT_GT(spread(with).mean, spread(without).mean + 0.01);
}

TEST_F(GeneratedGraph, AuthorsOfOneNameAreToldApart) {
  RunOptions options = small_run(graph(), "author-disambiguation");
  options.task.min_links = 1;
  // Every candidate needs papers of its own in the sub-graph: HGSampling's width is for the batch.
  options.training.sampling.strategy = Strategy::neighbors;
  options.training.sampling.fanout = {8, 3};
  options.training.batch_size = 64;
  options.training.validation.batch_size = 64;
  options.training.learning_rate = 2e-3;
  options.training.epochs = 1;
  // Chance is 0.293. Who knows the true topic of every paper gets 0.64: many share name and topic.
  EXPECT_GT(score(run("authors"), options, "accuracy"), 0.40);
}

}  // namespace
}  // namespace hgt
