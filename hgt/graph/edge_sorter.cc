#include "hgt/graph/edge_sorter.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <deque>
#include <utility>
#include <vector>

#include "hgt/error.h"
#include "hgt/graph/array_file.h"
#include "hgt/graph/background_jobs.h"
#include "hgt/graph/radix_sort.h"

namespace hgt {

namespace {

constexpr uint64_t kMaxBlockBytes = uint64_t{8} << 20U;
constexpr uint64_t kMinBlockBytes = uint64_t{64} << 10U;
constexpr size_t kReadBufferBytes = size_t{256} << 10U;
constexpr size_t kEdgesReadAhead = 8192;

uint64_t key_of(const Edge& edge) { return uint64_t{edge.target} << 32U | edge.source; }

struct PlainRecord {
  static constexpr size_t kWords = 1;
  uint64_t key;

  uint64_t word(size_t /*number*/) const { return key; }

  static PlainRecord from(const Edge& edge) { return {key_of(edge)}; }
  void to(Edge& edge) const {
    edge.target = static_cast<NodeId>(key >> 32U);
    edge.source = static_cast<NodeId>(key);
  }
  bool operator<(const PlainRecord& other) const { return key < other.key; }
};

// Time and weight sit in one number that orders them as they are ordered: time first, then weight.
struct RichRecord {
  static constexpr size_t kWords = 2;
  uint64_t key;
  uint64_t payload;

  uint64_t word(size_t number) const { return number == 0 ? payload : key; }

  // Bits of a float, turned so that they compare like the float.
  static uint32_t ordered(float weight) {
    const auto bits = std::bit_cast<uint32_t>(weight);
    return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
  }
  static float weight(uint32_t ordered) {
    const bool negative = (ordered & 0x80000000U) == 0;
    return std::bit_cast<float>(negative ? ~ordered : ordered & 0x7fffffffU);
  }
  static RichRecord from(const Edge& edge) {
    const auto time = static_cast<uint32_t>(edge.time) ^ 0x80000000U;
    return {key_of(edge), uint64_t{time} << 32U | ordered(edge.weight)};
  }
  void to(Edge& edge) const {
    PlainRecord{key}.to(edge);
    edge.time = static_cast<Time>(static_cast<uint32_t>(payload >> 32U) ^ 0x80000000U);
    edge.weight = weight(static_cast<uint32_t>(payload));
  }
  bool operator<(const RichRecord& other) const {
    return key != other.key ? key < other.key : payload < other.payload;
  }
};

// A sorted sequence: a block in memory, or a run on disk read through a buffer.
template <typename Record>
class SortedSource {
 public:
  explicit SortedSource(std::vector<Record> block)
      : buffer_(std::move(block)), remaining_(buffer_.size()) {}
  SortedSource(const File& file, uint64_t records) : file_(&file), remaining_(records) { refill(); }

  bool empty() const { return remaining_ == 0; }
  const Record& front() const { return buffer_[at_]; }
  void pop() {
    ++at_;
    --remaining_;
    if (at_ == buffer_.size() && remaining_ > 0) refill();
  }

 private:
  void refill() {
    buffer_.resize(std::min<uint64_t>(remaining_, kReadBufferBytes / sizeof(Record)));
    const size_t bytes = buffer_.size() * sizeof(Record);
    if (file_->read_at(buffer_.data(), bytes, offset_) != bytes) {
      throw Error(
          fmt::format("{}: a sorted run on disk was truncated while it was being read; check the "
                      "disk and try again",
                      file_->path().string()));
    }
    offset_ += bytes;
    at_ = 0;
  }

  std::vector<Record> buffer_;
  size_t at_ = 0;
  const File* file_ = nullptr;
  uint64_t offset_ = 0;
  uint64_t remaining_;
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
    ++size;
    if (open_.size() == capacity_) close_block();
  }

  uint64_t memory() const override { return blocks_ * capacity_ * sizeof(Record); }

  void start_spill() override {
    close_block();
    jobs_.wait();
    merge_ = take_blocks();
    runs_.push_back({.file = space_.new_run()});
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
    for (const Run& run : runs_) merge_.add(SortedSource<Record>(run.file, run.records));
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
  struct Run {
    File file;
    uint64_t records = 0;
  };

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
    Run& run = runs_.back();
    std::vector<Record> buffer;
    buffer.reserve(kReadBufferBytes / sizeof(Record));
    for (; !merge_.empty(); merge_.pop()) {
      buffer.push_back(merge_.front());
      if (buffer.size() == buffer.capacity()) flush(run, buffer);
    }
    flush(run, buffer);
  }

  static void flush(Run& run, std::vector<Record>& buffer) {
    run.file.write(buffer.data(), buffer.size() * sizeof(Record));
    run.records += buffer.size();
    buffer.clear();
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
  std::atomic<uint64_t> blocks_ = 0;                          // open, closed, or being spilled
  std::atomic<bool> spilling_ = false;
  std::deque<Run> runs_;
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
