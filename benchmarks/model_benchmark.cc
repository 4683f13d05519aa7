// Training steps of HGT (hidden 256, 8 heads, 3 layers, RTE on) on sub-graphs: forward, forward and
// backward, and with AdamW; fused and reference path, trimmed and not; growth with edges, types and
// relations. The fused path is compared with the reference before it is timed.
//
//   model_benchmark [--threads=N] [--work=FOLDER] [--benchmark_filter=...]
//   model_benchmark [--threads=N] [--work=FOLDER] --peak=WORK[,untrimmed]
//
// FOLDER holds what subgraph_to_safetensors.py made; without it, random sub-graphs of the same
// sizes are measured. --peak trains a few steps and prints the process's peak memory.
//
// `bound`: time over that of the dense arithmetic (layer_work.h) at the rate of [2048, 256] x
// [256, 768] measured between the iterations; medians of both.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "benchmarks/flags.h"
#include "benchmarks/layer_work.h"
#include "benchmarks/memory_line.h"
#include "benchmarks/ratio_reporter.h"
#include "hgt/error.h"
#include "hgt/model/encoder.h"
#include "hgt/model/machine.h"

namespace hgt {
namespace {

constexpr uint32_t kLayers = 3;
constexpr int64_t kHidden = 256;

enum class Part { forward, backward, step };

struct Setting {
  LayerPath path = LayerPath::fused;
  Trim trim = Trim::off;
  bool rte = true;
  bool release = false;
  Part part = Part::step;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

template <typename Work>
double seconds_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// As graph_batch() makes it of a graph; here the features are those of the work.
GraphBatch batch_of(const LayerWork& work, Trim trim) {
  ReceptiveField field = receptive_field(work.subgraph, kLayers, trim);
  const std::vector<int64_t> seed_rows(field.seed_rows.begin(), field.seed_rows.end());
  GraphBatch batch{.type_offsets = field.type_offsets,
                   .features = {},
                   .nodes = {},
                   .layers = std::move(field.layers),
                   .seed_rows = torch::tensor(seed_rows, at::kLong),
                   .plans = {}};
  for (uint32_t type = 0; type < work.features.size(); ++type) {
    const size_t width = work.schema.node_types[type].features;
    const uint32_t first = field.type_offsets[type];
    const uint32_t rows = field.type_offsets[type + 1] - first;
    at::Tensor& features = batch.features.emplace_back();
    if (rows == 0 || width == 0) continue;
    features = at::empty({rows, static_cast<int64_t>(width)}, at::kFloat);
    for (uint32_t i = 0; i < rows; ++i) {
      const uint32_t row = field.rows[first + i] - work.subgraph.type_offsets[type];
      std::copy_n(work.features[type].data() + row * width, width,
                  features.data_ptr<float>() + i * width);
    }
  }
  return batch;
}

// A model, its optimizer, and one batch.
class Trainer {
 public:
  Trainer(const LayerWork& work, const Setting& setting)
      : encoder_(options_for(setting), work.schema),
        head_(kHidden, work.classes),
        optimizer_(parameters(), torch::optim::AdamWOptions(1e-3)),
        batch_(batch_of(work, setting.trim)),
        labels_(torch::tensor(work.labels, at::kLong)) {
    if (setting.path == LayerPath::fused) encoder_->prepare(batch_);
  }

  at::Tensor seeds() { return encoder_->forward(batch_).index_select(0, batch_.seed_rows); }

  void run(Part part) {
    if (part == Part::forward) {
      const torch::NoGradGuard no_gradient;
      seeds();
      return;
    }
    optimizer_.zero_grad();
    torch::nn::functional::cross_entropy(head_(seeds()), labels_).backward();
    if (part == Part::step) optimizer_.step();
  }

 private:
  static ModelOptions options_for(const Setting& setting) {
    ModelOptions options = setting.release ? release_preset() : paper_preset();
    options.path = setting.path;
    options.rte = setting.rte;
    return options;
  }
  std::vector<at::Tensor> parameters() {
    std::vector<at::Tensor> all = encoder_->parameters();
    for (const at::Tensor& parameter : head_->parameters()) all.push_back(parameter);
    return all;
  }

  Encoder encoder_;
  torch::nn::Linear head_;
  torch::optim::AdamW optimizer_;
  GraphBatch batch_;
  at::Tensor labels_;
};

// The fused path gives what the reference gives; "": it does. The answer is kept.
std::string complaint(const LayerWork& work, const Setting& setting) {
  static std::map<std::string, std::string> answers;
  const auto [found, is_new] =
      answers.emplace(fmt::format("{} {}", work.name, setting.release), "");
  if (!is_new) return found->second;
  const torch::NoGradGuard no_gradient;
  Setting reference = setting;
  reference.path = LayerPath::reference;
  reference.trim = Trim::on;
  Setting fused = reference;
  fused.path = LayerPath::fused;
  const auto seeds = [&](const Setting& which) {
    torch::manual_seed(1);
    Trainer trainer(work, which);
    torch::manual_seed(2);  // dropout
    return trainer.seeds();
  };
  const double difference = (seeds(fused) - seeds(reference)).abs().max().item<double>();
  if (!(difference < 1e-4))
    found->second = fmt::format("differs by {} from the reference", difference);
  return found->second;
}

void train(benchmark::State& state, const LayerWork& work, const Setting& setting) {
  const std::string wrong = complaint(work, setting);
  if (!wrong.empty()) {
    state.SkipWithError(wrong.c_str());
    return;
  }
  torch::manual_seed(1);
  Trainer trainer(work, setting);
  for (int i = 0; i < 2; ++i) trainer.run(setting.part);
  std::vector<double> times;
  std::vector<double> rates;
  for (auto _ : state) {
    rates.push_back(measure_gemm_rate(3));
    times.push_back(seconds_of([&] { trainer.run(setting.part); }));
    state.SetIterationTime(times.back());
  }
  const double seconds = median(times);
  const double share = setting.part == Part::forward ? 1.0 / 3 : 1.0;
  const double flops = share * dense_flops(work, kHidden, kLayers, setting.trim == Trim::on);
  state.counters["median_ms"] = seconds * 1e3;
  state.counters["edges/s"] = static_cast<double>(work.subgraph.num_edges()) * kLayers / seconds;
  state.counters["GFLOP/s"] = median(rates) * 1e-9;
  state.counters["bound"] = seconds * median(rates) / flops;
}

void prepare(benchmark::State& state, const LayerWork& work, Trim trim) {
  const Encoder encoder(paper_preset(), work.schema);
  for (auto _ : state) {
    const double seconds = seconds_of([&] {
      GraphBatch batch = batch_of(work, trim);
      encoder->prepare(batch);
    });
    state.SetIterationTime(seconds);
  }
}

// The sub-graphs that the peers were measured on.
struct KnownWork {
  const char* name;
  WorkSize size;
};
constexpr std::array<KnownWork, 3> kWorks = {{{"sub_128x6", {3684, 16116}},
                                              {"sub_520x3", {6636, 34124}},
                                              {"sub_20k", {21195, 194538, 6400}}}};

LayerWork load(const KnownWork& work, const std::optional<std::string>& folder) {
  if (!folder) return random_work(work.name, work.size);
  return read_work(Path(*folder) / (std::string(work.name) + ".safetensors"));
}

template <typename Function>
void add(const std::string& name, Function function) {
  benchmark::RegisterBenchmark(name.c_str(), function)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

void register_work(const LayerWork& work) {
  const auto named = [&](const std::string& what, const Setting& setting) {
    add(what + "/" + work.name, [&work, setting](auto& state) { train(state, work, setting); });
  };
  named("forward", {.part = Part::forward});
  named("forward_backward", {.part = Part::backward});
  named("step", {});
  named("step_trimmed", {.trim = Trim::on});
  named("step_without_time", {.rte = false});
  named("step_release", {.trim = Trim::on, .release = true});
  named("step_reference", {.path = LayerPath::reference});
  for (const Trim trim : {Trim::off, Trim::on}) {
    add(fmt::format("prepare{}/{}", trim == Trim::on ? "_trimmed" : "", work.name),
        [&work, trim](auto& state) { prepare(state, work, trim); });
  }
}

std::string edges_name(uint64_t edges) { return fmt::format("growth/edges:{}", edges); }
std::string types_name(uint32_t types, uint32_t relations) {
  return fmt::format("growth/types:{}/relations:{}", types, relations);
}

std::vector<LayerWork> growth_works() {
  std::vector<LayerWork> works;
  for (const uint64_t edges : {10'000U, 100'000U, 1'000'000U}) {
    works.push_back(
        random_work(edges_name(edges), {.rows = static_cast<uint32_t>(edges / 5), .edges = edges}));
  }
  for (const auto& [types, relations] : {std::pair(5U, 20U), {20U, 60U}, {70U, 140U}}) {
    works.push_back(
        random_work(types_name(types, relations),
                    {.rows = 20'000, .edges = 100'000, .types = types, .relations = relations}));
  }
  return works;
}

void print_ratios(const RatioReporter& reporter, const std::vector<LayerWork>& works) {
  fmt::print("\nratios of times in this run\n");
  for (const LayerWork& work : works) {
    const auto ratio = [&](const char* slow, const char* fast, const char* meaning) {
      reporter.print_ratio(fmt::format("{}/{}", slow, work.name),
                           fmt::format("{}/{}", fast, work.name),
                           fmt::format("{}, {}", meaning, work.name));
    };
    ratio("step_reference", "step", "reference : fused");
    ratio("step", "step_trimmed", "untrimmed : trimmed");
    ratio("step", "step_without_time", "with RTE : without");
  }
  reporter.print_ratio(edges_name(1'000'000), edges_name(10'000),
                       "10^6 edges : 10^4 (100 is even)");
  reporter.print_ratio(edges_name(100'000), edges_name(10'000), "10^5 edges : 10^4 (10 is even)");
  reporter.print_ratio(types_name(70, 140), types_name(5, 20),
                       "70 types, 140 relations : 5 types, 20 relations");
}

int print_peak(const std::string& what, const std::optional<std::string>& folder) {
  const double before = memory_line("VmHWM:");
  const bool trimmed = what.find(",untrimmed") == std::string::npos;
  for (const KnownWork& known : kWorks) {
    if (what.substr(0, what.find(',')) != known.name) continue;
    const LayerWork work = load(known, folder);
    Trainer trainer(work, {.trim = trimmed ? Trim::on : Trim::off});
    for (int i = 0; i < 8; ++i) trainer.run(Part::step);
    fmt::print("{}{}: peak {:.0f} MB, of which {:.0f} MB before the first tensor\n", work.name,
               trimmed ? "" : " untrimmed", memory_line("VmHWM:"), before);
    return 0;
  }
  fmt::print(stderr, "no work named {}\n", what);
  return 2;
}

}  // namespace
}  // namespace hgt

int main(int argc, char** argv) {
  const auto threads = hgt::take_flag("threads", argc, argv);
  const auto folder = hgt::take_flag("work", argc, argv);
  const auto peak = hgt::take_flag("peak", argc, argv);
  hgt::keep_tensor_memory();
  hgt::set_compute_threads(threads ? std::stoi(*threads) : 0);
  if (peak) return hgt::print_peak(*peak, folder);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  std::vector<hgt::LayerWork> works;
  for (const hgt::KnownWork& known : hgt::kWorks) works.push_back(hgt::load(known, folder));
  const std::vector<hgt::LayerWork> growing = hgt::growth_works();
  for (const hgt::LayerWork& work : works) hgt::register_work(work);
  for (const hgt::LayerWork& work : growing) {
    hgt::add(work.name,
             [&work](auto& state) { hgt::train(state, work, {.part = hgt::Part::backward}); });
  }
  hgt::RatioReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  hgt::print_ratios(reporter, works);
  return reporter.failed() ? 1 : 0;
}
