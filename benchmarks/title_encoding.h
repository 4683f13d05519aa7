// Vectors of titles from a text encoder with random weights; titles are random ids of 8 to 30
// tokens, most about 15. What xlnet_benchmark and bert_benchmark share.
#pragma once

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp is POSIX

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <filesystem>
#include <fstream>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "benchmarks/flags.h"
#include "hgt/disk/tensor_file.h"
#include "hgt/model/machine.h"

namespace hgt {

constexpr uint64_t kVocabulary = 4000;  // its size costs no arithmetic

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// A folder with config.json and model.safetensors.
class RandomModel {
 public:
  RandomModel() {
    std::string folder = (std::filesystem::temp_directory_path() / "hgt_titles_XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("cannot make " + folder);
    folder_ = folder;
  }
  RandomModel(const RandomModel&) = delete;
  RandomModel& operator=(const RandomModel&) = delete;
  ~RandomModel() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  void add(const std::string& name, const std::vector<uint64_t>& shape) {
    uint64_t count = 1;
    for (const uint64_t extent : shape) count *= extent;
    std::uniform_real_distribution<float> uniform(-0.04F, 0.04F);
    std::vector<float>& values = values_.emplace_back(count);
    for (float& value : values) value = uniform(random_);
    const bool scale = name.ends_with("norm.weight") || name.ends_with("Norm.weight");
    if (scale) std::fill(values.begin(), values.end(), 1.0F);
    views_.push_back({.name = name,
                      .type = ElementType::float32,
                      .shape = shape,
                      .data = std::as_bytes(std::span(values))});
  }
  void write(const std::string& config) const {
    std::ofstream(folder_ / "config.json") << config;
    write_tensor_file(folder_ / "model.safetensors", views_, {});
  }
  const Path& folder() const { return folder_; }

 private:
  std::mt19937 random_{1};
  std::deque<std::vector<float>> values_;
  std::vector<TensorView> views_;
  Path folder_;
};

inline std::vector<std::vector<int32_t>> random_titles(size_t count) {
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

// per_token: floating-point operations of the matrix products.
template <typename Network>
void encode(benchmark::State& state, const Network& network, size_t count, uint64_t width,
            uint64_t per_token) {
  const std::vector<std::vector<int32_t>> titles = random_titles(count);
  size_t tokens = 0;
  for (const std::vector<int32_t>& ids : titles) tokens += ids.size();
  std::vector<float> rows(count * width);
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
  const double flops = static_cast<double>(per_token) * static_cast<double>(tokens);
  const double seconds = median(times);
  state.counters["titles/s"] = static_cast<double>(count) / seconds;
  state.counters["tokens"] = static_cast<double>(tokens) / static_cast<double>(count);
  state.counters["GFLOP/s"] = flops / seconds * 1e-9;
  state.counters["bound"] = seconds * median(rates) / flops;
}

template <typename Network>
int run_title_benchmark(int argc, char** argv, const Path& folder, uint64_t width,
                        uint64_t per_token) {
  const auto threads = take_flag("threads", argc, argv);
  set_compute_threads(threads ? std::stoi(*threads) : 0);
  const Network network = Network::open(folder);
  for (const size_t titles : {1, 16, 256, 1024}) {
    benchmark::RegisterBenchmark(fmt::format("encode/{}", titles).c_str(),
                                 [&network, titles, width, per_token](benchmark::State& state) {
                                   encode(state, network, titles, width, per_token);
                                 })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace hgt
