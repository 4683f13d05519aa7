// libFuzzer target of the graph opener: a good graph, damaged as the input says, is opened, used
// and verified. Only hgt::Error may come out.
//
// Input: a sequence of 5-byte edits (file, position as 3 bytes, new byte); position beyond the end
// of a file truncates it to position modulo its size. Where byte 0 of the input is odd, the
// checksums in schema.json are made to fit the damaged files, so that the structural checks are
// reached. Where its second bit is set, the graph is one of version 1.
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz/fuzz_input.h"
#include "hgt/graph/array_file.h"
#include "hgt/graph/graph_builder.h"
#include "hgt/graph/graph_check.h"
#include "hgt/graph/hetero_graph.h"
#include "hgt/graph/version_1_test_graph.h"

namespace {

using hgt::Path;

std::string slurp(const Path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void spill(const Path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

// Some of everything: times, weights, names, ids, labels, features; few long lists among many (the
// edges into authors), and many (the names of papers).
void build_graph(const Path& folder) {
  hgt::Schema schema;
  const auto paper = schema.add_node_type("paper", hgt::NodeKind::event);
  const auto author = schema.add_node_type("author", hgt::NodeKind::plain);
  schema.at(paper).names = true;
  schema.add_relation({.source = "author", .edge = "writes", .target = "paper", .weights = true});
  schema.add_relation({.source = "author", .edge = "reads", .target = "paper", .times = true});
  schema.number_relations();
  const auto writes = schema.relation("author", "writes", "paper");
  const auto reads = schema.relation("author", "reads", "paper");
  hgt::GraphBuilder builder(folder, schema);
  for (int i = 0; i < 3; ++i) {
    const std::string id = "paper" + std::to_string(i);
    builder.add_node(paper, {.id = id, .name = std::string(200 * i, 'x'), .time = 2000 + i});
  }
  for (int i = 0; i < 520; ++i) builder.add_node(author, {});
  builder.declare_features(paper, {.width = 2});
  builder.set_features(paper, 1, std::vector<float>{1, 2});
  builder.add_label(paper, builder.declare_label(paper, "kind"), 2, "a");
  for (hgt::NodeId i = 0; i < 300; ++i) {
    builder.add_edge(writes, {.source = 7, .target = i % 3, .weight = 0.5F});
    builder.add_edge(reads, {.source = i, .target = i % 3, .time = 2010});
  }
  builder.finish();
}

struct GoodGraph {
  hgt::fuzz::FuzzFolder temporary;
  Path folder = temporary.path() / "graph";
  std::vector<std::string> names;  // schema.json first
  std::vector<std::string> bytes;

  explicit GoodGraph(int version) {
    build_graph(folder);
    if (version == 1) hgt::convert_to_version_1(folder);
    names.emplace_back("schema.json");
    const auto graph = hgt::HeteroGraph::open(folder);
    for (const auto& array : graph.schema().arrays) names.push_back(array.file);
    for (const std::string& name : names) bytes.push_back(slurp(folder / name));
  }
};

// Touches everything that the interface offers.
uint64_t use(const hgt::HeteroGraph& graph) {
  uint64_t sum = 0;
  for (size_t t = 0; t < graph.schema().node_types().size(); ++t) {
    const auto type = hgt::NodeType(t);
    std::vector<float> row(graph.features(type).width);
    for (hgt::NodeId node = 0; node < graph.num_nodes(type) && node < 100; ++node) {
      sum += graph.name(type, node).size() + static_cast<uint64_t>(graph.time(type, node));
      sum += graph.find(type, graph.id(type, node)).value_or(0);
      for (const auto relation : graph.schema().incoming(type)) {
        const auto list = graph.incoming(relation, node);
        for (const auto source : list.sources) sum += source;
        for (size_t i = 0; i < list.times.size(); ++i) sum += static_cast<uint64_t>(list.times[i]);
      }
      std::vector<hgt::EdgePosition> offsets;
      for (const auto offset : graph.incoming_offsets(type, node, offsets)) sum += offset;
      for (uint32_t label = 0; label < graph.schema().at(type).labels.size(); ++label) {
        sum += graph.label_classes(type, label, node).size();
      }
      graph.copy_features(type, node, row);
    }
  }
  return sum;
}

void fit_checksums(const GoodGraph& good, const std::vector<std::string>& damaged) {
  hgt::Schema schema = hgt::Schema::from_json(damaged[0], "schema.json");
  for (size_t i = 1; i < damaged.size() && i - 1 < schema.arrays.size(); ++i) {
    if (damaged[i].size() < hgt::kArrayHeaderBytes) continue;
    const std::string data = damaged[i].substr(hgt::kArrayHeaderBytes);
    schema.arrays[i - 1].checksum = hgt::checksum(std::as_bytes(std::span(data)));
  }
  spill(good.folder / "schema.json", schema.to_json());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const GoodGraph version_1(1);
  static const GoodGraph version_2(2);
  if (size == 0) return 0;
  const GoodGraph& good = (data[0] & 2U) != 0 ? version_1 : version_2;
  std::vector<std::string> damaged = good.bytes;
  for (size_t at = 1; at + 5 <= size; at += 5) {
    std::string& file = damaged[data[at] % damaged.size()];
    const size_t position = data[at + 1] | data[at + 2] << 8U | data[at + 3] << 16U;
    if (file.empty()) continue;
    if (position < file.size()) {
      file[position] = static_cast<char>(data[at + 4]);
    } else {
      file.resize(position % file.size());
    }
  }
  for (size_t i = 0; i < damaged.size(); ++i) spill(good.folder / good.names[i], damaged[i]);
  hgt::fuzz::read_or_refuse([&] {
    if (data[0] % 2 == 1) fit_checksums(good, damaged);
    const auto graph = hgt::HeteroGraph::open(good.folder);
    hgt::fuzz::use(use(graph));
    hgt::verify(graph);
  });
  return 0;
}
