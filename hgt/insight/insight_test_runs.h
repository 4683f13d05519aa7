// For the tests of what is made of trained runs: runs that are trained in a moment, once for each
// test program, and graphs with and without times.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "hgt/graph/graph_builder.h"
#include "hgt/sampling/random_test_graph.h"
#include "hgt/training/run.h"
#include "hgt/training/training_test_graph.h"

namespace hgt {

struct TinyRun {
  std::string task = "paper-venue";
  int64_t layers = 3;  // so that venues have a layer that is trained
  ModelKind kind = ModelKind::hgt;
  bool rte = true;
  bool full = false;  // all neighbors: nothing about a sub-graph is drawn
  Path graph = training_graph();
  std::function<void(TaskSpec&)> adjust = {};  // once for each graph and task
};

inline RunOptions tiny_options(const TinyRun& what) {
  const HeteroGraph graph = HeteroGraph::open(what.graph);
  RunOptions options{.graph = what.graph.string(),
                     .task = find_task(what.task, graph.schema()),
                     .training = quick_options()};
  if (what.adjust) what.adjust(options.task);
  options.training.model.kind = what.kind;
  options.training.model.layers = what.layers;
  options.training.model.rte = what.rte;
  options.training.sampling.strategy = what.full ? Strategy::full : Strategy::hgsampling;
  options.training.batches = 3;
  options.training.validation.limit = 30;
  return options;
}

// Trained when it is first asked for.
inline hgt::Run& tiny_run(const TinyRun& what = {}) {
  static const TestFolder folder;
  static std::map<std::string, hgt::Run> runs;
  const std::string key =
      fmt::format("{} {} {} {} {} {}", what.task, what.layers, to_string(what.kind), what.rte,
                  what.full, what.graph.string());
  if (const auto found = runs.find(key); found != runs.end()) return found->second;
  hgt::Run run =
      hgt::Run::create(folder / fmt::format("tiny-{}.run", runs.size()), tiny_options(what));
  run.train();
  return runs.emplace(key, std::move(run)).first->second;
}

inline NodeType type_in(const hgt::Run& run, const char* name) {
  return run.task().graph().schema().node_type(name);
}

// --- graphs ---

constexpr NodeId kUsers = 30;
constexpr NodeId kMovies = 20;

// Users rate movies and know each other. Nothing is an event; ratings have a time if `dated`.
inline TestGraph ratings(bool dated) {
  Schema schema;
  schema.at(schema.add_node_type("user", NodeKind::plain)).names = true;
  schema.add_node_type("movie", NodeKind::plain);
  schema.add_relation({.source = "user", .edge = "rates", .target = "movie", .times = dated});
  schema.add_relation({.source = "user", .edge = "knows", .target = "user", .symmetric = true});
  schema.number_relations();
  return TestGraph(schema, [](GraphBuilder& builder) {
    const NodeType user = builder.schema().node_type("user");
    const NodeType movie = builder.schema().node_type("movie");
    const bool with_times =
        builder.schema().at(builder.schema().relation("user", "rates", "movie")).times;
    const uint32_t mood = builder.declare_label(user, "mood");
    for (NodeId i = 0; i < kUsers; ++i) {
      builder.add_node(user,
                       {.id = "u" + std::to_string(i), .name = "User \xff" + std::to_string(i)});
      builder.add_label(user, mood, i, i % 3 == 0 ? "good" : "bad");
    }
    for (NodeId i = 0; i < kMovies; ++i) builder.add_node(movie, {.id = "m" + std::to_string(i)});
    const Relation rates = builder.schema().relation("user", "rates", "movie");
    const Relation knows = builder.schema().relation("user", "knows", "user");
    for (NodeId i = 0; i < kUsers; ++i) {
      for (NodeId k = 0; k < 4; ++k) {
        builder.add_edge(rates,
                         {.source = i,
                          .target = (i * (k + 1) + k) % kMovies,
                          .time = with_times ? 2010 + static_cast<Time>((i + k) % 10) : kNoTime});
      }
      builder.add_edge(knows, {.source = i, .target = (i + 7) % kUsers});
    }
  });
}

inline void split_at_random(TaskSpec& task) { task.split = SplitRule::random; }

}  // namespace hgt
