// Attention against the formula of attention_plan.h, edge by edge, in double precision.
#include "hgt/message/attention.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "hgt/error.h"
#include "hgt/failing_memory_test.h"
#include "hgt/message/attention_plan.h"
#include "hgt/message/random_layer_graph_test.h"
#include "hgt/random.h"

namespace hgt {
namespace {

struct Results {
  Values outputs, weights;                      // weights in the order of the layer graph
  Values sources, queries, attention, message;  // gradients
};

// --- the formula ---

class Reference {
 public:
  explicit Reference(const AttentionCase& given)
      : case_(given), in_(given.inputs), width_(given.shape.width) {
    const uint64_t edges = case_.layer.graph.num_edges();
    for (uint32_t type = 0; type < case_.layer.graph.num_types(); ++type) {
      for (uint32_t i = plan().time_offsets[type]; i < plan().time_offsets[type + 1]; ++i) {
        time_rows_.emplace_back(type, plan().time_gaps[i]);
      }
    }
    out_ = {.outputs = Values(in_.queries.size()),
            .weights = Values(edges * case_.shape.heads),
            .sources = Values(in_.sources.size()),
            .queries = Values(in_.queries.size()),
            .attention = Values(in_.attention.size()),
            .message = Values(in_.message.size())};
    for (uint32_t target = 0; target < plan().num_targets; ++target) {
      for (uint32_t head = 0; head < case_.shape.heads; ++head) compute_head(target, head);
    }
  }
  const Results& results() const { return out_; }

 private:
  // What one head of an edge computes with, and where its gradients go.
  struct Part {
    Values key, message;         // K_s + Z_g and M_s + Z_g
    Values score_query;          // W_r Q_t
    Values projected;            // (M_s + Z_g) W'_r
    std::vector<uint64_t> rows;  // where key and message begin in the source table
    uint64_t matrix = 0;
    double weight = 0;
  };

  const AttentionPlan& plan() const { return case_.plan; }

  // The row of the source's type and the edge's gap.
  uint64_t time_row(uint64_t edge) const {
    const std::pair wanted(case_.layer.source_type(edge), case_.layer.graph.gaps[edge]);
    const auto found = std::find(time_rows_.begin(), time_rows_.end(), wanted);
    return plan().num_sources + static_cast<uint64_t>(found - time_rows_.begin());
  }

  Part part(uint64_t edge, uint64_t query, uint32_t head) const {
    Part part{.key = Values(width_),
              .message = Values(width_),
              .score_query = Values(width_),
              .projected = Values(width_),
              .rows = {case_.layer.graph.sources[edge]},
              .matrix = case_.layer.set_of(edge) * case_.shape.numbers_per_relation() +
                        (case_.shape.shared ? 0 : head * width_ * width_)};
    const uint64_t hidden = case_.shape.hidden();
    if (plan().temporal) part.rows.push_back(time_row(edge));
    for (uint64_t& row : part.rows) {
      row = row * 2 * hidden + head * width_;
      for (uint64_t i = 0; i < width_; ++i) {
        part.key[i] += in_.sources[row + i];
        part.message[i] += in_.sources[row + hidden + i];
      }
    }
    const double* queries = in_.queries.data() + query;
    double* projected = part.projected.data();
    for (uint64_t i = 0; i < width_; ++i) {
      const double* attention = in_.attention.data() + part.matrix + i * width_;
      const double* message = in_.message.data() + part.matrix + i * width_;
      const double value = part.message[i];
      for (uint64_t j = 0; j < width_; ++j) {
        part.score_query[i] += attention[j] * queries[j];
        projected[j] += value * message[j];
      }
    }
    return part;
  }

  static double dot(const Values& left, const double* right) {
    return std::inner_product(left.begin(), left.end(), right, 0.0);
  }

  // One head of one target, forward and backward.
  void compute_head(uint32_t target, uint32_t head) {
    const uint64_t query = uint64_t{target} * case_.shape.hidden() + head * width_;
    const double* gradient = in_.output_gradients.data() + query;
    std::vector<Part> parts;
    double highest = -std::numeric_limits<double>::infinity();
    for (const uint64_t edge : case_.layer.graph.incoming(target)) {
      parts.push_back(part(edge, query, head));
      parts.back().weight = dot(parts.back().key, parts.back().score_query.data());
      highest = std::max(highest, parts.back().weight);
    }
    double total = 0;
    for (Part& part : parts) total += part.weight = std::exp(part.weight - highest);
    double mean = 0;  // of the weights' gradients
    uint64_t place = case_.layer.graph.incoming(target).first * case_.shape.heads + head;
    for (Part& part : parts) {
      part.weight /= total;
      out_.weights[place] = part.weight;
      place += case_.shape.heads;
      for (uint64_t j = 0; j < width_; ++j) {
        out_.outputs[query + j] += part.weight * part.projected[j];
      }
      mean += part.weight * dot(part.projected, gradient);
    }
    for (const Part& part : parts) {
      add_gradients(part, part.weight * (dot(part.projected, gradient) - mean), query);
    }
  }

  void add_gradients(const Part& part, double score_gradient, uint64_t query) {
    const uint64_t hidden = case_.shape.hidden();
    const double* gradient = in_.output_gradients.data() + query;
    const double* queries = in_.queries.data() + query;
    double* d_queries = out_.queries.data() + query;
    for (uint64_t i = 0; i < width_; ++i) {
      const uint64_t at = part.matrix + i * width_;
      const double* attention = in_.attention.data() + at;
      const double* message = in_.message.data() + at;
      double* d_attention = out_.attention.data() + at;
      double* d_message = out_.message.data() + at;
      const double key_factor = score_gradient * part.key[i];
      const double message_factor = part.weight * part.message[i];
      double message_gradient = 0;
      for (uint64_t j = 0; j < width_; ++j) {
        d_queries[j] += key_factor * attention[j];
        d_attention[j] += key_factor * queries[j];
        d_message[j] += message_factor * gradient[j];
        message_gradient += part.weight * message[j] * gradient[j];
      }
      for (const uint64_t row : part.rows) {
        out_.sources[row + i] += score_gradient * part.score_query[i];
        out_.sources[row + hidden + i] += message_gradient;
      }
    }
  }

  const AttentionCase& case_;
  const AttentionInputs& in_;
  uint64_t width_;
  std::vector<std::pair<uint32_t, uint32_t>> time_rows_;  // type and gap
  Results out_;
};

// --- the product ---

// Every number that the caller does not have to give is NaN before.
template <typename T>
Results run(const AttentionCase& given, Instructions instructions = best_instructions()) {
  const auto copy = [](const Values& from) { return std::vector<T>(from.begin(), from.end()); };
  const auto room = [](uint64_t count) {
    return std::vector<T>(count, std::numeric_limits<T>::quiet_NaN());
  };
  const AttentionPlan& plan = given.plan;
  const AttentionInputs& in = given.inputs;
  const uint64_t hidden = given.shape.hidden();
  const uint64_t heads = given.shape.heads;
  std::vector<T> sources = copy(in.sources);
  sources.resize(2 * hidden * plan.source_rows, std::numeric_limits<T>::quiet_NaN());
  const std::vector<T> queries = copy(in.queries), gradients = copy(in.output_gradients);
  const std::vector<T> attention = copy(in.attention), message = copy(in.message);
  std::vector<T> weights = room(plan.num_edges() * heads), outputs = room(in.queries.size());
  const AttentionTables<T> tables{.sources = sources.data(),
                                  .queries = queries.data(),
                                  .attention_matrices = attention.data(),
                                  .message_matrices = message.data(),
                                  .weights = weights.data(),
                                  .outputs = outputs.data()};
  attention_forward(plan, given.shape, tables, instructions);
  std::vector<T> d_sources = room(sources.size()), d_queries = room(queries.size());
  std::vector<T> d_attention = room(attention.size()), d_message = room(message.size());
  std::vector<T> pair_queries = room(plan.num_target_pairs() * hidden),
                 pair_sum_gradients = pair_queries;
  std::vector<T> score_gradients = room(weights.size()),
                 partials = room(2 * hidden * plan.num_partials);
  attention_backward(plan, given.shape, tables,
                     AttentionGradients<T>{.outputs = gradients.data(),
                                           .sources = d_sources.data(),
                                           .queries = d_queries.data(),
                                           .attention_matrices = d_attention.data(),
                                           .message_matrices = d_message.data(),
                                           .pair_queries = pair_queries.data(),
                                           .pair_sum_gradients = pair_sum_gradients.data(),
                                           .score_gradients = score_gradients.data(),
                                           .partials = partials.data()},
                     instructions);
  const auto back = [](const std::vector<T>& from) { return Values(from.begin(), from.end()); };
  d_sources.resize(in.sources.size());  // the others are not promised
  Results results{.outputs = back(outputs),
                  .weights = Values(weights.size()),
                  .sources = back(d_sources),
                  .queries = back(d_queries),
                  .attention = back(d_attention),
                  .message = back(d_message)};
  for (uint64_t i = 0; i < weights.size(); ++i) {
    results.weights[plan.edge_origin[i / heads] * heads + i % heads] = weights[i];
  }
  return results;
}

std::vector<Instructions> instruction_sets() {
  std::vector<Instructions> sets;
  for (const Instructions set :
       {Instructions::portable, Instructions::avx2, Instructions::avx512}) {
    if (set <= best_instructions()) sets.push_back(set);
  }
  return sets;
}

// The worst error, relative to the greatest number of its row and the mean of all.
void expect_close(const char* name, const Values& found, const Values& expected, uint64_t row,
                  double tolerance) {
  ASSERT_EQ(found.size(), expected.size()) << name;
  double mean = 0;
  for (const double value : expected)
    mean += std::abs(value) / static_cast<double>(expected.size());
  double worst = 0;
  for (uint64_t first = 0; first < expected.size(); first += row) {
    double scale = mean;
    for (uint64_t i = first; i < first + row; ++i) scale = std::max(scale, std::abs(expected[i]));
    for (uint64_t i = first; i < first + row; ++i) {
      ASSERT_TRUE(std::isfinite(found[i])) << name << " " << i;
      if (found[i] != expected[i])
        worst = std::max(worst, std::abs(found[i] - expected[i]) / scale);
    }
  }
  EXPECT_LE(worst, tolerance) << name;
}

void expect_close(const AttentionCase& given, const Results& found, const Results& expected,
                  double tolerance) {
  const HeadShape& shape = given.shape;
  expect_close("outputs", found.outputs, expected.outputs, shape.width, tolerance);
  expect_close("weights", found.weights, expected.weights, shape.heads, tolerance);
  expect_close("sources", found.sources, expected.sources, shape.width, tolerance);
  expect_close("queries", found.queries, expected.queries, shape.width, tolerance);
  expect_close("attention", found.attention, expected.attention, shape.width, tolerance);
  expect_close("message", found.message, expected.message, shape.width, tolerance);
}

// What adding in another order changes.
template <typename T>
constexpr double kRounding = std::is_same_v<T, float> ? 3e-5 : 1e-12;

// A softmax adds up to 10,000 floats of 24 bits, one after the other: 10,000 times 6e-8.
template <typename T>
constexpr double kTolerance = std::is_same_v<T, float> ? 6e-4 : 1e-11;

// On one thread: results hardly depend on it, and beside other tests several only wait for each
// other.
class Attention : public testing::Test {
 protected:
  Attention() { omp_set_num_threads(1); }
  ~Attention() override { omp_set_num_threads(before_); }

 private:
  int before_ = omp_get_max_threads();
};

void expect_reference(const AttentionCase& given) {
  const Results expected = Reference(given).results();
  for (const Instructions instructions : instruction_sets()) {
    SCOPED_TRACE(testing::Message()
                 << given.shape.heads << " heads of " << given.shape.width << ", "
                 << to_string(instructions) << (given.plan.temporal ? ", temporal" : "")
                 << (given.shape.shared ? ", one matrix" : ""));
    expect_close(given, run<double>(given, instructions), expected, kTolerance<double>);
    expect_close(given, run<float>(given, instructions), expected, kTolerance<float>);
  }
}

// 174 edges; runs of 54, 29, 19 and fewer pairs, at both ends.
TestLayer small_layer() {
  return random_layer({.most_rows = 90, .relations = 5, .most_edges = 60}, 131);
}

TEST_F(Attention, IsTheFormulaForEveryShapeOfHeads) {
  for (const uint32_t width : {1U, 2U, 3U, 4U, 5U, 8U, 12U, 16U, 32U, 64U}) {
    for (const uint32_t heads : {1U, 2U, 3U, 8U, 11U}) {
      expect_reference(AttentionCase(small_layer(), false, {heads, width}, heads));
      expect_reference(AttentionCase(small_layer(), true, {heads, width}, heads));
      expect_reference(AttentionCase(small_layer(), true, {heads, width, true}, heads));
    }
  }
  const AttentionPlan plain = AttentionCase(small_layer(), false, {1, 1}).plan;
  const AttentionPlan temporal = AttentionCase(small_layer(), true, {1, 1}).plan;
  EXPECT_EQ(plain.num_source_pairs(), 29U) << "the layer is no longer what this test needs";
  EXPECT_EQ(temporal.num_target_pairs(), 73U) << "the layer is no longer what this test needs";
}

TEST_F(Attention, IsTheFormulaOnEveryRandomLayer) {
  for (uint64_t number = 0; number < 40 && !HasFailure(); ++number) {
    SCOPED_TRACE(testing::Message() << "layer " << number);
    const RandomLayerOptions options{.types = static_cast<uint32_t>(3 + number % 3),
                                     .most_rows = static_cast<uint32_t>(3 + 5 * number),
                                     .relations = static_cast<uint32_t>(1 + number % 11),
                                     .most_edges = 100};
    const uint32_t width = number % 3 == 0 ? 8 : 3;
    expect_reference(
        AttentionCase(random_layer(options, number), number % 4 != 0, {2, width}, number));
  }
}

TEST_F(Attention, IsTheFormulaForHubs) {
  for (const bool temporal : {false, true}) {
    const AttentionCase given(hub_layer(10'000), temporal, {2, 4});
    ASSERT_GT(given.plan.num_partials, 10U);
    expect_reference(given);
  }
}

TEST_F(Attention, IsZeroWithoutEdges) {
  for (const std::vector<uint32_t>& targets : {std::vector{0U, 0U}, std::vector{3U, 1U}}) {
    for (const bool temporal : {false, true}) {
      const TestLayer layer{
          .graph = test_layer_graph({4, 1}, targets, {}, 2), .sets = {0, 1}, .num_sets = 2};
      const AttentionCase given(layer, temporal, {2, 8});
      expect_reference(given);
      const Results results = run<double>(given);
      EXPECT_EQ(results.outputs, Values(results.outputs.size(), 0.0));
      EXPECT_EQ(results.sources, Values(results.sources.size(), 0.0));
    }
  }
}

// The gradient of the sum of all outputs, each times its output gradient.
TEST_F(Attention, HasTheGradientsThatFiniteDifferencesHave) {
  AttentionCase given(small_layer(), true, {2, 4});
  const Results results = run<double>(given);
  const auto loss = [&] {
    const Values outputs = run<double>(given).outputs;
    return std::inner_product(outputs.begin(), outputs.end(), given.inputs.output_gradients.begin(),
                              0.0);
  };
  Draws draws(3);
  const auto expect_gradient = [&](const char* name, Values& inputs, const Values& gradient) {
    for (int i = 0; i < 30; ++i) {
      const uint64_t at = draws.below(inputs.size());
      const double before = inputs[at];
      constexpr double kStep = 1e-6;
      inputs[at] = before + kStep;
      const double above = loss();
      inputs[at] = before - kStep;
      const double below = loss();
      inputs[at] = before;
      EXPECT_NEAR((above - below) / (2 * kStep), gradient[at], 1e-7) << name << " " << at;
    }
  };
  expect_gradient("sources", given.inputs.sources, results.sources);
  expect_gradient("queries", given.inputs.queries, results.queries);
  expect_gradient("attention", given.inputs.attention, results.attention);
  expect_gradient("message", given.inputs.message, results.message);
}

template <typename T>
void expect_the_same_on_any_number_of_threads(const AttentionCase& given) {
  omp_set_num_threads(1);
  const Results alone = run<T>(given);
  for (const int threads : {1, 2, 3, 4}) {
    SCOPED_TRACE(testing::Message() << threads << " threads");
    omp_set_num_threads(threads);
    const Results first = run<T>(given);
    for (int repeat = 0; repeat < 2; ++repeat) {
      const Results again = run<T>(given);
      EXPECT_TRUE(again.attention == first.attention);
      EXPECT_TRUE(again.message == first.message);
      EXPECT_TRUE(again.outputs == alone.outputs);
      EXPECT_TRUE(again.weights == alone.weights);
      EXPECT_TRUE(again.sources == alone.sources);
      EXPECT_TRUE(again.queries == alone.queries);
    }
    expect_close(given, first, alone, kRounding<T>);
  }
}

TEST_F(Attention, DependsOnThreadsInTheLastBitsOfMatrixGradientsOnly) {
  const AttentionCase hubs(hub_layer(3000), true, {2, 8});
  ASSERT_GT(hubs.plan.num_blocks(), 4U);
  expect_the_same_on_any_number_of_threads<float>(hubs);
  expect_the_same_on_any_number_of_threads<double>(hubs);
  expect_the_same_on_any_number_of_threads<float>(AttentionCase(small_layer(), true, {3, 5}));
}

// Every allocation fails in turn, those of parallel regions included.
TEST_F(Attention, PassesOnThatMemoryRanOut) {
  omp_set_num_threads(2);
  const AttentionCase given(hub_layer(3000), true, {8, 16});
  const Results expected = run<float>(given);
  int64_t failures = 0;
  for (int64_t count = 0;; ++count) {
    try {
      const AllocationLimit limit(count);
      const Results found = run<float>(given);
      EXPECT_EQ(found.outputs, expected.outputs);
      break;
    } catch (const std::bad_alloc&) {
      ++failures;
    }
  }
  EXPECT_GT(failures, 30);
}

void expect_sums_of_one(const AttentionCase& given, const Values& weights, double tolerance) {
  const LayerGraph& graph = given.layer.graph;
  const uint64_t heads = given.shape.heads;
  EXPECT_TRUE(std::all_of(weights.begin(), weights.end(), [](double each) { return each >= 0; }));
  for (uint64_t i = 0; i < graph.num_targets() * heads; ++i) {
    const auto target = static_cast<uint32_t>(i / heads);
    double sum = graph.incoming(target).size() == 0 ? 1 : 0;
    for (const uint64_t edge : graph.incoming(target)) sum += weights[edge * heads + i % heads];
    EXPECT_NEAR(sum, 1.0, tolerance) << "target " << target << ", head " << i % heads;
  }
}

void expect_finite(const Results& results) {
  for (const Values* values : {&results.outputs, &results.sources, &results.queries,
                               &results.attention, &results.message}) {
    EXPECT_TRUE(std::all_of(values->begin(), values->end(),
                            [](double value) { return std::isfinite(value); }));
  }
}

TEST_F(Attention, HasWeightsThatSumToOne) {
  for (const bool temporal : {false, true}) {
    const AttentionCase given(hub_layer(10'000), temporal, {3, 4});
    expect_sums_of_one(given, run<double>(given).weights, 1e-12);
    expect_sums_of_one(given, run<float>(given).weights, kTolerance<float>);
  }
}

TEST_F(Attention, SurvivesHugeScores) {
  AttentionCase given(small_layer(), true, {2, 8});
  for (double& query : given.inputs.queries) query *= 65536;
  const Values expected = Reference(given).results().outputs;
  for (const Instructions instructions : instruction_sets()) {
    const Results in_double = run<double>(given, instructions);
    const Results in_float = run<float>(given, instructions);
    expect_sums_of_one(given, in_double.weights, 1e-12);
    expect_sums_of_one(given, in_float.weights, 1e-6);
    expect_finite(in_double);
    expect_finite(in_float);
    expect_close("outputs", in_double.outputs, expected, given.shape.width, 1e-8);
  }
}

// Small weights are right, too: to the few bits that rounding the scores to float takes.
TEST_F(Attention, HasWeightsOfAllSizes) {
  AttentionCase given(hub_layer(2000), true, {3, 4});
  for (double& query : given.inputs.queries) query *= 20;
  const Values expected = Reference(given).results().weights;
  ASSERT_LT(*std::min_element(expected.begin(), expected.end()), 1e-30);
  for (const Instructions instructions : instruction_sets()) {
    const Values found = run<float>(given, instructions).weights;
    for (uint64_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(found[i], expected[i], std::max(2e-4 * expected[i], 1e-37))
          << to_string(instructions) << " " << i;
    }
  }
}

// So that training notices.
TEST_F(Attention, PassesOnWhatIsNoNumber) {
  AttentionCase given(small_layer(), true, {8, 4});
  given.inputs.queries.assign(given.inputs.queries.size(), std::nan(""));
  for (const Instructions instructions : instruction_sets()) {
    for (const double weight : run<float>(given, instructions).weights) {
      ASSERT_TRUE(std::isnan(weight)) << to_string(instructions);
    }
  }
}

TEST_F(Attention, ComputesWithTheInstructionsInUse) {
  const AttentionCase given(hub_layer(2000), true, {2, 16});
  EXPECT_EQ(current_instructions(), best_instructions());
  for (const Instructions set : instruction_sets()) {
    use_instructions(set);
    EXPECT_EQ(current_instructions(), set);
    EXPECT_EQ(run<float>(given, current_instructions()).outputs, run<float>(given, set).outputs);
  }
  use_instructions(best_instructions());
  if (best_instructions() < Instructions::avx512) {
    EXPECT_THROW(use_instructions(Instructions::avx512), Error);
    EXPECT_EQ(current_instructions(), best_instructions());
  }
}

TEST_F(Attention, IsTheSameWithAllInstructions) {
  if (best_instructions() == Instructions::portable) GTEST_SKIP() << "no AVX2 here";
  for (const uint32_t width : {4U, 8U, 16U, 32U}) {
    const AttentionCase given(hub_layer(2000), true, {2, width});
    for (const Instructions set : instruction_sets()) {
      SCOPED_TRACE(to_string(set));
      expect_close(given, run<double>(given, set), run<double>(given, Instructions::portable),
                   kRounding<double>);
      expect_close(given, run<float>(given, set), run<float>(given, Instructions::portable),
                   kRounding<float>);
    }
  }
}

}  // namespace
}  // namespace hgt
