// What a trained model attends to: for a type of nodes, the meta relation attention trees over many
// batches; for one node its trees, the neighbors it attends to most, and what the prediction would
// be without them.
//
//   const Run run = Run::open("venue.run");
//   const AttentionTrees trees = explain_type(run, {});
//   fmt::print("{}", to_text(shown_tree(trees.means, run.task().graph().schema(), 5)));
//
//   const NodeExplanation answer = explain_node(run, {.type = paper, .node = 17}, {});
//
// Sub-graphs are drawn as evaluation draws them, with what the task predicts hidden, from the run's
// seed: the same question has the same answer. The weights are those of the run's first seed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hgt/insight/attention_rendering.h"
#include "hgt/insight/attention_tree.h"
#include "hgt/progress.h"
#include "hgt/task/task.h"
#include "hgt/training/run.h"

namespace hgt {

struct ExplainOptions {
  uint32_t layers = 0;        // the length of paths; 0: two, or one if the model has one
  Split split = Split::test;  // nothing later than its end is seen
  // --- of a type ---
  std::optional<NodeType> type = {};  // none: the task's
  uint64_t batches = 20;              // at most: there may be fewer examples
  uint64_t batch_size = 64;
  // --- of a node ---
  uint32_t samples = 8;  // sub-graphs that are averaged over
  uint64_t top = 5;      // neighbors, and classes of a prediction
  // The prediction alone, if any, where no attention can be shown, instead of an Error.
  bool prediction_suffices = false;
};

// Targets of the task's type are examples of the split. Those of another type are drawn among the
// nodes that may be seen, events at their own time, others at the end of the split; then nothing is
// hidden but what the task leaves out, and their tree begins at the last layer that was trained for
// them (trained_layer.h), not at the last of all. Throws Error: not trained, more layers than that,
// a model without attention, a type without nodes.
AttentionTrees explain_type(const Run& run, const ExplainOptions& options,
                            const ProgressSink& progress = no_progress);

// An instance as people know it.
struct InstanceWords {
  std::string type;
  std::string id;
  std::string name = {};  // may be empty, as the time
  std::string time = {};
  friend bool operator==(const InstanceWords&, const InstanceWords&) = default;
};

struct ClassChance {
  std::string id;
  std::string name;
  double probability = 0;  // mean over the sub-graphs
  friend bool operator==(const ClassChance&, const ClassChance&) = default;
};
using ClassChances = std::vector<ClassChance>;  // the most likely first

struct NeighborExplanation {
  InstanceWords node;
  std::vector<std::string> relations = {};  // edge types that lead from it to the node
  double share = 0;                         // of the node's attention in the last layer
  // The prediction when no edge joins the two: the most likely classes, and those of the prediction
  // with all neighbors. Empty: there is no prediction.
  ClassChances without = {};
  friend bool operator==(const NeighborExplanation&, const NeighborExplanation&) = default;
};

struct NodeExplanation {
  InstanceWords node;
  uint32_t samples = 0;
  std::optional<AttentionTrees> trees = {};         // none: the model has no attention
  double own_share = 0;                             // what `self` gets in the last layer
  std::vector<NeighborExplanation> neighbors = {};  // the most attended first
  std::string no_prediction = {};                   // why there is none; empty: there is one
  ClassChances prediction = {};
  ClassChances without_all = {};        // without any of `neighbors`
  std::vector<std::string> truth = {};  // names of the correct classes, as far as they are known
  friend bool operator==(const NodeExplanation&, const NodeExplanation&) = default;
};

// Explains nodes with a model that is read once.
class NodeExplainer {
 public:
  // `run` must outlive it. Throws Error: not trained.
  explicit NodeExplainer(const Run& run);
  NodeExplainer(NodeExplainer&&) noexcept;
  ~NodeExplainer();

  // The node is predicted if it is of the task's type and the task names classes. Throws Error: as
  // explain_type, a seed that is not a node or may not be seen in the split.
  NodeExplanation explain(const Seed& seed, const ExplainOptions& options,
                          const ProgressSink& progress = no_progress) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// For one question.
NodeExplanation explain_node(const Run& run, const Seed& seed, const ExplainOptions& options,
                             const ProgressSink& progress = no_progress);

}  // namespace hgt
