// Run::embed.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "hgt/disk/staged_folder.h"
#include "hgt/graph/array_file.h"
#include "hgt/graph/time_text.h"
#include "hgt/task/table_cell.h"
#include "hgt/training/trained_model.h"
#include "hgt/training/vectors.h"

namespace hgt {

uint64_t Run::embed(NodeType type, const EmbedOptions& options, const Path& out,
                    const ProgressSink& progress) {
  const HeteroGraph& graph = task().graph();
  const uint32_t layer = layer_to_embed(*this, type, options.layer);
  const TrainedModel trained(*this);
  const auto hidden = static_cast<uint64_t>(this->options().training.model.hidden);
  const Time at = options.inference.at;
  const Time last = at == kNoTime ? std::numeric_limits<Time>::max() : at;
  constexpr uint64_t kUnseen = std::numeric_limits<uint64_t>::max();
  std::vector<uint64_t> row_of_node(graph.num_nodes(type), kUnseen);
  uint64_t rows = 0;
  for (NodeId node = 0; node < row_of_node.size(); ++node) {
    if (graph.time(type, node) <= last) row_of_node[node] = rows++;
  }
  StagedFolder folder(out);
  GrowingArray vectors(folder.path(), "vectors.npy", dtype_of<float>());
  vectors.resize(rows * hidden);
  embed_all(
      trained,
      {.inference = options.inference,
       .hidden = task().left_out(),
       .layers = layer,
       .scratch = folder.path()},
      {type},
      [&](NodeType, std::span<const NodeId> nodes, const at::Tensor& block) {
        const at::Tensor values = block.contiguous();
        const auto* from = values.data_ptr<float>();
        for (const NodeId node : nodes) {
          std::copy_n(from, hidden, vectors.as<float>().data() + row_of_node[node] * hidden);
          from += hidden;
        }
      },
      progress);
  vectors.close({rows, hidden});
  std::string table = "id\ttime\tname\n";
  for (NodeId node = 0; node < row_of_node.size(); ++node) {
    if (row_of_node[node] == kUnseen) continue;
    const Time time = graph.time(type, node);
    table += fmt::format("{}\t{}\t{}\n", table_cell(graph.id(type, node)),
                         time == kNoTime ? "" : format_time(time, graph.schema().time_unit),
                         table_cell(graph.name(type, node)));
  }
  folder.write_text("nodes.tsv", table);
  folder.commit();
  return rows;
}

}  // namespace hgt
