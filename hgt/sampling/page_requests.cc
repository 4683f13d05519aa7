#include "hgt/sampling/page_requests.h"

#include <sys/resource.h>

#include <algorithm>

#include "hgt/disk/memory_limit.h"

namespace hgt {

namespace {

constexpr unsigned kBatchesFromMemory = 8;  // in a row, after which nothing is asked for

constexpr uint64_t kLongestList = 1024;  // of which all entries are asked for

// What this thread had the disk read, ahead of its needs too.
uint64_t blocks_read() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return static_cast<uint64_t>(usage.ru_inblock);
}

}  // namespace

PageRequests::PageRequests(const HeteroGraph& graph, uint64_t memory)
    : large_(!fits_memory(graph.bytes_on_disk(), memory)), wanted_(large_) {
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

void ask_for_lists(const HeteroGraph& graph, std::span<const Seed> seeds, uint64_t memory) {
  if (fits_memory(graph.bytes_on_disk(), memory)) return;
  std::vector<MemoryRange> ranges;
  for (const Seed& seed : seeds) graph.append_offset_memory(seed.type, seed.node, ranges);
  will_need(ranges);
  ranges.clear();
  std::vector<EdgePosition> buffer;
  for (const Seed& seed : seeds) {
    const auto relations = graph.schema().incoming(seed.type);
    const auto offsets = graph.incoming_offsets(seed.type, seed.node, buffer);
    for (size_t slot = 0; slot < relations.size(); ++slot) {
      const EdgePosition begin = offsets[slot];
      const EdgePosition end = std::min(begin + kLongestList, offsets[slot + 1]);
      graph.append_entry_memory(relations[slot], seed.node, {begin, end}, ranges);
    }
  }
  will_need(ranges);
}

}  // namespace hgt
