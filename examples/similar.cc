// similar RUN TYPE ID TIME: the nodes of a type that are most similar to one of them at a time.
#include <hgt/hgt.h>

#include <iostream>

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: similar RUN TYPE ID TIME\n";
    return 2;
  }
  const hgt::Run run = hgt::Run::open(argv[1]);
  const hgt::HeteroGraph& graph = run.task().graph();
  const hgt::NodeType type = graph.schema().node_type(argv[2]);
  const auto node = graph.find(type, argv[3]);
  const auto time = hgt::parse_time(argv[4], hgt::TimeFormat::date, graph.schema().time_unit);
  if (!node || !time) {
    std::cerr << "no such node or time\n";
    return 1;
  }
  hgt::Similarity similarity(run, type, {});
  for (const hgt::SimilarNode& other : similarity.nearest(*node, *time, 5)) {
    std::cout << graph.name(type, other.node) << ' ' << other.similarity << '\n';
  }
}
