// Samples one epoch of batches of papers from a graph and prints how large they are.
// Usage: batches GRAPH
#include <hgt/sampling/batch_stream.h>
#include <hgt/sampling/time_split.h>

#include <iostream>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto graph = hgt::HeteroGraph::open(argv[1]);
  const auto paper = graph.schema().node_type("paper");
  const auto split = hgt::default_time_split(graph.schema().time_unit);

  std::vector<hgt::Seed> seeds;  // the papers of the training period
  for (hgt::NodeId node = 0; node < graph.num_nodes(paper); ++node) {
    if (split.split_of(graph.time(paper, node)) == hgt::Split::train) {
      seeds.push_back({.type = paper, .node = node});
    }
  }
  const hgt::ShuffledSeeds plan(seeds, 2, /*random_seed=*/1);
  hgt::BatchStream stream(graph, plan, {.width = 4, .depth = 2, .split_end = split.train_end},
                          {.batches_per_epoch = plan.batches(), .count = plan.batches()});
  for (hgt::Batch batch; stream.next(batch);) {
    std::cout << "batch " << batch.number << ": " << batch.subgraph.num_rows() << " instances, "
              << batch.subgraph.num_edges() << " edges, " << batch.features[index(paper)].size()
              << " numbers as features of papers\n";
  }
}
