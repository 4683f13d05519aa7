// One layer of a graph neural network: what encoders and whole-graph inference ask of HGT and of
// every baseline.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hgt/message/layer_graph.h"
#include "hgt/message/model_schema.h"
#include "hgt/model/torch.h"

namespace hgt {

// The attention that one layer paid.
struct LayerAttention {
  at::Tensor weights;              // [edges, heads], edges as in the layer's graph
  std::vector<uint64_t> edge_ids;  // [edges] in the sub-graph
};

// Filled by a forward pass that is handed one: an entry per layer, in their order.
using AttentionTrace = std::vector<LayerAttention>;

using SharedPlan = std::shared_ptr<const LayerPlan>;

// What the rows of a first layer are made of by a linear adaptation layer: A x + a, type by type.
struct LinearInputs {
  struct OfType {
    at::Tensor features;  // x: [rows of the type, width]
    at::Tensor weight;    // A: [d, width]; undefined: the features are the rows, of width d
    at::Tensor bias;      // a: [d], where A is defined

    at::Tensor rows(int64_t count) const;  // the first rows: [count, d]
  };
  std::vector<OfType> types;
};

class Layer : public torch::nn::Module {
 public:
  // What forward() works out of a graph before it computes; touches no tensor, so another thread
  // can do it ahead. Layers of one encoder make the same plan. Layers that tell relations or types
  // apart throw Error when the graph has others.
  virtual SharedPlan plan(const LayerGraph& graph) const = 0;
  // Does plan() read LayerGraph::source_degrees? In a whole graph they are counted only then.
  virtual bool reads_degrees() const { return false; }

  // [sources, d] -> [targets, d]. `ready`: what plan() made of the graph; nullptr: it is made here.
  // `trace`: gets this layer's attention appended; nullptr: not wanted. Throws Error when a layer
  // without attention is asked for it.
  virtual at::Tensor forward(const at::Tensor& node_vectors, const LayerGraph& graph,
                             AttentionTrace* trace, SharedPlan ready) const = 0;

  // forward() of the rows that the inputs are adapted to. A layer may save itself making them.
  virtual at::Tensor forward_linear(const LinearInputs& inputs, const LayerGraph& graph,
                                    AttentionTrace* trace, SharedPlan ready) const;

  // --- forward() in two parts and without gradients, for inference over a whole graph: what is
  // worth doing once per row, however many targets read it, and the rest ---
  // Numbers that the first part leaves of a row of `hidden`.
  virtual int64_t prepared_width(int64_t hidden) const { return hidden; }
  // The first part, of vectors that lie by type: [rows, d] -> `result`, [rows, prepared width].
  virtual void prepare_rows(const at::Tensor& node_vectors,
                            const std::vector<uint32_t>& /*type_offsets*/,
                            const at::Tensor& result) const {
    at::Tensor to = result;
    to.copy_(node_vectors);
  }
  // The second: [targets, d] -> [targets, d]. `sources`: [ready->source_rows, prepared width], of
  // which the caller filled the rows of the graph's sources.
  virtual at::Tensor forward_prepared(const at::Tensor& /*target_vectors*/,
                                      const at::Tensor& sources, const LayerGraph& graph,
                                      const SharedPlan& ready) const {
    return forward(sources, graph, nullptr, ready);
  }
};

// Throws Error unless the graph has `types` types and every edge joins the types of its relation.
void check_graph(const LayerGraph& graph, const std::vector<ModelSchema::MetaRelation>& relations,
                 size_t types);

// The vectors of the targets: the first inputs of each type. [sources, d] -> [targets, d].
at::Tensor own_vectors(const at::Tensor& vectors, const LayerGraph& graph);

// Throws Error unless it is nullptr.
void refuse_trace(const AttentionTrace* trace, const char* model);

}  // namespace hgt
