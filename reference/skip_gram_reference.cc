#include "reference/skip_gram_reference.h"

#include <cmath>

namespace hgt {

namespace {

double row_product(const ReferenceTables& tables, uint32_t center, uint32_t output) {
  double sum = 0;
  for (uint64_t i = 0; i < tables.width; ++i) {
    sum += tables.inputs[center * uint64_t{tables.width} + i] *
           tables.outputs[output * uint64_t{tables.width} + i];
  }
  return sum;
}

double exact_sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Adds -rate times the gradient of one term to the new tables.
void add_term(const ReferenceTables& old, ReferenceTables& moved, uint32_t center, uint32_t output,
              double gain) {
  for (uint64_t i = 0; i < old.width; ++i) {
    const uint64_t in = center * uint64_t{old.width} + i;
    const uint64_t out = output * uint64_t{old.width} + i;
    moved.inputs[in] += gain * old.outputs[out];
    moved.outputs[out] += gain * old.inputs[in];
  }
}

}  // namespace

double pair_loss(const ReferenceTables& tables, const ReferencePair& pair) {
  double loss = std::log1p(std::exp(-row_product(tables, pair.center, pair.context)));
  for (const uint32_t negative : pair.negatives) {
    loss += std::log1p(std::exp(row_product(tables, pair.center, negative)));
  }
  return loss;
}

void reference_pair_step(ReferenceTables& tables, const ReferencePair& pair, double rate) {
  const ReferenceTables old = tables;
  const auto sigmoid_of = [&](uint32_t output) {
    return exact_sigmoid(row_product(old, pair.center, output));
  };
  add_term(old, tables, pair.center, pair.context, rate * (1 - sigmoid_of(pair.context)));
  for (const uint32_t negative : pair.negatives) {
    add_term(old, tables, pair.center, negative, rate * (0 - sigmoid_of(negative)));
  }
}

}  // namespace hgt
