// See whole_graph.h for the tables. A layer: prepare all dated rows; then slice after slice: load
// (or, before the first layer, adapt) its undated rows, prepare them, compute its blocks, store its
// undated rows. Another thread makes the blocks and their plans ahead.
#include "hgt/training/whole_graph.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <numeric>
#include <utility>

#include "hgt/error.h"
#include "hgt/graph/array_file.h"
#include "hgt/model/number_type.h"
#include "hgt/ordered_stream.h"
#include "hgt/training/time_slices.h"

namespace hgt {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kRowsAtOnce = 1 << 14;     // of an adaptation or preparation
constexpr uint64_t kInstancesPerNode = 100;  // on average; more are refused

struct ReadyBlock {
  SliceBlock block = {};
  SharedPlan plan = {};
};

// A file that nobody else sees and that is gone with the process.
File scratch_file(const Path& folder) {
  const Path path = (folder.empty() ? fs::temp_directory_path() : folder) /
                    fmt::format("hgt-slices-{}", ::getpid());
  File file = File::create(path);
  fs::remove(path);
  return file;
}

// Offsets of a table that holds rows of one type only.
std::vector<uint32_t> offsets_of_type(size_t types, size_t type, int64_t rows) {
  std::vector<uint32_t> offsets(types + 1, 0);
  for (size_t i = type + 1; i <= types; ++i) offsets[i] = static_cast<uint32_t>(rows);
  return offsets;
}

constexpr int64_t kRowsPerTask = 64;  // rows to copy that are worth a thread

// The numbers of a table, if there is one.
const float* rows_of(const at::Tensor& table) {
  return table.defined() ? table.data_ptr<float>() : nullptr;
}

// What the adaptation layer reads: features, or the nodes themselves.
at::Tensor read_inputs(const HeteroGraph& graph, NodeType type, std::span<const NodeId> nodes) {
  const uint64_t width = graph.features(type).width;
  if (width == 0) {
    return at::tensor(std::vector<int64_t>(nodes.begin(), nodes.end()), at::kLong);
  }
  at::Tensor features =
      at::empty({static_cast<int64_t>(nodes.size()), static_cast<int64_t>(width)});
  graph.copy_features(type, nodes, {features.data_ptr<float>(), nodes.size() * width});
  return features;
}

}  // namespace

// One embedding of the graph: tables of the layer at hand.
struct WholeGraph::State {
  State(HeteroGraph opened, WholeGraphOptions given)
      : graph(std::move(opened)), options(std::move(given)) {}

  size_t num_types() const { return graph.schema().node_types().size(); }

  uint32_t num_layers(const Encoder& encoder) const {
    return options.layers > 0 ? options.layers : static_cast<uint32_t>(encoder->layers().size());
  }

  const TimeSlices& slices() const { return *made; }

  void make_slices(const Encoder& encoder, const std::vector<NodeType>& types) {
    made = std::make_unique<const TimeSlices>(
        graph, TimeSlices::Options{.at = options.inference.at,
                                   .single = options.inference.instances == Instances::single,
                                   .hidden = options.hidden,
                                   .layers = num_layers(encoder),
                                   .types = types,
                                   .degrees = encoder->layers().front()->reads_degrees()});
    uint64_t nodes = 1;
    for (const NodeTypeSpec& type : graph.schema().node_types()) nodes += type.nodes;
    if (slices().num_instances() <= kInstancesPerNode * nodes) return;
    throw Error(
        fmt::format("nodes without a time would have {} instances, one for each time at which they "
                    "are neighbors of others, for {} nodes in all; use --instances single, or "
                    "import with a coarser time unit",
                    slices().num_instances(), nodes));
  }

  // --- dated nodes: one row per node of an event type ---
  void start(const Encoder& encoder) {
    vector_width = encoder->options().hidden;
    prepared_width = encoder->layers().front()->prepared_width(vector_width);
    for (auto* tables : {&dated, &dated_prepared, &undated, &undated_room, &undated_prepared,
                         &undated_prepared_room}) {
      tables->assign(num_types(), {});
    }
    for (size_t type = 0; type < num_types(); ++type) {
      int64_t most = 0;
      for (const TimeSlice& slice : slices().slices()) {
        most = std::max(most, static_cast<int64_t>(slice.undated[type].size()));
      }
      undated_room[type] = at::empty({most, vector_width});
      undated_prepared_room[type] = at::empty({most, prepared_width});
      const auto count = static_cast<int64_t>(graph.times(NodeType(type)).size());
      if (count == 0) continue;
      std::vector<NodeId> nodes(static_cast<size_t>(count));
      std::iota(nodes.begin(), nodes.end(), NodeId{0});
      dated[type] = at::empty({count, vector_width});
      dated_prepared[type] = at::empty({count, prepared_width});
      adapt(encoder, type, nodes, dated[type]);
    }
  }

  // What the first layer reads -> `vectors`, [nodes, d].
  void adapt(const Encoder& encoder, size_t type, std::span<const NodeId> nodes,
             const at::Tensor& vectors) const {
    for (size_t first = 0; first < nodes.size(); first += kRowsAtOnce) {
      const auto some = nodes.subspan(first, std::min<size_t>(kRowsAtOnce, nodes.size() - first));
      const auto rows = static_cast<int64_t>(some.size());
      vectors.narrow(0, static_cast<int64_t>(first), rows)
          .copy_(encoder->adapt_type(type, read_inputs(graph, NodeType(type), some), rows));
    }
  }

  // The first part of a layer on a table of one type; `prepared_rows` has room for at least as many
  // rows.
  at::Tensor prepare(const Layer& layer, size_t type, const at::Tensor& vectors,
                     const at::Tensor& prepared_rows) const {
    for (int64_t first = 0; first < vectors.size(0); first += kRowsAtOnce) {
      const int64_t rows = std::min(kRowsAtOnce, vectors.size(0) - first);
      layer.prepare_rows(vectors.narrow(0, first, rows), offsets_of_type(num_types(), type, rows),
                         prepared_rows.narrow(0, first, rows));
    }
    return prepared_rows.narrow(0, 0, vectors.size(0));
  }

  // The same for the undated nodes of the slice at hand.
  void prepare_slice(const Layer& layer) {
    for (size_t type = 0; type < num_types(); ++type) {
      undated_prepared[type] = prepare(layer, type, undated[type], undated_prepared_room[type]);
    }
  }

  // --- undated nodes: a table per type of the slice at hand, the others in the file ---
  void load_slice(const Encoder& encoder, uint32_t slice, bool first_layer) {
    uint64_t row = file_rows_before(slice);
    for (size_t type = 0; type < num_types(); ++type) {
      const auto& nodes = slices().slices()[slice].undated[type];
      undated[type] = undated_room[type].narrow(0, 0, static_cast<int64_t>(nodes.size()));
      if (first_layer) {
        adapt(encoder, type, nodes, undated[type]);
        continue;
      }
      const size_t bytes = undated[type].nbytes();
      if (file.read_at(undated[type].data_ptr(), bytes, row * row_bytes()) != bytes) {
        throw Error("the scratch file of the slices was cut short");
      }
      row += nodes.size();
    }
  }

  void store_slice(uint32_t slice) {
    uint64_t row = file_rows_before(slice);
    for (const at::Tensor& table : undated) {
      file.write_at(table.data_ptr(), table.nbytes(), row * row_bytes());
      row += static_cast<uint64_t>(table.size(0));
    }
  }

  // Of the file.
  uint64_t row_bytes() const { return static_cast<uint64_t>(vector_width) * sizeof(float); }
  uint64_t file_rows_before(uint32_t slice) const {
    uint64_t rows = 0;
    for (uint32_t i = 0; i < slice; ++i) rows += slices().slices()[i].num_undated();
    return rows;
  }

  // --- a block ---
  // `into`, [rows of all types, width]: for each type the rows of its first sources in the block,
  // as many as `offsets` says, each from the table of dated or of undated rows, [.., width].
  // source_offsets: all sources; target_offsets: the targets.
  static void gather(const SliceBlock& block, const std::vector<uint32_t>& offsets,
                     const std::vector<at::Tensor>& of_dated,
                     const std::vector<at::Tensor>& of_undated, const at::Tensor& into) {
    const int64_t width = into.size(1);
    auto* to = into.data_ptr<float>();
    int64_t row = 0;  // of `into`, the first of the type
    for (size_t type = 0; type + 1 < offsets.size(); ++type) {
      const int64_t count = int64_t{offsets[type + 1]} - offsets[type];
      const int64_t source = block.graph.source_offsets[type];  // the first of the type
      const float* dated_rows = rows_of(of_dated[type]);
      const float* undated_rows = rows_of(of_undated[type]);
      parallel_rows(count, kRowsPerTask, [&](int64_t i) {
        const auto at = static_cast<size_t>(source + i);
        const float* from = block.is_dated[at] ? dated_rows : undated_rows;
        std::memcpy(to + (row + i) * width, from + block.places[at] * width,
                    static_cast<size_t>(width) * sizeof(float));
      });
      row += count;
    }
  }

  // H^(l) of the block's targets: [targets, d].
  at::Tensor compute_block(const Layer& layer, const ReadyBlock& ready) const {
    const LayerGraph& own = ready.block.graph;
    const at::Tensor sources = at::empty({ready.plan->source_rows, prepared_width});
    gather(ready.block, own.source_offsets, dated_prepared, undated_prepared, sources);
    const at::Tensor targets = at::empty({own.num_targets(), vector_width});
    gather(ready.block, own.target_offsets, dated, undated, targets);
    return layer.forward_prepared(targets, sources, own, ready.plan);
  }

  // Writes the outputs over the inputs, which nobody reads any more: an instance is a target once,
  // and others read its prepared row.
  void store(const SliceBlock& block, const at::Tensor& outputs) {
    const float* from = outputs.data_ptr<float>();
    const auto& offsets = block.graph.target_offsets;
    for (size_t type = 0; type + 1 < offsets.size(); ++type) {
      for (uint32_t i = 0; i < offsets[type + 1] - offsets[type]; ++i, from += vector_width) {
        const size_t at = block.graph.source_offsets[type] + i;
        const at::Tensor& table = block.is_dated[at] ? dated[type] : undated[type];
        std::memcpy(table.data_ptr<float>() + int64_t{block.places[at]} * vector_width, from,
                    row_bytes());
      }
    }
  }

  // Hands the outputs to the sink, type by type, with the nodes that they belong to.
  void emit(const SliceBlock& block, const at::Tensor& outputs, const VectorSink& sink) const {
    const auto& offsets = block.graph.target_offsets;
    for (size_t type = 0; type + 1 < offsets.size(); ++type) {
      std::vector<NodeId> nodes;
      for (uint32_t i = 0; i < offsets[type + 1] - offsets[type]; ++i) {
        const size_t at = block.graph.source_offsets[type] + i;
        nodes.push_back(block.is_dated[at]
                            ? block.places[at]
                            : slices().slices()[block.slice].undated[type][block.places[at]]);
      }
      if (nodes.empty()) continue;
      sink(NodeType(type), nodes,
           outputs.narrow(0, offsets[type], static_cast<int64_t>(nodes.size())));
    }
  }

  // Layer number + 1 over its runs; of the last one, the outputs leave by the sink.
  void run_layer(const Encoder& encoder, size_t number, const VectorSink& sink,
                 const ProgressSink& progress) {
    const Layer& layer = *encoder->layers()[number];
    const bool last = number + 1 == num_layers(encoder);
    const auto runs = slices().runs(static_cast<uint32_t>(number) + 1);
    for (size_t type = 0; type < num_types(); ++type) {
      if (dated[type].defined()) prepare(layer, type, dated[type], dated_prepared[type]);
    }
    TimeSlices::Reader reader(slices());
    OrderedStream<ReadyBlock> stream({.count = runs.size(), .workers = 1},
                                     [&](unsigned, uint64_t i, ReadyBlock& ready) {
                                       reader.read(runs[i], ready.block);
                                       ready.plan = layer.plan(ready.block.graph);
                                     });
    constexpr uint32_t kNone = 0xffffffffU;
    uint32_t slice = kNone;  // the one that is loaded; runs come slice by slice
    uint64_t done = 0;
    ReadyBlock ready;
    for (uint64_t i = 0; stream.next(ready); ++i) {
      if (ready.block.slice != slice) {
        if (slice != kNone && !last) store_slice(slice);
        slice = ready.block.slice;
        load_slice(encoder, slice, number == 0);
        prepare_slice(layer);
      }
      const at::Tensor outputs = compute_block(layer, ready);
      if (last) {
        emit(ready.block, outputs, sink);
      } else {
        store(ready.block, outputs);
      }
      done += ready.block.graph.num_targets();
      progress({.stage = fmt::format("layer {} of {}", number + 1, num_layers(encoder)),
                .unit = "instances",
                .count = done,
                .fraction = static_cast<double>(i + 1) / static_cast<double>(runs.size()),
                .finished = i + 1 == runs.size()});
    }
    if (slice != kNone && !last) store_slice(slice);
  }

  HeteroGraph graph;
  WholeGraphOptions options;
  std::unique_ptr<const TimeSlices> made;
  int64_t vector_width = 0;         // d
  int64_t prepared_width = 0;       // Layer::prepared_width
  File file;                        // float [undated of all slices, d]: by slice, in it by type
  std::vector<at::Tensor> dated;    // by type: [nodes, d]; undefined: a plain type
  std::vector<at::Tensor> undated;  // by type: [nodes of the slice, d]
  std::vector<at::Tensor> dated_prepared;    // by type: [nodes, prepared width]
  std::vector<at::Tensor> undated_prepared;  // by type: [nodes of the slice, prepared width]
  // What the undated tables lie in: made once for the largest slice, as memory given back in pieces
  // of changing sizes is not all found again.
  std::vector<at::Tensor> undated_room, undated_prepared_room;
};

WholeGraph::WholeGraph(const HeteroGraph& graph, const WholeGraphOptions& options)
    : state_(std::make_unique<State>(graph, options)) {
  graph.expect(Access::in_order);  // as the lists of all nodes are
}

WholeGraph::~WholeGraph() = default;

void WholeGraph::embed(const Encoder& encoder, const std::vector<NodeType>& types,
                       const VectorSink& sink, const ProgressSink& progress) {
  const torch::NoGradGuard no_gradient;
  State& state = *state_;
  state.make_slices(encoder, types);
  state.file = scratch_file(state.options.scratch);
  state.start(encoder);
  for (size_t layer = 0; layer < state.num_layers(encoder); ++layer) {
    state.run_layer(encoder, layer, sink, progress);
  }
  state.file = {};
}

}  // namespace hgt
