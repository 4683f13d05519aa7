// Any bytes are word vectors or an hgt::Error.
#include <cstddef>
#include <cstdint>
#include <span>

#include "fuzz/fuzz_input.h"
#include "hgt/features/vocabulary.h"
#include "hgt/features/word_vectors.h"
#include "hgt/graph/graph_builder.h"
#include "hgt/graph/hetero_graph.h"

namespace {

hgt::Vocabulary words_of_a_graph(const hgt::Path& folder) {
  hgt::Schema schema;
  const hgt::NodeType paper = schema.add_node_type("paper", hgt::NodeKind::plain);
  schema.at(paper).names = true;
  schema.number_relations();
  hgt::GraphBuilder builder(folder, schema);
  builder.add_node(paper, {.id = "p", .name = "the graph of words", .time = hgt::kNoTime});
  builder.finish();
  const hgt::HeteroGraph graph = hgt::HeteroGraph::open(folder);
  return {graph, paper, 0, [](const auto&) {}};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const hgt::fuzz::FuzzFolder folder;
  static const hgt::Vocabulary vocabulary = words_of_a_graph(folder.path() / "graph");
  const hgt::fuzz::MemoryFile file(std::span(data, size));
  hgt::fuzz::read_or_refuse([&] {
    const auto table = hgt::read_word_vectors(file.path(), vocabulary, [](const auto&) {});
    hgt::fuzz::use(table.width);
  });
  return 0;
}
