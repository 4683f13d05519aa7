#include "hgt/task/name_task.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "hgt/graph/graph_test_folder.h"
#include "hgt/task/task_test_graph.h"

namespace hgt {
namespace {

using Texts = std::vector<std::string>;

Schema desk_schema() {
  Schema schema;
  schema.add_node_type("paper", NodeKind::event);
  schema.at(schema.add_node_type("author", NodeKind::plain)).names = true;
  schema.add_relation({.source = "author", .edge = "writes", .target = "paper"});
  schema.add_relation({.source = "paper", .edge = "edited_by", .target = "author"});
  schema.number_relations();
  return schema;
}

void add_authors(GraphBuilder& builder, const Texts& names) {
  for (const std::string& name : names) {
    builder.add_node(builder.schema().node_type("author"), {.name = name});
  }
}

void add_paper(GraphBuilder& builder, Time time, const std::vector<NodeId>& writers,
               const std::vector<NodeId>& editors = {}) {
  const Schema& schema = builder.schema();
  const NodeType type = schema.node_type("paper");
  const auto paper = static_cast<NodeId>(builder.num_nodes(type));
  builder.add_node(type, {.id = "P" + std::to_string(paper), .time = time});
  for (const NodeId author : writers) {
    builder.add_edge(schema.relation("author", "writes", "paper"),
                     {.source = author, .target = paper});
  }
  for (const NodeId author : editors) {
    builder.add_edge(schema.relation("paper", "edited_by", "author"),
                     {.source = paper, .target = author});
  }
}

// Authors 0 to 2 are Li, 3 and 4 are Wu.
void fill_desk(GraphBuilder& builder) {
  add_authors(builder, {"Li", "Li", "Li", "Wu", "Wu", "Solo", "", "", "li", "Wu "});
  add_paper(builder, 2010, {0, 3});
  add_paper(builder, 2011, {1});
  add_paper(builder, 2012, {0, 5, 6, 7}, {0});
  add_paper(builder, 2013, {2, 2, 2});
  add_paper(builder, 2015, {4, 1});
  add_paper(builder, 2018, {3}, {0});
  add_paper(builder, 2018, {8, 9});
  add_paper(builder, kNoTime, {0, 1, 2, 3});
}

TaskSpec desk_spec(uint32_t min_links = 0) {
  TaskSpec spec = find_task("author-disambiguation", desk_schema());
  spec.min_links = min_links;
  return spec;
}

struct Mention {
  Split split{};
  NodeId paper = 0;
  NodeId truth = 0;
  std::vector<NodeId> candidates = {};
  friend auto operator<=>(const Mention&, const Mention&) = default;
};

// What the questions of a task say, checked for their form.
std::set<Mention> mentions_of(const Task& task) {
  std::set<Mention> mentions;
  for (const Split split : kSplits) {
    const Question question = task.question(split, all_examples(task, split), Task::kNoDraw);
    const auto& seeds = question.request.seeds;
    EXPECT_EQ(question.num_examples(), task.num_examples(split));
    for (size_t i = 0; i < question.num_examples(); ++i) {
      Mention mention{.split = split, .paper = seeds[question.left[question.pair_offsets[i]]].node};
      uint32_t relevant = 0;
      for (uint32_t pair = question.pair_offsets[i]; pair < question.pair_offsets[i + 1]; ++pair) {
        const Seed& paper = seeds[question.left[pair]];
        const Seed& author = seeds[question.right[pair]];
        EXPECT_EQ(paper.type, task.node_type());
        EXPECT_EQ(paper.node, mention.paper);
        EXPECT_EQ(author.type, task.other_type());
        EXPECT_EQ(author.time, task.graph().time(task.node_type(), paper.node));
        mention.candidates.push_back(author.node);
        if (question.relevant[pair] == 1) mention.truth = author.node;
        relevant += question.relevant[pair];
      }
      EXPECT_EQ(relevant, 1U);
      EXPECT_TRUE(mentions.insert(mention).second) << "the same mention twice";
    }
  }
  return mentions;
}

class NameTaskTest : public testing::Test {
 protected:
  const TestGraph desk_{desk_schema(), fill_desk};
};

TEST_F(NameTaskTest, KeepsTheTruthAmongAtMostSoManyCandidates) {
  const std::set<Mention> all = mentions_of(*open_task(*desk_, desk_spec()));
  TaskSpec spec = desk_spec();
  spec.max_candidates = 2;
  std::set<std::vector<NodeId>> drawn;
  for (spec.split_seed = 0; spec.split_seed < 20; ++spec.split_seed) {
    const auto task = open_task(*desk_, spec);
    const std::set<Mention> capped = mentions_of(*task);
    EXPECT_EQ(mentions_of(*open_task(*desk_, spec)), capped) << "a function of the seed";
    ASSERT_EQ(capped.size(), all.size());
    EXPECT_EQ(task->num_capped(Split::train), 4U);
    EXPECT_EQ(task->num_capped(Split::validation), 1U);
    for (const Mention& mention : capped) {
      const auto& kept = mention.candidates;
      EXPECT_EQ(kept.size(), 2U);
      EXPECT_TRUE(std::find(kept.begin(), kept.end(), mention.truth) != kept.end());
      if (mention.paper == 0 && mention.truth == 0) drawn.insert(kept);
    }
  }
  EXPECT_EQ(drawn, (std::set<std::vector<NodeId>>{{0, 1}, {0, 2}}));
  spec.max_candidates = 3;
  EXPECT_EQ(mentions_of(*open_task(*desk_, spec)), all);
  EXPECT_EQ(open_task(*desk_, spec)->num_capped(Split::train), 0U);
  spec.max_candidates = 1;
  EXPECT_THROW(open_task(*desk_, spec), Error);
}

TEST_F(NameTaskTest, AsksWhichOfAllAuthorsOfTheNameItIs) {
  const auto task = open_task(*desk_, desk_spec());
  const std::set<Mention> wanted = {
      {Split::train, 0, 0, {0, 1, 2}},   {Split::train, 0, 3, {3, 4}},
      {Split::train, 1, 1, {0, 1, 2}},   {Split::train, 2, 0, {0, 1, 2}},
      {Split::train, 3, 2, {0, 1, 2}},   {Split::validation, 4, 1, {0, 1, 2}},
      {Split::validation, 4, 4, {3, 4}}, {Split::test, 5, 0, {0, 1, 2}},
      {Split::test, 5, 3, {3, 4}},
  };
  EXPECT_EQ(mentions_of(*task), wanted);
}

TEST_F(NameTaskTest, LeavesOutCandidatesWithTooFewOtherLinks) {
  // In training author 0 wrote paper 0 and wrote and edited paper 2; author 1 wrote paper 1, author
  // 2 paper 3 (which says so three times), author 3 paper 0, author 4 none.
  const auto task = open_task(*desk_, desk_spec(1));
  const std::set<Mention> wanted = {
      {Split::train, 0, 0, {0, 1, 2}},
      {Split::train, 2, 0, {0, 1, 2}},
      {Split::validation, 4, 1, {0, 1, 2}},
      {Split::test, 5, 0, {0, 1, 2}},
  };
  EXPECT_EQ(mentions_of(*task), wanted);
}

TEST_F(NameTaskTest, NamesTheMention) {
  const auto task = open_task(*desk_, desk_spec());
  EXPECT_EQ(descriptions(*task, Split::test), (Texts{"P5\t0", "P5\t3"}));
  EXPECT_EQ(task->num_classes(), 0U);
  EXPECT_EQ(task->class_id(0), "");
}

TEST_F(NameTaskTest, AsksForSomeMentionsInTheirOrder) {
  const auto task = open_task(*desk_, desk_spec());
  const Question question = task->question(Split::train, std::vector<uint32_t>{4, 1}, 5);
  EXPECT_EQ(question.pair_offsets, (std::vector<uint32_t>{0, 3, 5}));
  EXPECT_EQ(question.relevant, (std::vector<uint8_t>{0, 0, 1, 1, 0}));
  EXPECT_EQ(question.request.seeds[question.left[0]].node, 3U);
  EXPECT_EQ(question.request.seeds[question.left[4]].node, 0U);
}

TEST_F(NameTaskTest, OfASplitWhereNobodyHasEnoughLinksIsRefused) {
  EXPECT_TRUE(
      contains(error_of([&] { open_task(*desk_, desk_spec(9)); }), "no examples for train"));
}

// --- against a slow version, on random desks ---

void fill_random_desk(GraphBuilder& builder, uint64_t seed) {
  Draws draws(hash(seed));
  Texts names;
  for (int i = 0; i < 9; ++i) names.push_back(std::string(draws.below(4), 'x'));
  add_authors(builder, names);
  for (int i = 0; i < 40; ++i) {
    std::vector<NodeId> writers;
    for (uint64_t k = draws.below(4); k > 0; --k) {
      writers.push_back(static_cast<NodeId>(draws.below(9)));
    }
    const bool edited = draws.below(3) == 0;
    const Time year = 2010 + static_cast<Time>(draws.below(9));
    add_paper(builder, draws.below(8) == 0 ? kNoTime : year, writers,
              edited ? std::vector{static_cast<NodeId>(draws.below(9))} : std::vector<NodeId>{});
  }
}

// Links between a paper and an author, copies included.
uint32_t count_links(const Task& task, NodeId paper, NodeId author) {
  uint32_t count = 0;
  for (const Relation relation : task.predicted()) {
    const auto sources = task.graph().incoming(relation, paper).sources;
    count += static_cast<uint32_t>(std::count(sources.begin(), sources.end(), author));
  }
  return count;
}

std::set<Mention> slow_mentions(const Task& task, const std::map<NodeId, Split>& splits,
                                uint32_t min_links) {
  const HeteroGraph& graph = task.graph();
  const NodeType author = task.other_type();
  const auto name = [&](NodeId node) { return graph.name(author, node); };
  std::set<Mention> mentions;
  for (const auto& [paper, split] : splits) {
    for (NodeId truth = 0; truth < graph.num_nodes(author); ++truth) {
      if (name(truth).empty() || count_links(task, paper, truth) == 0) continue;
      Mention mention{.split = split, .paper = paper, .truth = truth};
      for (NodeId rival = 0; rival < graph.num_nodes(author); ++rival) {
        uint32_t links = 0;
        for (const auto& [other, where] : splits) {
          if (where == Split::train && other != paper) links += count_links(task, other, rival);
        }
        if (name(rival) == name(truth) && links >= min_links) mention.candidates.push_back(rival);
      }
      const auto& all = mention.candidates;
      const bool answerable = std::find(all.begin(), all.end(), truth) != all.end();
      if (answerable && all.size() > 1) mentions.insert(mention);
    }
  }
  return mentions;
}

// Without a limit every paper with an author whose name others have is an example.
std::map<NodeId, Split> splits_of_papers(const Task& task) {
  std::map<NodeId, Split> splits;
  for (const Mention& mention : mentions_of(task)) {
    const auto [at, is_new] = splits.emplace(mention.paper, mention.split);
    EXPECT_EQ(at->second, mention.split) << "a paper lies in one split";
  }
  return splits;
}

TEST_F(NameTaskTest, TakesNoLossButSoftmax) {
  TaskSpec wrong = desk_spec();
  wrong.loss = Loss::binary;
  EXPECT_TRUE(contains(error_of([&] { open_task(*desk_, wrong); }), "choose softmax"));
}

TEST(RandomNameTask, HasTheMentionsOfASlowVersion) {
  uint32_t compared = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const TestGraph graph(desk_schema(),
                          [&](GraphBuilder& builder) { fill_random_desk(builder, seed); });
    for (const SplitRule rule : {SplitRule::time, SplitRule::random}) {
      TaskSpec spec = desk_spec();
      spec.split = rule;
      spec.test_share = spec.validation_share = 0.3;
      const auto unlimited = open_task(*graph, spec);
      const auto splits = splits_of_papers(*unlimited);
      for (const auto& [paper, split] : splits) {
        if (rule != SplitRule::time) break;
        EXPECT_EQ(split, unlimited->time_split().split_of(graph->time(graph.type("paper"), paper)));
      }
      for (const uint32_t limit : {0, 1, 2, 3, 5}) {
        const std::set<Mention> wanted = slow_mentions(*unlimited, splits, limit);
        std::set<Split> filled;
        for (const Mention& mention : wanted) filled.insert(mention.split);
        spec.min_links = limit;
        if (filled.size() < 3) {
          EXPECT_NE(error_of([&] { open_task(*graph, spec); }), "");
          continue;
        }
        EXPECT_EQ(mentions_of(*open_task(*graph, spec)), wanted) << seed << " " << limit;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 60U);
}

// --- candidates that have times themselves ---

// Talks are called like the papers they are about. The talk of 2018 is the only other one of its
// name while papers of 2010 are read.
TEST(DatedNames, OfWhatIsLaterThanTheSplitAreNoCandidates) {
  Schema schema;
  schema.add_node_type("paper", NodeKind::event);
  schema.at(schema.add_node_type("talk", NodeKind::event)).names = true;
  schema.add_relation({.source = "talk", .edge = "about", .target = "paper"});
  schema.number_relations();
  const TestGraph graph(schema, [](GraphBuilder& builder) {
    const NodeType paper = builder.schema().node_type("paper");
    const NodeType talk = builder.schema().node_type("talk");
    const Relation about = builder.schema().relation("talk", "about", "paper");
    for (const Time time : {2010, 2011, 2015, 2017}) builder.add_node(paper, {.time = time});
    for (const Time time : {2010, 2013, 2016, 2018}) {
      builder.add_node(talk, {.name = "On it", .time = time});
    }
    for (const Ends& ends :
         {Ends{0, 0}, Ends{1, 1}, Ends{2, 0}, Ends{2, 2}, Ends{3, 2}, Ends{3, 3}}) {
      builder.add_edge(about, {.source = ends.first, .target = ends.second});
    }
  });
  TaskSpec spec = find_task("talk-disambiguation", graph->schema());
  spec.min_links = 0;
  const auto task = open_task(*graph, spec);
  std::map<std::tuple<Split, NodeId, NodeId>, size_t> candidates;
  for (const Split split : kSplits) {
    const Question question = task->question(split, all_examples(*task, split), Task::kNoDraw);
    EXPECT_NO_THROW(sampled_for(*task, split, question));
    for (size_t i = 0; i < question.num_examples(); ++i) {
      for (uint32_t pair = question.pair_offsets[i]; pair < question.pair_offsets[i + 1]; ++pair) {
        if (question.relevant[pair] == 0) continue;
        candidates[{split, question.request.seeds[question.left[pair]].node,
                    question.request.seeds[question.right[pair]].node}] =
            question.pair_offsets[i + 1] - question.pair_offsets[i];
      }
    }
  }
  const std::map<std::tuple<Split, NodeId, NodeId>, size_t> wanted = {
      {{Split::train, 0, 0}, 2},
      {{Split::train, 1, 1}, 2},
      {{Split::validation, 2, 2}, 3},
      {{Split::test, 3, 3}, 4}};
  EXPECT_EQ(candidates, wanted);
}

}  // namespace
}  // namespace hgt
