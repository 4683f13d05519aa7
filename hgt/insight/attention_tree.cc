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
    child.share += std::accumulate(mass.begin(), mass.end(), 0.0);
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

void check_layers(std::span<const LayerFlow> layers, std::span<const uint32_t> targets) {
  for (size_t i = 0; i < layers.size(); ++i) {
    if (layers[i].attention.size() != layers[i].graph->num_edges()) {
      throw Error(fmt::format("there is attention for {} edges, but the layer has {}",
                              layers[i].attention.size(), layers[i].graph->num_edges()));
    }
    if (i > 0) check_fit(*layers[i - 1].graph, *layers[i].graph);
  }
  for (const uint32_t target : targets) {
    if (target < layers.back().graph->num_targets()) continue;
    throw Error(fmt::format("target {} is not one of the {} rows that the last layer writes",
                            target, layers.back().graph->num_targets()));
  }
}

void scale(std::vector<AttentionBranch>& branches, double factor) {
  for (AttentionBranch& branch : branches) {
    branch.share *= factor;
    scale(branch.children, factor);
  }
}

}  // namespace

AttentionFlow::AttentionFlow(NodeType target, uint32_t layers)
    : sums_{.target = target, .layers = layers} {}

void AttentionFlow::add(std::span<const LayerFlow> layers, std::span<const uint32_t> targets) {
  if (layers.size() < sums_.layers) {
    throw Error(fmt::format("paths of {} steps need the same number of layers, but there are {}",
                            sums_.layers, layers.size()));
  }
  const auto used = layers.last(sums_.layers);
  check_layers(used, targets);
  RowMass mass(used.back().graph->num_targets(), 0);
  for (const uint32_t target : targets) mass[target] += 1;
  unfold(used, mass, sums_.children);
  sums_.examples += targets.size();
}

AttentionTree AttentionFlow::tree() const {
  AttentionTree mean = sums_;
  if (mean.examples > 0) scale(mean.children, 1 / static_cast<double>(mean.examples));
  return mean;
}

}  // namespace hgt
