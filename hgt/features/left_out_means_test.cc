// Means over predicted links: in the features of a batch, what the batch hides is left out.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "hgt/features/made_set_test.h"
#include "hgt/graph/feature_set_writer.h"
#include "hgt/graph/graph_test_folder.h"
#include "hgt/graph/mean_features.h"
#include "hgt/sampling/visibility.h"
#include "hgt/sampling/visible_features.h"
#include "hgt/task/audit.h"
#include "hgt/task/task_test_graph.h"

namespace hgt {
namespace {

using Rows = std::vector<std::vector<float>>;

constexpr uint64_t kWidth = 6;

// The library with random features of papers; every seventh has none. Those of one paper are
// multiplied.
TestGraph featured_library(NodeId changed = 0, float factor = 1) {
  return TestGraph(library_schema(), [&](GraphBuilder& builder) {
    add_library_nodes(builder);
    add_library_edges(builder);
    const NodeType paper = builder.schema().node_type("paper");
    builder.declare_features(paper, {.width = kWidth,
                                     .type = FeatureType::float32,
                                     .origin = "test",
                                     .missing = kLibraryPapers / 7,
                                     .flagged = true});
    Draws draws(hash(5));
    for (NodeId node = 0; node < kLibraryPapers; ++node) {
      std::vector<float> row(kWidth);
      for (float& value : row) value = static_cast<float>(draws.unit() * 2 - 1);
      if (node == changed) {
        for (float& value : row) value *= factor;
      }
      row.back() = 0;
      if (node % 7 == 6) row = {0, 0, 0, 0, 0, 1};
      builder.set_features(paper, node, row);
    }
  });
}

FeatureStep mean_step_for(const std::string& task, const std::string& type,
                          SplitRule split = SplitRule::automatic) {
  FeatureStep step{.types = {type}};
  step.mean_of = "paper";
  step.task = task;
  step.task_options.split = split;
  return step;
}

std::unique_ptr<const Task> reopened(const TestGraph& graph, const std::string& name,
                                     SplitRule split = SplitRule::automatic) {
  const HeteroGraph opened = HeteroGraph::open(graph.path());
  TaskSpec spec = find_task(name, opened.schema());
  spec.split = split;
  return open_task(opened, spec);
}

Rows visible_rows(const HeteroGraph& graph, const Subgraph& subgraph, NodeType type) {
  Rows rows;
  for (const NodeId node : subgraph.nodes_of(type)) {
    rows.emplace_back(graph.features(type).width);
    copy_visible_features(graph, subgraph, type, std::span(&node, 1), rows.back());
  }
  return rows;
}

// The mean over all edges that the visibility does not hide, taken anew.
std::vector<float> mean_taken_anew(const HeteroGraph& graph, const Visibility& visibility,
                                   NodeType type, NodeId node) {
  const NodeType paper = graph.schema().node_type("paper");
  const Time until = graph.schema().at(type).features->mean->until.value_or(3000);
  std::set<NodeId> papers;
  for (const Relation relation : mean_relations(graph.schema(), type)) {
    for (const NodeId source : graph.incoming(relation, node).sources) {
      const bool late = graph.time(paper, source) > until;
      if (!late && !visibility.hides(relation, source, node)) papers.insert(source);
    }
  }
  std::vector<double> sums(kWidth - 1, 0);
  double count = 0;
  std::vector<float> row(kWidth);
  for (const NodeId source : papers) {
    graph.copy_features(paper, source, row);
    if (row.back() != 0) continue;
    ++count;
    for (size_t j = 0; j < sums.size(); ++j) sums[j] += row[j];
  }
  std::vector<float> mean;
  for (const double sum : sums) mean.push_back(count == 0 ? 0 : static_cast<float>(sum / count));
  mean.push_back(count == 0 ? 1 : 0);
  return mean;
}

struct Case {
  const char* task;
  const char* type;
  SplitRule split = SplitRule::automatic;
};

void expect_means_of_what_is_visible(const Task& task, Split split, NodeType type,
                                     std::span<const uint32_t> examples, uint64_t& changed) {
  const HeteroGraph& graph = task.graph();
  const Question question = task.question(split, examples, Task::kNoDraw);
  const SamplingOptions options = task.sampling({.width = 20}, split);
  Subgraph subgraph;
  Sampler(graph, options).sample(question.request, 3, subgraph);
  Visibility visibility(graph, options.hidden);
  visibility.begin(question.request.seeds, question.request.hidden);
  const Rows rows = visible_rows(graph, subgraph, type);
  std::vector<float> stored(kWidth);
  for (size_t i = 0; i < rows.size(); ++i) {
    const NodeId node = subgraph.nodes_of(type)[i];
    const std::vector<float> wanted = mean_taken_anew(graph, visibility, type, node);
    ASSERT_EQ(rows[i].size(), wanted.size());
    for (size_t j = 0; j < wanted.size(); ++j) EXPECT_NEAR(rows[i][j], wanted[j], 1e-6);
    graph.copy_features(type, node, stored);
    if (stored != rows[i]) ++changed;
  }
}

TEST(LeftOutMeans, AreThoseOfTheGraphWithoutWhatIsHidden) {
  for (const Case& each : {Case{"author-disambiguation", "author"}, Case{"paper-venue", "venue"},
                           Case{"author-disambiguation", "author", SplitRule::random},
                           Case{"paper-venue", "venue", SplitRule::random},
                           Case{"link:pub_journal", "venue", SplitRule::random}}) {
    const TestGraph graph = featured_library();
    FeatureStep step = mean_step_for(each.task, each.type, each.split);
    if (std::string(each.task).starts_with("link:")) step.via = {"pub_journal"};
    make(graph.path(), step);
    const auto task = reopened(graph, each.task, each.split);
    ASSERT_TRUE(leaves_out_of_means(*task)) << each.task;
    refuse_leaking_features(*task);
    const NodeType type = task->graph().schema().node_type(each.type);
    EXPECT_EQ(task->graph().schema().at(type).features->type, FeatureType::float32);
    uint64_t changed = 0;
    for (const Split split : kSplits) {
      const std::vector<uint32_t> all = all_examples(*task, split);
      for (size_t first = 0; first < all.size(); first += 4) {
        const auto some = std::span(all).subspan(first, std::min<size_t>(4, all.size() - first));
        expect_means_of_what_is_visible(*task, split, type, some, changed);
      }
      expect_means_of_what_is_visible(*task, split, type, all, changed);
    }
    EXPECT_GT(changed, 0U) << each.task;
    const Audit found = audit(*task, {}, 64);
    EXPECT_TRUE(found.clean()) << audit_text(found);
  }
}

// The whole influence of a hidden paper is gone, up to rounding.
TEST(LeftOutMeans, DoNotDependOnAHiddenPaper) {
  const TestGraph plain = featured_library();
  make(plain.path(), mean_step_for("author-disambiguation", "author"));
  const auto task = reopened(plain, "author-disambiguation");
  const NodeType author = task->graph().schema().node_type("author");
  double stored_change = 0;
  for (uint32_t i = 0; i < 12; ++i) {
    const Question question = task->question(Split::train, std::span(&i, 1), Task::kNoDraw);
    const NodeId paper = question.request.seeds[0].node;
    const TestGraph other = featured_library(paper, 1000);
    make(other.path(), mean_step_for("author-disambiguation", "author"));
    const auto other_task = reopened(other, "author-disambiguation");
    const Subgraph a = sampled_for(*task, Split::train, question);
    const Subgraph b = sampled_for(*other_task, Split::train, question);
    ASSERT_EQ(a, b);
    for (size_t pair = 0; pair < question.right.size(); ++pair) {
      const NodeId node = question.request.seeds[question.right[pair]].node;
      std::vector<float> before(kWidth);
      std::vector<float> after(kWidth);
      copy_visible_features(task->graph(), a, author, std::span(&node, 1), before);
      copy_visible_features(other_task->graph(), b, author, std::span(&node, 1), after);
      for (size_t j = 0; j < kWidth; ++j) EXPECT_NEAR(before[j], after[j], 1e-4);
      task->graph().copy_features(author, node, before);
      other_task->graph().copy_features(author, node, after);
      stored_change = std::max<double>(stored_change, std::abs(before[0] - after[0]));
    }
  }
  EXPECT_GT(stored_change, 10) << "as stored, the means do depend on it";
}

// --- authors drawn at random: nothing can be known ---

// Papers of 2000 to 2019 by one author each, drawn from four of one name.
TestGraph random_authors() {
  Schema schema;
  schema.at(schema.add_node_type("paper", NodeKind::event)).names = true;
  schema.at(schema.add_node_type("author", NodeKind::plain)).names = true;
  schema.add_relation({.source = "author", .edge = "writes", .target = "paper"});
  schema.number_relations();
  return TestGraph(schema, [](GraphBuilder& builder) {
    const NodeType paper = builder.schema().node_type("paper");
    const NodeType author = builder.schema().node_type("author");
    Draws draws(hash(9));
    constexpr NodeId kAuthors = 400;
    constexpr NodeId kPapers = 2000;
    for (NodeId i = 0; i < kAuthors; ++i) {
      builder.add_node(author, {.name = "Name " + std::to_string(i / 4)});
    }
    for (NodeId i = 0; i < kPapers; ++i) {
      builder.add_node(paper, {.name = "p", .time = 2000 + static_cast<Time>(i % 20)});
      builder.add_edge(builder.schema().relation("author", "writes", "paper"),
                       {.source = static_cast<NodeId>(draws.below(kAuthors)), .target = i});
    }
    builder.declare_features(
        paper, {.width = 8, .type = FeatureType::float16, .origin = "test", .missing = 0});
    for (NodeId i = 0; i < kPapers; ++i) {
      std::vector<float> row(8);
      for (float& value : row) value = static_cast<float>(draws.unit() * 2 - 1);
      builder.set_features(paper, i, row);
    }
  });
}

using ReadRow = std::function<void(const Subgraph&, NodeId author, std::span<float> row)>;

// Of guessing the author whose features are nearest to the paper's; and of guessing at random.
std::pair<double, double> nearest_accuracy(const Task& task, Split split, const ReadRow& read) {
  const HeteroGraph& graph = task.graph();
  double right = 0;
  double chance = 0;
  const std::vector<uint32_t> all = all_examples(task, split);
  for (const uint32_t i : all) {
    const Question question = task.question(split, std::span(&i, 1), Task::kNoDraw);
    const Subgraph subgraph = sampled_for(task, split, question, {.width = 4, .depth = 1});
    std::vector<float> paper(8);
    graph.copy_features(task.node_type(), question.request.seeds[0].node, paper);
    double best = 1e9;
    bool is_right = false;
    for (size_t pair = 0; pair < question.right.size(); ++pair) {
      std::vector<float> row(graph.features(task.other_type()).width);
      read(subgraph, question.request.seeds[question.right[pair]].node, row);
      double distance = row.back() != 0 ? 1e8 : 0;
      for (size_t j = 0; j < paper.size(); ++j) distance += std::pow(row[j] - paper[j], 2);
      if (distance >= best) continue;
      best = distance;
      is_right = question.relevant[pair] == 1;
    }
    right += is_right ? 1 : 0;
    chance += 1.0 / static_cast<double>(question.right.size());
  }
  const auto count = static_cast<double>(all.size());
  return {right / count, chance / count};
}

TEST(LeftOutMeans, TellNothingAboutAuthorsDrawnAtRandom) {
  const TestGraph graph = random_authors();
  make(graph.path(), mean_step_for("author-disambiguation", "author"));
  const auto task = reopened(graph, "author-disambiguation");
  const NodeType author = task->other_type();
  const auto as_seen = [&](const Subgraph& subgraph, NodeId node, std::span<float> row) {
    copy_visible_features(task->graph(), subgraph, author, std::span(&node, 1), row);
  };
  const auto as_stored = [&](const Subgraph&, NodeId node, std::span<float> row) {
    task->graph().copy_features(author, node, row);
  };
  const auto [leaking, chance] = nearest_accuracy(*task, Split::train, as_stored);
  EXPECT_GT(leaking, chance + 0.3) << "the test would see a leak";
  const auto seen = nearest_accuracy(*task, Split::train, as_seen);
  EXPECT_NEAR(seen.first, seen.second, 0.05);
  const auto tested = nearest_accuracy(*task, Split::test, as_seen);
  EXPECT_NEAR(tested.first, tested.second, 0.08);
}

// --- what is refused, and what a set keeps ---

TEST(LeftOutMeans, CannotBeMeansOfMeans) {
  const TestGraph graph = featured_library();
  make(graph.path(), mean_step_for("author-disambiguation", "author"));
  FeatureStep venue{.types = {"venue"}};
  venue.mean_of = "author";
  venue.task = "author-disambiguation";
  EXPECT_TRUE(contains(error_of([&] { make(graph.path(), venue); }), "would give answers away"));
  venue.task = "";
  make(graph.path(), venue);
  const auto task = reopened(graph, "author-disambiguation");
  EXPECT_TRUE(contains(error_of([&] { refuse_leaking_features(*task); }), "features of venue"));
}

TEST(LeftOutMeans, NeedTheFeaturesThatTheyWereMadeOf) {
  const TestGraph graph = featured_library();
  make(graph.path(), mean_step_for("author-disambiguation", "author"));
  FeatureStep titles{.types = {"paper"}, .encoder = TextEncoder::hashed};
  titles.width = kWidth;
  make(graph.path(), titles);
  const auto task = reopened(graph, "author-disambiguation");
  EXPECT_TRUE(contains(error_of([&] { refuse_leaking_features(*task); }), "features of author"));
}

TEST(LeftOutMeans, AreRefusedIfNobodyCountedTheirNeighbors) {
  const TestGraph graph = featured_library();
  FeatureStep step = mean_step_for("", "author");
  make(graph.path(), step);
  const auto task = reopened(graph, "author-disambiguation");
  EXPECT_FALSE(task->graph().schema().at(task->other_type()).features->mean);
  EXPECT_THROW(refuse_leaking_features(*task), Error);
}

TEST(LeftOutMeans, KeepTheirCountsWithTheSet) {
  const TestGraph graph = featured_library();
  make(graph.path(), mean_step_for("author-disambiguation", "author"));
  const HeteroGraph opened = HeteroGraph::open(graph.path());
  const NodeType author = opened.schema().node_type("author");
  const FeatureSpec& spec = *opened.schema().at(author).features;
  ASSERT_TRUE(spec.mean);
  EXPECT_TRUE(spec.flagged);
  EXPECT_EQ(spec.mean->source, "paper");
  EXPECT_EQ(spec.mean->until, 2014);
  EXPECT_EQ(spec.mean_of, "paper/features.npy");
  EXPECT_EQ(Schema::from_json(opened.schema().to_json(), "x").to_json(), opened.schema().to_json());
  const Path counts = graph.path() / "author" / spec.mean->counts;
  EXPECT_TRUE(std::filesystem::exists(counts));
  const FeatureLock lock(graph.path());
  remove_feature_set(lock, opened.feature_set());
  EXPECT_FALSE(std::filesystem::exists(counts));
}

}  // namespace
}  // namespace hgt
