// Graph Attention Network (Velickovic et al., ICLR 2018), one set of weights for all types. For
// head i, with W of [d, d / h] each and N(t) the neighbors of t, t among them:
//   e(s, t) = leaky_relu(a_source . (H[s] W) + a_target . (H[t] W))        slope 0.2
//   H'[t]   = elu(sum over s in N(t) of softmax_s(e(s, t)) H[s] W + b), heads side by side
// The last layer has its heads side by side, too (the paper averages them), so that every model
// hands on vectors of the same width.
#include "hgt/model/baselines/edge_plan.h"
#include "hgt/model/baselines/graph_attention.h"
#include "hgt/model/dropout.h"
#include "hgt/model/layer_makers.h"

namespace hgt {

namespace {

class GatLayer : public Layer {
 public:
  GatLayer(const ModelOptions& options, Place place)
      : dropout_(options.dropout),
        place_(place),
        attention_(register_module(
            "attention", std::make_shared<GraphAttention>(options.hidden, options.heads))) {}

  SharedPlan plan(const LayerGraph& graph) const override {
    return std::make_shared<EdgePlan>(graph);
  }

  at::Tensor forward(const at::Tensor& node_vectors, const LayerGraph& graph, AttentionTrace* trace,
                     SharedPlan ready) const override {
    const auto own = plan_of<EdgePlan>(*this, graph, std::move(ready));
    const auto [outputs, weights] = attention_->forward(
        node_vectors, [&](const at::Tensor& projected) { return own_vectors(projected, graph); },
        own->lists);
    if (trace != nullptr) trace->push_back({weights.detach(), graph.edge_ids});
    if (place_ == Place::last) return outputs;
    return drop_out(at::elu(outputs), dropout_, is_training());
  }

 private:
  double dropout_;
  Place place_;
  std::shared_ptr<GraphAttention> attention_;
};

}  // namespace

std::shared_ptr<Layer> make_gat_layer(const LayerSetting& setting) {
  return std::make_shared<GatLayer>(setting.options, setting.place);
}

}  // namespace hgt
