// The passes of attention.h, over blocks of targets and over runs of pairs. Who writes what:
//   forward            source pairs: in pieces of kRowsPerTask rows, each written by one thread
//                      target pairs: in room of the thread's own, block after block, never kept
//                      weights, outputs: by block of targets, which one thread has at a time
//   backward_targets   dscore, dQ and the pairs' q and dsum: by block of targets
//                      dW, dW' at the targets: a sum per thread, added in the threads' order
//   gather_sources     dsources: by row, from the uses of the row; nobody adds to another's row.
//                      Rows that are cut go through `partials`, which one thread adds up
//   backward_sources   dsources += what the pairs give, relation by relation
//                      dW, dW' at the sources: a sum per kRowsPerSum rows, added in their order
#include "hgt/message/attention.h"

#include <omp.h>

#include <algorithm>
#include <cassert>
#include <functional>
#include <vector>

#include "hgt/message/relation_matrices.h"
#include "hgt/parallel.h"

namespace hgt {
namespace {

constexpr uint32_t kRowsPerTask = 96;  // of a product; any cut gives the same numbers
constexpr uint32_t kRowsPerSum = 384;  // of a matrix gradient; another cut changes the last bits
constexpr uint32_t kNoRow = 0xffffffffU;

// Runs cut into pieces that threads share.
std::vector<PairRun> cut_runs(const std::vector<PairRun>& runs, uint32_t rows) {
  std::vector<PairRun> pieces;
  for (const PairRun& run : runs) {
    for (uint32_t first = run.first; first < run.last; first += rows) {
      pieces.push_back(
          {.relation = run.relation, .first = first, .last = std::min(run.last, first + rows)});
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
        attention_{.data = tables.attention_matrices, .shape = shape},
        message_{.data = tables.message_matrices, .shape = shape},
        attention_back_(tables.attention_matrices, plan.num_relations, shape, threads_),
        message_back_(tables.message_matrices, plan.num_relations, shape, threads_) {}

  void forward() {
    spread_to_source_pairs(keys(), attention_);
    spread_to_source_pairs(messages(), message_);
    // The pairs of the block that a thread has at hand.
    const uint64_t room = most_pairs() * hidden_;
    FirstFailure failure;
#pragma omp parallel num_threads(threads_) if (threads_ > 1)
    {
      std::vector<T> queries;
      std::vector<T> sums;
      failure.watch([&] {
        queries.resize(room);
        sums.resize(room);
      });
#pragma omp for schedule(dynamic)
      for (uint32_t block = 0; block < plan_.num_blocks(); ++block) {
        watch_forward_block(failure, block, queries.data(), sums.data());
      }
    }
    failure.rethrow();
  }

  void backward(const AttentionGradients<T>& gradients) {
    const uint64_t numbers = relations_ * shape_.numbers_per_relation();
    std::fill_n(gradients.attention_matrices, numbers, T(0));
    std::fill_n(gradients.message_matrices, numbers, T(0));
    backward_targets(gradients);  // writes the dscore and dsum that gather_sources reads
    gather_sources(gradients);    // writes the rows of pairs that backward_sources reads
    backward_sources(gradients, keys(), attention_back_.matrices(), gradients.attention_matrices);
    backward_sources(gradients, messages(), message_back_.matrices(), gradients.message_matrices);
  }

 private:
  // The source table and its gradient: numbers per row, and where the two halves of a row begin.
  uint64_t source_stride() const { return 2 * hidden_; }
  static constexpr uint64_t keys() { return 0; }
  uint64_t messages() const { return hidden_; }

  void watch_forward_block(FirstFailure& failure, uint32_t block, T* queries, T* sums) {
    failure.watch([&] { forward_block(block, queries, sums); });
  }

  // Target pairs of the largest block.
  uint64_t most_pairs() const {
    uint64_t most = 0;
    for (uint32_t block = 0; block < plan_.num_blocks(); ++block) {
      most = std::max<uint64_t>(most, plan_.pairs_of(block).size());
    }
    return most;
  }

  // The forward pass over edges, but for the tables of pairs.
  EdgePass<T> edge_pass() const {
    return {.plan = PlanArrays(plan_),
            .shape = shape_,
            .sources = tables_.sources,
            .queries = {.targets = tables_.queries},
            .weights = tables_.weights,
            .sums = {.targets = tables_.outputs}};
  }

  // --- pairs at the sources; `half` is keys() or messages() ---

  // A table without rows may be nullptr, from which nothing can be counted.
  template <typename U>
  static U* from(U* table, uint64_t offset) {
    return table == nullptr ? nullptr : table + offset;
  }
  // One half of the rows from which pairs come: place p in the list is the row of pair p.
  template <typename U>
  RowList<U> paired_sources(U* table, uint64_t half) const {
    return {
        .data = from(table, half), .stride = source_stride(), .rows = plan_.source_pairs.data()};
  }
  // One half of the rows of the pairs themselves.
  template <typename U>
  RowList<U> source_pairs(U* table, uint64_t half) const {
    return {.data = from(table, plan_.first_source_pair() * source_stride() + half),
            .stride = source_stride()};
  }

  // pairs[p] = sources[its row] M, of the given half.
  void spread_to_source_pairs(uint64_t half, Matrices<T> matrices) {
    const std::vector<PairRun> pieces = cut_runs(plan_.source_runs, kRowsPerTask);
    in_parallel(threads_, pieces.size(), [&](size_t i) {
      const PairRun& run = pieces[i];
      kernels_.multiply({.shape = shape_,
                         .from = paired_sources<const T>(tables_.sources, half),
                         .to = source_pairs(tables_.sources, half),
                         .matrix = matrices[run.relation]},
                        run.first, run.last);
    });
  }

  // Gradients of source pairs go to their rows and to the matrices, with `back` = M^T:
  //   dM += sources[its row]^T dpairs[p]        dsources[its row] += dpairs[p] M^T
  void backward_sources(const AttentionGradients<T>& gradients, uint64_t half, Matrices<T> back,
                        T* matrix_gradients) {
    const RowList<const T> pairs = source_pairs<const T>(gradients.sources, half);
    // Pieces are summed apart and then in their order: the same sum for any number of threads.
    const std::vector<PairRun> pieces_to_sum = cut_runs(plan_.source_runs, kRowsPerSum);
    std::vector<std::vector<T>> sums(pieces_to_sum.size());
    in_parallel(threads_, sums.size(), [&](size_t i) {
      sums[i].resize(shape_.numbers_per_relation());
      kernels_.outer({.shape = shape_,
                      .left = paired_sources<const T>(tables_.sources, half),
                      .right = pairs,
                      .gradient = sums[i].data()},
                     pieces_to_sum[i].first, pieces_to_sum[i].last);
    });
    for (size_t i = 0; i < sums.size(); ++i) {
      T* to = matrix_gradients + pieces_to_sum[i].relation * shape_.numbers_per_relation();
      std::transform(sums[i].begin(), sums[i].end(), to, to, std::plus<T>());
    }
    // Relations come one after the other, for they share rows; the pairs of one relation do not.
    for (const PairRun& whole : plan_.source_runs) {
      const std::vector<PairRun> pieces = cut_runs({whole}, kRowsPerTask);
      in_parallel(threads_, pieces.size(), [&](size_t i) {
        kernels_.multiply({.shape = shape_,
                           .from = pairs,
                           .to = paired_sources(gradients.sources, half),
                           .matrix = back[whole.relation],
                           .add = true},
                          pieces[i].first, pieces[i].last);
      });
    }
  }

  // --- blocks of targets and their pairs ---

  // Rows of a table of [targets, d] from which pairs come: place p in the list is pair p's target.
  template <typename U>
  RowList<U> paired_targets(U* table) const {
    return {.data = table, .stride = hidden_, .rows = plan_.target_pairs.data()};
  }
  // Rows of a table of [target pairs, d].
  template <typename U>
  RowList<U> target_pairs(U* table) const {
    return {.data = table, .stride = hidden_};
  }

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
                         .from = paired_targets(targets),
                         .to = target_pairs(pairs),
                         .matrix = matrices[run.relation]},
                        run.first, run.last);
    });
  }

  // targets[its target] += pairs[p] M for the pairs of a block.
  void collect(uint32_t block, const T* pairs, T* targets, Matrices<T> matrices) const {
    for_runs(block, [&](const PairRun& run) {
      kernels_.multiply({.shape = shape_,
                         .from = target_pairs(pairs),
                         .to = paired_targets(targets),
                         .matrix = matrices[run.relation],
                         .add = true},
                        run.first, run.last);
    });
  }

  // `queries`, `sums`: room for the pairs of one block. Pairs count from the first of the whole
  // table, so the pointers are moved back by the pairs of the blocks before.
  void forward_block(uint32_t block, T* queries, T* sums) const {
    const uint64_t skipped = plan_.pairs_of(block).first * hidden_;
    EdgePass<T> pass = edge_pass();
    pass.queries.pairs = queries - skipped;
    pass.sums.pairs = sums - skipped;
    // q_(t,r) = Q_t W_r^T; then all edges; then H~[t] += sum_(t,r) W'_r.
    spread(block, tables_.queries, queries - skipped, attention_back_.matrices());
    kernels_.attend_edges(pass, plan_.target_blocks[block], plan_.target_blocks[block + size_t{1}]);
    collect(block, pass.sums.pairs, tables_.outputs, message_);
  }

  // What one thread sums and works in.
  struct Worker {
    MatrixSums<T> attention, message;  // dW and dW' of relations at the targets
    std::vector<T> sums;               // [pairs of a block, d] sum_(t,r), worked out again
    std::vector<T> query_gradients;    // [pairs of a block, d] dq_(t,r)
  };

  // The backward pass over edges, but for the tables of pairs that a Worker has.
  EdgeGradientPass<T> gradient_pass(const AttentionGradients<T>& gradients) const {
    EdgeGradientPass<T> pass{
        .forward = edge_pass(),
        .outputs = tables_.outputs,
        .sum_gradients = {.targets = gradients.outputs, .pairs = gradients.pair_sum_gradients},
        .score_gradients = gradients.score_gradients,
        .query_gradients = {.targets = gradients.queries},
        .source_gradients = gradients.sources,
        .partials = gradients.partials};
    pass.forward.queries.pairs = gradients.pair_queries;
    return pass;
  }

  void backward_block(uint32_t block, const AttentionGradients<T>& gradients,
                      Worker& worker) const {
    const uint64_t skipped = plan_.pairs_of(block).first * hidden_;
    // q_(t,r) = Q_t W_r^T and dsum_(t,r) = dH~[t] W'_r^T: kept, for gather_sources reads them, too.
    spread(block, tables_.queries, gradients.pair_queries, attention_back_.matrices());
    spread(block, gradients.outputs, gradients.pair_sum_gradients, message_back_.matrices());
    EdgeGradientPass<T> pass = gradient_pass(gradients);
    T* const sums = worker.sums.data() - skipped;
    T* const query_gradients = worker.query_gradients.data() - skipped;
    pass.forward.sums.pairs = sums;
    pass.query_gradients.pairs = query_gradients;
    kernels_.attend_edges_backward(pass, plan_.target_blocks[block],
                                   plan_.target_blocks[block + size_t{1}]);
    // dW'_r += sum_(t,r)^T dH~[t] and dW_r += dq_(t,r)^T Q_t; then dQ_t += dq_(t,r) W_r.
    for_runs(block, [&](const PairRun& run) {
      kernels_.outer({.shape = shape_,
                      .left = target_pairs<const T>(sums),
                      .right = paired_targets(gradients.outputs),
                      .gradient = worker.message[run.relation]},
                     run.first, run.last);
      kernels_.outer({.shape = shape_,
                      .left = target_pairs<const T>(query_gradients),
                      .right = paired_targets(tables_.queries),
                      .gradient = worker.attention[run.relation]},
                     run.first, run.last);
    });
    collect(block, query_gradients, gradients.queries, attention_);
  }

  // [count + 1] bounds of `count` runs of blocks of about equal work.
  std::vector<uint32_t> shares(size_t count) const {
    constexpr uint64_t kPairCost = 10;  // edges that take as long as a pair
    std::vector<uint64_t> work{0};      // [blocks + 1] of the blocks before
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
                                                                .query_gradients = {}});
    const std::vector<uint32_t> bounds = shares(workers.size());
    in_parallel(threads_, workers.size(), [&](size_t i) {
      Worker& worker = workers[i];
      worker.sums.resize(room);
      worker.query_gradients.resize(room);
      for (uint32_t block = bounds[i]; block < bounds[i + 1]; ++block) {
        backward_block(block, gradients, worker);
      }
    });
    in_parallel(threads_, relations_, [&](size_t relation) {
      for (const Worker& worker : workers) {
        const auto r = static_cast<uint32_t>(relation);
        const uint64_t at = relation * shape_.numbers_per_relation();
        worker.attention.add_to(r, gradients.attention_matrices + at);
        worker.message.add_to(r, gradients.message_matrices + at);
      }
    });
  }

  // --- gradients of the source table ---

  // All rows, those of pairs included: dkey and dmsg, as the uses of the row give them.
  void gather_sources(const AttentionGradients<T>& gradients) {
    const EdgeGradientPass<T> pass = gradient_pass(gradients);
    in_parallel(threads_, plan_.chunk_blocks.size() - 1, [&](size_t i) {
      kernels_.gather_gradients(pass, plan_.chunk_blocks[i], plan_.chunk_blocks[i + 1]);
    });
    // Rows that were cut into chunks are the sums of their chunks, which follow one another.
    const uint64_t stride = source_stride();
    uint32_t last_row = kNoRow;
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
  uint64_t hidden_;     // d
  uint32_t relations_;  // sets of matrices
  int threads_;
  const AttentionTables<T>& tables_;
  const AttentionKernels<T>& kernels_;
  Matrices<T> attention_, message_;              // W and W'
  Transposed<T> attention_back_, message_back_;  // W^T and W'^T
};

}  // namespace

template <typename T>
void attention_forward(const AttentionPlan& plan, const HeadShape& shape,
                       const AttentionTables<T>& tables, Instructions instructions) {
  assert(shape.heads <= kMostHeads);
  Attention<T>(plan, shape, tables, instructions).forward();
}

template <typename T>
void attention_backward(const AttentionPlan& plan, const HeadShape& shape,
                        const AttentionTables<T>& tables, const AttentionGradients<T>& gradients,
                        Instructions instructions) {
  Attention<T>(plan, shape, tables, instructions).backward(gradients);
}

template void attention_forward<float>(const AttentionPlan&, const HeadShape&,
                                       const AttentionTables<float>&, Instructions);
template void attention_forward<double>(const AttentionPlan&, const HeadShape&,
                                        const AttentionTables<double>&, Instructions);
template void attention_backward<float>(const AttentionPlan&, const HeadShape&,
                                        const AttentionTables<float>&,
                                        const AttentionGradients<float>&, Instructions);
template void attention_backward<double>(const AttentionPlan&, const HeadShape&,
                                         const AttentionTables<double>&,
                                         const AttentionGradients<double>&, Instructions);

}  // namespace hgt
