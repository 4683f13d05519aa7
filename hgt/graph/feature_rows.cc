#include "hgt/graph/feature_rows.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <vector>

#include "hgt/error.h"
#include "hgt/graph/array_file.h"
#include "hgt/graph/stored_features.h"

namespace hgt {

namespace {

constexpr size_t kRowsAtOnce = size_t{1} << 16U;

// How many of the nodes from `first` on are successive, so that their rows lie together.
size_t run_length(std::span<const NodeId> nodes, size_t first) {
  size_t end = first + 1;
  while (end < nodes.size() && nodes[end] == nodes[end - 1] + 1) ++end;
  return end - first;
}

}  // namespace

FeatureRows::FeatureRows(const Path& file, FeatureType type, uint64_t width)
    : file_(File::open_to_read(file)),
      type_(type),
      width_(width),
      row_bytes_(stored_row_bytes(type, width)) {
  // Pages around a row would only push others out.
  ::posix_fadvise(file_.descriptor(), 0, 0, POSIX_FADV_RANDOM);
}

void FeatureRows::read(std::span<const NodeId> nodes, RangeReader& reader, std::span<float> into,
                       uint64_t stride) const {
  assert(into.size() >= nodes.size() * stride && stride >= width_);
  for (size_t done = 0; done < nodes.size(); done += kRowsAtOnce) {
    const size_t count = std::min(kRowsAtOnce, nodes.size() - done);
    read_some(nodes.subspan(done, count), reader, into.subspan(done * stride, count * stride),
              stride);
  }
}

// What is stored is read into the end of the place where the numbers go, which is seldom smaller,
// and unpacked from there, row by row: no memory on the side, no copy.
void FeatureRows::read_some(std::span<const NodeId> nodes, RangeReader& reader,
                            std::span<float> into, uint64_t stride) const {
  const bool fits = row_bytes_ <= stride * sizeof(float);
  std::vector<std::byte> aside(fits ? 0 : nodes.size() * row_bytes_);
  std::vector<FileRange> ranges;
  std::vector<size_t> first_rows;  // of each range
  ranges.reserve(nodes.size());
  first_rows.reserve(nodes.size());
  for (size_t i = 0; i < nodes.size(); i += ranges.back().into.size() / row_bytes_) {
    const size_t count = stride == width_ ? run_length(nodes, i) : 1;
    const auto place = fits ? std::as_writable_bytes(into.subspan(i * stride, count * stride))
                            : std::span(aside).subspan(i * row_bytes_, count * row_bytes_);
    first_rows.push_back(i);
    ranges.push_back({.file = &file_,
                      .offset = kArrayHeaderBytes + nodes[i] * row_bytes_,
                      .into = place.last(count * row_bytes_)});
  }
  reader.read(ranges, [&](size_t number) {
    const size_t first = first_rows[number];
    const auto rows = nodes.subspan(first, ranges[number].into.size() / row_bytes_);
    unpack(rows, ranges[number].into.data(), into.subspan(first * stride), stride);
  });
}

void FeatureRows::unpack(std::span<const NodeId> nodes, const std::byte* stored,
                         std::span<float> into, uint64_t stride) const {
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (load_row(stored + i * row_bytes_, type_, into.subspan(i * stride, width_))) continue;
    throw Error(
        fmt::format("{}: the largest feature of node {} is not a finite number; the file is "
                    "damaged, restore it or make the features again",
                    file_.path().string(), nodes[i]));
  }
}

}  // namespace hgt
