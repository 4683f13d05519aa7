// Sub-graphs to measure the model on: the ones the peers were measured on, or random ones of the
// same sizes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hgt/graph/types.h"
#include "hgt/message/model_schema.h"
#include "hgt/sampling/subgraph.h"

namespace hgt {

struct LayerWork {
  std::string name = {};
  ModelSchema schema = {};
  Subgraph subgraph = {};  // instances have no nodes behind them, only numbers
  std::vector<std::vector<float>> features = {};  // by type: [rows * width]
  std::vector<int64_t> labels = {};               // of the seeds
  int64_t classes = 0;
};

// A file that subgraph_to_safetensors.py wrote.
LayerWork read_work(const Path& file);

struct WorkSize {
  uint32_t rows = 0;
  uint64_t edges = 0;
  uint32_t seeds = 256;
  uint32_t types = 5;
  uint32_t relations = 24;
};
// Rows and edges spread evenly over types and relations; 61 distinct gaps.
LayerWork random_work(const std::string& name, const WorkSize& size);

// Of one training step, multiplications and additions of the matrix products alone: projections and
// adaptation of the rows, matrices of relations at (target, relation) pairs; forward, and twice as
// much backward. The work cannot be done in less time than this at the rate of a matrix product.
double dense_flops(const LayerWork& work, int64_t hidden, uint32_t layers, bool trimmed);

}  // namespace hgt
