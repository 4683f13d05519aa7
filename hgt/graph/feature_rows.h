// The rows of a feature file, read many at once (hgt/disk/range_reader.h): the rows of a batch lie
// anywhere in a file that need not fit in memory.
#pragma once

#include <cstdint>
#include <span>

#include "hgt/disk/file.h"
#include "hgt/disk/range_reader.h"
#include "hgt/graph/schema.h"
#include "hgt/graph/types.h"

namespace hgt {

class FeatureRows {
 public:
  FeatureRows() = default;  // of no file
  FeatureRows(const Path& file, FeatureType type, uint64_t width);

  // The numbers of nodes[i] go to into[i * stride ..), of which `width` are used. Throws Error: the
  // file cannot be read or has been shortened.
  void read(std::span<const NodeId> nodes, RangeReader& reader, std::span<float> into,
            uint64_t stride) const;

 private:
  void read_some(std::span<const NodeId> nodes, RangeReader& reader, std::span<float> into,
                 uint64_t stride) const;
  void unpack(std::span<const NodeId> nodes, const std::byte* stored, std::span<float> into,
              uint64_t stride) const;

  File file_;
  FeatureType type_ = FeatureType::float32;
  uint64_t width_ = 0;
  uint64_t row_bytes_ = 0;
};

}  // namespace hgt
