// A stream of sampled batches, made by worker threads ahead of their use.
//
//   const ShuffledSeeds plan(training_seeds, 256, seed);
//   BatchStream stream(graph, plan, {.width = 128, .depth = 6, .seed = seed},
//                      {.batches_per_epoch = plan.batches(), .count = 10 * plan.batches(),
//                       .workers = 1});
//   for (Batch batch; stream.next(batch);) train_on(batch.subgraph, batch.features);
//
// Batches leave in the order of their numbers. What is in a batch is a function of the options'
// seed, the epoch and the number alone: the number of workers, the length of the queue and where
// the stream began make no difference, and BatchMaker makes any batch alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "hgt/graph/hetero_graph.h"
#include "hgt/sampling/sampler.h"
#include "hgt/sampling/sampling_options.h"
#include "hgt/sampling/subgraph.h"

namespace hgt {

struct Batch {
  uint64_t epoch = 0;
  uint64_t number = 0;  // within the epoch
  Request request = {};
  Subgraph subgraph = {};
  // By type: [rows of the type * width], in the order of the rows; empty: the type has none.
  std::vector<std::vector<float>> features = {};
};

// What a batch asks for. Called by several threads at once; must depend on its arguments only.
using Planner = std::function<Request(uint64_t epoch, uint64_t number)>;

// The numbers below `size` in an order drawn anew for each epoch. Thread-safe, cheap to copy.
class ShuffledOrder {
 public:
  ShuffledOrder(uint64_t size, uint64_t random_seed);
  // Batch `number` of the epoch; empty past its end.
  std::vector<uint32_t> batch(uint64_t epoch, uint64_t number, uint64_t batch_size) const;
  uint64_t size() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// A planner: every seed once per epoch, in an order drawn anew for each epoch. Cheap to copy.
class ShuffledSeeds {
 public:
  // Requires batch_size > 0. The last batch of an epoch has what is left.
  ShuffledSeeds(std::vector<Seed> seeds, uint64_t batch_size, uint64_t random_seed);
  uint64_t batches() const;  // per epoch
  Request operator()(uint64_t epoch, uint64_t number) const;

 private:
  std::shared_ptr<const std::vector<Seed>> seeds_;
  uint64_t batch_size_;
  ShuffledOrder order_;
};

// Makes batches one at a time, in any order. One thread at a time.
class BatchMaker {
 public:
  BatchMaker(HeteroGraph graph, Planner planner, const SamplingOptions& options,
             bool features = true);
  void make(uint64_t epoch, uint64_t number, Batch& batch);  // reuses the storage of `batch`

 private:
  HeteroGraph graph_;
  Planner planner_;
  uint64_t seed_;
  bool features_;
  Sampler sampler_;
};

struct StreamOptions {
  uint64_t batches_per_epoch = 1;
  uint64_t first = 0;    // counted over all epochs: a resumed run begins where it was stopped
  uint64_t count = 0;    // batches in all
  unsigned workers = 1;  // threads; 0: next() makes the batch itself
  unsigned queue = 4;    // batches made ahead at most, those in the making included
  bool features = true;  // gather the features of the instances
};

class BatchStream {
 public:
  BatchStream(const HeteroGraph& graph, const Planner& planner, const SamplingOptions& sampling,
              const StreamOptions& options);
  BatchStream(const BatchStream&) = delete;
  BatchStream& operator=(const BatchStream&) = delete;
  ~BatchStream();  // stops the workers

  // The next batch; false: there is none. What `batch` held before is reused for later ones. Throws
  // what making this batch threw; the stream then has ended.
  bool next(Batch& batch);

  double seconds_waited() const;  // that next() spent waiting for workers

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The features of the sub-graph's instances as floats, one block per type as in Batch.
void gather_features(const HeteroGraph& graph, const Subgraph& subgraph,
                     std::vector<std::vector<float>>& blocks);

}  // namespace hgt
