#include "hgt/features/metapath2vec/skip_gram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "hgt/error.h"
#include "hgt/features/metapath2vec/walk_test_graph.h"
#include "hgt/features/metapath2vec/walk_threads.h"
#include "hgt/graph/graph_test_folder.h"
#include "hgt/limited_threads_test.h"
#include "hgt/random.h"
#include "reference/skip_gram_reference.h"

namespace hgt {
namespace {

constexpr uint32_t kTestWidth = 12;

struct TestTables {
  explicit TestTables(const Walks& walks, uint32_t width = kTestWidth)
      : inputs(NodeRows(walks).size() * width, 77), outputs(inputs.size(), 77) {}
  SkipGramTables spans() { return {inputs, outputs}; }
  friend bool operator==(const TestTables&, const TestTables&) = default;

  std::vector<float> inputs;
  std::vector<float> outputs;
};

class SkipGramTest : public testing::Test {
 protected:
  SkipGram make(TestTables& tables, SkipGramOptions options = {}) const {
    options.width = kTestWidth;
    return {walks_, occurrences_, options, tables.spans()};
  }
  TestTables trained(const SkipGramOptions& options = {}) const {
    TestTables tables(walks_);
    SkipGram skip_gram = make(tables, options);
    skip_gram.initialize();
    skip_gram.train(walks_, 0, walks_.size());
    return tables;
  }
  std::string error(const SkipGramOptions& options) const {
    TestTables tables(walks_, std::min(options.width, 1000U));
    return error_of([&] { SkipGram(walks_, occurrences_, options, tables.spans()); });
  }
  // Mean loss of the pairs of the first walks.
  double loss(const TestTables& tables) const;

  TestFolder folder_;
  HeteroGraph graph_ = build_listed(folder_ / "graph", random_listed(60, 1));
  Walks walks_{graph_, {author_path(graph_.schema())}, {.walks_per_node = 30, .length = 15}};
  std::vector<uint64_t> occurrences_ = count_occurrences(walks_, walks_.size());
};

ReferenceTables doubles(const TestTables& tables) {
  return {.width = kTestWidth,
          .inputs = {tables.inputs.begin(), tables.inputs.end()},
          .outputs = {tables.outputs.begin(), tables.outputs.end()}};
}

// The pairs of a walk in the words of the reference.
std::vector<ReferencePair> reference_pairs(const PairList& list) {
  std::vector<ReferencePair> pairs;
  for (size_t i = 0; i < list.size; ++i) {
    const TrainingPair& pair = list.pairs[i];
    ReferencePair& made = pairs.emplace_back();
    made.center = pair.center;
    made.context = list.rows[pair.first];
    for (uint32_t j = pair.first + 1; j < pair.first + pair.count; ++j) {
      made.negatives.insert(made.negatives.end(), static_cast<size_t>(list.copies[j]),
                            list.rows[j]);
    }
  }
  return pairs;
}

double SkipGramTest::loss(const TestTables& tables) const {
  TestTables copy = tables;
  const SkipGram skip_gram = make(copy);
  WalkPairs pairs(skip_gram.rows(), skip_gram.negatives(), {});
  const ReferenceTables exact = doubles(tables);
  double sum = 0;
  double number = 0;
  std::vector<WalkNode> nodes;
  for (uint64_t i = 0; i < 100; ++i) {
    walks_.walk(i, nodes);
    for (const ReferencePair& pair : reference_pairs(pairs.list(nodes, Draws(hash(99, i))))) {
      sum += pair_loss(exact, pair);
      ++number;
    }
  }
  return sum / number;
}

TEST_F(SkipGramTest, TrainingIsTheReferenceAppliedToEveryPair) {
  const SkipGramOptions options{.window = 3, .negatives = 4, .learning_rate = 0.1};
  constexpr uint64_t kWalks = 60;
  TestTables tables(walks_);
  SkipGram skip_gram = make(tables, options);
  skip_gram.initialize();
  ReferenceTables expected = doubles(tables);
  skip_gram.train(walks_, 0, kWalks);
  WalkPairs pairs(skip_gram.rows(), skip_gram.negatives(), {.window = 3, .negatives = 4});
  std::vector<WalkNode> nodes;
  for (uint64_t i = 0; i < kWalks; ++i) {
    walks_.walk(i, nodes);
    const double rate = 0.1 * (1 - static_cast<double>(i) / static_cast<double>(walks_.size()));
    for (const auto& pair : reference_pairs(pairs.list(nodes, skip_gram.negative_draws(i)))) {
      reference_pair_step(expected, pair, rate);
    }
  }
  double moved = 0;
  for (size_t i = 0; i < tables.inputs.size(); ++i) {
    ASSERT_NEAR(tables.inputs[i], expected.inputs[i], 2e-5);
    ASSERT_NEAR(tables.outputs[i], expected.outputs[i], 2e-5);
    moved = std::max(moved, std::abs(expected.outputs[i]));
  }
  EXPECT_GT(moved, 0.1);
}

TEST_F(SkipGramTest, TheStartIsSmallAndAFunctionOfSeedRowAndColumn) {
  TestTables tables(walks_);
  make(tables).initialize();
  double largest = 0;
  double sum = 0;
  for (const float value : tables.inputs) {
    largest = std::max<double>(largest, std::abs(value));
    sum += value;
  }
  EXPECT_LE(largest, 0.5 / kTestWidth);
  EXPECT_GT(largest, 0.49 / kTestWidth);
  EXPECT_NEAR(sum / static_cast<double>(tables.inputs.size()), 0, 0.05 / kTestWidth);
  EXPECT_EQ(tables.outputs, std::vector<float>(tables.outputs.size()));
  TestTables again(walks_);
  make(again, {.threads = 3}).initialize();
  EXPECT_EQ(again, tables);
  make(again, {.seed = 2}).initialize();
  EXPECT_NE(again, tables);
}

TEST_F(SkipGramTest, TheRateFallsLinearlyToAlmostNothing) {
  TestTables tables(walks_);
  const SkipGram skip_gram = make(tables, {.learning_rate = 0.5});
  const uint64_t walks = walks_.size();
  EXPECT_EQ(skip_gram.rate(0), 0.5);
  EXPECT_NEAR(skip_gram.rate(walks / 2), 0.25, 1e-3);
  EXPECT_NEAR(skip_gram.rate(walks - 1), 0.5 / static_cast<double>(walks), 1e-9);
  EXPECT_GT(skip_gram.rate(walks), 0);
  EXPECT_LT(skip_gram.rate(walks), 1e-4);
}

TEST_F(SkipGramTest, NegativesAreDrawnAnewForEachWalkAndSeed) {
  TestTables tables(walks_);
  const auto first_bits = [&](uint64_t seed, uint64_t walk) {
    return make(tables, {.seed = seed}).negative_draws(walk).bits();
  };
  EXPECT_EQ(first_bits(1, 7), first_bits(1, 7));
  EXPECT_NE(first_bits(1, 7), first_bits(1, 8));
  EXPECT_NE(first_bits(1, 7), first_bits(2, 7));
}

TEST_F(SkipGramTest, TrainingInPiecesIsTrainingInOneGo) {
  const TestTables whole = trained();
  EXPECT_EQ(trained(), whole);
  EXPECT_NE(trained({.seed = 2}), whole);
  TestTables pieces(walks_);
  make(pieces).initialize();
  uint64_t at = 0;
  for (const uint64_t size : {1, 0, 63, 64, 100}) {
    make(pieces).train(walks_, at, at + size);  // a new object each time: the tables are all
    at += size;
  }
  EXPECT_NE(pieces, whole);
  make(pieces).train(walks_, at, walks_.size());
  EXPECT_EQ(pieces, whole);
}

TEST_F(SkipGramTest, TheKernelSetsAgree) {
  const TestTables portable = trained({.kernels = KernelSet::portable});
  const TestTables best = trained({.kernels = best_kernel_set()});
  for (size_t i = 0; i < best.inputs.size(); ++i) {
    ASSERT_NEAR(best.inputs[i], portable.inputs[i], 1e-3);
  }
}

TEST_F(SkipGramTest, TrainingLowersTheLossWithAnyNumberOfThreads) {
  TestTables start(walks_);
  make(start).initialize();
  EXPECT_NEAR(loss(start), 6 * std::log(2), 1e-3);
  const double one = loss(trained());
  EXPECT_LT(one, 3.6);
  for (const uint32_t threads : {2U, 4U}) {
    EXPECT_NEAR(loss(trained({.threads = threads})), one, 0.1) << threads;
  }
}

TEST_F(SkipGramTest, TheNodesOfAWalkAndNoOthersAreMoved) {
  TestTables tables(walks_);
  SkipGram skip_gram = make(tables);
  skip_gram.initialize();
  const TestTables start = tables;
  skip_gram.train(walks_, 5, 6);
  std::vector<WalkNode> nodes;
  walks_.walk(5, nodes);
  ASSERT_GT(nodes.size(), 3U);
  for (uint32_t row = 0; row < skip_gram.rows().size(); ++row) {
    const auto on_walk = [&](const WalkNode& node) { return skip_gram.rows()(node) == row; };
    const bool moved = !std::equal(tables.inputs.begin() + row * kTestWidth,
                                   tables.inputs.begin() + (row + 1) * kTestWidth,
                                   start.inputs.begin() + row * kTestWidth);
    EXPECT_EQ(moved, std::any_of(nodes.begin(), nodes.end(), on_walk)) << row;
  }
}

TEST_F(SkipGramTest, ProgressIsReportedToTheEndAndMayInterrupt) {
  for (const uint32_t threads : {1U, 3U}) {
    TestTables tables(walks_);
    SkipGram skip_gram = make(tables, {.threads = threads});
    skip_gram.initialize();
    std::vector<Progress> reports;
    skip_gram.train(walks_, 100, walks_.size(),
                    [&](const Progress& progress) { reports.push_back(progress); });
    ASSERT_FALSE(reports.empty());
    EXPECT_TRUE(reports.back().finished);
    EXPECT_EQ(reports.back().count, walks_.size() - 100);
    for (size_t i = 1; i < reports.size(); ++i) EXPECT_GE(reports[i].count, reports[i - 1].count);
    const auto stop = [](const Progress&) { throw Interrupted(); };
    EXPECT_THROW(skip_gram.train(walks_, 0, walks_.size(), stop), Interrupted);
    EXPECT_THROW(count_occurrences(walks_, walks_.size(), threads, stop), Interrupted);
  }
}

TEST_F(SkipGramTest, BadOptionsAreRefused) {
  EXPECT_EQ(error({}), "");
  EXPECT_TRUE(contains(error({.width = 0}), "width is 0; give 1 to"));
  EXPECT_TRUE(contains(error({.width = 100'000}), "width is 100000"));
  EXPECT_TRUE(contains(error({.window = 0}), "window is 0; give 1 to 100"));
  EXPECT_TRUE(contains(error({.negatives = 0}), "negatives is 0"));
  EXPECT_TRUE(contains(error({.threads = 0}), "threads is 0"));
  EXPECT_TRUE(contains(error({.learning_rate = 0}), "learning_rate is 0"));
  EXPECT_TRUE(contains(error({.learning_rate = std::nan("")}), "learning_rate is nan"));
  EXPECT_TRUE(contains(error({.learning_rate = 2}), "learning_rate is 2"));
}

TEST_F(SkipGramTest, TablesAndWalksThatDoNotFitAreRefused) {
  TestTables tables(walks_);
  TestTables wide(walks_, kTestWidth + 1);
  const auto make_with = [&](std::span<float> inputs, std::span<float> outputs, auto counts) {
    return error_of([&] {
      SkipGram(walks_, counts, {.width = kTestWidth}, {.inputs = inputs, .outputs = outputs});
    });
  };
  const std::span<const uint64_t> counts = occurrences_;
  EXPECT_EQ(make_with(tables.inputs, tables.outputs, counts), "");
  EXPECT_TRUE(contains(make_with(wide.inputs, tables.outputs, counts), "inputs have"));
  EXPECT_TRUE(contains(make_with(tables.inputs, wide.outputs, counts), "outputs have"));
  EXPECT_TRUE(
      contains(make_with(tables.inputs, tables.outputs, counts.subspan(1)), "occurrences have"));
  SkipGram skip_gram = make(tables);
  const auto train = [&](const Walks& walks, uint64_t first, uint64_t last) {
    return error_of([&] { skip_gram.train(walks, first, last); });
  };
  EXPECT_TRUE(contains(train(walks_, 4, 3), "walks 4 to 3"));
  EXPECT_TRUE(contains(train(walks_, 0, walks_.size() + 1), "cannot train"));
  const Walks longer(graph_, {author_path(graph_.schema())}, {.walks_per_node = 31});
  EXPECT_TRUE(contains(train(longer, 0, 1), "made for"));
  const WalkPath no_venues{.type = graph_.schema().node_type("author"),
                           .steps = {relations_of(graph_.schema(), {"writes"}, true),
                                     relations_of(graph_.schema(), {"writes"})}};
  EXPECT_TRUE(contains(train(Walks(graph_, {no_venues}, {.walks_per_node = 30}), 0, 1),
                       "do not have the nodes"));
  EXPECT_TRUE(contains(error_of([&] { count_occurrences(walks_, 0); }), "0 walks"));
  EXPECT_TRUE(contains(error_of([&] { count_occurrences(walks_, walks_.size() + 1); }),
                       "cannot be counted"));
}

// --- threads ---

TEST(ShareOut, EveryNumberIsWorkedOnOnce) {
  for (const uint32_t threads : {1U, 2U, 5U}) {
    std::vector<std::atomic<int>> seen(1000);
    uint64_t reported = 0;
    const auto work = [&](const NumberRange& piece) {
      EXPECT_LE(piece.last - piece.first, 7U);
      for (uint64_t i = piece.first; i < piece.last; ++i) ++seen[i];
    };
    share_out({30, 950}, 7, threads, work, [&](uint64_t done) { reported = done; });
    for (size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], i >= 30 && i < 950 ? 1 : 0) << i;
    EXPECT_LE(reported, 920U);
    EXPECT_TRUE(reported == 920U || threads > 1) << reported;
  }
}

TEST(ShareOut, AThreadThatCannotBeStartedStopsTheOthers) {
  if (!kThreadsCanBeLimited) GTEST_SKIP() << "under the thread sanitizer";
  constexpr uint64_t kMany = 30'000'000;
  const ThreadLimit limit(2);
  std::atomic<uint64_t> pieces = 0;
  const auto share = [&] {
    share_out(
        {0, kMany}, 1, 5, [&](const NumberRange&) { ++pieces; }, [](uint64_t) {});
  };
  EXPECT_TRUE(contains(error_of(share), "cannot start a thread"));
  EXPECT_LT(pieces, kMany / 2);
}

TEST(ShareOut, AnExceptionStopsAllThreadsAndIsPassedOn) {
  constexpr uint64_t kMany = 30'000'000;  // far more than others do before it is thrown
  for (const uint32_t threads : {1U, 3U}) {
    std::atomic<uint64_t> pieces = 0;
    const auto work = [&](const NumberRange& piece) {
      if (piece.first == 50) throw Error("number 50");
      ++pieces;
    };
    const auto share = [&] { share_out({0, kMany}, 1, threads, work, [](uint64_t) {}); };
    EXPECT_EQ(error_of(share), "number 50");
    EXPECT_LT(pieces, kMany / 2);
  }
}

}  // namespace
}  // namespace hgt
