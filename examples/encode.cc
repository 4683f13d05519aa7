// encode GRAPH: vectors of two papers from an untrained model, and how many edges it attended to.
#include <hgt/hgt.h>
#include <hgt/model/encoder.h>

#include <iostream>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: encode GRAPH\n";
    return 2;
  }
  hgt::keep_tensor_memory();
  hgt::set_compute_threads(0);
  const auto graph = hgt::HeteroGraph::open(argv[1]);
  const auto paper = graph.schema().node_type("paper");

  const std::vector<hgt::Seed> seeds = {{.type = paper, .node = 0}, {.type = paper, .node = 1}};
  const hgt::Subgraph subgraph = hgt::sample(graph, seeds, {.width = 8, .depth = 3});

  torch::manual_seed(1);
  hgt::ModelOptions options = hgt::paper_preset();
  options.layers = 2;
  hgt::Encoder encoder(options, hgt::model_schema(graph.schema()));
  const hgt::GraphBatch batch = encoder->make_batch(graph, subgraph);
  hgt::AttentionTrace trace;
  const at::Tensor vectors = encoder->forward(batch, &trace).index_select(0, batch.seed_rows);
  std::cout << vectors.size(0) << " vectors of " << vectors.size(1) << " numbers, "
            << hgt::num_parameters(*encoder) << " parameters, attention over "
            << trace.back().weights.size(0) << " edges in the last layer\n";
}
