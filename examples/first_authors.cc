// Prints every paper with its year and first author. Usage: first_authors GRAPH
#include <hgt/hgt.h>

#include <iostream>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto graph = hgt::HeteroGraph::open(argv[1]);
  const auto paper = graph.schema().node_type("paper");
  const auto author = graph.schema().node_type("author");
  const auto writes = graph.schema().relation("author", "writes_first", "paper");
  std::cout << graph.num_nodes(paper) << " papers\n";
  for (hgt::NodeId node = 0; node < graph.num_nodes(paper); ++node) {
    std::cout << graph.time(paper, node) << "  " << graph.name(paper, node);
    for (const hgt::NodeId first : graph.incoming(writes, node).sources) {
      std::cout << "  (" << graph.name(author, first) << ")";
    }
    std::cout << '\n';
  }
}
