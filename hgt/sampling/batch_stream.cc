#include "hgt/sampling/batch_stream.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

#include "hgt/random.h"

namespace hgt {

// --- plan ---

struct ShuffledSeeds::State {
  using Order = std::shared_ptr<const std::vector<uint32_t>>;

  // The order of one epoch, kept until another epoch is asked for.
  Order order(uint64_t epoch) {
    const std::scoped_lock lock(mutex);
    if (last && last_epoch == epoch) return last;
    std::vector<uint32_t> shuffled(seeds.size());
    std::iota(shuffled.begin(), shuffled.end(), 0U);
    Draws draws(hash(random_seed, epoch));
    for (size_t left = shuffled.size(); left > 1; --left) {  // Fisher and Yates
      std::swap(shuffled[left - 1], shuffled[draws.below(left)]);
    }
    last = std::make_shared<const std::vector<uint32_t>>(std::move(shuffled));
    last_epoch = epoch;
    return last;
  }

  std::vector<Seed> seeds;
  uint64_t batch_size = 0;
  uint64_t random_seed = 0;
  std::mutex mutex;
  Order last;
  uint64_t last_epoch = 0;
};

ShuffledSeeds::ShuffledSeeds(std::vector<Seed> seeds, uint64_t batch_size, uint64_t random_seed)
    : state_(std::make_shared<State>()) {
  assert(batch_size > 0);
  state_->seeds = std::move(seeds);
  state_->batch_size = batch_size;
  state_->random_seed = random_seed;
}

uint64_t ShuffledSeeds::batches() const {
  return (state_->seeds.size() + state_->batch_size - 1) / state_->batch_size;
}

Request ShuffledSeeds::operator()(uint64_t epoch, uint64_t number) const {
  const State::Order order = state_->order(epoch);
  const uint64_t first = std::min<uint64_t>(order->size(), number * state_->batch_size);
  const uint64_t last = std::min<uint64_t>(order->size(), first + state_->batch_size);
  Request request;
  for (uint64_t i = first; i < last; ++i) request.seeds.push_back(state_->seeds[(*order)[i]]);
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

// Batch i is made in place i modulo the number of places. A worker takes it up only when batch
// i - places has been handed out, so a place belongs to one thread at a time and only the counters
// need the lock.
struct BatchStream::State {
  struct Place {
    Batch batch;
    std::exception_ptr error;
    bool ready = false;
  };

  State(const HeteroGraph& graph, const Planner& planner, const SamplingOptions& sampling,
        const StreamOptions& given)
      : options(given),
        places(std::max({1U, given.workers, given.queue})),
        next_to_make(given.first),
        next_to_take(given.first),
        end(given.first + given.count) {
    for (unsigned i = 0; i < std::max(1U, given.workers); ++i) {
      makers.emplace_back(graph, planner, sampling, given.features);
    }
  }

  Place& place(uint64_t i) { return places[i % places.size()]; }

  void make(BatchMaker& maker, uint64_t i) {
    Place& at = place(i);
    try {
      maker.make(i / options.batches_per_epoch, i % options.batches_per_epoch, at.batch);
    } catch (...) {
      at.error = std::current_exception();
    }
  }

  void work(BatchMaker& maker) {
    std::unique_lock lock(mutex);
    while (true) {
      room.wait(lock, [&] {
        return stopping || next_to_make == end || next_to_make < next_to_take + places.size();
      });
      if (stopping || next_to_make == end) return;
      const uint64_t i = next_to_make++;
      lock.unlock();
      make(maker, i);
      lock.lock();
      place(i).ready = true;
      made.notify_all();
    }
  }

  void stop() {
    {
      const std::scoped_lock lock(mutex);
      stopping = true;
    }
    room.notify_all();
    for (std::thread& worker : workers) worker.join();
    workers.clear();
  }

  void wait_for(uint64_t i) {
    const auto start = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex);
    made.wait(lock, [&] { return place(i).ready; });
    waited += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  const StreamOptions options;
  std::vector<BatchMaker> makers;  // one per worker
  std::vector<Place> places;
  std::mutex mutex;
  std::condition_variable room;  // a place has become free, or the end has come
  std::condition_variable made;
  uint64_t next_to_make;
  uint64_t next_to_take;
  uint64_t end;
  bool stopping = false;
  double waited = 0;
  std::vector<std::thread> workers;
};

BatchStream::BatchStream(const HeteroGraph& graph, const Planner& planner,
                         const SamplingOptions& sampling, const StreamOptions& options)
    : state_(std::make_unique<State>(graph, planner, sampling, options)) {
  assert(options.batches_per_epoch > 0);
  for (unsigned i = 0; i < options.workers; ++i) {
    state_->workers.emplace_back([this, i] { state_->work(state_->makers[i]); });
  }
}

BatchStream::~BatchStream() { state_->stop(); }

bool BatchStream::next(Batch& batch) {
  State& state = *state_;
  if (state.next_to_take == state.end) return false;
  const uint64_t i = state.next_to_take;
  State::Place& place = state.place(i);
  if (state.options.workers == 0) {
    state.make(state.makers.front(), i);
  } else {
    state.wait_for(i);
  }
  std::swap(batch, place.batch);
  const std::exception_ptr error = std::exchange(place.error, nullptr);
  {
    const std::scoped_lock lock(state.mutex);
    place.ready = false;
    ++state.next_to_take;
    if (error) state.end = state.next_to_take;
  }
  state.room.notify_all();
  if (error) {
    state.stop();
    std::rethrow_exception(error);
  }
  return true;
}

double BatchStream::seconds_waited() const { return state_->waited; }

}  // namespace hgt
