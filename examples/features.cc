// features GRAPH: adds input features to the graph that do not give away the venue of any paper.
#include <hgt/hgt.h>

#include <iostream>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: features GRAPH\n";
    return 2;
  }
  const hgt::FeatureLock lock(argv[1]);
  const auto steps =
      hgt::default_recipe(hgt::HeteroGraph::open(argv[1]), {.width = 16, .task = "paper-venue"});
  for (const auto& made : hgt::make_feature_set(lock, steps, {.name = "venue"}, hgt::no_progress)) {
    if (!made.left_out.empty()) continue;
    std::cout << made.type << ": " << made.spec.width << " numbers, " << made.spec.origin << '\n';
  }
}
