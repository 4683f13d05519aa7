// How a model is trained and scored.
#pragma once

#include <cstdint>
#include <string>

#include "hgt/enum_words.h"
#include "hgt/run/model_options.h"
#include "hgt/sampling/sampling_options.h"

namespace hgt {

enum class InstructionChoice { automatic, portable, avx2, avx512 };
constexpr auto words_of(InstructionChoice) {
  return enum_words<InstructionChoice>("set of instructions",
                                       {{InstructionChoice::automatic, "auto"},
                                        {InstructionChoice::portable, "portable"},
                                        {InstructionChoice::avx2, "avx2"},
                                        {InstructionChoice::avx512, "avx512"}});
}

// How sub-graphs are made ready and computed with, and by how many threads.
struct PipelineOptions {
  int threads = 0;       // that compute; 0: one for each core
  unsigned workers = 0;  // that sample ahead; 0: the computing threads sample between steps
  // Of the attention kernels; automatic: the best that the processor has.
  InstructionChoice instructions = InstructionChoice::automatic;
};

// How a split is scored.
struct EvaluationOptions {
  uint64_t batch_size = 256;
  uint32_t samples = 1;  // sub-graphs per example; their scores are averaged
  bool full = false;     // all neighbors, as many hops as layers, instead of sampled sub-graphs
  uint64_t limit = 0;    // number of examples, drawn at random; 0: all

  friend bool operator==(const EvaluationOptions&, const EvaluationOptions&) = default;
};

enum class PairScorer {
  ntn,  // neural_tensor_network.h
  dot,  // dot product
};
constexpr auto words_of(PairScorer) {
  return enum_words<PairScorer>("scorer", {{PairScorer::ntn, "ntn"}, {PairScorer::dot, "dot"}});
}

struct TrainOptions {
  ModelOptions model = release_preset();
  // Types without features and of at most this many nodes have a learned vector for each node.
  uint64_t node_vectors = 10000;
  bool label_inputs = false;  // classes of training examples as features (hgt/task/known_labels.h)
  PairScorer scorer = PairScorer::ntn;
  int64_t slices = 4;  // of the Neural Tensor Network

  SamplingOptions sampling = {};  // width, depth, strategy, bound; its seed is the run's
  uint64_t seed = 1;
  uint64_t batch_size = 256;
  // hgsampling with TimeBound::seed: batches whose examples have about this many times; 0: any.
  uint32_t seed_times = 16;
  uint64_t epochs = 20;         // passes over the training examples
  uint64_t batches = 0;         // instead: number of batches in all
  uint64_t validate_every = 0;  // batches; 0: at the end of each pass
  uint64_t patience = 0;  // validations without a lower loss before training stops; 0: never stop
  double learning_rate = 1e-3;
  double final_learning_rate = 1e-6;
  uint64_t warmup = 0;  // batches over which the learning rate rises to its full height
  double weight_decay = 0.01;
  double clip = 1;             // norm of the gradients, at most; 0: any
  double average_weights = 0;  // decay of the average that is scored and kept; 0: the last weights
  double checkpoint_every = 60;  // seconds
  EvaluationOptions validation = {};
  PipelineOptions pipeline = {};
};

// Throws Error: names the option, its value and the remedy.
void check(const TrainOptions& options);

// The learning rate of a step out of `steps`: a linear rise, then half a cosine.
double learning_rate(const TrainOptions& options, uint64_t step, uint64_t steps);

}  // namespace hgt
