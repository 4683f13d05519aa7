#include "hgt/graph/edge_sorter.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <concepts>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "hgt/graph/background_jobs.h"
#include "hgt/graph/node_columns.h"
#include "hgt/graph/radix_sort.h"
#include "hgt/graph/sorted_run.h"

namespace hgt {

namespace {

constexpr uint64_t kMaxBlockBytes = uint64_t{8} << 20U;
constexpr uint64_t kMinBlockBytes = uint64_t{64} << 10U;
constexpr size_t kEdgesReadAhead = 8192;

// A sorted sequence: a block in memory, or a run on disk that is read a part at a time.
template <typename Record>
class SortedSource {
 public:
  explicit SortedSource(std::vector<Record> block) : records_(std::move(block)) {}
  explicit SortedSource(SortedRun run) : run_(std::move(run)) { run_->read(records_); }

  bool empty() const { return at_ == records_.size(); }
  const Record& front() const { return records_[at_]; }
  void pop() {
    ++at_;
    if (!empty() || !run_) return;
    run_->read(records_);
    at_ = 0;
    if (empty()) run_.reset();  // its disk space is free
  }

 private:
  std::vector<Record> records_;
  size_t at_ = 0;
  std::optional<RunReader<Record>> run_;
};

// Merges sorted sources: a binary heap of their fronts.
template <typename Record>
class Merge {
 public:
  void add(SortedSource<Record> source) {
    if (source.empty()) return;
    sources_.push_back(std::move(source));
  }
  void start() {
    heap_.clear();
    for (uint32_t i = 0; i < sources_.size(); ++i) heap_.push_back({sources_[i].front(), i});
    std::make_heap(heap_.begin(), heap_.end());
  }
  bool empty() const { return heap_.empty(); }
  const Record& front() const { return heap_.front().record; }
  void pop() {
    SortedSource<Record>& source = sources_[heap_.front().source];
    source.pop();
    Front last = heap_.back();
    if (source.empty()) {
      heap_.pop_back();
      if (heap_.empty()) return;
    } else {
      last = {source.front(), heap_.front().source};
    }
    sift_down(last);
  }

 private:
  struct Front {
    Record record;
    uint32_t source;
    bool operator<(const Front& other) const { return other.record < record; }  // smallest on top
  };

  // Puts `front` at the root and restores the heap below it.
  void sift_down(const Front& front) {
    size_t hole = 0;
    while (true) {
      size_t child = 2 * hole + 1;
      if (child >= heap_.size()) break;
      if (child + 1 < heap_.size() && heap_[child + 1].record < heap_[child].record) ++child;
      if (!(heap_[child].record < front.record)) break;
      heap_[hole] = heap_[child];
      hole = child;
    }
    heap_[hole] = front;
  }

  std::vector<SortedSource<Record>> sources_;
  std::vector<Front> heap_;
};

}  // namespace

class EdgeSorter::Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;
  virtual void add(const Edge& edge) = 0;
  virtual uint64_t memory() const = 0;  // bytes that a spill frees
  // Merges all blocks into one run in the background; they count as memory until that is done.
  virtual void start_spill() = 0;
  virtual bool is_spilling() const = 0;
  virtual void wait() = 0;  // for what goes on in the background; throws what it threw
  virtual void start_reading() = 0;
  // Replaces `edges` by the next ones; none: the end.
  virtual void read(std::vector<Edge>& edges) = 0;

  uint64_t size = 0;
  uint64_t spilled_runs = 0;
  std::optional<std::pair<Time, Time>> time_range;
};

struct SortSpace::State {
  State(Path where, uint64_t bound, unsigned background_threads)
      : folder(std::move(where)), memory(bound), threads(background_threads) {}

  // Called before a sorter takes a new block. Once there was no room, blocks are spilled ahead of
  // need: half of the memory is filled while the other half is written.
  void make_room(uint64_t bytes) {
    while (used() + bytes > memory) {
      if (spilled == nullptr && !start_spill()) return;
      std::exchange(spilled, nullptr)->wait();
    }
    const bool busy = spilled != nullptr && spilled->is_spilling();
    if (next_run > 0 && !busy && used() + bytes > memory / 2) start_spill();
  }
  // False: there is nothing to spill.
  bool start_spill() {
    auto* const largest =
        *std::max_element(stores.begin(), stores.end(),
                          [](const auto* a, const auto* b) { return a->memory() < b->memory(); });
    if (largest->memory() == 0) return false;
    largest->start_spill();
    spilled = largest;
    return true;
  }
  uint64_t used() const {
    uint64_t bytes = 0;
    for (const auto* store : stores) bytes += store->memory();
    return bytes;
  }
  File new_run() {
    const Path path = folder / fmt::format(".run-{}", next_run++);
    File file = File::create(path);
    ::unlink(path.c_str());
    return file;
  }
  uint64_t block_bytes() const { return std::clamp(memory / 128, kMinBlockBytes, kMaxBlockBytes); }

  Path folder;
  uint64_t memory;
  uint64_t next_run = 0;
  std::vector<EdgeSorter::Store*> stores;
  EdgeSorter::Store* spilled = nullptr;  // the last one, until its end has been waited for
  JobThreads threads;
};

SortSpace::SortSpace(Path folder, uint64_t memory, unsigned threads)
    : state_(std::make_unique<State>(std::move(folder), memory, threads)) {}
SortSpace::~SortSpace() = default;

namespace {

template <typename Record>
class RecordStore final : public EdgeSorter::Store {
 public:
  explicit RecordStore(SortSpace::State& space)
      : space_(space), capacity_(space.block_bytes() / sizeof(Record)), jobs_(space.threads) {
    space_.stores.push_back(this);
  }
  ~RecordStore() override {
    std::erase(space_.stores, this);
    if (space_.spilled == this) space_.spilled = nullptr;
  }

  void add(const Edge& edge) override {
    if (open_.capacity() == 0) {
      space_.make_room(capacity_ * sizeof(Record));
      open_.reserve(capacity_);
      ++blocks_;
    }
    open_.push_back(Record::from(edge));
    sources_ |= edge.source;
    if constexpr (std::same_as<Record, RichRecord>) include_time(time_range, edge.time);
    ++size;
    if (open_.size() == capacity_) close_block();
  }

  uint64_t memory() const override { return blocks_ * capacity_ * sizeof(Record); }

  void start_spill() override {
    close_block();
    jobs_.wait();
    merge_ = take_blocks();
    runs_.push_back(
        {.file = space_.new_run(), .source_bits = static_cast<uint32_t>(std::bit_width(sources_))});
    spilling_ = true;
    ++spilled_runs;
    jobs_.submit([this, blocks = blocks_.load()] {
      write_run();
      merge_ = {};
      blocks_ -= blocks;
      spilling_ = false;
    });
  }

  bool is_spilling() const override { return spilling_; }
  void wait() override { jobs_.wait(); }

  void start_reading() override {
    close_block();
    jobs_.wait();
    merge_ = take_blocks();
    for (SortedRun& run : runs_) merge_.add(SortedSource<Record>(std::move(run)));
    merge_.start();
    blocks_ = 0;
    read_ahead();
  }

  void read(std::vector<Edge>& edges) override {
    jobs_.wait();
    edges.swap(ahead_);
    if (!edges.empty()) read_ahead();
  }

 private:
  void close_block() {
    if (open_.capacity() == 0) return;
    auto& block = *sorted_.emplace_back(std::make_unique<std::vector<Record>>(std::move(open_)));
    open_ = {};
    jobs_.submit([&block] { radix_sort(std::span(block)); });
  }

  Merge<Record> take_blocks() {
    Merge<Record> merge;
    for (auto& block : sorted_) merge.add(SortedSource<Record>(std::move(*block)));
    sorted_.clear();
    merge.start();
    return merge;
  }

  void write_run() {
    SortedRun& run = runs_.back();
    RunWriter<Record> writer(std::move(run.file), run.source_bits);
    for (; !merge_.empty(); merge_.pop()) writer.append(merge_.front());
    run = writer.finish();
  }

  void read_ahead() {
    jobs_.submit([this] {
      ahead_.clear();
      for (; ahead_.size() < kEdgesReadAhead && !merge_.empty(); merge_.pop()) {
        merge_.front().to(ahead_.emplace_back());
      }
    });
  }

  SortSpace::State& space_;
  size_t capacity_;
  std::vector<Record> open_;
  std::vector<std::unique_ptr<std::vector<Record>>> sorted_;  // or being sorted
  NodeId sources_ = 0;                                        // bits that any source has
  std::atomic<uint64_t> blocks_ = 0;                          // open, closed, or being spilled
  std::atomic<bool> spilling_ = false;
  std::deque<SortedRun> runs_;
  Merge<Record> merge_;      // of what is being spilled, then of everything; the job's
  std::vector<Edge> ahead_;  // the job's
  JobGroup jobs_;            // last: its end waits for jobs, which use all of this
};

}  // namespace

EdgeSorter::EdgeSorter(SortSpace& space, bool times, bool weights) {
  if (times || weights) {
    store_ = std::make_unique<RecordStore<RichRecord>>(space.state());
  } else {
    store_ = std::make_unique<RecordStore<PlainRecord>>(space.state());
  }
}
EdgeSorter::EdgeSorter(EdgeSorter&&) noexcept = default;
EdgeSorter& EdgeSorter::operator=(EdgeSorter&&) noexcept = default;
EdgeSorter::~EdgeSorter() = default;

void EdgeSorter::add(const Edge& edge) { store_->add(edge); }
uint64_t EdgeSorter::size() const { return store_->size; }
std::optional<std::pair<Time, Time>> EdgeSorter::time_range() const { return store_->time_range; }
uint64_t EdgeSorter::runs() const { return store_->spilled_runs; }

void EdgeSorter::begin_reading() {
  store_->start_reading();
  store_->read(edges_);
}

const Edge* EdgeSorter::current() const { return at_ < edges_.size() ? &edges_[at_] : nullptr; }

void EdgeSorter::advance() {
  if (++at_ < edges_.size()) return;
  store_->read(edges_);
  at_ = 0;
}

}  // namespace hgt
