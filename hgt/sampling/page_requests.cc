#include "hgt/sampling/page_requests.h"

#include <sys/resource.h>

#include <algorithm>
#include <span>

#include "hgt/disk/memory_limit.h"

namespace hgt {

namespace {

constexpr unsigned kBatchesFromMemory = 8;  // in a row, after which nothing is asked for

// What this thread had the disk read, ahead of its needs too.
uint64_t blocks_read() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return static_cast<uint64_t>(usage.ru_inblock);
}

}  // namespace

uint64_t memory_here() {
  const uint64_t machine = memory_told("/proc/meminfo", "MemTotal:");
  const auto container = container_memory("/proc/self/cgroup", "/sys/fs/cgroup");
  return std::min(machine, container.value_or(machine));
}

// Other things need memory, too: three quarters of it is as much as a graph may take.
PageRequests::PageRequests(const HeteroGraph& graph, uint64_t memory)
    : large_(graph.bytes_on_disk() > memory / 4 * 3), wanted_(large_) {
  if (!large_) return;
  graph.expect(Access::at_random);
  for (size_t type = 0; type < graph.schema().node_types().size(); ++type) {
    ranges_.push_back(std::as_bytes(graph.times(NodeType(type))));
  }
  send();
}

void PageRequests::begin_batch() {
  if (large_) blocks_before_ = blocks_read();
}

void PageRequests::send() {
  will_need(ranges_);
  ranges_.clear();
}

void PageRequests::end_batch() {
  if (!large_) return;
  batches_from_memory_ = blocks_read() == blocks_before_ ? batches_from_memory_ + 1 : 0;
  wanted_ = batches_from_memory_ < kBatchesFromMemory;
}

}  // namespace hgt
