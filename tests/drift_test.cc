// Does a model see what was planted: venues that move from one topic to another? Slow: trains.
//
// The fields of a paper are predicted from its venue alone, so the model has to learn what a venue
// was about at a time. Fields have vectors made of their names, venues have none of their own.
//
// What a vector of a venue "at a time" says is only determined if papers read the venue at their
// own time. A paper that reads it at many times can as well look at times far from its own, where
// the venue looks at papers far from those: of the same use, and all vectors tell of the wrong
// time. In a sub-graph of several steps a venue is there at the time of every paper drawn, and at
// twice the learning rate some seeds came out reversed. So there is one step here, and types are in
// such an order that it leads from papers to their venues, on to those venues' papers and to their
// fields; and batches are small. What is left are the times of the few other papers asked about
// that have the same venue. (At five times the learning rate seed 1 learned nothing at all.)
//
// Conferences and journals have relations of their own in the generated graph, and so matrices of
// their own: nothing makes their vectors comparable. Here papers have one relation to venues.
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
#include "hgt/disk/temporary_test_folder.h"
#include "hgt/features/make_features.h"
#include "hgt/graph/graph_builder.h"
#include "hgt/insight/nearest_rows.h"
#include "hgt/insight/prominence.h"
#include "hgt/insight/representations.h"
#include "hgt/training/run.h"

namespace hgt {
namespace {

constexpr Time kEarly = 1996;  // before venues change (2002 to 2014)
constexpr Time kLate = 2016;

// Of a generated graph: venues, papers and their fields of level 2, with the same numbers.
void write_literature(const AcademicGraph& from, const Path& folder) {
  Schema schema;
  schema.time_unit = TimeUnit::year;
  schema.add_node_type("venue", NodeKind::plain);  // the order matters: see above
  schema.add_node_type("paper", NodeKind::event);
  schema.at(schema.add_node_type("field", NodeKind::plain)).names = true;
  schema.add_relation({.source = "paper", .edge = "in", .target = "field"});
  schema.add_relation({.source = "paper", .edge = "published", .target = "venue"});
  schema.number_relations();
  GraphBuilder builder(folder, schema);
  for (const char* type : {"venue", "paper", "field"}) {
    const NodeType copy = schema.node_type(type);
    for (NodeId node = 0; node < from.nodes(type); ++node) {
      builder.add_node(copy, {.name = from.graph.name(from.type(type), node),
                              .time = from.graph.time(from.type(type), node)});
    }
  }
  const Relation in = schema.relation("paper", "in", "field");
  const Relation published = schema.relation("paper", "published", "venue");
  for (NodeId paper = 0; paper < from.num_papers(); ++paper) {
    for (const NodeId field : from.around(paper, "field", {"rev_in_L2"})) {
      builder.add_edge(in, {.source = paper, .target = field});
    }
    for (const NodeId venue : from.venues(paper)) {
      builder.add_edge(published, {.source = paper, .target = venue});
    }
  }
  builder.finish();
}

RunOptions venue_alone(const Path& graph) {
  RunOptions options{.graph = graph.string()};
  options.task = find_task("paper-field", HeteroGraph::open(graph).schema());
  options.task.split = SplitRule::random;  // so that all times are trained
  options.task.validation_share = 0.1;
  options.task.test_share = 0.1;
  TrainOptions& training = options.training;
  training.model.hidden = 64;
  training.model.heads = 4;
  training.model.layers = 3;  // fields to papers, to venues, to papers
  training.node_vectors = 0;
  training.sampling.width = 512;  // a dozen papers and more for each venue
  training.sampling.depth = 1;
  training.sampling.time_bound = TimeBound::none;  // a gap is what the model has to make use of
  training.batch_size = 64;
  training.validation.batch_size = 64;
  training.epochs = 6;
  return options;
}

// Of numbers and a truth: 1 where every true one is smaller than every other, -1 the opposite, 0
// by chance or where all are equal (the rank-biserial correlation).
double rank_correlation(const std::vector<double>& numbers, const std::vector<bool>& truth) {
  std::vector<double> of_true;
  std::vector<double> of_others;
  for (size_t i = 0; i < numbers.size(); ++i) {
    (truth[i] ? of_true : of_others).push_back(numbers[i]);
  }
  std::sort(of_others.begin(), of_others.end());
  double balance = 0;  // pairs in which the true one is smaller, less those in which it is greater
  for (const double number : of_true) {
    const auto [first, last] = std::equal_range(of_others.begin(), of_others.end(), number);
    balance += static_cast<double>(of_others.end() - last) -
               static_cast<double>(first - of_others.begin());
  }
  return balance / (static_cast<double>(of_true.size()) * static_cast<double>(of_others.size()));
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
    const Representations venues(run, type, {.samples = 50});
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
double lasting_neighbors(const Venues& venues, uint64_t count) {
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
  double lasting = 0;  // lasting_neighbors
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
  pairs.lasting = lasting_neighbors(venues, 5);
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
    generate_academic_graph(academic(), {.features = 0});
    write_literature(AcademicGraph(academic()), graph());
    const FeatureLock lock(graph());
    make_feature_set(lock, {{.types = {"field"}, .encoder = TextEncoder::hashed, .width = 64}}, {},
                     no_progress);
  }
  static void TearDownTestSuite() { delete folder_; }
  static Path academic() { return *folder_ / "academic"; }
  static Path graph() { return *folder_ / "graph"; }

  // With the sinusoids as printed, or as in the authors' code.
  static Pairs learn(const std::string& name, bool temporal, uint64_t seed,
                     bool as_released = false) {
    RunOptions options = venue_alone(graph());
    options.training.model.rte = temporal;
    options.training.model.scaled_sinusoids = as_released;
    options.training.model.paired_sinusoids = as_released;
    options.training.seed = seed;
    hgt::Run run = hgt::Run::create(*folder_ / name, options);
    const double loss = run.train().front().validation_loss;
    const Pairs pairs =
        pairs_of(academic(), Venues(run, run.task().graph().schema().node_type("venue")));
    fmt::print(
        "{}: validation loss {:.3f}; rank correlation of nearness at {} with topics of then {:.3f} "
        "(of {} {:.3f}); at {} {:.3f} (of {} {:.3f}); of change with planted change {:.3f}; of "
        "distances at the two times {:.4f}; of the five nearest, {:.3f} are so at both times; "
        "those that come to share a topic come {:.3f} nearer than the others\n",
        name, loss, kEarly, rank_correlation(pairs.early_distance, pairs.early_topic), kLate,
        rank_correlation(pairs.early_distance, pairs.late_topic), kLate,
        rank_correlation(pairs.late_distance, pairs.late_topic), kEarly,
        rank_correlation(pairs.late_distance, pairs.early_topic), seen_change(pairs),
        agreement(pairs.early_distance, pairs.late_distance), pairs.lasting, approach(pairs));
    return pairs;
  }

 private:
  static TestFolder* folder_;
};
TestFolder* Drift::folder_ = nullptr;

class RecoveredDrift : public Drift, public testing::WithParamInterface<bool> {};

// With every seed. With the sinusoids as printed sixteen were tried, eight of them with AVX2 too;
// the worst had 0.94, 0.93; 0.47, 0.53; 0.996; 0.63, 0.25 and 1.02 where bounds are set here. With
// those of the release three were tried: 0.97, 0.96; 0.51, 0.55; 1.000; 0.65, 0.22 and 0.99.
TEST_P(RecoveredDrift, IsThereWithEverySeed) {
  for (const uint64_t seed : {1, 2, 3}) {
    const std::string name =
        fmt::format("RTE as {}, seed {}", GetParam() ? "released" : "printed", seed);
    SCOPED_TRACE(name);
    const Pairs pairs = learn(name, true, seed, GetParam());
    EXPECT_GT(rank_correlation(pairs.early_distance, pairs.early_topic), 0.8);
    EXPECT_GT(rank_correlation(pairs.late_distance, pairs.late_topic), 0.8);
    EXPECT_LT(rank_correlation(pairs.early_distance, pairs.late_topic), 0.65);
    EXPECT_LT(rank_correlation(pairs.late_distance, pairs.early_topic), 0.65);
    EXPECT_GT(seen_change(pairs), 0.9);
    EXPECT_LT(agreement(pairs.early_distance, pairs.late_distance), 0.8);
    EXPECT_LT(pairs.lasting, 0.5);
    EXPECT_GT(approach(pairs), 0.6);
  }
}

INSTANTIATE_TEST_SUITE_P(AsReleased, RecoveredDrift, testing::Bool());

// Who belongs together is learned as well, but for all times at once: sub-graphs of two times are
// drawn with the same numbers, and nothing else tells them apart.
TEST_F(Drift, IsNotSeenWithoutATemporalEncoding) {
  const Pairs pairs = learn("without RTE", false, 1);
  EXPECT_GT(rank_correlation(pairs.early_distance, pairs.early_topic), 0.5);
  EXPECT_GT(rank_correlation(pairs.late_distance, pairs.late_topic), 0.5);
  EXPECT_GT(agreement(pairs.early_distance, pairs.late_distance), 0.999);
  EXPECT_GT(pairs.lasting, 0.99);
  EXPECT_LT(std::abs(approach(pairs)), 0.01);
}

}  // namespace
}  // namespace hgt
