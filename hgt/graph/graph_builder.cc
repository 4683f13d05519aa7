#include "hgt/graph/graph_builder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <fstream>
#include <vector>

#include "hgt/disk/staged_folder.h"
#include "hgt/error.h"
#include "hgt/graph/edge_sorter.h"
#include "hgt/graph/graph_folder.h"
#include "hgt/graph/incoming_writer.h"
#include "hgt/graph/node_columns.h"
#include "hgt/parallel.h"

namespace hgt {

namespace {

constexpr uint64_t kCallsBetweenTrims = 1U << 16U;

// Resident memory of this process, in bytes.
uint64_t resident_memory() {
  std::ifstream statm("/proc/self/statm");
  uint64_t total = 0;
  uint64_t resident = 0;
  statm >> total >> resident;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

uint64_t checked_memory(uint64_t memory) {
  if (memory >= kMinBuildMemory) return memory;
  throw Error(fmt::format("a memory bound of {} bytes is too small; give at least {} MB", memory,
                          kMinBuildMemory >> 20U));
}

// One thread in all: nothing is done in the background.
unsigned background_threads(unsigned wanted) {
  const unsigned threads = thread_count(wanted);
  return threads > 1 ? threads : 0;
}

}  // namespace

struct GraphBuilder::State {
  State(const Path& folder, const Schema& given, BuildOptions build)
      : options(std::move(build)),
        schema(given.without_contents()),
        staged(folder, options.replace ? RequireOwn(require_only_graph) : nullptr),
        // What is left of the bound is for the mapped id indices, labels and buffers.
        space(staged.path(), checked_memory(options.memory) / 2,
              background_threads(options.threads)) {
    for (const NodeTypeSpec& spec : schema.node_types()) nodes.emplace_back(staged.path(), spec);
    for (const RelationSpec& spec : schema.relations()) {
      sorters.emplace_back(space, spec.times, spec.weights);
    }
    for (size_t i = 0; i < sorters.size(); ++i) reverses.push_back(schema.reverse(Relation(i)));
  }

  // Mapped pages count as resident although they could go at any time: let them go when the bound
  // is reached. Their bytes stay in the file. Any thread may do so.
  void trim() {
    thread_local uint64_t calls = 0;
    if (++calls % kCallsBetweenTrims != 0 || resident_memory() < options.memory) return;
    for (NodeColumns& columns : nodes) columns.drop_pages();
  }

  // Of all that is to be written, what enters this type.
  double share_of(NodeType type) const {
    uint64_t all = 0;
    uint64_t own = 0;
    for (const EdgeSorter& sorter : sorters) all += sorter.size();
    for (const Relation relation : schema.incoming(type)) own += sorters[index(relation)].size();
    if (all == 0) return 1 / static_cast<double>(nodes.size());
    return static_cast<double>(own) / static_cast<double>(all);
  }

  BuildOptions options;
  Schema schema;
  StagedFolder staged;
  SortSpace space;
  std::vector<NodeColumns> nodes;
  std::vector<EdgeSorter> sorters;  // per relation
  std::vector<Relation> reverses;
  uint64_t edges = 0;
};

GraphBuilder::GraphBuilder(const Path& folder, const Schema& schema, BuildOptions options)
    : state_(std::make_unique<State>(folder, schema, std::move(options))) {}
GraphBuilder::~GraphBuilder() = default;

const Schema& GraphBuilder::schema() const { return state_->schema; }

const Path& GraphBuilder::folder() const { return state_->staged.path(); }

uint64_t GraphBuilder::num_nodes(NodeType type) const { return state_->nodes[index(type)].size(); }

std::optional<NodeId> GraphBuilder::add_node(NodeType type, const NodeRow& row) {
  state_->trim();
  return state_->nodes[index(type)].add(row);
}

std::optional<NodeId> GraphBuilder::find_node(NodeType type, std::string_view id) const {
  state_->trim();
  return state_->nodes[index(type)].find(id);
}

void GraphBuilder::declare_features(NodeType type, const FeatureSpec& spec) {
  state_->nodes[index(type)].declare_features(spec);
}

bool GraphBuilder::set_features(NodeType type, NodeId node, std::span<const float> values) {
  state_->trim();
  return state_->nodes[index(type)].set_features(node, values);
}

uint32_t GraphBuilder::declare_label(NodeType type, const std::string& name) {
  return state_->nodes[index(type)].declare_label(name);
}

void GraphBuilder::add_label(NodeType type, uint32_t label, NodeId node, std::string_view value) {
  state_->nodes[index(type)].label(label).add(node, value);
}

void GraphBuilder::name_class(NodeType type, uint32_t label, std::string_view value,
                              std::string_view name) {
  state_->nodes[index(type)].label(label).name_class(value, name);
}

void GraphBuilder::set_split(NodeType type, uint32_t label, NodeId node, Split split) {
  state_->nodes[index(type)].label(label).set_split(node, split);
}

std::optional<std::string_view> GraphBuilder::label(NodeType type, uint32_t label,
                                                    NodeId node) const {
  return std::as_const(state_->nodes[index(type)]).label(label).first(node);
}

void GraphBuilder::add_edge(Relation relation, const Edge& edge) {
  assert(edge.source < num_nodes(state_->schema.at(relation).source));
  assert(edge.target < num_nodes(state_->schema.at(relation).target));
  const RelationSpec& spec = state_->schema.at(relation);
  const Relation reverse = state_->reverses[index(relation)];
  Edge stored{.source = edge.source, .target = edge.target};
  if (spec.times) stored.time = edge.time;
  if (spec.weights) stored.weight = edge.weight;
  state_->sorters[index(relation)].add(stored);
  // A symmetric edge from a node to itself is one entry, not two.
  if (reverse != relation || edge.source != edge.target) {
    std::swap(stored.source, stored.target);
    state_->sorters[index(reverse)].add(stored);
  }
  ++state_->edges;
}

void GraphBuilder::add_edges(std::span<const PlacedEdge> edges) {
  for (const auto& [relation, edge] : edges) add_edge(relation, edge);
}

uint64_t GraphBuilder::num_edges() const { return state_->edges; }

Schema GraphBuilder::finish() {
  State& state = *state_;
  Schema& schema = state.schema;
  for (size_t type = 0; type < state.nodes.size(); ++type) {
    state.nodes[type].close(schema.at(NodeType(type)), schema.arrays);
    include_times(schema.time_range, state.nodes[type].time_range());
  }
  for (const EdgeSorter& sorter : state.sorters) {
    include_times(schema.time_range, sorter.time_range());
  }
  WholeWork work(state.options.progress);
  for (size_t type = 0; type < state.nodes.size(); ++type) {
    work.begin(state.share_of(NodeType(type)));
    IncomingWriter writer(state.staged.path(), schema, NodeType(type));
    writer.write(state.sorters, work.sink());
  }
  state.staged.write_text("schema.json", schema.to_json());
  state.sorters.clear();
  state.staged.commit();
  return schema;
}

}  // namespace hgt
