// K-Linear, M-Linear and Q-Linear of a layer (paper, section 3.2): one matrix product for each type
// and table, all of them at once (product_sums.h), with a backward pass written by hand.
//
// Inputs of a first layer may be given as they were before a linear adaptation layer: then
// K (A x + a) + k = (K A) x + (K a + k) is computed from x, which is narrower, and no gradient of
// A x + a is ever made. Exact, to rounding.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hgt/message/attention_plan.h"
#include "hgt/message/layer_graph.h"
#include "hgt/model/torch.h"

namespace hgt {

struct ProjectionWeights {
  const at::Tensor& weight;  // [T, 3d, d] K, M, Q
  const at::Tensor& bias;    // [T, 3d]
};

// Types whose inputs are A x + a of their features x, given as these. Empty: no type.
struct AdaptedFeatures {
  std::vector<at::Tensor> features;  // [types] [sources of the type, width]; undefined: vectors
  at::Tensor weight;                 // [d, all widths] A of each of these types, side by side
  at::Tensor bias;                   // [these types, d] a
};

// The inputs of a layer: vectors of the types without features lie by type.
struct ProjectionInputs {
  at::Tensor vectors;  // [sources of types without features, d]
  AdaptedFeatures adapted;
  at::Tensor time_vectors;  // [(type, gap) rows of the plan, d]
};

struct ProjectionTables {
  at::Tensor sources;  // [plan.source_rows, 2d] keys, messages: of inputs, then of (type, gap) rows
  at::Tensor queries;  // [targets, d]
  at::Tensor own;      // [targets, d] the inputs of the targets: the first of each type
};

// The rows of pairs are left to attend().
ProjectionTables project(const LayerGraph& graph, const std::vector<uint32_t>& type_sets,
                         const AttentionPlan& plan, const ProjectionInputs& inputs,
                         const ProjectionWeights& weights);

// --- the parts alone and without gradients, for whole graphs ---

// Keys and messages of vectors that lie by type: [rows, d] -> [rows, 2d].
void project_key_messages(const std::vector<uint32_t>& type_offsets,
                          const std::vector<uint32_t>& type_sets, const ProjectionWeights& weights,
                          const at::Tensor& vectors, const at::Tensor& result);
// Keys and messages of the (type, gap) rows, which have no bias, into their rows of `sources`.
void project_times(const AttentionPlan& plan, const std::vector<uint32_t>& type_sets,
                   const at::Tensor& weight, const at::Tensor& time_vectors,
                   const at::Tensor& sources);
// Queries of vectors that lie by type: [targets, d] -> [targets, d].
void project_queries(const std::vector<uint32_t>& target_offsets,
                     const std::vector<uint32_t>& type_sets, const ProjectionWeights& weights,
                     const at::Tensor& vectors, const at::Tensor& result);

}  // namespace hgt
