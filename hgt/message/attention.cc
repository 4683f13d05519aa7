#include "hgt/message/attention.h"

#include <omp.h>

#include <algorithm>
#include <cassert>
#include <functional>
#include <vector>

namespace hgt {

Instructions best_instructions() {
#if defined(__x86_64__)
  static const bool avx2 =
      __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  static const bool avx512 =
      __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512bw") != 0;
  if (avx2) return avx512 ? Instructions::avx512 : Instructions::avx2;
#endif
  return Instructions::portable;
}

std::string_view to_string(Instructions instructions) {
  if (instructions == Instructions::portable) return "portable";
  return instructions == Instructions::avx2 ? "AVX2" : "AVX-512";
}

template <typename T>
const AttentionKernels<T>& attention_kernels(Instructions instructions) {
#if defined(__x86_64__)
  if (instructions == Instructions::avx512) return avx512::kernels<T>();
  if (instructions == Instructions::avx2) return avx2::kernels<T>();
#endif
  return portable::kernels<T>();
}

template const AttentionKernels<float>& attention_kernels<float>(Instructions);
template const AttentionKernels<double>& attention_kernels<double>(Instructions);

PlanArrays::PlanArrays(const AttentionPlan& plan)
    : edge_source(plan.edge_source.data()),
      edge_time(plan.temporal ? plan.edge_time.data() : nullptr),
      groups(plan.groups.data()),
      target_groups(plan.target_groups.data()),
      uses(plan.uses.data()),
      chunks(plan.chunks.data()),
      num_targets(plan.num_targets),
      num_edges(plan.num_edges()) {}

namespace {

constexpr uint32_t kRowsPerTask = 96;
constexpr uint32_t kRowsPerSum = 384;

// Calls block(i) for i in [0, count), on so many threads.
template <typename Block>
void in_parallel(int threads, size_t count, const Block& block) {
  const auto last = static_cast<int64_t>(count);
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1 && last > 1)
  for (int64_t i = 0; i < last; ++i) block(static_cast<size_t>(i));
}

// Runs cut into pieces that threads share.
std::vector<PairRun> cut_runs(const std::vector<PairRun>& runs, uint32_t rows) {
  std::vector<PairRun> pieces;
  for (const PairRun& run : runs) {
    for (uint32_t first = run.first; first < run.last; first += rows) {
      pieces.push_back({run.relation, first, std::min(run.last, first + rows)});
    }
  }
  return pieces;
}

// Waking threads for a tiny graph costs more than the work.
int threads_for(const AttentionPlan& plan, const HeadShape& shape) {
  constexpr uint64_t kSmallWork = 1U << 18U;  // numbers read
  const uint64_t rows = uint64_t{plan.num_edges()} + plan.source_rows + plan.target_rows;
  return rows * shape.hidden() < kSmallWork ? 1 : omp_get_max_threads();
}

// The matrices of all relations: [relations][heads or 1][width][width].
template <typename T>
struct Matrices {
  const T* data;
  HeadShape shape;

  const T* operator[](uint32_t relation) const { return data + relation * shape.block(); }
};

// The same with the last two indices exchanged.
template <typename T>
class Transposed {
 public:
  Transposed(const T* matrices, uint32_t relations, const HeadShape& shape, int threads)
      : shape_(shape), values_(relations * shape.block()) {
    const uint64_t width = shape.width;
    in_parallel(threads, uint64_t{relations} * shape.matrices(), [&](size_t block) {
      const T* from = matrices + block * width * width;
      T* to = values_.data() + block * width * width;
      for (uint64_t i = 0; i < width; ++i) {
        for (uint64_t j = 0; j < width; ++j) to[j * width + i] = from[i * width + j];
      }
    });
  }
  Matrices<T> matrices() const { return {values_.data(), shape_}; }

 private:
  HeadShape shape_;
  std::vector<T> values_;
};

// Gradients of matrices, summed by one thread; only relations that it meets take room.
template <typename T>
class MatrixSums {
 public:
  MatrixSums(uint32_t relations, const HeadShape& shape) : shape_(shape), sums_(relations) {}
  T* operator[](uint32_t relation) {
    if (sums_[relation].empty()) sums_[relation].resize(shape_.block());
    return sums_[relation].data();
  }
  // Adds what was summed for a relation.
  void add_to(uint32_t relation, T* to) const {
    std::transform(sums_[relation].begin(), sums_[relation].end(), to, to, std::plus<T>());
  }

 private:
  HeadShape shape_;
  std::vector<std::vector<T>> sums_;
};

// One pass of attention over a plan, forward or backward.
template <typename T>
class Attention {
 public:
  Attention(const AttentionPlan& plan, const HeadShape& shape, const AttentionTables<T>& tables,
            Instructions instructions)
      : plan_(plan),
        shape_(shape),
        hidden_(shape.hidden()),
        relations_(plan.num_relations),
        threads_(threads_for(plan, shape)),
        tables_(tables),
        kernels_(attention_kernels<T>(instructions)),
        attention_{tables.attention_matrices, shape},
        message_{tables.message_matrices, shape},
        attention_back_(tables.attention_matrices, plan.num_relations, shape, threads_),
        message_back_(tables.message_matrices, plan.num_relations, shape, threads_) {}

  void forward() {
    spread_to_source_pairs(0, attention_);
    spread_to_source_pairs(hidden_, message_);
    const uint64_t room = most_pairs() * hidden_;
#pragma omp parallel num_threads(threads_) if (threads_ > 1)
    {
      std::vector<T> queries(room);
      std::vector<T> sums(room);
#pragma omp for schedule(dynamic)
      for (uint32_t block = 0; block < plan_.num_blocks(); ++block) {
        attend_block(block, queries.data(), sums.data());
      }
    }
  }

  void backward(const AttentionGradients<T>& gradients) {
    std::fill_n(gradients.attention_matrices, relations_ * shape_.block(), T(0));
    std::fill_n(gradients.message_matrices, relations_ * shape_.block(), T(0));
    backward_targets(gradients);
    gather_sources(gradients);
    backward_sources(gradients, 0, attention_back_.matrices(), gradients.attention_matrices);
    backward_sources(gradients, hidden_, message_back_.matrices(), gradients.message_matrices);
  }

 private:
  uint64_t most_pairs() const {
    uint64_t most = 0;
    for (uint32_t block = 0; block < plan_.num_blocks(); ++block) {
      most = std::max<uint64_t>(most, plan_.pairs_of(block).size());
    }
    return most;
  }

  EdgePass<T> edge_pass() const {
    return {.plan = PlanArrays(plan_),
            .shape = shape_,
            .sources = tables_.sources,
            .queries = {.targets = tables_.queries},
            .weights = tables_.weights,
            .sums = {.targets = tables_.outputs}};
  }

  // --- pairs at the sources; `half` is 0 for keys and d for messages ---

  T* source_pairs(T* table, uint64_t half) const {
    return table + uint64_t{plan_.first_source_pair()} * 2 * hidden_ + half;
  }

  void spread_to_source_pairs(uint64_t half, Matrices<T> matrices) {
    const std::vector<PairRun> pieces = cut_runs(plan_.source_runs, kRowsPerTask);
    in_parallel(threads_, pieces.size(), [&](size_t i) {
      const PairRun& run = pieces[i];
      kernels_.multiply({.shape = shape_,
                         .from = {tables_.sources + half, 2 * hidden_, plan_.source_pairs.data()},
                         .to = {source_pairs(tables_.sources, half), 2 * hidden_},
                         .matrix = matrices[run.relation]},
                        run.first, run.last);
    });
  }

  // Gradients of source pairs go to their rows and to the matrices. Relations come one after the
  // other, for they share rows.
  void backward_sources(const AttentionGradients<T>& gradients, uint64_t half, Matrices<T> back,
                        T* matrix_gradients) {
    const T* pairs = source_pairs(gradients.sources, half);
    // Pieces are summed apart and then in their order: the same sum for any number of threads.
    const std::vector<PairRun> sums = cut_runs(plan_.source_runs, kRowsPerSum);
    std::vector<std::vector<T>> partials(sums.size());
    in_parallel(threads_, sums.size(), [&](size_t i) {
      partials[i].resize(shape_.block());
      kernels_.outer({.shape = shape_,
                      .left = {tables_.sources + half, 2 * hidden_, plan_.source_pairs.data()},
                      .right = {pairs, 2 * hidden_},
                      .gradient = partials[i].data()},
                     sums[i].first, sums[i].last);
    });
    for (size_t i = 0; i < sums.size(); ++i) {
      T* to = matrix_gradients + sums[i].relation * shape_.block();
      std::transform(partials[i].begin(), partials[i].end(), to, to, std::plus<T>());
    }
    for (const PairRun& whole : plan_.source_runs) {
      const std::vector<PairRun> pieces = cut_runs({whole}, kRowsPerTask);
      in_parallel(threads_, pieces.size(), [&](size_t i) {
        kernels_.multiply({.shape = shape_,
                           .from = {pairs, 2 * hidden_},
                           .to = {gradients.sources + half, 2 * hidden_, plan_.source_pairs.data()},
                           .matrix = back[whole.relation],
                           .add = true},
                          pieces[i].first, pieces[i].last);
      });
    }
  }

  // --- blocks of targets and their pairs ---

  // The runs of a block; their pairs count from the first pair of the whole table.
  template <typename Run>
  void for_runs(uint32_t block, const Run& run) const {
    for (uint32_t i = plan_.block_runs[block]; i < plan_.block_runs[block + size_t{1}]; ++i) {
      run(plan_.target_runs[i]);
    }
  }

  // pairs[p] = targets[its target] M for the pairs of a block.
  void spread(uint32_t block, const T* targets, T* pairs, Matrices<T> matrices) const {
    for_runs(block, [&](const PairRun& run) {
      kernels_.multiply({.shape = shape_,
                         .from = {targets, hidden_, plan_.target_pairs.data()},
                         .to = {pairs, hidden_},
                         .matrix = matrices[run.relation]},
                        run.first, run.last);
    });
  }

  // targets[its target] += pairs[p] M for the pairs of a block.
  void collect(uint32_t block, const T* pairs, T* targets, Matrices<T> matrices) const {
    for_runs(block, [&](const PairRun& run) {
      kernels_.multiply({.shape = shape_,
                         .from = {pairs, hidden_},
                         .to = {targets, hidden_, plan_.target_pairs.data()},
                         .matrix = matrices[run.relation],
                         .add = true},
                        run.first, run.last);
    });
  }

  // `queries`, `sums`: room for the pairs of one block.
  void attend_block(uint32_t block, T* queries, T* sums) const {
    const uint64_t skipped = plan_.pairs_of(block).first * hidden_;
    EdgePass<T> pass = edge_pass();
    pass.queries.pairs = queries - skipped;
    pass.sums.pairs = sums - skipped;
    spread(block, tables_.queries, queries - skipped, attention_back_.matrices());
    kernels_.attend(pass, plan_.target_blocks[block], plan_.target_blocks[block + size_t{1}]);
    collect(block, pass.sums.pairs, tables_.outputs, message_);
  }

  // What one thread sums and works in.
  struct Worker {
    MatrixSums<T> attention, message;
    std::vector<T> sums, queries;
  };

  EdgeGradientPass<T> gradient_pass(const AttentionGradients<T>& gradients) const {
    EdgeGradientPass<T> pass{
        .forward = edge_pass(),
        .outputs = tables_.outputs,
        .sum_gradients = {.targets = gradients.outputs, .pairs = gradients.pair_sums},
        .score_gradients = gradients.scores,
        .query_gradients = {.targets = gradients.queries},
        .source_gradients = gradients.sources,
        .partials = gradients.partials};
    pass.forward.queries.pairs = gradients.pair_queries;
    return pass;
  }

  void backward_block(uint32_t block, const AttentionGradients<T>& gradients,
                      Worker& worker) const {
    const uint64_t skipped = plan_.pairs_of(block).first * hidden_;
    spread(block, tables_.queries, gradients.pair_queries, attention_back_.matrices());
    spread(block, gradients.outputs, gradients.pair_sums, message_back_.matrices());
    EdgeGradientPass<T> pass = gradient_pass(gradients);
    T* const sums = worker.sums.data() - skipped;
    T* const queries = worker.queries.data() - skipped;
    pass.forward.sums.pairs = sums;
    pass.query_gradients.pairs = queries;
    kernels_.attend_backward(pass, plan_.target_blocks[block],
                             plan_.target_blocks[block + size_t{1}]);
    const uint32_t* targets = plan_.target_pairs.data();
    for_runs(block, [&](const PairRun& run) {
      kernels_.outer({.shape = shape_,
                      .left = {sums, hidden_},
                      .right = {gradients.outputs, hidden_, targets},
                      .gradient = worker.message[run.relation]},
                     run.first, run.last);
      kernels_.outer({.shape = shape_,
                      .left = {queries, hidden_},
                      .right = {tables_.queries, hidden_, targets},
                      .gradient = worker.attention[run.relation]},
                     run.first, run.last);
    });
    collect(block, queries, gradients.queries, attention_);
  }

  // Bounds of `count` runs of blocks of about equal work.
  std::vector<uint32_t> shares(size_t count) const {
    constexpr uint64_t kPairCost = 10;  // edges that take as long as a pair
    std::vector<uint64_t> work{0};      // of the blocks before
    for (uint32_t block = 0; block < plan_.num_blocks(); ++block) {
      const auto first_edge = [&](uint32_t bound) {
        return plan_.groups[plan_.target_groups[plan_.target_blocks[bound]]].first_edge;
      };
      work.push_back(work.back() + first_edge(block + 1) - first_edge(block) +
                     kPairCost * plan_.pairs_of(block).size());
    }
    std::vector<uint32_t> bounds;
    for (size_t i = 0; i < count; ++i) {
      const auto bound = std::lower_bound(work.begin(), work.end(), work.back() * i / count);
      bounds.push_back(static_cast<uint32_t>(bound - work.begin()));
    }
    bounds.push_back(plan_.num_blocks());
    return bounds;
  }

  // Every thread takes a run of blocks of its own, so that what it sums does not depend on chance.
  void backward_targets(const AttentionGradients<T>& gradients) {
    const uint64_t room = most_pairs() * hidden_;
    std::vector<Worker> workers(static_cast<size_t>(threads_), {.attention = {relations_, shape_},
                                                                .message = {relations_, shape_},
                                                                .sums = {},
                                                                .queries = {}});
    const std::vector<uint32_t> bounds = shares(workers.size());
    in_parallel(threads_, workers.size(), [&](size_t i) {
      Worker& worker = workers[i];
      worker.sums.resize(room);
      worker.queries.resize(room);
      for (uint32_t block = bounds[i]; block < bounds[i + 1]; ++block) {
        backward_block(block, gradients, worker);
      }
    });
    in_parallel(threads_, relations_, [&](size_t relation) {
      for (const Worker& worker : workers) {
        const auto r = static_cast<uint32_t>(relation);
        worker.attention.add_to(r, gradients.attention_matrices + relation * shape_.block());
        worker.message.add_to(r, gradients.message_matrices + relation * shape_.block());
      }
    });
  }

  // --- gradients of the source table ---

  void gather_sources(const AttentionGradients<T>& gradients) {
    const EdgeGradientPass<T> pass = gradient_pass(gradients);
    in_parallel(threads_, plan_.chunk_blocks.size() - 1, [&](size_t i) {
      kernels_.gather_gradients(pass, plan_.chunk_blocks[i], plan_.chunk_blocks[i + 1]);
    });
    // Rows that were cut into chunks are the sums of their chunks.
    const uint64_t stride = 2 * hidden_;
    uint32_t last_row = kWhole;
    for (const UseChunk& chunk : plan_.chunks) {
      if (chunk.partial == kWhole) continue;
      const T* from = gradients.partials + chunk.partial * stride;
      T* to = gradients.sources + chunk.row * stride;
      if (chunk.row == last_row) {
        std::transform(from, from + stride, to, to, std::plus<T>());
      } else {
        std::copy_n(from, stride, to);
      }
      last_row = chunk.row;
    }
  }

  const AttentionPlan& plan_;
  HeadShape shape_;
  uint64_t hidden_;
  uint32_t relations_;
  int threads_;
  const AttentionTables<T>& tables_;
  const AttentionKernels<T>& kernels_;
  Matrices<T> attention_, message_;
  Transposed<T> attention_back_, message_back_;
};

}  // namespace

template <typename T>
void attend(const AttentionPlan& plan, const HeadShape& shape, const AttentionTables<T>& tables,
            Instructions instructions) {
  assert(shape.heads <= kMostHeads);
  Attention<T>(plan, shape, tables, instructions).forward();
}

template <typename T>
void attend_backward(const AttentionPlan& plan, const HeadShape& shape,
                     const AttentionTables<T>& tables, const AttentionGradients<T>& gradients,
                     Instructions instructions) {
  Attention<T>(plan, shape, tables, instructions).backward(gradients);
}

template void attend<float>(const AttentionPlan&, const HeadShape&, const AttentionTables<float>&,
                            Instructions);
template void attend<double>(const AttentionPlan&, const HeadShape&, const AttentionTables<double>&,
                             Instructions);
template void attend_backward<float>(const AttentionPlan&, const HeadShape&,
                                     const AttentionTables<float>&,
                                     const AttentionGradients<float>&, Instructions);
template void attend_backward<double>(const AttentionPlan&, const HeadShape&,
                                      const AttentionTables<double>&,
                                      const AttentionGradients<double>&, Instructions);

}  // namespace hgt
