// Heterogeneous Graph Attention Network (Wang et al., WWW 2019). For each meta path p of a type,
// with N_p(t) the nodes that it leads to from t, and t itself:
//   Z_p[t]  = elu(graph attention over N_p(t))                node level: gat.cc, weights per path
//   w_p     = mean over the targets t of the type of q . tanh(W Z_p[t] + b)
//   H'[t]   = sum over p of softmax_p(w_p) Z_p[t]             semantic level: W, b, q per type
// Adapted: paths are followed within the sampled sub-graph (meta_path.h), the mean is over the
// targets that are there, and a type without a path keeps its vectors. Stacked as often as the
// encoder has layers, as in the HGT paper, where HAN itself has one layer.
#include <fmt/format.h>

#include "hgt/model/baselines/edge_plan.h"
#include "hgt/model/baselines/graph_attention.h"
#include "hgt/model/dropout.h"
#include "hgt/model/layer_makers.h"

namespace hgt {

namespace {

// The targets of a path's type with what the path leads to; `self` last. Rows of this type only.
SharedLists path_lists(const LayerGraph& graph, uint32_t path, uint32_t type, size_t num_paths) {
  std::vector<uint64_t> offsets = {0};
  std::vector<uint32_t> sources;
  for (uint32_t target = graph.target_offsets[type]; target < graph.target_offsets[type + 1];
       ++target) {
    for (const uint64_t edge : graph.incoming(target)) {
      const size_t relation = index(graph.relations[edge]);
      const bool leads = relation == path || relation >= num_paths;
      if (leads) sources.push_back(graph.sources[edge] - graph.source_offsets[type]);
    }
    offsets.push_back(sources.size());
  }
  return std::make_shared<EdgeLists>(std::move(offsets), std::move(sources),
                                     graph.num_sources(type));
}

struct HanPlan : LayerPlan {
  HanPlan(const LayerGraph& graph, const std::vector<MetaPath>& paths) {
    source_rows = graph.num_sources();
    for (uint32_t path = 0; path < paths.size(); ++path) {
      lists.push_back(path_lists(graph, path, paths[path].type, paths.size()));
    }
  }
  std::vector<SharedLists> lists;  // by path
};

class SemanticAttention : public torch::nn::Module {
 public:
  explicit SemanticAttention(int64_t hidden)
      : linear_(register_module("linear", torch::nn::Linear(hidden, hidden))),
        query_(register_parameter(
            "query", torch::randn({hidden}) / std::sqrt(static_cast<double>(hidden)))) {}

  // [rows, d] of each path -> [rows, d].
  at::Tensor forward(const std::vector<at::Tensor>& by_path) const {
    const at::Tensor all = at::stack(by_path);  // [paths, rows, d]
    const at::Tensor hidden = at::tanh(at::matmul(all, linear_->weight.t()) + linear_->bias);
    const at::Tensor shares = at::softmax(at::matmul(hidden, query_).mean(1), 0);  // [paths]
    return (all * shares.view({-1, 1, 1})).sum(0);
  }

 private:
  torch::nn::Linear linear_;
  at::Tensor query_;
};

class HanLayer : public Layer {
 public:
  HanLayer(const ModelOptions& options, const ModelSchema& schema,
           const std::vector<MetaPath>& paths)
      : dropout_(options.dropout), paths_(paths), semantic_(schema.node_types.size()) {
    for (size_t path = 0; path < paths.size(); ++path) {
      attention_.push_back(
          register_module("path_" + std::to_string(path),
                          std::make_shared<GraphAttention>(options.hidden, options.heads)));
      auto& semantic = semantic_[paths[path].type];
      if (semantic) continue;
      semantic = register_module("semantic_" + std::to_string(paths[path].type),
                                 std::make_shared<SemanticAttention>(options.hidden));
    }
  }

  SharedPlan plan(const LayerGraph& graph) const override {
    if (graph.num_types() != semantic_.size()) {
      throw Error(fmt::format("the graph has {} node types, but the layer was made for {}",
                              graph.num_types(), semantic_.size()));
    }
    return std::make_shared<HanPlan>(graph, paths_);
  }

  at::Tensor forward(const at::Tensor& node_vectors, const LayerGraph& graph, AttentionTrace* trace,
                     SharedPlan ready) const override {
    refuse_trace(trace, "han");  // its edges are paths, not those of the sub-graph
    const auto own = plan_of<HanPlan>(*this, graph, std::move(ready));
    std::vector<at::Tensor> blocks;
    for (uint32_t type = 0; type < graph.num_types(); ++type) {
      const int64_t rows = graph.num_targets(type);
      const at::Tensor inputs =
          node_vectors.narrow(0, graph.source_offsets[type], graph.num_sources(type));
      const auto own_rows = [&](const at::Tensor& vectors) { return vectors.narrow(0, 0, rows); };
      std::vector<at::Tensor> by_path;
      for (size_t path = 0; rows > 0 && path < paths_.size(); ++path) {
        if (paths_[path].type != type) continue;
        by_path.push_back(
            at::elu(attention_[path]->forward(inputs, own_rows, own->lists[path]).first));
      }
      blocks.push_back(by_path.empty() ? own_rows(inputs) : semantic_[type]->forward(by_path));
    }
    return drop_out(at::cat(blocks), dropout_, is_training());
  }

 private:
  double dropout_;
  std::vector<MetaPath> paths_;
  std::vector<std::shared_ptr<GraphAttention>> attention_;    // by path
  std::vector<std::shared_ptr<SemanticAttention>> semantic_;  // by type; null: no path
};

}  // namespace

std::shared_ptr<Layer> make_han_layer(const LayerSetting& setting) {
  return std::make_shared<HanLayer>(setting.options, setting.schema, setting.paths);
}

}  // namespace hgt
