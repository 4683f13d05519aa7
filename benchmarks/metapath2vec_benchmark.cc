// Node vectors from structure: walks along author-paper-venue-paper-author, and skip-gram over them
// beside that of libfasttext, on the very same walks (a text file, one walk per line), with the
// same width, window, negatives and rate, with one thread and with two.
//
//   metapath2vec_benchmark [--papers=20000] [--walks=5000] [--benchmark_filter=...]
//
// What is compared is the number of pairs trained in a second. Ours trains every pair within the
// window and makes the walks as it goes; fastText draws a window of 1 to 5 for each node, reads the
// file, and takes the end of a line for one more word, all of which is counted. Its train() also
// makes the dictionary and the matrices; a run with no epochs measures that, and it is taken off.
// What remains is too long by up to 0.1 s, the interval at which it looks whether it has finished.
#include <benchmark/benchmark.h>
#include <fasttext/fasttext.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/flags.h"
#include "hgt/academic/academic_generator.h"
#include "hgt/features/metapath2vec/skip_gram.h"
#include "hgt/features/metapath2vec/walks.h"
#include "hgt/random.h"
#include "reference/skip_gram_reference.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;
using benchmark::Counter;

constexpr uint32_t kWindow = 5;
constexpr uint32_t kNegatives = 5;
constexpr uint32_t kWidth = 128;
constexpr double kRate = 0.025;

// What all cases work on.
struct Work {
  std::optional<Walks> walks;
  std::optional<Walks> bounded;  // the same up to a year that leaves out a quarter of the papers
  uint64_t trained = 0;          // the walks that are trained on: the first ones
  fs::path text;                 // they again, for fastText
  uint64_t nodes = 0;            // of all of them
  double pairs = 0;              // within the whole window
  double drawn_pairs = 0;        // expected number within fastText's windows
};
Work work;

// By threads: million pairs per second of ours.
std::map<int64_t, double> our_rates;

std::vector<WalkPath> venue_paths(const Schema& schema) {
  WalkPath path{.type = schema.node_type("author"), .steps = std::vector<std::vector<Relation>>(4)};
  for (const char* edge : {"writes_first", "writes_other", "writes_last"}) {
    const Relation writes = schema.relation("author", edge, "paper");
    path.steps[0].push_back(schema.reverse(writes));
    path.steps[3].push_back(writes);
  }
  for (const char* edge : {"pub_conference", "pub_journal", "pub_preprint"}) {
    const Relation appears = schema.relation("paper", edge, "venue");
    path.steps[1].push_back(schema.reverse(appears));
    path.steps[2].push_back(appears);
  }
  return {path};
}

// Pairs of a line of that many words, each within a window of that size.
double pairs_of(uint64_t words, uint64_t window) {
  double pairs = 0;
  for (uint64_t distance = 1; distance <= window && distance < words; ++distance) {
    pairs += 2.0 * static_cast<double>(words - distance);
  }
  return pairs;
}

void write_walks() {
  std::ofstream out(work.text);
  std::vector<WalkNode> nodes;
  for (uint64_t i = 0; i < work.trained; ++i) {
    work.walks->walk(i, nodes);
    for (const WalkNode& node : nodes) out << index(node.type) << '_' << node.node << ' ';
    out << '\n';
    work.nodes += nodes.size();
    work.pairs += pairs_of(nodes.size(), kWindow);
    for (uint32_t window = 1; window <= kWindow; ++window) {
      work.drawn_pairs += pairs_of(nodes.size() + 1, window) / kWindow;
    }
  }
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// --- walks ---

void make_walks(benchmark::State& state, const Walks& walks) {
  std::vector<WalkNode> nodes;
  uint64_t i = 0;
  uint64_t steps = 0;
  for (auto unused : state) {
    walks.walk(i, nodes);
    i = (i + 1) % walks.size();
    steps += nodes.size();
  }
  state.counters["walks/s"] = Counter(static_cast<double>(state.iterations()), Counter::kIsRate);
  state.counters["nodes/s"] = Counter(static_cast<double>(steps), Counter::kIsRate);
}

// --- skip-gram ---

struct Trainer {
  explicit Trainer(uint32_t threads)
      : rows(*work.walks),
        inputs(rows.size() * kWidth),
        outputs(inputs.size()),
        skip_gram(*work.walks, count_occurrences(*work.walks, work.trained, 2),
                  {.width = kWidth,
                   .window = kWindow,
                   .negatives = kNegatives,
                   .learning_rate = kRate,
                   .threads = threads},
                  {inputs, outputs}) {
    skip_gram.initialize();
  }
  NodeRows rows;
  std::vector<float> inputs;
  std::vector<float> outputs;
  SkipGram skip_gram;
};

// Largest difference between kernels and reference after a few pairs.
double error_of_kernels() {
  constexpr uint32_t kRows = 16;
  ReferenceTables reference{.width = kWidth};
  Draws draws(1);
  for (uint32_t i = 0; i < kRows * kWidth; ++i) {
    reference.inputs.push_back(static_cast<float>(draws.unit() - 0.5));
    reference.outputs.push_back(static_cast<float>(draws.unit() - 0.5));
  }
  std::vector<float> inputs(reference.inputs.begin(), reference.inputs.end());
  std::vector<float> outputs(reference.outputs.begin(), reference.outputs.end());
  const std::vector<uint32_t> rows = {4, 5, 6, 7, 8, 9};
  const std::vector<float> copies(rows.size(), 1);
  const TrainingPair pair{.center = 3, .first = 0, .count = 6};
  std::vector<float> workspace(pair_workspace(kWidth));
  for (int step = 0; step < 10; ++step) {
    skip_gram_kernels(best_kernel_set())
        .train({inputs.data(), outputs.data(), kWidth}, {&pair, 1, rows.data(), copies.data()},
               0.025F, workspace.data());
    reference_pair_step(reference, {.center = 3, .context = 4, .negatives = {5, 6, 7, 8, 9}},
                        0.025);
  }
  double error = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    error = std::max(error, std::abs(inputs[i] - reference.inputs[i]));
    error = std::max(error, std::abs(outputs[i] - reference.outputs[i]));
  }
  return error;
}

void train_ours(benchmark::State& state) {
  if (error_of_kernels() > 1e-5) state.SkipWithError("the kernels are wrong");
  Trainer trainer(static_cast<uint32_t>(state.range(0)));
  double seconds = 0;
  for (auto unused : state) {
    const auto start = std::chrono::steady_clock::now();
    trainer.skip_gram.train(*work.walks, 0, work.trained);
    state.SetIterationTime(seconds_since(start));
    seconds += seconds_since(start);
  }
  const double rate = work.pairs * static_cast<double>(state.iterations()) / seconds / 1e6;
  our_rates[state.range(0)] = std::max(our_rates[state.range(0)], rate);
  state.counters["Mpairs/s"] = rate;
}

// --- fastText ---

fasttext::Args fasttext_options(int threads, int epochs) {
  fasttext::Args args;
  args.input = work.text.string();
  args.model = fasttext::model_name::sg;
  args.loss = fasttext::loss_name::ns;
  args.dim = static_cast<int>(kWidth);
  args.ws = static_cast<int>(kWindow);
  args.neg = static_cast<int>(kNegatives);
  args.lr = kRate;
  args.epoch = epochs;
  args.thread = threads;
  args.minCount = 1;
  args.minn = 0;  // whole words only
  args.maxn = 0;
  args.bucket = 0;
  args.t = 1e9;  // no word is left out for being frequent
  args.verbose = 0;
  return args;
}

double fasttext_seconds(int threads, int epochs) {
  fasttext::FastText model;
  const auto start = std::chrono::steady_clock::now();
  model.train(fasttext_options(threads, epochs));
  return seconds_since(start);
}

void train_fasttext(benchmark::State& state) {
  const auto threads = static_cast<int>(state.range(0));
  double seconds = 0;
  double preparation = 0;
  for (auto unused : state) {
    const double without = fasttext_seconds(threads, 0);
    const double with = fasttext_seconds(threads, 1);
    state.SetIterationTime(with - without);
    seconds += with - without;
    preparation += without;
  }
  const double rate = work.drawn_pairs * static_cast<double>(state.iterations()) / seconds / 1e6;
  state.counters["Mpairs/s"] = rate;
  state.counters["preparation_s"] = preparation / static_cast<double>(state.iterations());
  if (our_rates[threads] > 0) state.counters["ours/fastText"] = our_rates[threads] / rate;
}

int run() {
  benchmark::RegisterBenchmark("walks", [](benchmark::State& s) {
    make_walks(s, *work.walks);
  })->Unit(benchmark::kMicrosecond);
  benchmark::RegisterBenchmark("walks/last_time", [](benchmark::State& s) {
    make_walks(s, *work.bounded);
  })->Unit(benchmark::kMicrosecond);
  for (const int64_t threads : {1, 2}) {
    for (const bool ours : {true, false}) {
      benchmark::RegisterBenchmark(ours ? "skip_gram" : "fasttext",
                                   ours ? train_ours : train_fasttext)
          ->Arg(threads)
          ->ArgName("threads")
          ->UseManualTime()
          ->Iterations(1)
          ->Unit(benchmark::kMillisecond);
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

void prepare(const fs::path& folder, uint64_t papers, uint64_t walks) {
  generate_academic_graph(folder / "graph", {.preset = "cs", .papers = papers, .features = 0});
  const HeteroGraph graph = HeteroGraph::open(folder / "graph");
  const auto paths = venue_paths(graph.schema());
  const auto times = graph.times(graph.schema().node_type("paper"));
  std::vector<Time> sorted(times.begin(), times.end());
  std::sort(sorted.begin(), sorted.end());
  work.walks.emplace(graph, paths, WalkOptions{});
  work.bounded.emplace(graph, paths, WalkOptions{.last_time = sorted[sorted.size() * 3 / 4]});
  work.trained = std::min(walks, work.walks->size());
  work.text = folder / "walks.txt";
  write_walks();
}

}  // namespace
}  // namespace hgt

int main(int argc, char** argv) {
  const auto papers = hgt::take_flag("papers", argc, argv);
  const auto walks = hgt::take_flag("walks", argc, argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  std::string folder = (std::filesystem::temp_directory_path() / "hgt-benchmark-XXXXXX").string();
  const std::filesystem::path made = ::mkdtemp(folder.data());
  hgt::prepare(made, papers ? std::strtoull(papers->c_str(), nullptr, 10) : 20'000,
               walks ? std::strtoull(walks->c_str(), nullptr, 10) : 5'000);
  const int code = hgt::run();
  std::filesystem::remove_all(made);
  return code;
}
