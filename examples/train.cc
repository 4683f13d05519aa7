// train GRAPH RUN: trains a small model to predict the venues of papers, and scores it.
#include <hgt/hgt.h>

#include <iostream>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: train GRAPH RUN\n";
    return 2;
  }
  hgt::keep_tensor_memory();
  hgt::RunOptions options{.graph = argv[1]};
  options.task = hgt::find_task("paper-venue", hgt::HeteroGraph::open(options.graph).schema());
  options.task.split = hgt::SplitRule::random;
  options.training.model.hidden = 32;
  options.training.model.heads = 4;
  options.training.model.layers = 2;
  options.training.sampling.width = 16;
  options.training.sampling.depth = 2;
  options.training.epochs = 2;
  hgt::Run run = hgt::Run::create(argv[2], options);
  run.train();
  const hgt::RunResult result = run.evaluate(hgt::Split::test, run.scoring());
  for (const auto& [name, value] : result.metrics) std::cout << name << ' ' << value.mean << '\n';
}
