// Where rows of features come from: titles, neighbors, walks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hgt/error.h"
#include "hgt/graph/types.h"

namespace hgt {

// No node of the type would get features.
class NoFeatures : public Error {
 public:
  using Error::Error;
};

class FeatureSource {
 public:
  virtual ~FeatureSource() = default;

  virtual uint64_t width() const = 0;
  // So many take a few seconds at most: what is made can be stopped and kept in between.
  virtual uint64_t rows_at_once() const { return 4096; }
  // Overwrites rows, [missing.size(), width()], with those of the nodes from `first` on, and says
  // which of them have none; the rows of those are zero. A row depends on its node alone.
  virtual void read(NodeId first, std::span<float> rows, std::vector<bool>& missing) = 0;
  // Of a mean of neighbors: how many count, by node.
  virtual std::vector<uint32_t> counts() const { return {}; }
};

}  // namespace hgt
