#include "hgt/graph/edge_sorter.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <concepts>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "hgt/graph/node_columns.h"
#include "hgt/graph/sorted_run.h"
#include "hgt/parallel.h"

namespace hgt {

namespace {

constexpr uint64_t kMaxBlockBytes = uint64_t{8} << 20U;
constexpr uint64_t kMinBlockBytes = uint64_t{64} << 10U;

// A background thread that sorts blocks, at most two behind.
class SortThread {
 public:
  SortThread() : thread_(start_thread([this] { work(); })) {}
  SortThread(const SortThread&) = delete;
  SortThread& operator=(const SortThread&) = delete;
  ~SortThread() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void submit(std::function<void()> job) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return jobs_.size() < 2; });
    jobs_.push_back(std::move(job));
    changed_.notify_all();
  }

  void wait_until_idle() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return jobs_.empty() && !busy_; });
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      const auto job = std::move(jobs_.front());
      jobs_.pop_front();
      busy_ = true;
      lock.unlock();
      job();
      lock.lock();
      busy_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool busy_ = false;
  bool stopping_ = false;
  std::jthread thread_;  // last: starts when the rest is ready
};

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
  virtual uint64_t memory() const = 0;  // bytes that spill() would free
  virtual void spill() = 0;
  virtual void start_reading() = 0;
  virtual bool next(Edge& edge) = 0;

  uint64_t edges = 0;
  uint64_t spilled_runs = 0;
  std::optional<std::pair<Time, Time>> time_range;
};

struct SortSpace::State {
  State(Path where, uint64_t bound) : folder(std::move(where)), memory(bound) {}

  // Called before a sorter takes a new block.
  void make_room(uint64_t bytes) {
    while (used() + bytes > memory) {
      auto* const largest =
          *std::max_element(stores.begin(), stores.end(),
                            [](const auto* a, const auto* b) { return a->memory() < b->memory(); });
      if (largest->memory() == 0) return;
      thread.wait_until_idle();
      largest->spill();
    }
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
  SortThread thread;
};

SortSpace::SortSpace(Path folder, uint64_t memory)
    : state_(std::make_unique<State>(std::move(folder), memory)) {}
SortSpace::~SortSpace() = default;

namespace {

template <typename Record>
class RecordStore final : public EdgeSorter::Store {
 public:
  explicit RecordStore(SortSpace::State& space)
      : space_(space), capacity_(space.block_bytes() / sizeof(Record)) {
    space_.stores.push_back(this);
  }
  ~RecordStore() override {
    space_.thread.wait_until_idle();
    std::erase(space_.stores, this);
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
    ++edges;
    if (open_.size() == capacity_) close_block();
  }

  uint64_t memory() const override { return blocks_ * capacity_ * sizeof(Record); }

  // Merges all blocks into one run.
  void spill() override {
    if (open_.capacity() > 0) close_block();
    space_.thread.wait_until_idle();
    Merge<Record> merge = take_blocks();
    RunWriter<Record> writer(space_.new_run(), static_cast<uint32_t>(std::bit_width(sources_)));
    for (; !merge.empty(); merge.pop()) writer.append(merge.front());
    runs_.push_back(writer.finish());
    ++spilled_runs;
  }

  void start_reading() override {
    if (open_.capacity() > 0) close_block();
    space_.thread.wait_until_idle();
    merge_ = take_blocks();
    for (SortedRun& run : runs_) merge_.add(SortedSource<Record>(std::move(run)));
    merge_.start();
  }

  bool next(Edge& edge) override {
    if (merge_.empty()) return false;
    merge_.front().to(edge);
    merge_.pop();
    return true;
  }

 private:
  void close_block() {
    auto& block = *sorted_.emplace_back(std::make_unique<std::vector<Record>>(std::move(open_)));
    open_ = {};
    space_.thread.submit([&block] { std::sort(block.begin(), block.end()); });
  }

  Merge<Record> take_blocks() {
    Merge<Record> merge;
    for (auto& block : sorted_) merge.add(SortedSource<Record>(std::move(*block)));
    sorted_.clear();
    blocks_ = 0;
    merge.start();
    return merge;
  }

  SortSpace::State& space_;
  size_t capacity_;
  std::vector<Record> open_;
  std::vector<std::unique_ptr<std::vector<Record>>> sorted_;  // or being sorted
  uint64_t blocks_ = 0;
  std::vector<SortedRun> runs_;
  NodeId sources_ = 0;  // bits that any source has
  Merge<Record> merge_;
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
uint64_t EdgeSorter::size() const { return store_->edges; }
std::optional<std::pair<Time, Time>> EdgeSorter::time_range() const { return store_->time_range; }
uint64_t EdgeSorter::runs() const { return store_->spilled_runs; }

void EdgeSorter::begin_reading() {
  store_->start_reading();
  advance();
}

const Edge* EdgeSorter::current() const { return at_end_ ? nullptr : &edge_; }

void EdgeSorter::advance() { at_end_ = !store_->next(edge_); }

}  // namespace hgt
