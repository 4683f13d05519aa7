// explain_node on trained runs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hgt/insight/explain.h"
#include "hgt/insight/explained_runs_test.h"

namespace hgt {
namespace {

using ChanceMap = std::map<std::string, double>;  // by class

ChanceMap chance_map(const ClassChances& chances) {
  ChanceMap result;
  for (size_t i = 0; i < chances.size(); ++i) {
    result[chances[i].id] = chances[i].probability;
    EXPECT_LE(chances[i].probability, i > 0 ? chances[i - 1].probability : 1);
  }
  return result;
}

// Every class.
ChanceMap predicted_from(const hgt::Run& run, const Question& question, const Subgraph& subgraph) {
  const torch::NoGradGuard no_gradient;
  TaskModel model = best_model(run, run.options().training.seed);
  model->eval();
  const at::Tensor scores =
      model->scores(graph_batch(run.task().graph(), subgraph, 2), question).softmax(1);
  ChanceMap result;
  for (int64_t i = 0; i < scores.size(1); ++i) {
    result[run.task().class_id(static_cast<uint32_t>(i))] = scores[0][i].item<double>();
  }
  return result;
}

void expect_near(const ChanceMap& got, const ChanceMap& expected, const std::string& where) {
  EXPECT_FALSE(got.empty()) << where;
  for (const auto& [id, chance] : got) EXPECT_NEAR(chance, expected.at(id), 1e-5) << where;
}

// Built from nothing but the edges that are to stay.
Subgraph with_edges(const Subgraph& all, const std::set<uint64_t>& gone) {
  Subgraph result = all;
  result.edge_offsets = {0};
  result.sources.clear();
  result.relations.clear();
  result.gaps.clear();
  result.positions.clear();
  for (uint32_t row = 0; row < all.num_rows(); ++row) {
    for (const uint64_t edge : all.incoming(row)) {
      if (gone.contains(edge)) continue;
      result.sources.push_back(all.sources[edge]);
      result.relations.push_back(all.relations[edge]);
      result.gaps.push_back(all.gaps[edge]);
      result.positions.push_back(all.positions[edge]);
    }
    result.edge_offsets.push_back(result.sources.size());
  }
  return result;
}

// The edges between the first seed and the instances of that type, id and time.
std::set<uint64_t> edges_with(const hgt::Run& run, const Subgraph& subgraph,
                              const InstanceWords& other) {
  const HeteroGraph& graph = run.task().graph();
  const auto is_other = [&](uint32_t row) {
    const NodeType type = subgraph.type_of(row);
    return graph.schema().at(type).name == other.type &&
           graph.id(type, subgraph.nodes[row]) == other.id &&
           std::to_string(subgraph.times[row]) == other.time;  // years
  };
  std::set<uint64_t> edges;
  const uint32_t seed = subgraph.seed_rows[0];
  for (uint32_t row = 0; row < subgraph.num_rows(); ++row) {
    for (const uint64_t edge : subgraph.incoming(row)) {
      const uint32_t source = subgraph.sources[edge];
      if (index(subgraph.relations[edge]) >= graph.schema().relations().size()) continue;
      if ((row == seed && is_other(source)) || (source == seed && is_other(row))) {
        edges.insert(edge);
      }
    }
  }
  return edges;
}

TEST(ExplainNode, EqualsWhatOneSubgraphSays) {
  const hgt::Run& run = whole_run();
  const Seed seed = test_paper(run);
  const Question question = run.task().question_about(std::span(&seed, 1));
  const TracedSubgraph slow = traced(run, question);
  const NodeExplanation answer = explain_node(run, seed, {.samples = 2, .top = 4});
  const HeteroGraph& graph = run.task().graph();
  EXPECT_EQ(answer.node.type, "paper");
  EXPECT_EQ(answer.node.id, graph.id(seed.type, seed.node));
  EXPECT_EQ(answer.node.name, graph.name(seed.type, seed.node));
  EXPECT_EQ(answer.node.time, std::to_string(graph.time(seed.type, seed.node)));
  EXPECT_EQ(answer.samples, 2U);
  EXPECT_EQ(answer.no_prediction, "");
  ASSERT_TRUE(answer.trees.has_value());
  expect_same_shares(path_shares(answer.trees->shares), slow_shares(slow), 1e-6);
  expect_means(slow, graph.schema(), seed.type, 1, answer.trees->means.children);
  ASSERT_EQ(answer.truth.size(), 1U);
  EXPECT_EQ(answer.truth[0], run.task().class_name(question.answers[0]));
  EXPECT_EQ(answer.prediction.size(), 4U);
  expect_near(chance_map(answer.prediction), predicted_from(run, question, slow.subgraph), "all");
  ASSERT_EQ(answer.neighbors.size(), 4U);
  std::set<uint64_t> gone;
  for (const NeighborExplanation& neighbor : answer.neighbors) {
    const auto edges = edges_with(run, slow.subgraph, neighbor.node);
    EXPECT_GE(edges.size(), 2U) << neighbor.node.id;  // there and back
    expect_near(chance_map(neighbor.without),
                predicted_from(run, question, with_edges(slow.subgraph, edges)), neighbor.node.id);
    gone.insert(edges.begin(), edges.end());
  }
  expect_near(chance_map(answer.without_all),
              predicted_from(run, question, with_edges(slow.subgraph, gone)), "none");
  EXPECT_NE(answer.prediction[0].probability, answer.without_all[0].probability);
}

// (type, id, time) -> attention in the last layer, and the edge types.
TEST(ExplainNode, RanksInstancesByTheirAttentionInTheLastLayer) {
  const hgt::Run& run = whole_run();
  const Seed seed = test_paper(run, 1);
  const TracedSubgraph slow = traced(run, run.task().question_about(std::span(&seed, 1)));
  const Subgraph& subgraph = slow.subgraph;
  const HeteroGraph& graph = run.task().graph();
  using Key = std::tuple<std::string, std::string, std::string>;
  std::map<Key, std::pair<double, std::set<std::string>>> expected;
  double own = 0;
  for (const uint64_t edge : subgraph.incoming(subgraph.seed_rows[0])) {
    const double share = slow.attention[1].at(edge);
    const auto [name, source] = relation_names(graph.schema(), subgraph.relations[edge]);
    if (name == "self") {
      own += share;
      continue;
    }
    const uint32_t row = subgraph.sources[edge];
    auto& [sum, edges] = expected[{source, graph.id(subgraph.type_of(row), subgraph.nodes[row]),
                                   std::to_string(subgraph.times[row])}];
    sum += share;
    edges.insert(name);
  }
  const NodeExplanation answer = explain_node(run, seed, {.samples = 1, .top = 1000});
  EXPECT_NEAR(answer.own_share, own, 1e-6);
  ASSERT_EQ(answer.neighbors.size(), expected.size());
  double sum = answer.own_share;
  double before = 1;
  for (const auto& [node, relations, share, without] : answer.neighbors) {
    const auto& [wanted, edges] = expected.at({node.type, node.id, node.time});
    EXPECT_NEAR(share, wanted, 1e-6);
    EXPECT_EQ(std::set(relations.begin(), relations.end()), edges);
    EXPECT_LE(share, before);
    before = share;
    sum += share;
  }
  EXPECT_NEAR(sum, 1, 1e-5);
  EXPECT_EQ(answer.prediction.size(), run.task().num_classes());
}

TEST(ExplainNode, PredictsAsPredictDoes) {
  hgt::Run run = hgt::Run::open(whole_run().folder());
  const TestFolder folder;
  const Seed seed = test_paper(run, 2);
  run.predict({.nodes = {seed}, .top = 5}, folder / "table");
  std::istringstream table(read_bytes(folder / "table"));
  std::string line;
  std::getline(table, line);
  const NodeExplanation answer = explain_node(run, seed, {.samples = 1});
  for (const ClassChance& chance : answer.prediction) {
    ASSERT_TRUE(std::getline(table, line));
    EXPECT_TRUE(contains(line, fmt::format("\t{}\t{}\t", chance.id, chance.name))) << line;
    EXPECT_NEAR(std::stod(line.substr(line.rfind('\t') + 1)), chance.probability, 2e-6);
  }
}

TEST(ExplainNode, AveragesOverSampledSubgraphsAndRepeatsItself) {
  const hgt::Run& run = trained_run("paper-venue");
  const Seed seed = test_paper(run, 3);
  const NodeExplanation answer = explain_node(run, seed, {});
  EXPECT_EQ(explain_node(run, seed, {}), answer);
  EXPECT_EQ(answer.samples, 8U);
  EXPECT_EQ(answer.trees->shares.examples, 8U);
  expect_whole(answer.trees->shares, 1e-5);
  double sum = answer.own_share;
  for (const NeighborExplanation& neighbor : answer.neighbors) {
    EXPECT_GT(neighbor.share, 0);
    sum += neighbor.share;
  }
  EXPECT_LE(sum, 1 + 1e-5);
  EXPECT_FALSE(explain_node(run, seed, {.samples = 2}) == answer);
  const ExplainOptions every{.top = 10000};
  double all = 0;
  const NodeExplanation whole = explain_node(run, seed, every);
  for (const NeighborExplanation& neighbor : whole.neighbors) all += neighbor.share;
  EXPECT_NEAR(all + whole.own_share, 1, 1e-5);
  double chances = 0;
  for (const ClassChance& chance : whole.prediction) chances += chance.probability;
  EXPECT_NEAR(chances, 1, 1e-6);
}

TEST(ExplainNode, ComparesEveryPredictedClassEvenWhenItIsNoLongerLikely) {
  const hgt::Run& run = trained_run("paper-venue");
  int changed = 0;
  for (uint32_t example = 0; example < 20; ++example) {
    const NodeExplanation answer =
        explain_node(run, test_paper(run, example), {.samples = 1, .top = 2});
    ASSERT_EQ(answer.prediction.size(), 2U);
    std::vector<ClassChances> others = {answer.without_all};
    for (const auto& neighbor : answer.neighbors) others.push_back(neighbor.without);
    for (const ClassChances& without : others) {
      const ChanceMap chances = chance_map(without);
      for (const ClassChance& chance : answer.prediction) {
        EXPECT_TRUE(chances.contains(chance.id)) << example;
      }
      changed += chances.size() > 2 ? 1 : 0;
    }
  }
  EXPECT_GT(changed, 0) << "the test saw no prediction change";
}

TEST(ExplainNode, TellsHowFarItIsAndStopsWhenItIsTold) {
  const hgt::Run& run = trained_run("paper-venue");
  const Seed seed = test_paper(run, 3);
  std::map<std::string, uint64_t> counts;
  std::set<std::string> finished;
  const auto listen = [&](const Progress& progress) {
    EXPECT_EQ(progress.count, ++counts[progress.stage]);
    if (progress.finished) {
      EXPECT_TRUE(finished.insert(progress.stage).second);
    }
  };
  const NodeExplanation answer = explain_node(run, seed, {.samples = 3, .top = 2}, listen);
  ASSERT_EQ(answer.neighbors.size(), 2U);
  EXPECT_EQ(counts,
            (std::map<std::string, uint64_t>{{"sub-graphs of paper", 3},
                                             {"attention of paper", 3},
                                             {"predictions of paper", 12}}));  // 3 * (1 + 2 + 1)
  EXPECT_EQ(finished.size(), 3U);
  for (const auto& [stage, unused] : counts) {
    const auto stop = [&stage = stage](const Progress& progress) {
      if (progress.stage == stage) throw Error("stopped in " + stage);
    };
    EXPECT_EQ(error_of([&] { explain_node(run, seed, {.samples = 2}, stop); }),
              "stopped in " + stage);
  }
}

TEST(ExplainNode, SaysWhyItDoesNotPredict) {
  const hgt::Run& run = trained_run("paper-venue");
  const HeteroGraph& graph = run.task().graph();
  const NodeType author = type_in(run, "author");
  const NodeExplanation answer = explain_node(run, {.type = author, .node = 0}, {});
  EXPECT_TRUE(contains(answer.no_prediction, "is about nodes of type paper, not author"));
  EXPECT_EQ(answer.node.time, std::to_string(graph.schema().time_range->second));
  ASSERT_FALSE(answer.neighbors.empty());
  expect_whole(answer.trees->shares, 1e-5);
  EXPECT_TRUE(answer.prediction.empty() && answer.truth.empty() && answer.without_all.empty());
  EXPECT_TRUE(answer.neighbors[0].without.empty());
  const NodeExplanation then = explain_node(run, {.type = author, .node = 0, .time = 2010}, {});
  EXPECT_EQ(then.node.time, "2010");
  EXPECT_NE(then.trees, answer.trees);
  const hgt::Run& links = trained_run("link:cites");
  const NodeExplanation paper =
      explain_node(links, {.type = type_in(links, "paper"), .node = 9}, {});
  EXPECT_TRUE(contains(paper.no_prediction, "compares pairs"));
  EXPECT_TRUE(paper.prediction.empty());
  expect_whole(paper.trees->shares, 1e-5);
}

// Two layers: the task reads authors, these institutes, whose own reading is of no use to it.
TEST(ExplainNode, LetsTheViewerAskAboutTypesWhoseAttentionWasNotTrained) {
  const hgt::Run& run = trained_run("paper-venue");
  const Seed seed{.type = type_in(run, "institute"), .node = 0};
  EXPECT_TRUE(contains(error_of([&] { explain_node(run, seed, {}); }), "was never trained"));
  const NodeExplanation answer = explain_node(run, seed, {.prediction_suffices = true});
  EXPECT_FALSE(answer.trees.has_value());
  EXPECT_TRUE(answer.neighbors.empty());
}

TEST(ExplainNode, LetsTheViewerAskModelsThatPayNoAttention) {
  const hgt::Run& run = trained_run("paper-venue", ModelKind::gcn);
  const NodeExplanation answer = explain_node(run, test_paper(run), {.prediction_suffices = true});
  EXPECT_FALSE(answer.trees.has_value());
  EXPECT_TRUE(answer.neighbors.empty());
  EXPECT_EQ(answer.prediction.size(), 5U);
}

}  // namespace
}  // namespace hgt
