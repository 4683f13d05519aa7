#include "hgt/features/metapath2vec/skip_gram.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>

#include "hgt/error.h"
#include "hgt/features/metapath2vec/walk_threads.h"

namespace hgt {

namespace {

constexpr uint64_t kInputStream = 3;
constexpr uint64_t kNegativeStream = 4;
constexpr double kLeastRate = 1e-4;  // as a share of the first one
constexpr uint64_t kWalksTogether = 64;
constexpr uint64_t kRowsTogether = 1024;

// Above these limits, which are larger than anybody needs, numbers of pairs no longer fit their
// types.
constexpr uint32_t kWidest = 1U << 16U;
constexpr uint32_t kLargestWindow = 100;
constexpr uint32_t kMostNegatives = 100;
constexpr uint32_t kMostThreads = 1024;

void check_count(const char* name, uint32_t value, uint32_t most) {
  if (value >= 1 && value <= most) return;
  throw Error(fmt::format("skip-gram: {} is {}; give 1 to {}", name, value, most));
}

void check_size(const char* what, uint64_t size, uint64_t rows, uint64_t width) {
  if (size == rows * width) return;
  throw Error(fmt::format("skip-gram: {} have {} numbers, but {} rows of {} make {}", what, size,
                          rows, width, rows * width));
}

std::span<const uint64_t> checked_occurrences(std::span<const uint64_t> occurrences,
                                              const NodeRows& rows) {
  check_size("occurrences", occurrences.size(), rows.size(), 1);
  return occurrences;
}

// Reports walks done to the sink, as a share of `all`.
std::function<void(uint64_t)> walk_report(const ProgressSink& progress, const std::string& stage,
                                          uint64_t all) {
  return [&progress, stage, all](uint64_t done) {
    progress({.stage = stage,
              .unit = "walks",
              .count = done,
              .fraction = static_cast<double>(done) / static_cast<double>(all)});
  };
}

void report_end(const ProgressSink& progress, const std::string& stage, uint64_t all) {
  progress({.stage = stage, .unit = "walks", .count = all, .fraction = 1, .finished = true});
}

// Other threads count in the same numbers. A node on its own makes no pair: nothing is learned of
// it.
void count_nodes(std::span<const WalkNode> nodes, const NodeRows& rows,
                 std::span<uint64_t> occurrences) {
  if (nodes.size() < 2) return;
  for (const WalkNode& node : nodes) {
    std::atomic_ref(occurrences[rows(node)]).fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace

void check_skip_gram_options(const SkipGramOptions& options) {
  check_count("width", options.width, kWidest);
  check_count("window", options.window, kLargestWindow);
  check_count("negatives", options.negatives, kMostNegatives);
  check_count("threads", options.threads, kMostThreads);
  if (options.learning_rate > 0 && options.learning_rate <= 1) return;
  throw Error(fmt::format("skip-gram: learning_rate is {}; give a number above 0, up to 1",
                          options.learning_rate));
}

std::vector<uint64_t> count_occurrences(const Walks& walks, uint64_t walks_counted,
                                        uint32_t threads, const ProgressSink& progress) {
  check_count("threads", threads, kMostThreads);
  if (walks_counted == 0 || walks_counted > walks.size()) {
    throw Error(fmt::format("skip-gram: {} walks cannot be counted; give 1 to {}", walks_counted,
                            walks.size()));
  }
  const NodeRows rows(walks);
  std::vector<uint64_t> occurrences(rows.size());
  const auto count = [&](const NumberRange& piece) {
    std::vector<WalkNode> nodes;
    for (uint64_t i = piece.first; i < piece.last; ++i) {
      walks.walk(i, nodes);
      count_nodes(nodes, rows, occurrences);
    }
  };
  const std::string stage = "counting nodes on walks";
  share_out({0, walks_counted}, kWalksTogether, threads, count,
            walk_report(progress, stage, walks_counted));
  report_end(progress, stage, walks_counted);
  return occurrences;
}

// What one thread trains with.
class SkipGram::Worker {
 public:
  explicit Worker(const SkipGram& all)
      : all_(&all),
        pairs_(all.rows_, all.negatives_,
               {.window = all.options_.window, .negatives = all.options_.negatives}),
        workspace_(pair_workspace(all.options_.width)) {}

  void train(const Walks& walks, uint64_t walk) {
    walks.walk(walk, nodes_);
    const PairList list = pairs_.list(nodes_, all_->negative_draws(walk));
    const PairTables tables{.inputs = all_->tables_.inputs.data(),
                            .outputs = all_->tables_.outputs.data(),
                            .width = all_->options_.width};
    skip_gram_kernels(all_->options_.kernels)
        .train(tables, list, static_cast<float>(all_->rate(walk)), workspace_.data());
  }

 private:
  const SkipGram* all_;
  WalkPairs pairs_;
  std::vector<float> workspace_;
  std::vector<WalkNode> nodes_;
};

SkipGram::SkipGram(const Walks& walks, std::span<const uint64_t> occurrences,
                   SkipGramOptions options, SkipGramTables tables)
    : options_(options),
      tables_(tables),
      rows_(walks),
      negatives_(rows_, checked_occurrences(occurrences, rows_)),
      walks_(walks.size()) {
  check_skip_gram_options(options_);
  check_size("inputs", tables_.inputs.size(), rows_.size(), options_.width);
  check_size("outputs", tables_.outputs.size(), rows_.size(), options_.width);
}

double SkipGram::rate(uint64_t walk) const {
  const double left = 1 - static_cast<double>(walk) / static_cast<double>(walks_);
  return options_.learning_rate * std::max(left, kLeastRate);
}

Draws SkipGram::negative_draws(uint64_t walk) const {
  return Draws(hash(options_.seed, kNegativeStream, walk));
}

void SkipGram::initialize() {
  const auto set_rows = [&](const NumberRange& piece) {
    for (uint64_t row = piece.first; row < piece.last; ++row) initialize_row(row);
  };
  share_out({0, rows_.size()}, kRowsTogether, options_.threads, set_rows, [](uint64_t) {});
}

void SkipGram::initialize_row(uint64_t row) {
  const uint64_t width = options_.width;
  for (uint64_t column = 0; column < width; ++column) {
    const double unit = to_unit(hash(options_.seed, kInputStream, row, column));
    tables_.inputs[row * width + column] =
        static_cast<float>((unit - 0.5) / static_cast<double>(width));
    tables_.outputs[row * width + column] = 0;
  }
}

void SkipGram::train(const Walks& walks, uint64_t first, uint64_t last,
                     const ProgressSink& progress) {
  if (first > last || last > walks.size() || walks.size() != walks_) {
    throw Error(
        fmt::format("skip-gram: cannot train on walks {} to {} of {}; it was made for {} walks",
                    first, last, walks.size(), walks_));
  }
  if (NodeRows(walks) != rows_) {
    throw Error("skip-gram: these walks do not have the nodes that it was made for");
  }
  if (first == last) return;
  const auto train_piece = [&](const NumberRange& piece) {
    Worker worker(*this);
    for (uint64_t i = piece.first; i < piece.last; ++i) worker.train(walks, i);
  };
  const std::string stage = "training node vectors";
  share_out({first, last}, kWalksTogether, options_.threads, train_piece,
            walk_report(progress, stage, last - first));
  report_end(progress, stage, last - first);
}

// --- the kernels of this processor ---

KernelSet best_kernel_set() {
#if defined(__x86_64__)
  static const bool avx2 =
      __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  if (avx2) return KernelSet::avx2;
#endif
  return KernelSet::portable;
}

const SkipGramKernels& skip_gram_kernels(KernelSet set) {
#if defined(__x86_64__)
  if (set == KernelSet::avx2) return avx2::skip_gram_kernels();
#endif
  static_cast<void>(set);
  return portable::skip_gram_kernels();
}

}  // namespace hgt
