// What the two ways to explain a run have in common: its model, what may be sampled, and attention
// as plain numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "hgt/insight/attention_tree.h"
#include "hgt/insight/explain.h"
#include "hgt/training/trained_model.h"

namespace hgt {

// The layers that are looked at: all, for targets that the task asks about; for other types up to
// the last that was trained for them (trained_layer.h). Throws Error: there is none.
uint32_t explained_layers(const Run& run, NodeType type);

// The length of paths. Throws Error: more than these layers.
uint32_t path_length(const Run& run, const ExplainOptions& options, NodeType type);

// Throws Error: names the model and those that do.
void require_attention(const Run& run);

// What evaluation hides, for questions of the task; for others what the task leaves out.
enum class Hiding { task, left_out };
SamplingOptions explained_sampling(const Run& run, Split split, Hiding hiding);

// The seed of a node that may be a plain one: it gets the last time of the split, or of the graph
// if that is earlier.
Time last_visible_time(const Task& task, Split split);
Seed visible_seed(const HeteroGraph& graph, NodeType type, NodeId node, Time last);

// A batch, of as many layers as are looked at, with the attention that the model pays in it.
class AttendedBatch {
 public:
  AttendedBatch(const TaskModel& model, const GraphBatch& batch);

  std::vector<LayerFlow> layers() const;  // first to last
  const LayerGraph& last_graph() const { return *graphs_.back(); }
  const std::vector<double>& last_attention() const { return attention_.back(); }
  // [seeds as asked] in the output of the last layer.
  const std::vector<uint32_t>& seed_rows() const { return seed_rows_; }

 private:
  std::vector<std::shared_ptr<const LayerGraph>> graphs_;
  std::vector<std::vector<double>> attention_;  // [layers][edges]
  std::vector<uint32_t> seed_rows_;
};

}  // namespace hgt
