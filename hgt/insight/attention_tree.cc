#include "hgt/insight/attention_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "hgt/error.h"

namespace hgt {

namespace {

using RowMass = std::vector<double>;  // [rows]

// Mass on the inputs of a layer as mass on the outputs of the one before: rows keep their places
// within their type.
RowMass as_outputs(const RowMass& inputs, const LayerGraph& reader, const LayerGraph& writer) {
  RowMass outputs(writer.num_targets(), 0);
  for (uint32_t type = 0; type < reader.num_types(); ++type) {
    std::copy_n(inputs.begin() + reader.source_offsets[type], reader.num_sources(type),
                outputs.begin() + writer.target_offsets[type]);
  }
  return outputs;
}

AttentionBranch& child_by(std::vector<AttentionBranch>& children, Relation relation) {
  const auto place = std::lower_bound(
      children.begin(), children.end(), relation,
      [](const AttentionBranch& child, Relation wanted) { return child.relation < wanted; });
  if (place != children.end() && place->relation == relation) return *place;
  return *children.insert(place, {.relation = relation});
}

// Along the edges of one layer: [relations][inputs], empty where no edge of the relation had mass.
std::vector<RowMass> pushed(const LayerFlow& layer, const RowMass& outputs) {
  const LayerGraph& graph = *layer.graph;
  std::vector<RowMass> inputs;
  for (uint32_t target = 0; target < graph.num_targets(); ++target) {
    if (outputs[target] == 0) continue;
    for (const uint64_t edge : graph.incoming(target)) {
      const uint32_t relation = index(graph.relations[edge]);
      if (relation >= inputs.size()) inputs.resize(relation + size_t{1});
      RowMass& mass = inputs[relation];
      if (mass.empty()) mass.assign(graph.num_sources(), 0);
      mass[graph.sources[edge]] += outputs[target] * layer.attention[edge];
    }
  }
  return inputs;
}

// `layers`: those still to go through, first to last; outputs: mass on those of the last of them.
void unfold(std::span<const LayerFlow> layers, const RowMass& outputs,
            std::vector<AttentionBranch>& children) {
  const std::vector<RowMass> inputs = pushed(layers.back(), outputs);
  const auto before = layers.first(layers.size() - 1);
  for (size_t relation = 0; relation < inputs.size(); ++relation) {
    const RowMass& mass = inputs[relation];
    if (mass.empty()) continue;
    AttentionBranch& child = child_by(children, Relation(relation));
    child.attention += std::accumulate(mass.begin(), mass.end(), 0.0);
    if (before.empty()) continue;
    unfold(before, as_outputs(mass, *layers.back().graph, *before.back().graph), child.children);
  }
}

void check_fit(const LayerGraph& writer, const LayerGraph& reader) {
  bool fits = writer.num_types() == reader.num_types();
  for (uint32_t type = 0; fits && type < reader.num_types(); ++type) {
    fits = reader.num_sources(type) <= writer.num_targets(type);
  }
  if (!fits) throw Error("a layer reads rows that the layer before it did not write");
}

void check_number(std::span<const LayerFlow> layers, size_t needed) {
  if (layers.size() >= needed) return;
  throw Error(fmt::format("paths of {} steps need the same number of layers, but there are {}",
                          needed, layers.size()));
}

void check_attention(std::span<const LayerFlow> layers) {
  for (const LayerFlow& layer : layers) {
    if (layer.attention.size() == layer.graph->num_edges()) continue;
    throw Error(fmt::format("there is attention for {} edges, but the layer has {}",
                            layer.attention.size(), layer.graph->num_edges()));
  }
}

void check_layers(std::span<const LayerFlow> layers, std::span<const uint32_t> targets) {
  check_attention(layers);
  for (size_t i = 1; i < layers.size(); ++i) check_fit(*layers[i - 1].graph, *layers[i].graph);
  for (const uint32_t target : targets) {
    if (target < layers.back().graph->num_targets()) continue;
    throw Error(fmt::format("target {} is not one of the {} rows that the last layer writes",
                            target, layers.back().graph->num_targets()));
  }
}

void scale(std::vector<AttentionBranch>& branches, double factor) {
  for (AttentionBranch& branch : branches) {
    branch.attention *= factor;
    scale(branch.children, factor);
  }
}

}  // namespace

AttentionFlow::AttentionFlow(NodeType target, uint32_t layers)
    : sums_{.target = target, .layers = layers} {}

void AttentionFlow::add(std::span<const LayerFlow> layers, std::span<const uint32_t> targets) {
  check_number(layers, sums_.layers);
  const auto used = layers.last(sums_.layers);
  check_layers(used, targets);
  RowMass mass(used.back().graph->num_targets(), 0);
  for (const uint32_t target : targets) mass[target] += 1;
  unfold(used, mass, sums_.children);
  sums_.from_layer = static_cast<uint32_t>(layers.size());
  sums_.examples += targets.size();
}

AttentionTree AttentionFlow::tree() const {
  AttentionTree mean = sums_;
  if (mean.examples > 0) scale(mean.children, 1 / static_cast<double>(mean.examples));
  return mean;
}

AttentionMeans::AttentionMeans(const Schema& schema, NodeType target, uint32_t layers)
    : schema_(&schema),
      target_(target),
      sums_(layers, std::vector<Sum>(schema.relations().size() + schema.node_types().size())) {}

void AttentionMeans::add(std::span<const LayerFlow> layers, uint64_t targets) {
  check_number(layers, sums_.size());
  check_attention(layers);
  for (size_t layer = 0; layer < sums_.size(); ++layer) {
    const LayerGraph& graph = *layers[layer].graph;
    for (uint64_t edge = 0; edge < graph.num_edges(); ++edge) {
      Sum& sum = sums_[layer].at(index(graph.relations[edge]));
      sum.attention += layers[layer].attention[edge];
      ++sum.edges;
    }
  }
  examples_ += targets;
}

std::vector<AttentionBranch> AttentionMeans::unfolded(NodeType type, uint32_t layer) const {
  std::vector<AttentionBranch> branches;
  const auto add = [&](Relation relation, NodeType source) {
    const Sum& sum = sums_[layer][index(relation)];
    if (sum.edges == 0) return;
    branches.push_back(
        {.relation = relation, .attention = sum.attention / static_cast<double>(sum.edges)});
    if (layer > 0) branches.back().children = unfolded(source, layer - 1);
  };
  for (const Relation relation : schema_->incoming(type)) {
    add(relation, schema_->at(relation).source);
  }
  add(Relation(schema_->relations().size() + index(type)), type);
  return branches;
}

AttentionTree AttentionMeans::tree() const {
  const auto layers = static_cast<uint32_t>(sums_.size());
  return {.form = AttentionForm::means,
          .target = target_,
          .layers = layers,
          .from_layer = layers,
          .examples = examples_,
          .children = unfolded(target_, layers - 1)};
}

}  // namespace hgt
