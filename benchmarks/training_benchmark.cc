// Training end to end at the paper's settings (hidden 256, 8 heads, 3 layers, batch 256, HGSampling
// width 128, depth 6): sample, gather, step; then layer-wise inference over the whole graph.
//
//   training_benchmark [--threads=N] [--graph=FOLDER] [--task=NAME] [--whole=TYPE]
//                      [--benchmark_filter=...]
//
// model/NAME: a step of every kind of model. Without a graph a generated one of 20,000 papers is
// measured. --whole embeds all nodes of a type once and prints time and memory instead of
// benchmarks.
//
// `bound`: time over that of the dense arithmetic of the trimmed layers at the rate of [2048, 256]
// x [256, 768] measured in the same run. `waiting`: share of the time that the step waits for
// samples. `anonymous_MB`: memory that is no page of a file; the others are those of the mapped
// graph and of libraries, which the system takes back when it needs them.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/flags.h"
#include "benchmarks/layer_work.h"
#include "benchmarks/memory_line.h"
#include "benchmarks/ratio_reporter.h"
#include "hgt/academic/academic_generator.h"
#include "hgt/graph/hetero_graph.h"
#include "hgt/model/machine.h"
#include "hgt/model/torch.h"
#include "hgt/task/batch_plan.h"
#include "hgt/training/adamw.h"
#include "hgt/training/example_stream.h"
#include "hgt/training/trainer.h"
#include "hgt/training/whole_graph.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

TrainOptions paper_settings() {
  TrainOptions options;
  options.model = paper_preset();
  options.node_vectors = 0;
  options.sampling.width = 128;
  options.sampling.depth = 6;
  return options;
}

// One sub-graph for all seeds of a batch, whatever the task: what the peers were measured on.
TrainOptions settings_for(const Task& task) {
  TrainOptions options = paper_settings();
  const bool by_time = task.spec().split == SplitRule::time;
  options.sampling.time_bound = by_time ? TimeBound::split : TimeBound::none;
  return options;
}

// Trains as Trainer does, batch by batch.
class Steps {
 public:
  Steps(const Task& task, const TrainOptions& options, unsigned workers)
      : task_(task),
        model_(make_model(task, options)),
        optimizer_(model_->parameters(), {}),
        stream_({.graph = task.graph(),
                 .sampling = task.sampling(options.sampling, Split::train),
                 .encoder = model_->encoder()},
                TrainingPlan(task, options.batch_size, 1),
                {.count = std::numeric_limits<uint32_t>::max(), .workers = workers}) {
    model_->train();
  }

  void run() {
    stream_.next(batch_);
    task_loss(model_->scores(batch_.graph, batch_.question), batch_.question, task_.spec().loss)
        .backward();
    optimizer_.step(1e-3, 1);
  }

  const ReadyBatch& batch() const { return batch_; }
  double seconds_waited() const { return stream_.seconds_waited(); }

 private:
  const Task& task_;
  TaskModel model_;
  AdamW optimizer_;
  ExampleStream stream_;
  ReadyBatch batch_;
};

void train(benchmark::State& state, const Task& task, unsigned workers, bool release) {
  TrainOptions options = settings_for(task);
  if (release) options.model = release_preset();
  Steps steps(task, options, workers);
  for (int i = 0; i < 4; ++i) steps.run();
  const double waited_before = steps.seconds_waited();
  double flops = 0;
  double edges = 0;
  double seconds = 0;
  for (auto _ : state) {
    const auto start = Clock::now();
    steps.run();
    const double own = seconds_since(start);
    state.SetIterationTime(own);
    seconds += own;
    const LayerWork work{.subgraph = steps.batch().subgraph};
    flops += dense_flops(work, options.model.hidden, 3, true);
    edges += static_cast<double>(steps.batch().subgraph.num_edges());
  }
  const double waited = steps.seconds_waited() - waited_before;
  const auto count = static_cast<double>(state.iterations());
  state.counters["edges"] = edges / count;
  state.counters["waiting"] = waited / seconds;
  state.counters["bound"] = seconds * measure_gemm_rate(50) / flops;
  state.counters["peak_MB"] = memory_line("VmHWM:");
  state.counters["anonymous_MB"] = memory_line("RssAnon:");
}

// A step of any kind of model, with the same sub-graphs.
void train_model(benchmark::State& state, const Task& task, ModelKind kind) {
  TrainOptions options = settings_for(task);
  options.model.kind = kind;
  Steps steps(task, options, 0);
  for (int i = 0; i < 2; ++i) steps.run();
  for (auto _ : state) {
    const auto start = Clock::now();
    steps.run();
    state.SetIterationTime(seconds_since(start));
  }
}

// What a batch costs before the step: one thread.
void make_batches(benchmark::State& state, const Task& task) {
  const TrainOptions options = settings_for(task);
  const TaskModel model = make_model(task, options);
  ExampleStream stream({.graph = task.graph(),
                        .sampling = task.sampling(options.sampling, Split::train),
                        .encoder = model->encoder()},
                       TrainingPlan(task, options.batch_size, 1),
                       {.count = std::numeric_limits<uint32_t>::max(), .workers = 0});
  ReadyBatch batch;
  for (auto _ : state) {
    const auto start = Clock::now();
    stream.next(batch);
    state.SetIterationTime(seconds_since(start));
  }
}

int embed_whole(const HeteroGraph& graph, const std::string& type, Instances instances) {
  const TrainOptions options = paper_settings();
  torch::manual_seed(1);
  Encoder encoder(options.model, model_schema(graph.schema()));
  encoder->eval();
  const double before = memory_line("VmRSS:");
  const auto start = Clock::now();
  uint64_t nodes = 0;
  double checksum = 0;
  WholeGraph(graph, {.inference = {.instances = instances}})
      .embed(encoder, {graph.schema().node_type(type)},
             [&](NodeType, std::span<const NodeId> some, const at::Tensor& vectors) {
               nodes += some.size();
               checksum += vectors.sum().item<double>();
             });
  fmt::print(
      "{} vectors of {}, instances {}: {:.1f} s, peak {:.0f} MB, of which {:.0f} MB before; "
      "checksum {:.6g}\n",
      nodes, type, to_string(instances), seconds_since(start), memory_line("VmHWM:"), before,
      checksum);
  return 0;
}

template <typename Function>
void add(const std::string& name, Function function) {
  benchmark::RegisterBenchmark(name.c_str(), function)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

}  // namespace
}  // namespace hgt

int main(int argc, char** argv) {
  const auto threads = hgt::take_flag("threads", argc, argv);
  const auto folder = hgt::take_flag("graph", argc, argv);
  const auto task_name = hgt::take_flag("task", argc, argv);
  const auto whole = hgt::take_flag("whole", argc, argv);
  const auto instances = hgt::take_flag("instances", argc, argv);
  hgt::keep_tensor_memory();
  hgt::set_compute_threads(threads ? std::stoi(*threads) : 0);
  const hgt::Path made =
      std::filesystem::temp_directory_path() / fmt::format("hgt_training_{}", ::getpid());
  if (!folder) hgt::generate_academic_graph(made, {.features = 128});
  const hgt::HeteroGraph graph = hgt::HeteroGraph::open(folder ? hgt::Path(*folder) : made);
  if (whole) {
    return hgt::embed_whole(graph, *whole,
                            hgt::from_word<hgt::Instances>(instances.value_or("own")));
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  const auto task =
      hgt::open_task(graph, hgt::find_task(task_name.value_or("paper-venue"), graph.schema()));
  hgt::add("batch", [&](auto& state) { hgt::make_batches(state, *task); });
  hgt::add("train/workers:0", [&](auto& state) { hgt::train(state, *task, 0, false); });
  hgt::add("train/workers:1", [&](auto& state) { hgt::train(state, *task, 1, false); });
  hgt::add("train_release/workers:0", [&](auto& state) { hgt::train(state, *task, 0, true); });
  for (const std::string& name : hgt::all_words<hgt::ModelKind>()) {
    hgt::add("model/" + name, [&](auto& state) {
      hgt::train_model(state, *task, hgt::from_word<hgt::ModelKind>(name));
    });
  }
  hgt::RatioReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  reporter.print_ratio("train/workers:0", "train/workers:1", "sampling in turn : overlapped");
  for (const std::string& name : hgt::all_words<hgt::ModelKind>()) {
    reporter.print_ratio("model/" + name, "model/hgt", name + " : hgt");
  }
  std::filesystem::remove_all(made);
  return reporter.failed() ? 1 : 0;
}
