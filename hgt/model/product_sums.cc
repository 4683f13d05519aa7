// The sums lie end to end on a line of work: sum i covers [before[i], before[i + 1]), each of its
// rows work_per_row(i). Part p of P begins at before.back() * p / P; within a sum that is a row,
// rounded to a multiple of kRowGrain. cut(i, p) is that row, clamped to [0, rows of sum i]: 0 for p
// = 0, all rows for p = P, never falling as p grows. So the parts [cut(i, p), cut(i, p + 1)) cover
// each row once.
#include "hgt/model/product_sums.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>

namespace hgt {

namespace {

// Cuts lie at multiples of this many rows: the kernels of a BLAS work in blocks.
constexpr int64_t kRowGrain = 32;
// Multiplications for which no other thread is woken.
constexpr double kSmallWork = 1 << 18U;
// A single row takes the time of this many: reading w is what takes it.
constexpr double kSingleRow = 8;

// Multiplications and additions for a row: n (1 + sum of k_j).
double work_per_row(const ProductSum& sum) {
  int64_t inner = 1;  // for `start`
  for (const MatrixProduct& term : sum.terms) inner += term.x.size(1);
  return static_cast<double>(inner * sum.y.size(1)) * (sum.y.size(0) == 1 ? kSingleRow : 1);
}

// y = x w + start, or y += x w where y holds something.
void add_product(at::Tensor y, const at::Tensor& start, const MatrixProduct& term, bool holds) {
  if (y.size(0) == 1) {  // as a vector, so that w is not copied into blocks first
    at::Tensor vector = y[0];
    const at::Tensor x = term.x[0];
    if (holds) {
      vector.addmv_(term.w.t(), x);
    } else if (start.defined()) {
      at::addmv_out(vector, start.dim() == 2 ? start[0] : start, term.w.t(), x);
    } else {
      at::mv_out(vector, term.w.t(), x);
    }
  } else if (holds) {
    y.addmm_(term.x, term.w);
  } else if (start.defined()) {
    at::addmm_out(y, start, term.x, term.w);
  } else {
    at::mm_out(y, term.x, term.w);
  }
}

// Rows [first, last) of y: the first term that is not empty overwrites y, the others add to it.
void compute_rows(const ProductSum& sum, int64_t first, int64_t last) {
  if (first >= last || sum.y.size(1) == 0) return;
  const auto rows = [&](const at::Tensor& of) { return of.narrow(0, first, last - first); };
  const at::Tensor start =
      sum.start.defined() && sum.start.dim() == 2 ? rows(sum.start) : sum.start;
  at::Tensor y = rows(sum.y);
  bool holds = false;  // has y been written?
  for (const MatrixProduct& term : sum.terms) {
    if (term.x.size(1) == 0) continue;
    add_product(y, start, {.x = rows(term.x), .w = term.w}, holds);
    holds = true;
  }
  if (holds) return;
  if (start.defined()) {
    y.copy_(start);
  } else {
    y.zero_();
  }
}

}  // namespace

void compute_sums(const std::vector<ProductSum>& sums) {
  std::vector<double> before = {0};  // [sums + 1] work of the sums before
  for (const ProductSum& sum : sums) {
    before.push_back(before.back() + work_per_row(sum) * static_cast<double>(sum.y.size(0)));
  }
  const double all = before.back();
  const int64_t parts = all < kSmallWork ? 1 : at::get_num_threads();
  // The row of sum i at which a part begins.
  const auto cut = [&](size_t i, int64_t part) {
    const int64_t rows = sums[i].y.size(0);
    const double place = all * static_cast<double>(part) / static_cast<double>(parts) - before[i];
    if (place <= 0) return int64_t{0};
    if (part == parts || before[i] + place >= before[i + 1]) return rows;
    const double blocks = place / work_per_row(sums[i]) / kRowGrain;
    return std::min(rows, kRowGrain * static_cast<int64_t>(std::llround(blocks)));
  };
  at::parallel_for(0, parts, 1, [&](int64_t begin, int64_t end) {
    const at::AutoDispatchBelowADInplaceOrView no_gradients;  // a thread does not inherit it
    for (size_t i = 0; i < sums.size(); ++i) compute_rows(sums[i], cut(i, begin), cut(i, end));
  });
}

}  // namespace hgt
