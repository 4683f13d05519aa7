// Heterogeneous skip-gram with negative sampling per node type (metapath2vec++, Dong et al., KDD
// 2017): vectors of nodes from typed random walks.
//
//   const NodeRows rows(walks);
//   std::vector<float> inputs(rows.size() * 128), outputs(inputs.size());
//   const auto occurrences = count_occurrences(walks, walks.size(), threads);
//   SkipGram skip_gram(walks, occurrences, {.width = 128}, {inputs, outputs});
//   skip_gram.initialize();
//   skip_gram.train(walks, 0, walks.size());
//   // the vector of a node begins at inputs[rows({type, node}) * 128]
//
// Each node of a walk is trained to tell every other node within the window (its context) from
// `negatives` nodes of the context's type, which are drawn anew for each pair, with probability
// proportional to occurrences^0.75 and never equal to the context. A type of which only one node
// occurs has no negatives.
//
// With one thread the tables are a function of walks, occurrences, options and set of kernels
// (their sums round differently): training may stop after any walk and continue later, from the
// tables alone. Several threads update the same tables without locks, as word2vec does (Hogwild,
// Niu et al. 2011): the vectors are as good, but no two runs give the same numbers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hgt/features/metapath2vec/skip_gram_kernels.h"
#include "hgt/features/metapath2vec/walk_pairs.h"
#include "hgt/features/metapath2vec/walks.h"
#include "hgt/progress.h"
#include "hgt/random.h"

namespace hgt {

struct SkipGramOptions {
  uint32_t width = 128;
  uint32_t window = 5;     // nodes on either side
  uint32_t negatives = 5;  // per pair
  // Of walk 0. It falls linearly over all walks, but never below a ten-thousandth.
  double learning_rate = 0.025;
  uint64_t seed = 1;
  uint32_t threads = 1;
  KernelSet kernels = best_kernel_set();
};

void check_skip_gram_options(const SkipGramOptions& options);  // throws Error: out of range

// Of the caller, [rows, width] each; they may be mapped files.
struct SkipGramTables {
  std::span<float> inputs;   // vectors of centers: the result
  std::span<float> outputs;  // vectors of contexts
};

// How often each row occurs in the first `walks_counted` walks, which are a random part: the order
// of walks is shuffled. Walks that end where they start, with a single node, do not count: they
// train nothing. A node that occurs in none of them is never a negative. Any number of threads
// gives the same counts. Throws Error: walks_counted is 0 or more than there are.
std::vector<uint64_t> count_occurrences(const Walks& walks, uint64_t walks_counted,
                                        uint32_t threads = 1,
                                        const ProgressSink& progress = no_progress);

class SkipGram {
 public:
  // `occurrences` by row, as count_occurrences() gives them. Throws Error: options out of range,
  // spans of the wrong size.
  SkipGram(const Walks& walks, std::span<const uint64_t> occurrences, SkipGramOptions options,
           SkipGramTables tables);

  const NodeRows& rows() const { return rows_; }
  double rate(uint64_t walk) const;
  Draws negative_draws(uint64_t walk) const;  // what the negatives of a walk are drawn with
  const Negatives& negatives() const { return negatives_; }

  // Inputs: uniform in +-0.5 / width, a function of seed, row and column. Outputs: 0.
  void initialize();

  // Trains on the walks [first, last). After an exception (one of `progress`, too) the tables are
  // somewhere in between. Throws Error: a range that the walks do not have, walks of other types,
  // damaged files.
  void train(const Walks& walks, uint64_t first, uint64_t last,
             const ProgressSink& progress = no_progress);

 private:
  class Worker;
  void initialize_row(uint64_t row);

  SkipGramOptions options_;
  SkipGramTables tables_;
  NodeRows rows_;
  Negatives negatives_;
  uint64_t walks_;
};

}  // namespace hgt
