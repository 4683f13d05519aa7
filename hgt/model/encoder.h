// The whole encoder: an adaptation layer per node type brings inputs of any width to d, then L
// layers of the kind that the options name. (Paper, section 3 and 5.2.)
//
//   Encoder encoder(paper_preset(), model_schema(graph.schema()));
//   const GraphBatch batch = encoder->make_batch(graph, subgraph);
//   const at::Tensor vectors = encoder->forward(batch);            // [outputs, d]
//   const at::Tensor seeds = vectors.index_select(0, batch.seed_rows);
//
// A type without features starts from a learned vector: one for each of its nodes where the schema
// says so, else the same for all.
#pragma once

#include <vector>

#include "hgt/message/meta_path.h"
#include "hgt/message/model_schema.h"
#include "hgt/model/graph_batch.h"
#include "hgt/model/layer.h"
#include "hgt/model/torch.h"
#include "hgt/run/model_options.h"

namespace hgt {

class EncoderImpl : public torch::nn::Module {
 public:
  EncoderImpl(const ModelOptions& options, const ModelSchema& schema);

  // [outputs of the last layer, d]. Throws Error when the batch does not fit the schema. `trace`
  // becomes the attention of every layer.
  at::Tensor forward(const GraphBatch& batch, AttentionTrace* trace = nullptr) const;
  // The first layers alone, as many as the batch was made for: [outputs of the last of them, d].
  at::Tensor forward_first(const GraphBatch& batch, AttentionTrace* trace = nullptr) const;

  // The batch of a sub-graph as this kind of model reads it, with what prepare() makes. Han reads
  // the sub-graph that its meta paths make of the sampled one.
  GraphBatch make_batch(const HeteroGraph& graph, const Subgraph& subgraph) const;
  GraphBatch make_batch(const HeteroGraph& graph, const Subgraph& subgraph, uint32_t layers) const;
  // Is a layer made of single edges, so that a whole graph can be computed layer by layer?
  bool reads_edges() const { return meta_paths_.empty(); }

  // Makes what the layers work out of the batch's graphs, ahead of forward(): touches no weights,
  // so that the thread that samples can do it.
  void prepare(GraphBatch& batch) const;

  // The adaptation layer alone, for rows of one type: features [rows, width], or the nodes [rows]
  // of a type that has vectors for them, or nothing -> [rows, d].
  at::Tensor adapt_type(size_t type, const at::Tensor& input, int64_t rows) const;
  const std::vector<std::shared_ptr<Layer>>& layers() const { return layers_; }

  const ModelOptions& options() const { return options_; }
  const ModelSchema& schema() const { return schema_; }

 private:
  // The adaptation layer without its tanh.
  LinearInputs::OfType linear_input(size_t type, const at::Tensor& input, int64_t rows) const;
  LinearInputs linear_inputs(const GraphBatch& batch) const;
  at::Tensor forward_layer_one(const GraphBatch& batch, AttentionTrace* trace) const;
  [[noreturn]] void report_misfit(const GraphBatch& batch) const;

  ModelOptions options_;
  ModelSchema schema_;
  std::vector<MetaPath> meta_paths_;
  std::vector<at::Tensor> adaptation_weights_;  // [types] [d, width] or [nodes, d]; or undefined
  std::vector<at::Tensor> adaptation_biases_;   // [types] [d]
  std::vector<std::shared_ptr<Layer>> layers_;
};
TORCH_MODULE(Encoder);

int64_t num_parameters(const torch::nn::Module& module);

}  // namespace hgt
