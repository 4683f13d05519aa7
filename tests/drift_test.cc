// Does a model see what was planted: venues that move from one topic to another? Slow: trains.
//
// The fields of a paper are predicted from its venue alone, so the model has to learn what a venue
// was about at a time. Fields have vectors made of their names, venues have none of their own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "hgt/academic/academic_generator.h"
#include "hgt/academic/academic_test_graph.h"
#include "hgt/features/make_features.h"
#include "hgt/graph/temporary_test_folder.h"
#include "hgt/insight/similarity.h"
#include "hgt/model/machine.h"
#include "hgt/training/run.h"

namespace hgt {
namespace {

constexpr Time kEarly = 1996;  // before venues change (2002 to 2014)
constexpr Time kLate = 2016;

RunOptions venue_alone(const Path& graph) {
  RunOptions options{.graph = graph.string()};
  options.task = find_task("paper-field-L2", HeteroGraph::open(graph).schema());
  options.task.also_hide = {"in_L0", "in_L1", "in_L3", "in_L4", "in_L5"};
  options.task.leave_out = {"cites",        "writes_first", "writes_last",
                            "writes_other", "affiliated",   "within"};
  options.task.split = SplitRule::random;  // so that all times are trained
  options.task.validation_share = 0.1;
  options.task.test_share = 0.1;
  TrainOptions& training = options.training;
  training.model.hidden = 64;
  training.model.heads = 4;
  training.model.layers = 3;
  training.node_vectors = 0;
  training.sampling.width = 64;
  training.sampling.depth = 4;
  training.learning_rate = 5e-3;
  return options;
}

// Of numbers and a truth: 1 where every true one is smaller than every other, -1 the opposite, 0
// by chance (the rank-biserial correlation).
double rank_correlation(const std::vector<double>& numbers, const std::vector<bool>& truth) {
  std::vector<size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return numbers[a] < numbers[b]; });
  double smaller = 0;  // pairs in which the true one is
  double seen = 0;
  for (const size_t i : order) {
    if (truth[i]) {
      seen += 1;
    } else {
      smaller += seen;
    }
  }
  const double others = static_cast<double>(numbers.size()) - seen;
  return 2 * smaller / (seen * others) - 1;
}

std::vector<double> ranks(const std::vector<double>& numbers) {
  std::vector<size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return numbers[a] < numbers[b]; });
  std::vector<double> result(numbers.size());
  for (size_t i = 0; i < order.size(); ++i) result[order[i]] = static_cast<double>(i);
  return result;
}

// Spearman's, of numbers without ties.
double agreement(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> x = ranks(a);
  const std::vector<double> y = ranks(b);
  const auto n = static_cast<double>(a.size());
  double squares = 0;
  for (size_t i = 0; i < x.size(); ++i) squares += (x[i] - y[i]) * (x[i] - y[i]);
  return 1 - 6 * squares / (n * (n * n - 1));
}

// All pairs of venues at two times: how far apart the model sees them, and whether they share their
// main topic.
struct Pairs {
  std::vector<double> early_distance, late_distance, change;
  std::vector<bool> early_topic, late_topic;
};

Pairs pairs_of(const Path& graph_folder, Similarity& venues) {
  const Truth truth(truth_of(graph_folder));
  const auto topics = truth.as<int32_t>("venue_topic");
  const uint64_t years = truth.shape("venue_topic")[1];
  const Time first = std::stoi(truth.about("first_year"));
  const auto topic = [&](NodeId venue, Time year) {
    return topics[venue * years + static_cast<uint64_t>(year - first)];
  };
  const NodesAtTime& early = venues.at(kEarly);
  const NodesAtTime& late = venues.at(kLate);
  const auto distance = [](const NodesAtTime& at, NodeId one, NodeId other) {
    const auto row = [&](NodeId node) {
      const auto place = std::lower_bound(at.nodes.begin(), at.nodes.end(), node);
      return at.rows.vector(static_cast<uint32_t>(place - at.nodes.begin()));
    };
    return at.rows.distance(row(one), row(other)) / at.rows.mean_distance();
  };
  Pairs pairs;
  for (const NodeId one : early.nodes) {  // who was there then still is
    for (const NodeId other : early.nodes) {
      if (other >= one) continue;
      pairs.early_distance.push_back(distance(early, one, other));
      pairs.late_distance.push_back(distance(late, one, other));
      pairs.change.push_back(pairs.late_distance.back() - pairs.early_distance.back());
      pairs.early_topic.push_back(topic(one, kEarly) == topic(other, kEarly));
      pairs.late_topic.push_back(topic(one, kLate) == topic(other, kLate));
    }
  }
  return pairs;
}

// Of the pairs that share a topic at one of the times only: do they come nearer where they come to
// share it?
double seen_change(const Pairs& pairs) {
  std::vector<double> change;
  std::vector<bool> meets;
  for (size_t i = 0; i < pairs.change.size(); ++i) {
    if (pairs.early_topic[i] == pairs.late_topic[i]) continue;
    change.push_back(pairs.change[i]);
    meets.push_back(pairs.late_topic[i]);
  }
  return rank_correlation(change, meets);
}

class Drift : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TestFolder;
    generate_academic_graph(graph(), {.features = 0});
    const FeatureLock lock(graph());
    make_features(lock, {.types = {"field"}, .encoder = TextEncoder::hashed, .width = 64}, false,
                  no_progress);
  }
  static void TearDownTestSuite() { delete folder_; }
  static Path graph() { return *folder_ / "graph"; }

  static Pairs learn(const std::string& name, bool temporal, uint64_t seed, uint64_t epochs) {
    RunOptions options = venue_alone(graph());
    options.training.model.temporal = temporal;
    options.training.seed = seed;
    options.training.epochs = epochs;
    hgt::Run run = hgt::Run::create(*folder_ / name, options);
    run.train();
    Similarity venues(run, run.task().graph().schema().node_type("venue"),
                      {.representation = {.samples = 16}});
    const Pairs pairs = pairs_of(graph(), venues);
    fmt::print(
        "{}: rank correlation of nearness at {} with topics of then {:.3f}; at {} {:.3f}; of "
        "change with planted change {:.3f}; of distances at the two times {:.3f}\n",
        name, kEarly, rank_correlation(pairs.early_distance, pairs.early_topic), kLate,
        rank_correlation(pairs.late_distance, pairs.late_topic), seen_change(pairs),
        agreement(pairs.early_distance, pairs.late_distance));
    return pairs;
  }

 private:
  static TestFolder* folder_;
};
TestFolder* Drift::folder_ = nullptr;

TEST_F(Drift, IsRecoveredWithATemporalEncodingAndOnlyThen) {
  double change = 0;
  for (const uint64_t seed : {1, 2}) {
    const Pairs with = learn(fmt::format("with RTE, seed {}", seed), true, seed, 8);
    EXPECT_GT(rank_correlation(with.early_distance, with.early_topic), 0.15);
    EXPECT_GT(rank_correlation(with.late_distance, with.late_topic), 0.25);
    change += seen_change(with) / 2;
  }
  EXPECT_GT(change, 0.2);

  const Pairs without = learn("without RTE", false, 1, 4);
  EXPECT_LT(seen_change(without), 0.12);
  EXPECT_GT(agreement(without.early_distance, without.late_distance), 0.93);
}

}  // namespace
}  // namespace hgt
