#include "benchmarks/layer_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "hgt/disk/tensor_file.h"
#include "hgt/error.h"
#include "hgt/message/layer_graph.h"
#include "hgt/random.h"

namespace hgt {

namespace {

constexpr uint32_t kWidth = 128;  // of the features
constexpr uint32_t kGaps = 61;

template <typename T>
std::vector<T> read(const TensorFile& file, const std::string& name) {
  const TensorView* view = file.find(name);
  if (view == nullptr) throw Error("no '" + name + "' in the file of a sub-graph");
  std::vector<T> values(view->data.size() / sizeof(T));
  std::memcpy(values.data(), view->data.data(), view->data.size());
  return values;
}

struct Edge {
  uint32_t target, source;
  uint16_t relation;
  int64_t gap;
};

// Edges in ascending order of their targets.
void set_edges(const std::vector<Edge>& edges, Subgraph& subgraph) {
  subgraph.nodes.resize(subgraph.type_offsets.back());
  std::iota(subgraph.nodes.begin(), subgraph.nodes.end(), 0U);
  subgraph.edge_offsets.assign(subgraph.num_rows() + size_t{1}, 0);
  for (const Edge& edge : edges) {
    ++subgraph.edge_offsets[edge.target + size_t{1}];
    subgraph.sources.push_back(edge.source);
    subgraph.relations.push_back(Relation(edge.relation));
    subgraph.gaps.push_back(edge.gap);
  }
  std::partial_sum(subgraph.edge_offsets.begin(), subgraph.edge_offsets.end(),
                   subgraph.edge_offsets.begin());
}

void set_schema(uint32_t types, const std::vector<std::pair<uint32_t, uint32_t>>& relations,
                ModelSchema& schema) {
  for (uint32_t type = 0; type < types; ++type) {
    schema.node_types.push_back({fmt::format("type_{}", type), kWidth});
  }
  for (const auto& [source, target] : relations) {
    const auto edge = static_cast<uint32_t>(schema.edge_types.size());
    schema.edge_types.push_back(fmt::format("edge_{}", edge));
    schema.relations.push_back({source, edge, target});
  }
}

}  // namespace

LayerWork read_work(const Path& path) {
  const TensorFile file = TensorFile::open(path);
  LayerWork work{.name = path.stem().string()};
  work.subgraph.type_offsets = {0};
  for (const int64_t count : read<int64_t>(file, "count")) {
    work.subgraph.type_offsets.push_back(work.subgraph.type_offsets.back() +
                                         static_cast<uint32_t>(count));
  }
  const auto sources = read<int64_t>(file, "edge_src");
  const auto targets = read<int64_t>(file, "edge_dst");
  const auto relations = read<int64_t>(file, "edge_type");
  const auto gaps = read<int64_t>(file, "edge_gap");
  std::vector<Edge> edges;
  for (size_t i = 0; i < sources.size(); ++i) {
    edges.push_back({static_cast<uint32_t>(targets[i]), static_cast<uint32_t>(sources[i]),
                     static_cast<uint16_t>(relations[i]), gaps[i]});
  }
  set_edges(edges, work.subgraph);
  const auto features = read<float>(file, "features");
  for (size_t type = 0; type + 1 < work.subgraph.type_offsets.size(); ++type) {
    work.features.emplace_back(
        features.begin() + work.subgraph.type_offsets[type] * int64_t{kWidth},
        features.begin() + work.subgraph.type_offsets[type + 1] * int64_t{kWidth});
  }
  const auto from = read<int64_t>(file, "rel_src");
  const auto to = read<int64_t>(file, "rel_dst");
  std::vector<std::pair<uint32_t, uint32_t>> ends;
  for (size_t i = 0; i < from.size(); ++i) ends.emplace_back(from[i], to[i]);
  set_schema(static_cast<uint32_t>(work.features.size()), ends, work.schema);
  work.labels = read<int64_t>(file, "label");
  work.classes = read<int64_t>(file, "classes").at(0);
  for (uint32_t row = 0; row < work.labels.size(); ++row) work.subgraph.seed_rows.push_back(row);
  return work;
}

LayerWork random_work(const std::string& name, const WorkSize& size) {
  LayerWork work{.name = name, .classes = 200};
  Draws draws(hash(1, size.rows, size.edges, size.types, size.relations));
  for (uint32_t type = 0; type <= size.types; ++type) {
    work.subgraph.type_offsets.push_back(
        static_cast<uint32_t>(uint64_t{size.rows} * type / size.types));
  }
  std::vector<std::pair<uint32_t, uint32_t>> ends;
  for (uint32_t relation = 0; relation < size.relations; ++relation) {
    ends.emplace_back(draws.below(size.types), relation % size.types);
  }
  set_schema(size.types, ends, work.schema);
  const auto any_row = [&](uint32_t type) {
    const uint32_t first = work.subgraph.type_offsets[type];
    return first + static_cast<uint32_t>(draws.below(work.subgraph.type_offsets[type + 1] - first));
  };
  std::vector<Edge> edges;
  for (uint64_t i = 0; i < size.edges; ++i) {
    const auto relation = static_cast<uint16_t>(draws.below(size.relations));
    const auto gap = static_cast<int64_t>(draws.below(kGaps)) - kGaps / 2;
    edges.push_back({any_row(ends[relation].second), any_row(ends[relation].first), relation, gap});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return std::pair(a.target, a.relation) < std::pair(b.target, b.relation);
  });
  set_edges(edges, work.subgraph);
  for (uint32_t type = 0; type < size.types; ++type) {
    std::vector<float>& block = work.features.emplace_back();
    block.resize(size_t{work.subgraph.num_rows(NodeType(type))} * kWidth);
    for (float& value : block) value = static_cast<float>(2 * draws.unit() - 1);
  }
  for (uint32_t row = 0; row < size.seeds; ++row) {
    work.subgraph.seed_rows.push_back(row % size.rows);
    work.labels.push_back(static_cast<int64_t>(draws.below(200)));
  }
  return work;
}

double dense_flops(const LayerWork& work, int64_t hidden, uint32_t layers, bool trimmed) {
  constexpr double kHeads = 8;
  const ReceptiveField field =
      receptive_field(work.subgraph, layers, trimmed ? Trim::on : Trim::off);
  const auto d = static_cast<double>(hidden);
  double flops = static_cast<double>(field.rows.size()) * 2 * kWidth * d;
  for (const auto& layer : field.layers) {
    uint64_t pairs = 0;
    for (uint32_t target = 0; target < layer->num_targets(); ++target) {
      std::vector<Relation> relations;
      for (const uint64_t edge : layer->incoming(target))
        relations.push_back(layer->relations[edge]);
      std::sort(relations.begin(), relations.end());
      pairs += static_cast<uint64_t>(std::unique(relations.begin(), relations.end()) -
                                     relations.begin());
    }
    flops += 2 * 2 * d * d * (layer->num_sources() + layer->num_targets());  // K, M; Q, A
    flops += 2 * 2 * d * d / kHeads * static_cast<double>(pairs);            // W_ATT, W_MSG
  }
  return 3 * flops;
}

}  // namespace hgt
