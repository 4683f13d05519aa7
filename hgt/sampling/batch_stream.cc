#include "hgt/sampling/batch_stream.h"

#include <algorithm>
#include <cassert>
#include <mutex>
#include <numeric>
#include <utility>

#include "hgt/random.h"
#include "hgt/sampling/ordered_stream.h"

namespace hgt {

// --- plan ---

struct ShuffledOrder::State {
  using Order = std::shared_ptr<const std::vector<uint32_t>>;

  // The order of one epoch, kept until another epoch is asked for.
  Order order(uint64_t epoch) {
    const std::scoped_lock lock(mutex);
    if (last && last_epoch == epoch) return last;
    std::vector<uint32_t> shuffled(size);
    std::iota(shuffled.begin(), shuffled.end(), 0U);
    Draws draws(hash(random_seed, epoch));
    for (size_t left = shuffled.size(); left > 1; --left) {  // Fisher and Yates
      std::swap(shuffled[left - 1], shuffled[draws.below(left)]);
    }
    last = std::make_shared<const std::vector<uint32_t>>(std::move(shuffled));
    last_epoch = epoch;
    return last;
  }

  uint64_t size = 0;
  uint64_t random_seed = 0;
  std::mutex mutex;
  Order last;
  uint64_t last_epoch = 0;
};

ShuffledOrder::ShuffledOrder(uint64_t size, uint64_t random_seed)
    : state_(std::make_shared<State>()) {
  state_->size = size;
  state_->random_seed = random_seed;
}

uint64_t ShuffledOrder::size() const { return state_->size; }

std::vector<uint32_t> ShuffledOrder::batch(uint64_t epoch, uint64_t number,
                                           uint64_t batch_size) const {
  const State::Order order = state_->order(epoch);
  const uint64_t first = std::min<uint64_t>(order->size(), number * batch_size);
  const uint64_t last = std::min<uint64_t>(order->size(), first + batch_size);
  return {order->begin() + static_cast<ptrdiff_t>(first),
          order->begin() + static_cast<ptrdiff_t>(last)};
}

ShuffledSeeds::ShuffledSeeds(std::vector<Seed> seeds, uint64_t batch_size, uint64_t random_seed)
    : seeds_(std::make_shared<const std::vector<Seed>>(std::move(seeds))),
      batch_size_(batch_size),
      order_(seeds_->size(), random_seed) {
  assert(batch_size > 0);
}

uint64_t ShuffledSeeds::batches() const { return (seeds_->size() + batch_size_ - 1) / batch_size_; }

Request ShuffledSeeds::operator()(uint64_t epoch, uint64_t number) const {
  Request request;
  for (const uint32_t i : order_.batch(epoch, number, batch_size_)) {
    request.seeds.push_back((*seeds_)[i]);
  }
  return request;
}

// --- one batch ---

void gather_features(const HeteroGraph& graph, const Subgraph& subgraph,
                     std::vector<std::vector<float>>& blocks) {
  const size_t types = graph.schema().node_types().size();
  blocks.resize(types);
  for (size_t i = 0; i < types; ++i) {
    const NodeType type{static_cast<uint16_t>(i)};
    const uint64_t width = graph.features(type).width;
    blocks[i].resize(subgraph.num_rows(type) * width);
    if (width == 0) continue;
    float* into = blocks[i].data();
    for (const uint32_t row : subgraph.rows(type)) {
      graph.copy_features(type, subgraph.nodes[row], {into, width});
      into += width;
    }
  }
}

BatchMaker::BatchMaker(HeteroGraph graph, Planner planner, const SamplingOptions& options,
                       bool features)
    : graph_(std::move(graph)),
      planner_(std::move(planner)),
      seed_(options.seed),
      features_(features),
      sampler_(graph_, options) {}

void BatchMaker::make(uint64_t epoch, uint64_t number, Batch& batch) {
  batch.epoch = epoch;
  batch.number = number;
  batch.request = planner_(epoch, number);
  sampler_.sample(batch.request, hash(seed_, epoch, number), batch.subgraph);
  if (features_) gather_features(graph_, batch.subgraph, batch.features);
}

// --- the stream ---

struct BatchStream::State {
  State(const HeteroGraph& graph, const Planner& planner, const SamplingOptions& sampling,
        const StreamOptions& options)
      : makers(makers_for(graph, planner, sampling, options)),
        stream({.first = options.first,
                .count = options.count,
                .workers = options.workers,
                .queue = options.queue},
               [this, per_epoch = options.batches_per_epoch](unsigned worker, uint64_t i,
                                                             Batch& batch) {
                 makers[worker].make(i / per_epoch, i % per_epoch, batch);
               }) {}

  static std::vector<BatchMaker> makers_for(const HeteroGraph& graph, const Planner& planner,
                                            const SamplingOptions& sampling,
                                            const StreamOptions& options) {
    std::vector<BatchMaker> made;
    for (unsigned i = 0; i < std::max(1U, options.workers); ++i) {
      made.emplace_back(graph, planner, sampling, options.features);
    }
    return made;
  }

  std::vector<BatchMaker> makers;  // one per worker
  OrderedStream<Batch> stream;
};

BatchStream::BatchStream(const HeteroGraph& graph, const Planner& planner,
                         const SamplingOptions& sampling, const StreamOptions& options) {
  assert(options.batches_per_epoch > 0);
  state_ = std::make_unique<State>(graph, planner, sampling, options);
}

BatchStream::~BatchStream() = default;

bool BatchStream::next(Batch& batch) { return state_->stream.next(batch); }

double BatchStream::seconds_waited() const { return state_->stream.seconds_waited(); }

}  // namespace hgt
