// Many products at once are the products one by one, however they are cut.
#include "hgt/model/product_sums.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "hgt/model/random_batch_test.h"

namespace hgt {
namespace {

// Restores the number of threads.
class Threads {
 public:
  explicit Threads(int threads) : before_(at::get_num_threads()) { at::set_num_threads(threads); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  ~Threads() { at::set_num_threads(before_); }

 private:
  int before_;
};

at::Tensor one_by_one(const ProductSum& sum) {
  at::Tensor y = at::zeros(sum.y.sizes(), sum.y.options());
  if (sum.start.defined()) y = y + sum.start;
  for (const MatrixProduct& term : sum.terms) y = y + at::matmul(term.x, term.w);
  return y;
}

class RandomSums {
 public:
  explicit RandomSums(uint64_t seed) : draws_(hash(seed)), seed_(seed) {}

  ProductSum next(int64_t most_rows, int64_t most_terms) {
    const int64_t m = below(most_rows + 1);
    const int64_t n = below(70);
    // Part of a larger tensor, as the tables' rows of a type are.
    ProductSum sum{at::full({m + 2, n}, 7.0, at::kDouble).narrow(0, 1, m), {}, {}};
    const int64_t start = below(3);
    if (start == 1) sum.start = matrix(1, n)[0];
    if (start == 2) sum.start = matrix(m, n);
    const int64_t terms = below(most_terms + 1);
    for (int64_t i = 0; i < terms; ++i) {
      const int64_t k = below(5) == 0 ? 0 : below(80);
      sum.terms.push_back({either_way(m, k), either_way(k, n)});
    }
    return sum;
  }

 private:
  int64_t below(int64_t bound) {
    return static_cast<int64_t>(draws_.below(static_cast<uint64_t>(bound)));
  }
  at::Tensor matrix(int64_t rows, int64_t columns) {
    return random_rows(hash(seed_, ++made_), rows, columns, at::kDouble);
  }
  // Lies by rows or by columns.
  at::Tensor either_way(int64_t rows, int64_t columns) {
    return below(2) == 0 ? matrix(rows, columns) : matrix(columns, rows).t();
  }

  Draws draws_;
  uint64_t seed_;
  uint64_t made_ = 0;
};

TEST(ProductSums, AreTheProductsOneByOne) {
  for (const int threads : {1, 2, 5}) {
    const Threads guard(threads);
    for (uint64_t seed = 0; seed < 20; ++seed) {
      RandomSums random(seed);
      std::vector<ProductSum> sums;
      for (uint64_t i = 0; i < seed; ++i) sums.push_back(random.next(i % 4 == 0 ? 1 : 300, 3));
      compute_sums(sums);
      for (const ProductSum& sum : sums) {
        ASSERT_TRUE(at::allclose(sum.y, one_by_one(sum), 1e-12, 1e-12)) << threads << " " << seed;
      }
    }
  }
}

TEST(ProductSums, WriteNothingBesides) {
  const Threads guard(3);
  const at::Tensor table = at::full({402, 64}, 7.0);
  compute_sums({{table.narrow(0, 1, 200), {}, {{at::ones({200, 64}), at::ones({64, 64})}}},
                {table.narrow(0, 201, 200), {}, {{at::ones({200, 64}), at::ones({64, 64})}}}});
  EXPECT_TRUE(table[0].eq(7).all().item<bool>());
  EXPECT_TRUE(table[401].eq(7).all().item<bool>());
  EXPECT_TRUE(table.narrow(0, 1, 400).eq(64).all().item<bool>());
}

TEST(ProductSums, RecordNoGradients) {
  const Threads guard(2);
  const at::Tensor w = at::ones({256, 256}).requires_grad_();
  const at::Tensor y = at::empty({256, 256});
  compute_sums({{y, {}, {{at::ones({256, 256}), w}}}});
  EXPECT_FALSE(y.requires_grad());
  EXPECT_TRUE(y.eq(256).all().item<bool>());
}

}  // namespace
}  // namespace hgt
