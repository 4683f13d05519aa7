// What any model of the graph has to beat: an MLP that reads only a node's own features,
//   H'[t] = relu(H[t] . W + b),
// and a guess that knows nothing but how frequent the answers are.
#include "hgt/model/dropout.h"
#include "hgt/model/layer_makers.h"

namespace hgt {

namespace {

SharedPlan plain_plan(const LayerGraph& graph) {
  auto plan = std::make_shared<LayerPlan>();
  plan->source_rows = graph.num_sources();
  return plan;
}

class MlpLayer : public Layer {
 public:
  MlpLayer(const ModelOptions& options, Place place)
      : dropout_(options.dropout),
        place_(place),
        linear_(register_module("linear", torch::nn::Linear(options.hidden, options.hidden))) {}

  SharedPlan plan(const LayerGraph& graph) const override { return plain_plan(graph); }

  at::Tensor forward(const at::Tensor& node_vectors, const LayerGraph& graph, AttentionTrace* trace,
                     SharedPlan /*ready*/) const override {
    refuse_trace(trace, "mlp");
    const at::Tensor outputs =
        at::addmm(linear_->bias, own_vectors(node_vectors, graph), linear_->weight.t());
    if (place_ == Place::last) return outputs;
    return drop_out(at::relu(outputs), dropout_, is_training());
  }

 private:
  double dropout_;
  Place place_;
  torch::nn::Linear linear_;
};

class MajorityLayer : public Layer {
 public:
  SharedPlan plan(const LayerGraph& graph) const override { return plain_plan(graph); }

  at::Tensor forward(const at::Tensor& node_vectors, const LayerGraph& graph, AttentionTrace* trace,
                     SharedPlan /*ready*/) const override {
    refuse_trace(trace, "majority");
    return at::zeros({graph.num_targets(), node_vectors.size(1)}, node_vectors.options());
  }
};

}  // namespace

std::shared_ptr<Layer> make_mlp_layer(const LayerSetting& setting) {
  return std::make_shared<MlpLayer>(setting.options, setting.place);
}

std::shared_ptr<Layer> make_majority_layer(const LayerSetting& /*setting*/) {
  return std::make_shared<MajorityLayer>();
}

}  // namespace hgt
