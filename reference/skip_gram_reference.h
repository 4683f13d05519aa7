// Skip-gram with negative sampling as the equations say it, in double loops: the oracle of the
// kernels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hgt {

struct ReferenceTables {
  uint32_t width = 0;
  std::vector<double> inputs = {};   // [rows, width]
  std::vector<double> outputs = {};  // [rows, width]
};

// Rows of the tables. A negative that was drawn twice is there twice.
struct ReferencePair {
  uint32_t center = 0;
  uint32_t context = 0;
  std::vector<uint32_t> negatives = {};
};

// -log sigmoid(x_c . y_o) - sum over negatives n of log sigmoid(-x_c . y_n), with x_c the input row
// of the center and y the output rows.
double pair_loss(const ReferenceTables& tables, const ReferencePair& pair);

// One step down the gradient of pair_loss.
void reference_pair_step(ReferenceTables& tables, const ReferencePair& pair, double rate);

}  // namespace hgt
