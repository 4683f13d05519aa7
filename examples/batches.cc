// Samples the batches of one epoch as training does: papers whose venue is asked for, with what
// surrounds them, and says how large they are.
// Usage: batches GRAPH
#include <hgt/hgt.h>

#include <iostream>

struct PaperBatch {
  hgt::Question question;
  hgt::Subgraph subgraph;
  std::vector<float> features;  // [papers of the sub-graph * width]
};

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto graph = hgt::HeteroGraph::open(argv[1]);
  const auto task = hgt::open_task(graph, hgt::find_task("paper-venue", graph.schema()));
  const auto paper = graph.schema().node_type("paper");

  const hgt::TrainingPlan plan(*task, /*batch_size=*/16, /*random_seed=*/1);
  hgt::BatchStream<PaperBatch> stream(
      {.graph = graph,
       .sampling = task->sampling({.width = 4, .depth = 2}, hgt::Split::train),
       .range = {.count = plan.batches_per_epoch(), .workers = 1}},
      plan, [&](PaperBatch& batch) {  // on the worker's thread
        const auto papers = batch.subgraph.nodes_of(paper);
        batch.features.resize(papers.size() * graph.features(paper).width);
        graph.copy_features(paper, papers, batch.features);
      });
  uint64_t number = 0;
  for (PaperBatch batch; stream.next(batch); ++number) {
    std::cout << "batch " << number << ": " << batch.question.num_examples() << " examples, "
              << batch.subgraph.num_rows() << " instances, " << batch.subgraph.num_edges()
              << " edges, " << batch.features.size() << " numbers as features of papers\n";
  }
}
