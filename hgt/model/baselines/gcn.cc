// Graph Convolutional Network (Kipf and Welling, ICLR 2017), one weight for all types. With N(t)
// the neighbors of t, t among them, and D the number of edges into a node of the sub-graph:
//   H'[t] = relu(sum over s in N(t) of c(s, t) H[s] . W + b)
//   c(s, t) = 1 / D(t)                 DegreeWeights::mean: "averages the neighbors' embedding", as
//                                      the HGT paper describes its baseline
//   c(s, t) = 1 / sqrt(D(s) D(t))      DegreeWeights::symmetric: D^-1/2 A D^-1/2, as printed and as
//                                      the implementation computes that the HGT paper used
#include <algorithm>
#include <cmath>
#include <vector>

#include "hgt/model/baselines/edge_plan.h"
#include "hgt/model/dropout.h"
#include "hgt/model/layer_makers.h"

namespace hgt {

namespace {

// Where the mean is sqrt(D(t)) times too small, and its sources sqrt(D(s)) times too large.
struct GcnPlan : EdgePlan {
  GcnPlan(const LayerGraph& graph, DegreeWeights weights) : EdgePlan(graph) {
    if (weights == DegreeWeights::mean) return;
    if (graph.source_degrees.size() != graph.num_sources()) {
      throw Error("gcn with symmetric degree weights needs a graph that knows its degrees");
    }
    for (const uint32_t degree : graph.source_degrees) {
      source_scales.push_back(1 / std::sqrt(std::max(1.0, static_cast<double>(degree))));
    }
    for (uint32_t target = 0; target < graph.num_targets(); ++target) {
      target_scales.push_back(std::sqrt(static_cast<double>(graph.incoming(target).size())));
    }
  }
  // [sources], [targets]; empty: the mean as it is.
  std::vector<double> source_scales, target_scales;
};

// One factor for each row: [rows, 1].
at::Tensor column(const std::vector<double>& factors, const at::Tensor& like) {
  return at::tensor(factors, at::kDouble).to(like.options()).unsqueeze(1);
}

class GcnLayer : public Layer {
 public:
  GcnLayer(const ModelOptions& options, Place place)
      : dropout_(options.dropout),
        weights_(options.degree_weights),
        place_(place),
        linear_(register_module("linear", torch::nn::Linear(options.hidden, options.hidden))) {}

  SharedPlan plan(const LayerGraph& graph) const override {
    return std::make_shared<GcnPlan>(graph, weights_);
  }
  bool reads_degrees() const override { return weights_ == DegreeWeights::symmetric; }

  at::Tensor forward(const at::Tensor& node_vectors, const LayerGraph& graph, AttentionTrace* trace,
                     SharedPlan ready) const override {
    refuse_trace(trace, "gcn");
    const auto own = plan_of<GcnPlan>(*this, graph, std::move(ready));
    const at::Tensor outputs =
        at::addmm(linear_->bias, average(node_vectors, *own), linear_->weight.t());
    if (place_ == Place::last) return outputs;
    return drop_out(at::relu(outputs), dropout_, is_training());
  }

 private:
  // sum of c(s, t) H[s]: [sources, d] -> [targets, d].
  at::Tensor average(const at::Tensor& vectors, const GcnPlan& plan) const {
    if (weights_ == DegreeWeights::mean) return edge_mean(vectors, plan.lists);
    return edge_mean(vectors * column(plan.source_scales, vectors), plan.lists) *
           column(plan.target_scales, vectors);
  }

  double dropout_;
  DegreeWeights weights_;
  Place place_;
  torch::nn::Linear linear_;
};

}  // namespace

std::shared_ptr<Layer> make_gcn_layer(const LayerSetting& setting) {
  return std::make_shared<GcnLayer>(setting.options, setting.place);
}

}  // namespace hgt
