#include "hgt/task/link_task.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "hgt/graph/graph_test_folder.h"
#include "hgt/sampling/chi_square_test.h"
#include "hgt/task/task_test_graph.h"

namespace hgt {
namespace {

using Texts = std::vector<std::string>;

// Users rate movies, some twice; movies come out; friends are mutual.
Schema cinema_schema() {
  Schema schema;
  schema.add_node_type("movie", NodeKind::event);
  schema.add_node_type("user", NodeKind::plain);
  schema.add_relation({.source = "user", .edge = "rates", .target = "movie", .times = true});
  schema.add_relation({.source = "user", .edge = "stars_in", .target = "movie"});
  schema.add_relation({.source = "user", .edge = "befriends", .target = "user", .symmetric = true});
  schema.number_relations();
  return schema;
}

constexpr NodeId kUsers = 40;
constexpr NodeId kMovies = 50;

// The last five movies and the last user have no edges.
void fill_cinema(GraphBuilder& builder) {
  Draws draws(hash(5));
  const Schema& schema = builder.schema();
  const auto some = [&](NodeId below) { return static_cast<NodeId>(draws.below(below)); };
  for (NodeId i = 0; i < kMovies; ++i) {
    const Time year = 2008 + static_cast<Time>(i % 10);
    builder.add_node(schema.node_type("movie"), {.id = "M" + std::to_string(i), .time = year});
  }
  for (NodeId i = 0; i < kUsers; ++i) {
    builder.add_node(schema.node_type("user"), {.id = "U" + std::to_string(i)});
  }
  for (int i = 0; i < 200; ++i) {
    const Time year = draws.below(9) == 0 ? kNoTime : 2010 + static_cast<Time>(draws.below(9));
    const Edge rating{.source = some(kUsers - 1), .target = some(kMovies - 5), .time = year};
    for (uint64_t copy = draws.below(5) == 0 ? 2 : 1; copy > 0; --copy) {
      builder.add_edge(schema.relation("user", "rates", "movie"), rating);
    }
  }
  for (int i = 0; i < 100; ++i) {
    builder.add_edge(schema.relation("user", "stars_in", "movie"),
                     {.source = some(kUsers - 1), .target = some(kMovies - 5)});
    const Edge friends{.source = some(kUsers - 1), .target = some(kUsers - 1)};
    builder.add_edge(schema.relation("user", "befriends", "user"), friends);
  }
}

class LinkTaskTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { graph_ = new TestGraph(cinema_schema(), fill_cinema); }
  static void TearDownTestSuite() { delete graph_; }

  static TaskSpec spec(const std::string& name, SplitRule rule = SplitRule::time) {
    TaskSpec spec = find_task(name, (*graph_)->schema());
    spec.split = rule;
    return spec;
  }
  static std::unique_ptr<const Task> open(const TaskSpec& spec) {
    return open_task(**graph_, spec);
  }
  static Question all(const Task& task, Split split, uint64_t draw = Task::kNoDraw) {
    return task.question(split, all_examples(task, split), draw);
  }

  static inline const TestGraph* graph_ = nullptr;
};

struct Example {
  NodeId node = 0;
  NodeId truth = 0;
  std::vector<NodeId> negatives = {};
};

std::vector<Example> examples_of(const Question& question) {
  std::vector<Example> examples;
  const auto& seeds = question.request.seeds;
  for (size_t i = 0; i < question.num_examples(); ++i) {
    const uint32_t first = question.pair_offsets[i];
    Example example{.node = seeds[question.left[first]].node,
                    .truth = seeds[question.right[first]].node};
    for (uint32_t pair = first; pair < question.pair_offsets[i + 1]; ++pair) {
      EXPECT_EQ(seeds[question.left[pair]].node, example.node);
      EXPECT_EQ(question.relevant[pair], pair == first ? 1 : 0);
      if (pair > first) example.negatives.push_back(seeds[question.right[pair]].node);
    }
    examples.push_back(example);
  }
  return examples;
}

// --- examples ---

// All ratings, or all roles, as they should be split by time.
std::map<Split, std::multiset<Ends>> slow_links(const HeteroGraph& graph, Relation relation) {
  std::map<Split, std::multiset<Ends>> links;
  const TimeSplit split = default_time_split(TimeUnit::year);
  const NodeType movie = graph.schema().node_type("movie");
  for (NodeId target = 0; target < kMovies; ++target) {
    const Neighbors list = graph.incoming(relation, target);
    const Time out = graph.time(movie, target);
    for (size_t i = 0; i < list.size(); ++i) {
      const Time time = list.times.empty() ? out : list.times[i];
      const Split where = split.split_of(time);
      if (out <= split.last_time(where)) links[where].emplace(list.sources[i], target);
    }
  }
  return links;
}

TEST_F(LinkTaskTest, HasEveryEdgeAsAnExampleInItsTime) {
  for (const char* edge : {"rates", "stars_in"}) {
    const auto task = open(spec(std::string("link:") + edge));
    const auto wanted = slow_links(**graph_, graph_->relation("user", edge, "movie"));
    for (const Split split : kSplits) {
      std::multiset<Ends> found;
      for (const Example& each : examples_of(all(*task, split))) {
        found.emplace(each.node, each.truth);
      }
      EXPECT_EQ(found, wanted.at(split)) << edge << " " << to_string(split);
    }
  }
}

TEST_F(LinkTaskTest, MayAskFromTheOtherSide) {
  const auto task = open(spec("link:rev_rates"));
  const auto wanted = slow_links(**graph_, graph_->relation("user", "rates", "movie"));
  for (const Split split : kSplits) {
    std::multiset<Ends> found;
    for (const Example& each : examples_of(all(*task, split))) found.emplace(each.truth, each.node);
    EXPECT_EQ(found, wanted.at(split));
  }
  EXPECT_EQ(task->node_type(), graph_->type("movie"));
}

TEST_F(LinkTaskTest, NamesBothEnds) {
  const auto task = open(spec("link:rates"));
  const auto examples = examples_of(all(*task, Split::test));
  const Texts texts = descriptions(*task, Split::test);
  ASSERT_EQ(texts.size(), examples.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(texts[i],
              "U" + std::to_string(examples[i].node) + "\tM" + std::to_string(examples[i].truth));
  }
}

// Copies of a link, and the two directions of a mutual one, would give one another away.
TEST_F(LinkTaskTest, KeepsAllEdgesBetweenTwoNodesInOneSplit) {
  for (const char* name : {"link:rates", "link:befriends"}) {
    const auto task = open(spec(name, SplitRule::random));
    const bool mutual = task->node_type() == task->other_type();
    std::map<Ends, Split> splits;
    uint64_t count = 0;
    for (const Split split : kSplits) {
      for (const Example& each : examples_of(all(*task, split))) {
        const Ends ends =
            mutual ? Ends(std::minmax(each.node, each.truth)) : Ends(each.node, each.truth);
        EXPECT_EQ(splits.emplace(ends, split).first->second, split) << name;
        ++count;
      }
    }
    EXPECT_GT(count, splits.size()) << "some are there several times";
    EXPECT_EQ(count, (*graph_)->num_edges(task->predicted()[0]));
    for (const Split split : {Split::validation, Split::test}) {
      EXPECT_NEAR(static_cast<double>(task->num_examples(split)) / static_cast<double>(count), 0.2,
                  0.12);
    }
  }
}

// --- negatives ---

TEST_F(LinkTaskTest, NegativesAreLinkedToOthersButNotToTheNode) {
  for (const char* name : {"link:rates", "link:rev_rates", "link:stars_in", "link:befriends"}) {
    const auto task = open(spec(name, SplitRule::random));
    Links links;
    std::set<NodeId> linked;
    for (const Ends& link : links_of(**graph_, task->predicted()[0])) {
      links.emplace(link.second, link.first);
      linked.insert(link.first);
    }
    for (const Split split : kSplits) {
      for (const uint64_t draw : {Task::kNoDraw, uint64_t{1}, uint64_t{2}}) {
        for (const Example& each : examples_of(all(*task, split, draw))) {
          EXPECT_TRUE(links.contains({each.node, each.truth}));
          EXPECT_EQ(std::set(each.negatives.begin(), each.negatives.end()).size(),
                    each.negatives.size());
          for (const NodeId negative : each.negatives) {
            EXPECT_FALSE(links.contains({each.node, negative})) << name;
            EXPECT_TRUE(linked.contains(negative)) << name;
            const bool itself = task->node_type() == task->other_type() && negative == each.node;
            EXPECT_FALSE(itself) << name;
          }
        }
      }
    }
  }
}

TEST_F(LinkTaskTest, DrawsAsManyNegativesAsWanted) {
  TaskSpec wanted = spec("link:rates");
  wanted.negatives = 7;
  wanted.test_negatives = 12;
  const auto task = open(wanted);
  const Links links = links_of(**graph_, graph_->relation("user", "rates", "movie"));
  for (const Split split : kSplits) {
    for (const uint64_t draw : {Task::kNoDraw, uint64_t{1}}) {
      const uint64_t number = draw == Task::kNoDraw ? 12 : 7;
      std::set<NodeId> drawn;
      const auto examples = examples_of(all(*task, split, draw));
      for (const Example& each : examples) {
        drawn.insert(each.negatives.begin(), each.negatives.end());
      }
      EXPECT_EQ(drawn.size(), number) << "they are shared, and of those that may be seen";
      for (const Example& each : examples) {
        uint64_t unlinked = 0;
        for (const NodeId movie : drawn) unlinked += links.contains({each.node, movie}) ? 0 : 1;
        EXPECT_EQ(each.negatives.size(), unlinked);
      }
    }
  }
}

TEST_F(LinkTaskTest, TakesAllNodesAsNegativesWhereThereAreTooFew) {
  TaskSpec wanted = spec("link:rates", SplitRule::random);
  wanted.test_negatives = 1000;
  const auto task = open(wanted);
  const Relation rates = graph_->relation("user", "rates", "movie");
  const Links links = links_of(**graph_, rates);
  for (const Example& each : examples_of(all(*task, Split::test))) {
    uint64_t unlinked = 0;
    for (NodeId movie = 0; movie < kMovies; ++movie) {
      const bool rated = (*graph_)->incoming(rates, movie).size() > 0;
      unlinked += rated && !links.contains({each.node, movie}) ? 1 : 0;
    }
    EXPECT_EQ(each.negatives.size(), unlinked);
  }
}

TEST_F(LinkTaskTest, AreNeverLaterThanTheSplit) {
  const auto task = open(spec("link:rates"));
  const NodeType movie = graph_->type("movie");
  for (const Split split : kSplits) {
    const Time last = task->time_split().last_time(split);
    for (const uint64_t draw : {Task::kNoDraw, uint64_t{1}, uint64_t{2}}) {
      const Question question = all(*task, split, draw);
      for (const Seed& seed : question.request.seeds) {
        if (seed.type == movie) {
          EXPECT_LE((*graph_)->time(movie, seed.node), last);
        }
        EXPECT_LE(seed.time, last);
      }
      EXPECT_NO_THROW(sampled_for(*task, split, question));
    }
  }
}

TEST_F(LinkTaskTest, AsksForUsersAtTheEndOfTheSplit) {
  const auto times = [&](SplitRule rule, Split split) {
    std::set<Time> found;
    for (const char* name : {"link:rates", "link:rev_rates"}) {
      for (const Seed& seed : all(*open(spec(name, rule)), split).request.seeds) {
        const bool movie = seed.type == graph_->type("movie");
        EXPECT_EQ(movie, seed.time == kNoTime) << "movies have their own";
        if (!movie) found.insert(seed.time);
      }
    }
    return found;
  };
  EXPECT_EQ(times(SplitRule::time, Split::train), std::set<Time>{2014});
  EXPECT_EQ(times(SplitRule::time, Split::validation), std::set<Time>{2016});
  EXPECT_EQ(times(SplitRule::time, Split::test), std::set<Time>{2018}) << "the last of the graph";
  EXPECT_EQ(times(SplitRule::random, Split::train), std::set<Time>{2018});
}

std::set<NodeId> drawn_by(const Question& question, const Task& task) {
  std::set<NodeId> drawn;
  for (const Seed& seed : question.request.seeds) {
    if (seed.type == task.other_type()) drawn.insert(seed.node);
  }
  return drawn;
}

TEST_F(LinkTaskTest, InEvaluationAreTheSameForEveryBatchAndCall) {
  TaskSpec wanted = spec("link:rates");
  wanted.test_negatives = 10;
  const auto task = open(wanted);
  for (const Split split : kSplits) {
    const auto whole = examples_of(all(*task, split));
    for (uint32_t i = 0; i < whole.size(); i += 3) {
      const auto alone = examples_of(task->question(split, std::vector{i}, Task::kNoDraw));
      ASSERT_EQ(alone.size(), 1U);
      EXPECT_EQ(alone[0].node, whole[i].node);
      EXPECT_EQ(alone[0].truth, whole[i].truth);
      EXPECT_EQ(alone[0].negatives, whole[i].negatives);
    }
    const Question again = open(wanted)->question(split, {}, Task::kNoDraw);
    EXPECT_EQ(drawn_by(again, *task), drawn_by(task->question(split, {}, Task::kNoDraw), *task));
    TaskSpec other = wanted;
    other.split_seed = 3;
    EXPECT_NE(drawn_by(open(other)->question(split, {}, Task::kNoDraw), *task),
              drawn_by(again, *task));
  }
  wanted.split = SplitRule::random;
  const auto random = open(wanted);
  EXPECT_NE(drawn_by(random->question(Split::validation, {}, Task::kNoDraw), *random),
            drawn_by(random->question(Split::test, {}, Task::kNoDraw), *random));
}

TEST_F(LinkTaskTest, InTrainingAreDrawnAnewAndEachAsOften) {
  TaskSpec wanted = spec("link:rates", SplitRule::random);
  wanted.negatives = 5;
  const auto task = open(wanted);
  Counts<NodeId> counts;
  std::set<std::set<NodeId>> sets;
  for (uint64_t draw = 1; draw <= 2000; ++draw) {
    const auto drawn = drawn_by(task->question(Split::train, {}, draw), *task);
    EXPECT_EQ(drawn, drawn_by(task->question(Split::train, {}, draw), *task));
    sets.insert(drawn);
    for (const NodeId node : drawn) ++counts[node];
  }
  EXPECT_GT(sets.size(), 1900U);
  Probabilities<NodeId> probabilities;
  for (const Ends& link : links_of(**graph_, graph_->relation("user", "rates", "movie"))) {
    probabilities[link.second] = 0;
  }
  for (auto& [node, probability] : probabilities) {
    probability = 1.0 / static_cast<double>(probabilities.size());
  }
  const ChiSquare test = chi_square(counts, probabilities);
  EXPECT_TRUE(test.agrees()) << test;
}

TEST(UndatedLinkTask, AsksWithoutTimes) {
  Schema schema;
  schema.add_node_type("a", NodeKind::plain);
  schema.add_node_type("b", NodeKind::plain);
  schema.add_relation({.source = "a", .edge = "to", .target = "b"});
  schema.number_relations();
  const TestGraph graph(schema, [](GraphBuilder& builder) {
    for (const char* type : {"a", "b"}) {
      for (int i = 0; i < 20; ++i) builder.add_node(builder.schema().node_type(type), {});
    }
    for (NodeId i = 0; i < 60; ++i) {
      builder.add_edge(builder.schema().relation("a", "to", "b"),
                       {.source = i % 20, .target = i * 7 % 18});
    }
  });
  TaskSpec spec = find_task("link:to", graph->schema());
  spec.split = SplitRule::random;
  const auto task = open_task(*graph, spec);
  for (const Split split : kSplits) {
    const Question question = task->question(split, all_examples(*task, split), 1);
    for (const Seed& seed : question.request.seeds) EXPECT_EQ(seed.time, kNoTime);
    EXPECT_GT(question.left.size(), 10 * question.num_examples()) << "there are negatives";
    EXPECT_NO_THROW(sampled_for(*task, split, question));
  }
}

TEST_F(LinkTaskTest, MayBeScoredWithEitherLoss) {
  TaskSpec wanted = spec("link:rates");
  EXPECT_EQ(open(wanted)->spec().loss, Loss::softmax);
  wanted.loss = Loss::binary;
  EXPECT_EQ(open(wanted)->spec().loss, Loss::binary);
}

TEST_F(LinkTaskTest, OfSeveralEdgeTypesHasThemAll) {
  TaskSpec wanted = spec("link:rates", SplitRule::random);
  wanted.edges = {"rates", "stars_in"};
  const auto task = open(wanted);
  uint64_t count = 0;
  for (const Split split : kSplits) count += task->num_examples(split);
  EXPECT_EQ(count, (*graph_)->num_edges(task->predicted()[0]) +
                       (*graph_)->num_edges(task->predicted()[1]));
  const Links rates = links_of(**graph_, graph_->relation("user", "rates", "movie"));
  const Links stars = links_of(**graph_, graph_->relation("user", "stars_in", "movie"));
  for (const Example& each : examples_of(all(*task, Split::test))) {
    for (const NodeId negative : each.negatives) {
      EXPECT_FALSE(rates.contains({each.node, negative}) || stars.contains({each.node, negative}));
    }
  }
}

}  // namespace
}  // namespace hgt
