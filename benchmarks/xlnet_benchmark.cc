// Vectors of titles from an XLNet of the size of xlnet-base (12 layers, 768, 12 heads, 3072) with
// random weights; titles are random ids of 8 to 30 tokens, most about 15.
//
//   xlnet_benchmark [--threads=N] [--benchmark_filter=...]
//
// `bound`: time over that of the matrix products (projections, outputs, both feed-forward matrices
// of the 11 layers that are needed) at the rate of [2048, 256] x [256, 768] measured between the
// iterations; medians of both. `GFLOP/s` is the rate of the matrix products in the whole.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp is POSIX

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "benchmarks/flags.h"
#include "hgt/disk/tensor_file.h"
#include "hgt/features/xlnet/xlnet_network.h"
#include "hgt/model/machine.h"

namespace hgt {
namespace {

constexpr uint64_t kVocabulary = 4000;  // its size costs no arithmetic
constexpr uint64_t kModel = 768;
constexpr uint64_t kHeads = 12;
constexpr uint64_t kInner = 3072;
constexpr uint64_t kLayers = 12;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// A folder as XlnetNetwork opens it.
class RandomModel {
 public:
  RandomModel() {
    add("word_embedding.weight", {kVocabulary, kModel});
    for (uint64_t layer = 0; layer < kLayers; ++layer) add_layer(fmt::format("layer.{}.", layer));
    std::string folder = (std::filesystem::temp_directory_path() / "hgt_xlnet_XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("cannot make " + folder);
    folder_ = folder;
    std::ofstream(folder_ / "config.json") << fmt::format(
        R"({{"vocab_size": {}, "d_model": {}, "n_layer": {}, "n_head": {}, "d_inner": {}}})",
        kVocabulary, kModel, kLayers, kHeads, kInner);
    write_tensor_file(folder_ / "model.safetensors", views_, {});
  }
  RandomModel(const RandomModel&) = delete;
  RandomModel& operator=(const RandomModel&) = delete;
  ~RandomModel() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  const Path& folder() const { return folder_; }

 private:
  void add(const std::string& name, const std::vector<uint64_t>& shape) {
    uint64_t count = 1;
    for (const uint64_t extent : shape) count *= extent;
    std::uniform_real_distribution<float> uniform(-0.04F, 0.04F);
    std::vector<float>& values = values_.emplace_back(count);
    for (float& value : values) value = uniform(random_);
    if (name.ends_with("norm.weight")) std::fill(values.begin(), values.end(), 1.0F);
    views_.push_back({.name = name,
                      .type = ElementType::float32,
                      .shape = shape,
                      .data = std::as_bytes(std::span(values))});
  }

  void add_layer(const std::string& layer) {
    constexpr uint64_t kWidth = kModel / kHeads;
    for (const char* matrix : {"q", "k", "v", "o", "r"}) {
      add(layer + "rel_attn." + matrix, {kModel, kHeads, kWidth});
    }
    for (const char* bias : {"r_w_bias", "r_r_bias"}) {
      add(layer + "rel_attn." + bias, {kHeads, kWidth});
    }
    for (const char* part : {"rel_attn", "ff"}) {
      add(layer + part + ".layer_norm.weight", {kModel});
      add(layer + part + ".layer_norm.bias", {kModel});
    }
    add(layer + "ff.layer_1.weight", {kInner, kModel});
    add(layer + "ff.layer_1.bias", {kInner});
    add(layer + "ff.layer_2.weight", {kModel, kInner});
    add(layer + "ff.layer_2.bias", {kModel});
  }

  std::mt19937 random_{1};
  std::deque<std::vector<float>> values_;
  std::vector<TensorView> views_;
  Path folder_;
};

std::vector<std::vector<int32_t>> random_titles(size_t count) {
  std::mt19937 random(2);
  std::lognormal_distribution<double> length(std::log(15.0), 0.35);
  std::uniform_int_distribution<int32_t> word(0, kVocabulary - 1);
  std::vector<std::vector<int32_t>> titles(count);
  for (std::vector<int32_t>& ids : titles) {
    ids.resize(static_cast<size_t>(std::clamp(length(random), 8.0, 30.0)));
    for (int32_t& id : ids) id = word(random);
  }
  return titles;
}

void encode(benchmark::State& state, const XlnetNetwork& network, size_t count) {
  const std::vector<std::vector<int32_t>> titles = random_titles(count);
  size_t tokens = 0;
  for (const std::vector<int32_t>& ids : titles) tokens += ids.size();
  std::vector<float> rows(count * kModel);
  std::vector<double> times;
  std::vector<double> rates;
  for (auto _ : state) {
    rates.push_back(measure_gemm_rate(5));
    const auto start = std::chrono::steady_clock::now();
    network.encode(titles, rows);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    times.push_back(seconds.count());
    state.SetIterationTime(times.back());
  }
  constexpr uint64_t kPerToken = (kLayers - 1) * 2 * (4 * kModel * kModel + 2 * kModel * kInner);
  const double flops = static_cast<double>(kPerToken) * static_cast<double>(tokens);
  const double seconds = median(times);
  state.counters["titles/s"] = static_cast<double>(count) / seconds;
  state.counters["tokens"] = static_cast<double>(tokens) / static_cast<double>(count);
  state.counters["GFLOP/s"] = flops / seconds * 1e-9;
  state.counters["bound"] = seconds * median(rates) / flops;
}

}  // namespace
}  // namespace hgt

int main(int argc, char** argv) {
  const auto threads = hgt::take_flag("threads", argc, argv);
  hgt::set_compute_threads(threads ? std::stoi(*threads) : 0);
  const hgt::RandomModel model;
  const hgt::XlnetNetwork network = hgt::XlnetNetwork::open(model.folder());
  for (const size_t titles : {1, 16, 256, 1024}) {
    benchmark::RegisterBenchmark(
        fmt::format("encode/{}", titles).c_str(),
        [&network, titles](benchmark::State& state) { hgt::encode(state, network, titles); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
