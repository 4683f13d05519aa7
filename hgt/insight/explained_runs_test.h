// For the tests of explanations: trained runs, and the sums over all paths of edges that the tests
// make of attention traces themselves.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hgt/insight/attention_paths_test.h"
#include "hgt/insight/insight_test_runs.h"
#include "hgt/model/graph_batch.h"
#include "hgt/model/torch.h"
#include "hgt/sampling/sampler.h"
#include "hgt/training/trained_model.h"
#include "hgt/training/training_test_graph.h"

namespace hgt {

// Runs of this program, trained once each. `whole`: sub-graphs with all neighbors, so that nothing
// about them is drawn.
inline const hgt::Run& trained_run(const std::string& task, ModelKind kind = ModelKind::hgt,
                                   bool whole = false) {
  static const TestFolder folder;
  static std::map<std::string, hgt::Run> runs;
  const std::string name = fmt::format("{}-{}-{}", task, to_string(kind), whole);
  if (const auto found = runs.find(name); found != runs.end()) return found->second;
  const HeteroGraph graph = HeteroGraph::open(training_graph());
  RunOptions options{.graph = training_graph().string(),
                     .task = find_task(task, graph.schema()),
                     .training = quick_options()};
  options.training.model.kind = kind;
  options.training.batches = 3;
  options.training.validation.limit = 30;
  if (whole) options.training.sampling.strategy = Strategy::full;
  hgt::Run run = hgt::Run::create(folder / name, options);
  run.train();
  return runs.emplace(name, std::move(run)).first->second;
}

inline const hgt::Run& whole_run() { return trained_run("paper-venue", ModelKind::hgt, true); }

// A paper of the test split with several neighbors.
inline Seed test_paper(const hgt::Run& run, uint32_t example = 0) {
  return run.task().question(Split::test, std::vector<uint32_t>{example}, 0).request.seeds[0];
}

// --- the slow path: sub-graphs, and attention by edge of the sub-graph ---

struct TracedSubgraph {
  Subgraph subgraph;
  std::vector<std::map<uint64_t, double>> attention;  // [layers] by edge of the sub-graph
};

inline TracedSubgraph traced(const hgt::Run& run, const Question& question) {
  TracedSubgraph result;
  Sampler(run.task().graph(), run.task().sampling(run.options().training.sampling, Split::test))
      .sample(question.request, 5, result.subgraph);
  const torch::NoGradGuard no_gradient;
  TaskModel model = best_model(run, run.options().training.seed);
  model->eval();
  AttentionTrace trace;
  model->encoder()->forward(graph_batch(run.task().graph(), result.subgraph, 2), &trace);
  for (const LayerAttention& layer : trace) {
    result.attention.emplace_back();
    for (size_t edge = 0; edge < layer.edge_ids.size(); ++edge) {
      double sum = 0;
      for (int64_t head = 0; head < layer.weights.size(1); ++head) {
        sum += layer.weights[static_cast<int64_t>(edge)][head].item<double>();
      }
      result.attention.back()[layer.edge_ids[edge]] =
          sum / static_cast<double>(layer.weights.size(1));
    }
  }
  return result;
}

// Adds the mass of every path of edges that leads back from a row.
inline void walk_back(const TracedSubgraph& traced, size_t layer, uint32_t row,
                      const RelationSteps& path, double mass, PathShares& shares) {
  for (const uint64_t edge : traced.subgraph.incoming(row)) {
    RelationSteps longer = path;
    longer.push_back(index(traced.subgraph.relations[edge]));
    const double own = mass * traced.attention[layer].at(edge);
    shares[longer] += own;
    if (layer > 0) {
      walk_back(traced, layer - 1, traced.subgraph.sources[edge], longer, own, shares);
    }
  }
}

inline PathShares slow_shares(const TracedSubgraph& traced) {
  PathShares shares;
  const auto& seeds = traced.subgraph.seed_rows;
  for (const uint32_t row : seeds) {
    walk_back(traced, traced.attention.size() - 1, row, {}, 1.0 / static_cast<double>(seeds.size()),
              shares);
  }
  return shares;
}

// --- means, edge by edge ---

// The rows that layer `layer` must write for the seeds: those that lead to one within the layers
// that follow.
inline std::set<uint32_t> rows_needed(const TracedSubgraph& traced, size_t layer) {
  const auto& seeds = traced.subgraph.seed_rows;
  std::set<uint32_t> rows(seeds.begin(), seeds.end());
  for (size_t above = layer + 1; above < traced.attention.size(); ++above) {
    std::set<uint32_t> read;
    for (const uint32_t row : rows) {
      for (const uint64_t edge : traced.subgraph.incoming(row)) {
        read.insert(traced.subgraph.sources[edge]);
      }
    }
    rows.merge(read);
  }
  return rows;
}

// By relation: the mean attention of its edges into these rows.
inline std::map<uint32_t, double> slow_means(const TracedSubgraph& traced, size_t layer) {
  std::map<uint32_t, std::pair<double, double>> sums;
  for (const uint32_t row : rows_needed(traced, layer)) {
    for (const uint64_t edge : traced.subgraph.incoming(row)) {
      auto& [sum, edges] = sums[index(traced.subgraph.relations[edge])];
      sum += traced.attention[layer].at(edge);
      edges += 1;
    }
  }
  std::map<uint32_t, double> means;
  for (const auto& [relation, pair] : sums) means[relation] = pair.first / pair.second;
  return means;
}

// Every branch, and none is missing; `depth` layers lie below.
inline void expect_means(const TracedSubgraph& traced, const Schema& schema, NodeType type,
                         size_t depth, const std::vector<AttentionBranch>& branches) {
  const std::map<uint32_t, double> means = slow_means(traced, depth);
  size_t expected = 0;
  for (const auto& [relation, mean] : means) {
    const bool self = relation >= schema.relations().size();
    const NodeType target = self ? NodeType(relation - schema.relations().size())
                                 : schema.at(Relation(relation)).target;
    if (target != type) continue;
    ASSERT_LT(expected, branches.size());
    const AttentionBranch& branch = branches[expected++];
    EXPECT_EQ(index(branch.relation), relation);
    EXPECT_NEAR(branch.attention, mean, 1e-6);
    if (depth == 0) {
      EXPECT_TRUE(branch.children.empty());
      continue;
    }
    const NodeType source = self ? type : schema.at(Relation(relation)).source;
    expect_means(traced, schema, source, depth - 1, branch.children);
  }
  EXPECT_EQ(expected, branches.size());
}

}  // namespace hgt
