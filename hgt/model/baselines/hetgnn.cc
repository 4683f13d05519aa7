// Heterogeneous Graph Neural Network (Zhang et al., KDD 2019, sections 3.3.1 and 3.3.2). For each
// target t and each node type with neighbours of t, with f(v) = H[v]:
//   f_type(t) = mean over the steps of a Bi-LSTM, one for each type, that reads f of the neighbours
//   a_i       = softmax over i of leaky_relu(u . [f_i || f(t)]),  f_i out of f(t) and the f_type(t)
//   H'[t]     = sum over i of a_i f_i
// Adapted: the neighbours of a type are those of the sub-graph in the order of its edges, of more
// than 10 (HetGNN keeps the 10 that random walks meet most) 10 evenly spread ones. A node's content
// is one vector, so HetGNN's own Bi-LSTM over several kinds of content has nothing to read; the
// adaptation layer stands for it.
#include <torch/nn/modules/rnn.h>
#include <torch/nn/utils/rnn.h>

#include <algorithm>
#include <numeric>

#include "hgt/model/baselines/baselines.h"
#include "hgt/model/baselines/edge_plan.h"
#include "hgt/model/dropout.h"

namespace hgt {

namespace {

constexpr size_t kMostNeighbours = 10;

// The neighbours of one type: a sequence for each target that has some, the longest first.
struct Sequences {
  std::vector<int64_t> rows;     // [steps * sequences] input rows, step by step; 0 past an end
  std::vector<int64_t> lengths;  // [sequences], descending
  std::vector<uint32_t> targets;
};

struct HetgnnPlan : LayerPlan {
  // Relations from first_self on are `self`.
  HetgnnPlan(const LayerGraph& graph, size_t first_self) {
    source_rows = graph.num_sources();
    std::vector<std::vector<uint32_t>> items(graph.num_targets());  // places in the table of items
    for (uint32_t target = 0; target < graph.num_targets(); ++target) items[target] = {target};
    uint32_t next = graph.num_targets();
    for (uint32_t type = 0; type < graph.num_types(); ++type) {
      sequences.push_back(read_sequences(graph, type, first_self));
      for (const uint32_t target : sequences.back().targets) items[target].push_back(next++);
    }
    std::vector<uint64_t> offsets = {0};
    std::vector<uint32_t> sources;
    for (const auto& own : items) {
      sources.insert(sources.end(), own.begin(), own.end());
      offsets.push_back(sources.size());
    }
    lists = std::make_shared<EdgeLists>(std::move(offsets), std::move(sources), next);
  }

  std::vector<Sequences> sequences;  // by type
  SharedLists lists;                 // targets read items: their own vector, then by type

 private:
  static Sequences read_sequences(const LayerGraph& graph, uint32_t type, size_t first_self) {
    std::vector<std::pair<uint32_t, std::vector<uint32_t>>> found;
    const auto is_neighbour = [&](uint64_t edge) {
      const uint32_t source = graph.sources[edge];
      return source >= graph.source_offsets[type] && source < graph.source_offsets[type + 1] &&
             index(graph.relations[edge]) < first_self;
    };
    for (uint32_t target = 0; target < graph.num_targets(); ++target) {
      std::vector<uint32_t> own;
      for (const uint64_t edge : graph.incoming(target)) {
        if (is_neighbour(edge)) own.push_back(graph.sources[edge]);
      }
      if (!own.empty()) found.emplace_back(target, spread_out<uint32_t>(own, kMostNeighbours));
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return a.second.size() > b.second.size();
    });
    Sequences result;
    const size_t steps = found.empty() ? 0 : found.front().second.size();
    result.rows.assign(steps * found.size(), 0);
    for (size_t i = 0; i < found.size(); ++i) {
      result.targets.push_back(found[i].first);
      result.lengths.push_back(static_cast<int64_t>(found[i].second.size()));
      for (size_t step = 0; step < found[i].second.size(); ++step) {
        result.rows[step * found.size() + i] = found[i].second[step];
      }
    }
    return result;
  }
};

class HetgnnLayer : public Layer {
 public:
  HetgnnLayer(const ModelOptions& options, const ModelSchema& schema)
      : hidden_(options.hidden), dropout_(options.dropout), schema_(schema) {
    for (size_t type = 0; type < schema.node_types.size(); ++type) {
      readers_.push_back(register_module(
          "reader_" + std::to_string(type),
          torch::nn::LSTM(torch::nn::LSTMOptions(hidden_, hidden_ / 2).bidirectional(true))));
    }
    const double bound = std::sqrt(3.0 / static_cast<double>(hidden_));
    at_items_ = register_parameter("at_items", torch::empty({hidden_, 1}).uniform_(-bound, bound));
    at_targets_ =
        register_parameter("at_targets", torch::empty({hidden_, 1}).uniform_(-bound, bound));
  }

  SharedPlan plan(const LayerGraph& graph) const override {
    check_graph(graph, schema_.relations, schema_.node_types.size());
    return std::make_shared<HetgnnPlan>(graph,
                                        schema_.relations.size() - schema_.node_types.size());
  }

  at::Tensor forward(const at::Tensor& node_vectors, const LayerGraph& graph, AttentionTrace* trace,
                     SharedPlan ready) const override {
    refuse_trace(trace, "hetgnn");
    const auto own = plan_of<HetgnnPlan>(*this, graph, std::move(ready));
    const at::Tensor targets = own_vectors(node_vectors, graph);
    std::vector<at::Tensor> blocks = {targets};
    for (size_t type = 0; type < own->sequences.size(); ++type) {
      if (own->sequences[type].targets.empty()) continue;
      blocks.push_back(read(readers_[type], node_vectors, own->sequences[type]));
    }
    const at::Tensor items = at::cat(blocks);
    const at::Tensor scores = at::leaky_relu(
        end_sums(at::mm(items, at_items_), at::mm(targets, at_targets_), own->lists), 0.01);
    const at::Tensor outputs = weighted_sum(items, edge_softmax(scores, own->lists), own->lists);
    return drop_out(outputs, dropout_, is_training());
  }

 private:
  // The mean over the steps of what the Bi-LSTM says: [sequences, d].
  at::Tensor read(const torch::nn::LSTM& reader, const at::Tensor& node_vectors,
                  const Sequences& sequences) const {
    namespace rnn = torch::nn::utils::rnn;
    const auto count = static_cast<int64_t>(sequences.targets.size());
    const at::Tensor rows = at::tensor(sequences.rows, at::kLong).to(node_vectors.device());
    const at::Tensor lengths = at::tensor(sequences.lengths, at::kLong);
    const at::Tensor inputs = node_vectors.index_select(0, rows).view({-1, count, hidden_});
    auto own = reader;  // a module's forward is not const
    const auto packed =
        std::get<0>(own->forward_with_packed_input(rnn::pack_padded_sequence(inputs, lengths)));
    const at::Tensor outputs = std::get<0>(rnn::pad_packed_sequence(packed));  // zero past an end
    return outputs.sum(0) / lengths.to(node_vectors.options()).unsqueeze(1);
  }

  int64_t hidden_;
  double dropout_;
  ModelSchema schema_;
  std::vector<torch::nn::LSTM> readers_;  // by type of the neighbours
  at::Tensor at_items_, at_targets_;      // [d, 1] the two halves of u
};

}  // namespace

std::shared_ptr<Layer> make_hetgnn_layer(const ModelOptions& options, const ModelSchema& schema) {
  return std::make_shared<HetgnnLayer>(options, schema);
}

}  // namespace hgt
