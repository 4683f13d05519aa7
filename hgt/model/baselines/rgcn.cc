// Relational Graph Convolutional Network (Schlichtkrull et al., ESWC 2018, equation 2):
//   H'[t] = relu(sum over relations r of mean over s in N_r(t) of W_r H[s]  +  W_0 H[t])
// A relation is a meta relation <tau(s), phi(e), tau(t)>, as in the HGT paper, with a full matrix
// of its own: no basis decomposition. W_0, shared by all types, reads the edges `self`.

#include "hgt/model/baselines/edge_plan.h"
#include "hgt/model/dropout.h"
#include "hgt/model/layer_makers.h"

namespace hgt {

namespace {

// Sums go to pairs (relation, target) first, which lie by relation, then from these to targets.
struct RgcnPlan : LayerPlan {
  RgcnPlan(const LayerGraph& graph, uint32_t relations) : offsets(relations + size_t{1}, 0) {
    std::vector<Pairs> pairs(relations);
    for (uint32_t target = 0; target < graph.num_targets(); ++target) {
      for (const uint64_t edge : graph.incoming(target)) {
        const size_t relation = std::min<size_t>(index(graph.relations[edge]), relations - 1);
        pairs[relation].add(target, graph.sources[edge]);
      }
    }
    join(graph, pairs);
    source_rows = graph.num_sources();
  }

  SharedLists to_pairs;
  SharedLists to_targets;
  std::vector<int64_t> offsets;  // [relations + 1] pairs of each

 private:
  // The pairs of one relation, by ascending target.
  struct Pairs {
    std::vector<uint32_t> targets;
    std::vector<std::vector<uint32_t>> sources;

    void add(uint32_t target, uint32_t source) {
      if (targets.empty() || targets.back() != target) {
        targets.push_back(target);
        sources.emplace_back();
      }
      sources.back().push_back(source);
    }
  };

  void join(const LayerGraph& graph, const std::vector<Pairs>& pairs_by_relation) {
    std::vector<uint64_t> pair_offsets = {0};
    std::vector<uint32_t> sources;
    std::vector<std::vector<uint32_t>> pairs_of(graph.num_targets());
    for (size_t relation = 0; relation < pairs_by_relation.size(); ++relation) {
      const Pairs& of_relation = pairs_by_relation[relation];
      for (size_t i = 0; i < of_relation.targets.size(); ++i) {
        pairs_of[of_relation.targets[i]].push_back(static_cast<uint32_t>(pair_offsets.size() - 1));
        const auto& own = of_relation.sources[i];
        sources.insert(sources.end(), own.begin(), own.end());
        pair_offsets.push_back(sources.size());
      }
      offsets[relation + 1] = static_cast<int64_t>(pair_offsets.size() - 1);
    }
    const auto pairs = static_cast<uint32_t>(pair_offsets.size() - 1);
    std::vector<uint64_t> target_offsets = {0};
    std::vector<uint32_t> target_pairs;
    for (const auto& own : pairs_of) {
      target_pairs.insert(target_pairs.end(), own.begin(), own.end());
      target_offsets.push_back(target_pairs.size());
    }
    to_pairs = std::make_shared<EdgeLists>(std::move(pair_offsets), std::move(sources),
                                           graph.num_sources());
    to_targets =
        std::make_shared<EdgeLists>(std::move(target_offsets), std::move(target_pairs), pairs);
  }
};

class RgcnLayer : public Layer {
 public:
  RgcnLayer(const ModelOptions& options, const ModelSchema& schema, Place place)
      : dropout_(options.dropout),
        place_(place),
        schema_(schema),
        relations_(static_cast<uint32_t>(schema.relations.size() - schema.node_types.size()) + 1) {
    const double bound = std::sqrt(3.0 / static_cast<double>(options.hidden));
    weight_ = register_parameter(
        "weight",
        torch::empty({relations_, options.hidden, options.hidden}).uniform_(-bound, bound));
    bias_ = register_parameter("bias", torch::zeros({options.hidden}));
  }

  SharedPlan plan(const LayerGraph& graph) const override {
    check_graph(graph, schema_.relations, schema_.node_types.size());
    return std::make_shared<RgcnPlan>(graph, relations_);
  }

  at::Tensor forward(const at::Tensor& node_vectors, const LayerGraph& graph, AttentionTrace* trace,
                     SharedPlan ready) const override {
    refuse_trace(trace, "rgcn");
    const auto own = plan_of<RgcnPlan>(*this, graph, std::move(ready));
    const at::Tensor means = edge_mean(node_vectors, own->to_pairs);
    std::vector<at::Tensor> blocks;
    for (uint32_t relation = 0; relation < relations_; ++relation) {
      const int64_t first = own->offsets[relation];
      const int64_t count = own->offsets[relation + 1] - first;
      if (count > 0) blocks.push_back(at::mm(means.narrow(0, first, count), weight_[relation].t()));
    }
    const at::Tensor messages = blocks.empty() ? means : at::cat(blocks);
    const at::Tensor ones =
        at::ones({static_cast<int64_t>(own->to_targets->num_edges()), 1}, node_vectors.options());
    const at::Tensor outputs = weighted_sum(messages, ones, own->to_targets) + bias_;
    if (place_ == Place::last) return outputs;
    return drop_out(at::relu(outputs), dropout_, is_training());
  }

 private:
  double dropout_;
  Place place_;
  ModelSchema schema_;
  uint32_t relations_;        // those of the schema, and W_0
  at::Tensor weight_, bias_;  // [relations, d, d], [d]
};

}  // namespace

std::shared_ptr<Layer> make_rgcn_layer(const LayerSetting& setting) {
  return std::make_shared<RgcnLayer>(setting.options, setting.schema, setting.place);
}

}  // namespace hgt
