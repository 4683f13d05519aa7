// Graph Convolutional Network (Kipf and Welling, ICLR 2017), one weight for all types:
//   H'[t] = relu(mean over the neighbors s of t, t among them, of H[s] . W + b)
// As the HGT paper describes its baseline ("averages the neighbors' embedding"): the mean stands
// for Kipf's D^-1/2 A D^-1/2, whose degrees a sampled sub-graph does not have for its sources.
#include "hgt/model/baselines/edge_plan.h"
#include "hgt/model/dropout.h"
#include "hgt/model/layer_makers.h"

namespace hgt {

namespace {

class GcnLayer : public Layer {
 public:
  GcnLayer(const ModelOptions& options, Place place)
      : dropout_(options.dropout),
        place_(place),
        linear_(register_module("linear", torch::nn::Linear(options.hidden, options.hidden))) {}

  SharedPlan plan(const LayerGraph& graph) const override {
    return std::make_shared<EdgePlan>(graph);
  }

  at::Tensor forward(const at::Tensor& node_vectors, const LayerGraph& graph, AttentionTrace* trace,
                     SharedPlan ready) const override {
    refuse_trace(trace, "gcn");
    const auto own = plan_of<EdgePlan>(*this, graph, std::move(ready));
    const at::Tensor means = edge_mean(node_vectors, own->lists);
    const at::Tensor outputs = at::addmm(linear_->bias, means, linear_->weight.t());
    if (place_ == Place::last) return outputs;
    return drop_out(at::relu(outputs), dropout_, is_training());
  }

 private:
  double dropout_;
  Place place_;
  torch::nn::Linear linear_;
};

}  // namespace

std::shared_ptr<Layer> make_gcn_layer(const LayerSetting& setting) {
  return std::make_shared<GcnLayer>(setting.options, setting.place);
}

}  // namespace hgt
