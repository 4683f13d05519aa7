// Heterogeneous Graph Neural Network (Zhang et al., KDD 2019, sections 3.3.1 and 3.3.2). For each
// target t and each node type with neighbors of t, with f(v) = H[v]:
//   f_type(t) = mean over the steps of a Bi-LSTM, one for each type, that reads f of the neighbors
//   a_i       = softmax over i of leaky_relu(u . [f_i || f(t)]),  f_i out of f(t) and the f_type(t)
//   H'[t]     = sum over i of a_i f_i
// Adapted: the neighbors of a type are those of the sub-graph in the order of its edges, of more
// than 10 (HetGNN keeps the 10 that random walks meet most) 10 evenly spread ones. A node's content
// is one vector, so HetGNN's own Bi-LSTM over several kinds of content has nothing to read; the
// adaptation layer stands for it.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "hgt/model/baselines/edge_plan.h"
#include "hgt/model/dropout.h"
#include "hgt/model/layer_makers.h"

namespace hgt {

namespace {

constexpr size_t kMostNeighbors = 10;

// The neighbors of one type: a sequence for each target that has some, the longest first, so that
// those that are not over at a step are the first ones.
struct Sequences {
  std::vector<uint32_t> targets;  // [sequences]
  std::vector<int64_t> active;    // [steps] sequences with an entry at this step
  // Row r of a table [steps' active sequences, one step below the other] reads one input of the
  // type, counted from the type's first: in the order of the sequences, and from their ends.
  SharedLists onwards;
  SharedLists backwards;
  SharedLists to_sequences;  // each sequence reads its rows of such a table
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
    Found found;
    const auto is_neighbor = [&](uint64_t edge) {
      const uint32_t source = graph.sources[edge];
      return source >= graph.source_offsets[type] && source < graph.source_offsets[type + 1] &&
             index(graph.relations[edge]) < first_self;
    };
    for (uint32_t target = 0; target < graph.num_targets(); ++target) {
      std::vector<uint32_t> own;
      for (const uint64_t edge : graph.incoming(target)) {
        if (is_neighbor(edge)) own.push_back(graph.sources[edge]);
      }
      if (!own.empty()) found.emplace_back(target, spread_out<uint32_t>(own, kMostNeighbors));
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return a.second.size() > b.second.size();
    });
    return lay_out(found, graph.source_offsets[type], graph.num_sources(type));
  }

  using Found = std::vector<std::pair<uint32_t, std::vector<uint32_t>>>;  // target, neighbors

  static Sequences lay_out(const Found& found, uint32_t first_input, uint32_t inputs) {
    Sequences result;
    std::vector<uint32_t> onwards;
    std::vector<uint32_t> backwards;
    std::vector<std::vector<uint32_t>> rows(found.size());  // of each sequence
    for (size_t step = 0; !found.empty() && step < found.front().second.size(); ++step) {
      int64_t active = 0;
      for (; active < static_cast<int64_t>(found.size()); ++active) {
        const auto& own = found[static_cast<size_t>(active)].second;
        if (own.size() <= step) break;
        rows[static_cast<size_t>(active)].push_back(static_cast<uint32_t>(onwards.size()));
        onwards.push_back(own[step] - first_input);
        backwards.push_back(own[own.size() - 1 - step] - first_input);
      }
      result.active.push_back(active);
    }
    const auto total = static_cast<uint32_t>(onwards.size());
    std::vector<uint64_t> single(size_t{total} + 1);
    std::iota(single.begin(), single.end(), uint64_t{0});
    result.onwards = std::make_shared<EdgeLists>(single, std::move(onwards), inputs);
    result.backwards = std::make_shared<EdgeLists>(single, std::move(backwards), inputs);
    std::vector<uint64_t> offsets = {0};
    std::vector<uint32_t> entries;
    for (size_t i = 0; i < found.size(); ++i) {
      result.targets.push_back(found[i].first);
      entries.insert(entries.end(), rows[i].begin(), rows[i].end());
      offsets.push_back(entries.size());
    }
    result.to_sequences =
        std::make_shared<EdgeLists>(std::move(offsets), std::move(entries), total);
    return result;
  }
};

class HetgnnLayer : public Layer {
 public:
  HetgnnLayer(const ModelOptions& options, const ModelSchema& schema)
      : hidden_(options.hidden), dropout_(options.dropout), schema_(schema) {
    for (size_t type = 0; type < schema.node_types.size(); ++type) {
      const std::string name = "reader_" + std::to_string(type);
      readers_.push_back({make_lstm(name + "_onwards"), make_lstm(name + "_backwards")});
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
      const at::Tensor inputs = node_vectors.narrow(0, graph.source_offsets[type],
                                                    graph.num_sources(static_cast<uint32_t>(type)));
      blocks.push_back(read(readers_[type], inputs, own->sequences[type]));
    }
    const at::Tensor items = at::cat(blocks);
    const at::Tensor scores = at::leaky_relu(
        end_sums(at::mm(items, at_items_), at::mm(targets, at_targets_), own->lists), 0.01);
    const at::Tensor outputs = weighted_sum(items, edge_softmax(scores, own->lists), own->lists);
    return drop_out(outputs, dropout_, is_training());
  }

 private:
  struct Lstm {
    at::Tensor input_weight, state_weight;  // [4 d/2, d], [4 d/2, d/2]: input, forget, new, output
    at::Tensor bias;                        // [4 d/2]
  };
  struct BiLstm {
    Lstm onwards, backwards;
  };

  Lstm make_lstm(const std::string& name) {
    const int64_t half = hidden_ / 2;
    const double bound = 1 / std::sqrt(static_cast<double>(half));
    const auto uniform = [&](const char* what, at::IntArrayRef sizes) {
      return register_parameter(name + what, torch::empty(sizes).uniform_(-bound, bound));
    };
    return {uniform("_input_weight", {4 * half, hidden_}),
            uniform("_state_weight", {4 * half, half}), uniform("_bias", {4 * half})};
  }

  // The mean over the steps of what the Bi-LSTM says: [sequences, d].
  at::Tensor read(const BiLstm& reader, const at::Tensor& inputs,
                  const Sequences& sequences) const {
    const at::Tensor onwards = run(reader.onwards, inputs, sequences.onwards, sequences.active);
    const at::Tensor backwards =
        run(reader.backwards, inputs, sequences.backwards, sequences.active);
    return at::cat(
        {edge_mean(onwards, sequences.to_sequences), edge_mean(backwards, sequences.to_sequences)},
        1);
  }

  // The states after every step, one step below the other: [entries, d / 2]. What an input adds to
  // the gates is worked out once, however many sequences it is in.
  static at::Tensor run(const Lstm& lstm, const at::Tensor& inputs, const SharedLists& entries,
                        const std::vector<int64_t>& active) {
    const at::Tensor gates = at::addmm(lstm.bias, inputs, lstm.input_weight.t());
    const at::Tensor ones =
        at::ones({static_cast<int64_t>(entries->num_edges()), 1}, inputs.options());
    const at::Tensor by_entry = weighted_sum(gates, ones, entries);
    at::Tensor state;
    at::Tensor cell;
    std::vector<at::Tensor> states;
    int64_t first = 0;
    for (const int64_t count : active) {
      at::Tensor sums = by_entry.narrow(0, first, count);
      if (state.defined()) {
        sums = at::addmm(sums, state.narrow(0, 0, count), lstm.state_weight.t());
      }
      const std::vector<at::Tensor> part = sums.chunk(4, 1);  // input, forget, new, output
      at::Tensor next = part[0].sigmoid() * part[2].tanh();
      if (cell.defined()) next = next + part[1].sigmoid() * cell.narrow(0, 0, count);
      cell = next;
      state = part[3].sigmoid() * cell.tanh();
      states.push_back(state);
      first += count;
    }
    return at::cat(states);
  }

  int64_t hidden_;
  double dropout_;
  ModelSchema schema_;
  std::vector<BiLstm> readers_;       // by type of the neighbors
  at::Tensor at_items_, at_targets_;  // [d, 1] the two halves of u
};

}  // namespace

std::shared_ptr<Layer> make_hetgnn_layer(const LayerSetting& setting) {
  return std::make_shared<HetgnnLayer>(setting.options, setting.schema);
}

}  // namespace hgt
