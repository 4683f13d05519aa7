// NodeExplainer: the trees of one node, its neighbors, and predictions without them.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "hgt/error.h"
#include "hgt/graph/time_text.h"
#include "hgt/insight/attended_batch.h"
#include "hgt/insight/neighbor_removal.h"
#include "hgt/random.h"
#include "hgt/task/trained_layer.h"
#include "hgt/training/example_stream.h"

namespace hgt {

namespace {

constexpr uint64_t kNodeStream = 0x0dee;

using Chances = std::vector<double>;  // [classes]

// A node at a time, wherever it is in a sub-graph.
struct Instance {
  NodeType type{};
  NodeId node = 0;
  Time time = kNoTime;
  friend auto operator<=>(const Instance&, const Instance&) = default;
};

Instance instance_at(const Subgraph& subgraph, uint32_t row) {
  return {subgraph.type_of(row), subgraph.nodes[row], subgraph.times[row]};
}

InstanceWords words_of(const HeteroGraph& graph, const Instance& instance) {
  const auto [type, node, time] = instance;
  return {.type = graph.schema().at(type).name,
          .id = graph.id(type, node),
          .name = std::string(graph.name(type, node)),
          .time = time == kNoTime ? "" : format_time(time, graph.schema().time_unit)};
}

// What an instance gets of the node's attention in the last layer.
struct Attended {
  double share = 0;
  std::set<Relation> relations = {};
};
using AttendedInstances = std::map<Instance, Attended>;

// The model pays attention, and what it pays at nodes of the type was trained.
bool can_be_explained(const Run& run, NodeType type) {
  const ModelOptions& model = run.options().training.model;
  return row_of(model.kind).pays_attention &&
         trained_layer(run.task(), static_cast<uint32_t>(model.layers), type) > 0;
}

std::string why_unpredicted(const Task& task, NodeType type) {
  if (task.answers() == Answers::pairs) {
    return fmt::format("task {} compares pairs, so nothing is predicted for a single node",
                       task.spec().name);
  }
  if (type == task.node_type()) return "";
  return fmt::format("task {} is about nodes of type {}, not {}", task.spec().name,
                     task.spec().node, task.graph().schema().at(type).name);
}

class NodeQuestion {
 public:
  NodeQuestion(const TrainedModel& trained, const Seed& seed, const ExplainOptions& options,
               const ProgressSink& progress)
      : run_(trained.run()),
        model_(trained.model()),
        task_(trained.task()),
        options_(options),
        progress_(progress),
        why_not_(why_unpredicted(task_, seed.type)) {
    Seed own = seed;
    if (!why_not_.empty() && seed.time == kNoTime) {
      own = visible_seed(task_.graph(), seed.type, seed.node,
                         last_visible_time(task_, options.split));
    }
    if (why_not_.empty()) {
      question_ = task_.question_about(std::span(&own, 1));
    } else {
      question_.request.seeds = {own};
    }
    draw_subgraphs();
  }

  NodeExplanation answer() {
    NodeExplanation result{
        .node = words_of(task_.graph(), instance_at(subgraphs_[0], subgraphs_[0].seed_rows[0])),
        .samples = options_.samples,
        .no_prediction = why_not_};
    const bool attends = can_be_explained(run_, question_.request.seeds[0].type);
    const std::vector<Instance> neighbors =
        attends ? explain_attention(result) : std::vector<Instance>();
    if (!why_not_.empty()) return result;
    for (const uint32_t number : question_.answers) {
      const std::string name = task_.class_name(number);
      result.truth.push_back(name.empty() ? task_.class_id(number) : name);
    }
    const Chances all = chances_of_all(neighbors.size());
    result.prediction = named(all, most_likely(all));
    for (size_t i = 0; i < neighbors.size(); ++i) {
      result.neighbors[i].without = compared(all, chances_without(std::span(&neighbors[i], 1)));
    }
    if (!neighbors.empty()) result.without_all = compared(all, chances_without(neighbors));
    return result;
  }

 private:
  void draw_subgraphs() {
    const Seed& seed = question_.request.seeds[0];
    const bool own_type = seed.type == task_.node_type();
    Sampler sampler(task_.graph(), explained_sampling(run_, options_.split,
                                                      own_type ? Hiding::task : Hiding::left_out));
    subgraphs_.resize(options_.samples);
    for (uint64_t i = 0; i < subgraphs_.size(); ++i) {
      const uint64_t draw = hash(run_.options().training.seed, kNodeStream, index(seed.type),
                                 seed.node, seed.time, i);
      sampler.sample(question_.request, draw, subgraphs_[i]);
      tell("sub-graphs", i + 1, options_.samples);
    }
  }

  // So many sub-graphs are through with that.
  void tell(const char* what, uint64_t done, uint64_t all) const {
    const NodeType type = question_.request.seeds[0].type;
    progress_({.stage = fmt::format("{} of {}", what, task_.graph().schema().at(type).name),
               .unit = "sub-graphs",
               .count = done,
               .fraction = static_cast<double>(done) / static_cast<double>(all),
               .finished = done == all});
  }

  // --- attention ---

  // The trees and the neighbors of the answer, and who these are.
  std::vector<Instance> explain_attention(NodeExplanation& result) const {
    const NodeType type = question_.request.seeds[0].type;
    const uint32_t length = path_length(run_, options_, type);
    AttentionFlow flow(type, length);
    AttentionMeans means(task_.graph().schema(), type, length);
    const uint32_t layers = explained_layers(run_, type);
    AttendedInstances instances;
    uint64_t done = 0;
    for (const Subgraph& subgraph : subgraphs_) {
      const AttendedBatch batch(model_,
                                model_->encoder()->make_batch(task_.graph(), subgraph, layers));
      flow.add(batch.layers(), batch.seed_rows());
      means.add(batch.layers(), batch.seed_rows().size());
      result.own_share += add_neighbors(subgraph, batch, instances);
      tell("attention", ++done, options_.samples);
    }
    result.trees = {.shares = flow.tree(), .means = means.tree()};
    result.own_share /= options_.samples;
    std::vector<Instance> order;
    for (const auto& [instance, attended] : instances) order.push_back(instance);
    std::stable_sort(order.begin(), order.end(), [&](const Instance& a, const Instance& b) {
      return instances.at(a).share > instances.at(b).share;
    });
    order.resize(std::min<uint64_t>(options_.top, order.size()));
    for (const Instance& instance : order) {
      const Attended& attended = instances.at(instance);
      result.neighbors.push_back(
          {.node = words_of(task_.graph(), instance), .share = attended.share / options_.samples});
      for (const Relation relation : attended.relations) {
        result.neighbors.back().relations.push_back(
            relation_names(task_.graph().schema(), relation).edge);
      }
    }
    return order;
  }

  // Returns what `self` gets.
  static double add_neighbors(const Subgraph& subgraph, const AttendedBatch& batch,
                              AttendedInstances& instances) {
    const LayerGraph& graph = batch.last_graph();
    double own = 0;
    for (const uint64_t edge : graph.incoming(batch.seed_rows()[0])) {
      const uint64_t id = graph.edge_ids[edge];
      const double share = batch.last_attention()[edge];
      if (subgraph.positions[id] == kSelfEdge) {
        own += share;
        continue;
      }
      Attended& attended = instances[instance_at(subgraph, subgraph.sources[id])];
      attended.share += share;
      attended.relations.insert(subgraph.relations[id]);
    }
    return own;
  }

  // --- prediction ---

  Chances chances_of(const Subgraph& subgraph) const {
    const torch::NoGradGuard no_gradient;
    const GraphBatch batch = model_->encoder()->make_batch(task_.graph(), subgraph);
    const at::Tensor scores = model_->scores(batch, question_).to(at::kDouble);
    const bool binary = task_.spec().loss == Loss::binary;
    const at::Tensor chances = (binary ? scores.sigmoid() : at::softmax(scores, 1)).contiguous();
    const auto* first = chances.data_ptr<double>();
    return {first, first + chances.numel()};
  }

  // The mean over the sub-graphs as they are; what is asked next is what it would be without each
  // of the neighbors and without all of them.
  Chances chances_of_all(uint64_t neighbors) {
    predictions_ = options_.samples * (1 + neighbors + (neighbors > 0 ? 1 : 0));
    Chances sum(task_.num_classes(), 0);
    for (const Subgraph& subgraph : subgraphs_) {
      chances_.push_back(chances_of(subgraph));
      add(chances_.back(), sum);
    }
    return sum;
  }

  // The mean over the sub-graphs, each without the edges between the node and these instances.
  Chances chances_without(std::span<const Instance> removed) {
    Chances sum(task_.num_classes(), 0);
    for (size_t i = 0; i < subgraphs_.size(); ++i) {
      const Subgraph& subgraph = subgraphs_[i];
      const std::vector<uint32_t> rows = rows_of(subgraph, removed);
      const Chances chances =
          rows.empty() ? chances_[i]
                       : chances_of(without_edges_between(subgraph, subgraph.seed_rows[0], rows));
      add(chances, sum);
    }
    return sum;
  }

  // One of the sub-graphs that are averaged over.
  void add(const Chances& chances, Chances& mean) {
    for (size_t i = 0; i < mean.size(); ++i) mean[i] += chances[i] / options_.samples;
    tell("predictions", ++predicted_, predictions_);
  }

  static std::vector<uint32_t> rows_of(const Subgraph& subgraph,
                                       std::span<const Instance> instances) {
    std::vector<uint32_t> rows;
    for (const Instance& instance : instances) {
      for (const uint32_t row : subgraph.rows(instance.type)) {
        if (instance_at(subgraph, row) == instance) rows.push_back(row);
      }
    }
    return rows;
  }

  std::set<uint32_t> most_likely(const Chances& chances) const {
    std::vector<uint32_t> order = by_chance(chances);
    order.resize(std::min<uint64_t>(options_.top, order.size()));
    return {order.begin(), order.end()};
  }

  // What is likely now, and what was.
  ClassChances compared(const Chances& before, const Chances& now) const {
    std::set<uint32_t> classes = most_likely(before);
    classes.merge(most_likely(now));
    return named(now, classes);
  }

  static std::vector<uint32_t> by_chance(const Chances& chances) {
    std::vector<uint32_t> order(chances.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return chances[a] > chances[b]; });
    return order;
  }

  ClassChances named(const Chances& chances, const std::set<uint32_t>& classes) const {
    ClassChances result;
    for (const uint32_t number : by_chance(chances)) {
      if (!classes.contains(number)) continue;
      result.push_back({.id = task_.class_id(number),
                        .name = task_.class_name(number),
                        .probability = chances[number]});
    }
    return result;
  }

  const Run& run_;
  const TaskModel& model_;
  const Task& task_;
  const ExplainOptions& options_;
  const ProgressSink& progress_;
  std::string why_not_;  // nothing is predicted
  Question question_;    // one seed: the node
  std::vector<Subgraph> subgraphs_;
  std::vector<Chances> chances_;  // of each sub-graph as it is
  uint64_t predicted_ = 0;
  uint64_t predictions_ = 0;  // in all
};

}  // namespace

struct NodeExplainer::State {
  explicit State(const Run& run) : trained(run) {}
  TrainedModel trained;
};

NodeExplainer::NodeExplainer(const Run& run) : state_(std::make_unique<State>(run)) {}
NodeExplainer::NodeExplainer(NodeExplainer&&) noexcept = default;
NodeExplainer::~NodeExplainer() = default;

NodeExplanation NodeExplainer::explain(const Seed& seed, const ExplainOptions& options,
                                       const ProgressSink& progress) const {
  const Run& run = state_->trained.run();
  if (!options.prediction_suffices) require_attention(run);
  if (!options.prediction_suffices || can_be_explained(run, seed.type)) {
    path_length(run, options, seed.type);
  }
  const HeteroGraph& graph = run.task().graph();
  if (seed.node >= graph.num_nodes(seed.type)) {
    throw Error(fmt::format("node type {} has no node {}; it has {} nodes, numbered from 0",
                            graph.schema().at(seed.type).name, seed.node,
                            graph.num_nodes(seed.type)));
  }
  if (options.samples == 0) throw Error("--samples 0: at least one sub-graph is needed");
  return NodeQuestion(state_->trained, seed, options, progress).answer();
}

NodeExplanation explain_node(const Run& run, const Seed& seed, const ExplainOptions& options,
                             const ProgressSink& progress) {
  return NodeExplainer(run).explain(seed, options, progress);
}

}  // namespace hgt
