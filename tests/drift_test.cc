// Does a model see what was planted: venues that move from one topic to another? Slow: trains.
//
// The fields of a paper are predicted from its venue alone, so the model has to learn what a venue
// was about at a time. Fields have vectors made of their names, venues have none of their own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "hgt/academic/academic_generator.h"
#include "hgt/academic/academic_test_graph.h"
#include "hgt/features/make_features.h"
#include "hgt/graph/temporary_test_folder.h"
#include "hgt/insight/nearest_rows.h"
#include "hgt/insight/prominence.h"
#include "hgt/insight/representations.h"
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

// The venues that are there at the earlier of two times, as the model sees them at both. They are
// drawn in the same sub-graphs, so what differs is what it makes of the time.
struct Venues {
  Venues(const hgt::Run& run, NodeType type) {
    const std::vector<Time> first = first_times(run.task().graph(), type);
    for (NodeId node = 0; node < first.size(); ++node) {
      if (first[node] <= kEarly) nodes.push_back(node);
    }
    const Representations venues(run, type, {.samples = 400});
    for (const Time time : {kEarly, kLate}) {
      rows.emplace_back(venues.at(time, nodes), venues.width(), Distance::euclidean);
    }
  }
  // In units of the mean distance at that time.
  double distance(size_t time, uint32_t one, uint32_t other) const {
    return rows[time].distance(rows[time].vector(one), rows[time].vector(other)) /
           rows[time].mean_distance();
  }

  std::vector<NodeId> nodes;
  std::vector<NearestRows> rows;  // [early, late]
};

// Share of the nearest `count` others that a venue has at both times, in the mean.
double lasting_neighbours(const Venues& venues, uint64_t count) {
  uint64_t lasting = 0;
  for (uint32_t venue = 0; venue < venues.nodes.size(); ++venue) {
    std::set<uint32_t> early;
    for (const NearRow& row : venues.rows[0].nearest(venues.rows[0].vector(venue), count + 1)) {
      if (row.row != venue) early.insert(row.row);
    }
    for (const NearRow& row : venues.rows[1].nearest(venues.rows[1].vector(venue), count + 1)) {
      lasting += row.row != venue && early.contains(row.row) ? 1U : 0U;
    }
  }
  return static_cast<double>(lasting) / static_cast<double>(count * venues.nodes.size());
}

// All pairs of venues at two times: how far apart the model sees them, and whether they share their
// main topic.
struct Pairs {
  std::vector<double> early_distance, late_distance, change;
  std::vector<bool> early_topic, late_topic;
  double lasting = 0;  // lasting_neighbours
};

Pairs pairs_of(const Path& graph_folder, const Venues& venues) {
  const Truth truth(truth_of(graph_folder));
  const auto topics = truth.as<int32_t>("venue_topic");
  const uint64_t years = truth.shape("venue_topic")[1];
  const Time first = std::stoi(truth.about("first_year"));
  const auto topic = [&](NodeId venue, Time year) {
    return topics[venue * years + static_cast<uint64_t>(year - first)];
  };
  Pairs pairs;
  pairs.lasting = lasting_neighbours(venues, 5);
  for (uint32_t i = 0; i < venues.nodes.size(); ++i) {
    for (uint32_t k = 0; k < i; ++k) {
      const auto [one, other] = std::pair(venues.nodes[i], venues.nodes[k]);
      pairs.early_distance.push_back(venues.distance(0, i, k));
      pairs.late_distance.push_back(venues.distance(1, i, k));
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

// Of the same pairs: how much nearer those come that come to share a topic than the others, in
// units of the mean distance.
double approach(const Pairs& pairs) {
  std::array<double, 2> sums{};
  std::array<double, 2> counts{};
  for (size_t i = 0; i < pairs.change.size(); ++i) {
    if (pairs.early_topic[i] == pairs.late_topic[i]) continue;
    const size_t meets = pairs.late_topic[i] ? 1 : 0;
    sums[meets] += pairs.change[i];
    counts[meets] += 1;
  }
  return sums[0] / counts[0] - sums[1] / counts[1];
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

  static Pairs learn(const std::string& name, bool temporal, uint64_t seed) {
    RunOptions options = venue_alone(graph());
    options.training.model.temporal = temporal;
    options.training.seed = seed;
    options.training.epochs = 20;
    hgt::Run run = hgt::Run::create(*folder_ / name, options);
    run.train();
    const Pairs pairs =
        pairs_of(graph(), Venues(run, run.task().graph().schema().node_type("venue")));
    fmt::print(
        "{}: rank correlation of nearness at {} with topics of then {:.3f}; at {} {:.3f}; of "
        "change with planted change {:.3f}; of distances at the two times {:.4f}; of the five "
        "nearest, {:.3f} are so at both times; those that come to share a topic come {:.3f} nearer "
        "than the others\n",
        name, kEarly, rank_correlation(pairs.early_distance, pairs.early_topic), kLate,
        rank_correlation(pairs.late_distance, pairs.late_topic), seen_change(pairs),
        agreement(pairs.early_distance, pairs.late_distance), pairs.lasting, approach(pairs));
    return pairs;
  }

 private:
  static TestFolder* folder_;
};
TestFolder* Drift::folder_ = nullptr;

// What is learned varies with the seed, and with the rounding of the machine: means of some.
TEST_F(Drift, IsRecoveredWithATemporalEncoding) {
  double early = 0;
  double late = 0;
  double change = 0;
  double same = 0;
  double lasting = 0;
  double nearer = 0;
  constexpr double kSeeds = 3;
  for (const uint64_t seed : {1, 2, 3}) {
    const Pairs pairs = learn(fmt::format("with RTE, seed {}", seed), true, seed);
    early += rank_correlation(pairs.early_distance, pairs.early_topic) / kSeeds;
    late += rank_correlation(pairs.late_distance, pairs.late_topic) / kSeeds;
    change += seen_change(pairs) / kSeeds;
    same += agreement(pairs.early_distance, pairs.late_distance) / kSeeds;
    lasting += pairs.lasting / kSeeds;
    nearer += approach(pairs) / kSeeds;
  }
  EXPECT_GT(early, 0.2);
  EXPECT_GT(late, 0.2);
  EXPECT_GT(change, 0.15);
  EXPECT_LT(same, 0.95);
  EXPECT_LT(lasting, 0.85);
  EXPECT_GT(nearer, 0.04);
}

// What is left is the draw of the sub-graphs: the more of them, the less.
TEST_F(Drift, IsNotSeenWithoutATemporalEncoding) {
  const Pairs pairs = learn("without RTE", false, 1);
  EXPECT_GT(agreement(pairs.early_distance, pairs.late_distance), 0.99);
  EXPECT_GT(pairs.lasting, 0.9);
  EXPECT_LT(std::abs(approach(pairs)), 0.02);
}

}  // namespace
}  // namespace hgt
