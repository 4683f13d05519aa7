// The flow of attention against an oracle that walks every path of edges on its own, and the means
// against one that goes through all edges once for each relation.
#include "hgt/insight/attention_tree.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "hgt/graph/graph_test_folder.h"
#include "hgt/insight/attention_paths_test.h"
#include "hgt/message/random_layer_graph_test.h"
#include "hgt/random.h"

namespace hgt {
namespace {

struct Stack {
  std::vector<LayerGraph> graphs;
  std::vector<std::vector<double>> attention;

  std::vector<LayerFlow> flows() const {
    std::vector<LayerFlow> result;
    for (size_t i = 0; i < graphs.size(); ++i) result.push_back({&graphs[i], attention[i]});
    return result;
  }
};

AttentionTree tree_of(const Stack& stack, const std::vector<uint32_t>& targets, uint32_t layers) {
  AttentionFlow flow(NodeType(0), layers);
  flow.add(stack.flows(), targets);
  return flow.tree();
}

// --- by hand: papers and venues ---

constexpr uint32_t kOfVenue = 0;  // venue -> paper
constexpr uint32_t kOfPaper = 1;  // paper -> venue
constexpr uint32_t kSelfPaper = 2;
constexpr uint32_t kSelfVenue = 3;

// The last layer writes paper 0 from itself and venues 0, 1. The first writes paper 0 and both
// venues from papers 0, 1, 2 and venues 0, 1: rows of venues move.
Stack paper_stack() {
  return {.graphs = {test_layer_graph({3, 2}, {1, 2},
                                      {{0, 0, kSelfPaper},
                                       {0, 4, kOfVenue},
                                       {1, 1, kOfPaper},
                                       {1, 2, kOfPaper},
                                       {1, 3, kSelfVenue},
                                       {2, 4, kSelfVenue}},
                                      1),
                     test_layer_graph({1, 2}, {1, 0},
                                      {{0, 1, kOfVenue}, {0, 2, kOfVenue}, {0, 0, kSelfPaper}}, 1)},
          .attention = {{0.25, 0.75, 0.5, 0.25, 0.25, 1}, {0.5, 0.3, 0.2}}};
}

TEST(AttentionFlow, IsWhatPencilAndPaperGive) {
  const PathShares shares = path_shares(tree_of(paper_stack(), {0}, 2));
  const PathShares expected = {{{kOfVenue}, 0.8},
                               {{kSelfPaper}, 0.2},
                               {{kOfVenue, kOfPaper}, 0.5 * 0.75},
                               {{kOfVenue, kSelfVenue}, 0.5 * 0.25 + 0.3},
                               {{kSelfPaper, kOfVenue}, 0.2 * 0.75},
                               {{kSelfPaper, kSelfPaper}, 0.2 * 0.25}};
  expect_same_shares(shares, expected, 1e-15);
}

TEST(AttentionFlow, ReadsOnlyTheLastLayersForShorterPaths) {
  expect_same_shares(path_shares(tree_of(paper_stack(), {0}, 1)),
                     {{{kOfVenue}, 0.8}, {{kSelfPaper}, 0.2}}, 1e-15);
}

TEST(AttentionFlow, StaysAtANodeThatHasNoNeighbors) {
  const LayerGraph alone = test_layer_graph({1, 0}, {1, 0}, {{0, 0, kSelfPaper}}, 1);
  const Stack stack{.graphs = {alone, alone}, .attention = {{1}, {1}}};
  const AttentionTree tree = tree_of(stack, {0}, 2);
  expect_same_shares(path_shares(tree), {{{kSelfPaper}, 1}, {{kSelfPaper, kSelfPaper}, 1}}, 0);
  EXPECT_EQ(tree.layers, 2U);
  EXPECT_EQ(tree.from_layer, 2U);
  EXPECT_EQ(tree.examples, 1U);
}

TEST(AttentionFlow, IsEmptyBeforeTheFirstTarget) {
  const AttentionTree tree = AttentionFlow(NodeType(3), 2).tree();
  EXPECT_EQ(tree, (AttentionTree{.target = NodeType(3), .layers = 2}));
}

// --- random ---

std::vector<double> random_attention(const LayerGraph& graph, Draws& draws) {
  std::vector<double> attention(graph.num_edges());
  for (uint32_t target = 0; target < graph.num_targets(); ++target) {
    double sum = 0;
    for (const uint64_t edge : graph.incoming(target)) sum += attention[edge] = draws.unit();
    for (const uint64_t edge : graph.incoming(target)) attention[edge] /= sum;
  }
  return attention;
}

// Every layer reads some of the rows that the one before wrote, so offsets differ everywhere. One
// to four edges a target, of any of five relations.
Stack random_stack(uint32_t layers, uint64_t number) {
  Draws draws(hash(71, number));
  const auto below = [&](uint32_t end) { return static_cast<uint32_t>(draws.below(end)); };
  const auto total = [](const std::vector<uint32_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), 0U);
  };
  std::vector<uint32_t> targets = {1 + below(3), below(2), 0};
  Stack stack;
  for (uint32_t layer = 0; layer < layers; ++layer) {
    std::vector<uint32_t> sources = targets;
    for (uint32_t& count : sources) count += below(3);
    std::vector<TestEdge> edges;
    for (uint32_t target = 0; target < total(targets); ++target) {
      for (uint32_t i = 0; i <= below(4); ++i) {
        edges.push_back({.target = target, .source = below(total(sources)), .relation = below(5)});
      }
    }
    stack.graphs.insert(stack.graphs.begin(), test_layer_graph(sources, targets, edges, 1));
    stack.attention.insert(stack.attention.begin(), random_attention(stack.graphs[0], draws));
    targets = sources;
    for (uint32_t& count : targets) count += below(2);  // more than the next layer reads
  }
  return stack;
}

// The row that the layer before wrote, for a row that this one reads: the same place in its type.
uint32_t written_row(const LayerGraph& reader, const LayerGraph& writer, uint32_t source) {
  uint32_t type = 0;
  while (source >= reader.source_offsets[type + size_t{1}]) ++type;
  return writer.target_offsets[type] + source - reader.source_offsets[type];
}

// Walks every path of `steps` edges back from an output of layer `layer` and adds its mass.
void walk(const Stack& stack, size_t layer, uint32_t row, uint32_t steps, const RelationSteps& path,
          double mass, PathShares& shares) {
  if (steps == 0) return;
  const LayerGraph& graph = stack.graphs[layer];
  for (const uint64_t edge : graph.incoming(row)) {
    RelationSteps longer = path;
    longer.push_back(index(graph.relations[edge]));
    const double own = mass * stack.attention[layer][edge];
    shares[longer] += own;
    if (steps == 1) continue;
    walk(stack, layer - 1, written_row(graph, stack.graphs[layer - 1], graph.sources[edge]),
         steps - 1, longer, own, shares);
  }
}

std::vector<uint32_t> random_targets(const Stack& stack, uint64_t number) {
  Draws draws(hash(72, number));
  std::vector<uint32_t> targets(1 + draws.below(6));  // some of them twice
  for (uint32_t& target : targets) {
    target = static_cast<uint32_t>(draws.below(stack.graphs.back().num_targets()));
  }
  return targets;
}

TEST(AttentionFlow, EqualsTheSumOverAllPathsOfEdges) {
  for (uint64_t number = 0; number < 200; ++number) {
    const auto layers = static_cast<uint32_t>(1 + number % 4);
    const Stack stack = random_stack(layers, number);
    const std::vector<uint32_t> targets = random_targets(stack, number);
    for (uint32_t steps = 1; steps <= layers; ++steps) {
      PathShares expected;
      for (const uint32_t target : targets) {
        walk(stack, layers - 1, target, steps, {}, 1.0 / static_cast<double>(targets.size()),
             expected);
      }
      const AttentionTree tree = tree_of(stack, targets, steps);
      expect_same_shares(path_shares(tree), expected, 1e-12);
      expect_whole(tree, 1e-12);
      EXPECT_EQ(tree.examples, targets.size());
    }
  }
}

TEST(AttentionFlow, IsTheMeanOverTargetsNotOverBatches) {
  AttentionFlow flow(NodeType(0), 2);
  PathShares expected;
  double count = 0;
  for (uint64_t number = 0; number < 5; ++number) {
    const Stack stack = random_stack(2, number);
    const std::vector<uint32_t> targets = random_targets(stack, number);
    flow.add(stack.flows(), targets);
    for (const uint32_t target : targets) walk(stack, 1, target, 2, {}, 1, expected);
    count += static_cast<double>(targets.size());
  }
  for (auto& [path, share] : expected) share /= count;
  expect_same_shares(path_shares(flow.tree()), expected, 1e-12);
}

// --- means ---

// Papers and venues, as in paper_stack().
Schema venue_schema() {
  Schema schema;
  schema.add_node_type("paper", NodeKind::event);
  schema.add_node_type("venue", NodeKind::plain);
  schema.add_relation(
      {.source = "venue", .edge = "of_venue", .target = "paper", .reverse = "of_paper"});
  schema.number_relations();
  return schema;
}

AttentionTree means_of(const Schema& schema, const Stack& stack, NodeType target, uint32_t layers) {
  AttentionMeans means(schema, target, layers);
  means.add(stack.flows(), 1);
  return means.tree();
}

TEST(AttentionMeans, AreWhatPencilAndPaperGive) {
  const Schema schema = venue_schema();
  ASSERT_EQ(index(schema.relation("venue", "of_venue", "paper")), kOfVenue);
  ASSERT_EQ(index(schema.relation("paper", "of_paper", "venue")), kOfPaper);
  const AttentionTree tree = means_of(schema, paper_stack(), NodeType(0), 2);
  EXPECT_EQ(tree.form, AttentionForm::means);
  EXPECT_EQ(tree.from_layer, 2U);
  // In the last layer two edges of venues, 0.5 and 0.3; in the first, below a venue, the edges of
  // papers have 0.5 and 0.25, those of itself 0.25 and 1.
  const PathShares expected = {{{kOfVenue}, (0.5 + 0.3) / 2},
                               {{kOfVenue, kOfPaper}, (0.5 + 0.25) / 2},
                               {{kOfVenue, kSelfVenue}, (0.25 + 1) / 2},
                               {{kSelfPaper}, 0.2},
                               {{kSelfPaper, kOfVenue}, 0.75},
                               {{kSelfPaper, kSelfPaper}, 0.25}};
  expect_same_shares(path_shares(tree), expected, 1e-15);
}

TEST(AttentionMeans, OfShorterPathsAreThoseOfTheFirstLayers) {
  const AttentionTree tree = means_of(venue_schema(), paper_stack(), NodeType(0), 1);
  EXPECT_EQ(tree.from_layer, 1U);
  expect_same_shares(path_shares(tree), {{{kOfVenue}, 0.75}, {{kSelfPaper}, 0.25}}, 1e-15);
  expect_same_shares(path_shares(means_of(venue_schema(), paper_stack(), NodeType(1), 1)),
                     {{{kOfPaper}, (0.5 + 0.25) / 2}, {{kSelfVenue}, (0.25 + 1) / 2}}, 1e-15);
}

// Three types without relations of their own: five relations lead from any type to any.
Schema schema_of_three() {
  Schema schema;
  for (const char* type : {"a", "b", "c"}) schema.add_node_type(type, NodeKind::plain);
  schema.add_relation({.source = "a", .edge = "x", .target = "b"});
  schema.add_relation({.source = "b", .edge = "y", .target = "b", .symmetric = true});
  schema.add_relation({.source = "c", .edge = "z", .target = "a"});
  schema.number_relations();
  return schema;
}

// Of all edges in one layer of all stacks.
double plain_mean(const std::vector<Stack>& stacks, size_t layer, uint32_t relation,
                  uint64_t& edges) {
  double sum = 0;
  edges = 0;
  for (const Stack& stack : stacks) {
    for (size_t edge = 0; edge < stack.attention[layer].size(); ++edge) {
      if (index(stack.graphs[layer].relations[edge]) != relation) continue;
      sum += stack.attention[layer][edge];
      ++edges;
    }
  }
  return edges == 0 ? 0 : sum / static_cast<double>(edges);
}

void expect_means(const std::vector<Stack>& stacks, const Schema& schema, NodeType target,
                  size_t layer, const std::vector<AttentionBranch>& branches) {
  size_t met = 0;
  const auto expect_branch = [&](uint32_t relation, NodeType source) {
    uint64_t edges = 0;
    const double mean = plain_mean(stacks, layer, relation, edges);
    if (edges == 0) return;
    ASSERT_LT(met, branches.size());
    EXPECT_EQ(index(branches[met].relation), relation);
    EXPECT_NEAR(branches[met].attention, mean, 1e-12);
    const auto& below = branches[met++].children;
    if (layer == 0) {
      EXPECT_TRUE(below.empty());
    } else {
      expect_means(stacks, schema, source, layer - 1, below);
    }
  };
  for (uint32_t relation = 0; relation < schema.relations().size(); ++relation) {
    const RelationSpec& spec = schema.at(Relation(relation));
    if (spec.target == target) expect_branch(relation, spec.source);
  }
  expect_branch(static_cast<uint32_t>(schema.relations().size() + index(target)), target);
  EXPECT_EQ(met, branches.size());
}

TEST(AttentionMeans, AreThoseOfAllEdgesOfARelationInALayer) {
  const Schema schema = schema_of_three();
  for (uint32_t layers = 1; layers <= 3; ++layers) {
    for (uint32_t target = 0; target < 3; ++target) {
      std::vector<Stack> stacks;
      AttentionMeans means(schema, NodeType(target), layers);
      for (uint64_t number = 0; number < 6; ++number) {
        stacks.push_back(random_stack(3, 100 * target + number));
        means.add(stacks.back().flows(), number);
      }
      const AttentionTree tree = means.tree();
      EXPECT_EQ(tree.examples, 15U);
      EXPECT_EQ(index(tree.target), target);
      EXPECT_EQ(tree.layers, layers);
      expect_means(stacks, schema, NodeType(target), layers - 1, tree.children);
    }
  }
}

TEST(AttentionMeans, AreNoneBeforeTheFirstBatch) {
  const AttentionTree tree = AttentionMeans(venue_schema(), NodeType(1), 2).tree();
  EXPECT_TRUE(tree.children.empty());
  EXPECT_EQ(tree.layers, 2U);
}

TEST(AttentionMeans, NameWhatDoesNotFit) {
  const Schema schema = venue_schema();
  Stack stack = paper_stack();
  const auto error = [&](uint32_t layers) {
    return error_of([&] { means_of(schema, stack, NodeType(0), layers); });
  };
  EXPECT_TRUE(contains(error(3), "need the same number of layers, but there are 2")) << error(3);
  stack.attention[1].push_back(1);
  EXPECT_TRUE(contains(error(2), "attention for 4 edges, but the layer has 3")) << error(2);
}

// --- misfits ---

TEST(AttentionFlow, NamesWhatDoesNotFit) {
  Stack stack = paper_stack();
  const auto error = [&](const std::vector<uint32_t>& targets, uint32_t layers) {
    return error_of([&] { tree_of(stack, targets, layers); });
  };
  EXPECT_EQ(error({0}, 2), "");
  EXPECT_TRUE(
      contains(error({0}, 3), "paths of 3 steps need the same number of layers, but there are 2"));
  EXPECT_TRUE(contains(error({0, 1}, 2), "target 1 is not one of the 1 rows"));
  stack.attention[0].pop_back();
  EXPECT_TRUE(contains(error({0}, 2), "attention for 5 edges, but the layer has 6"));
  stack = paper_stack();
  stack.graphs[0] = test_layer_graph({3, 2}, {1, 1}, {{0, 0, kSelfPaper}, {1, 3, kSelfVenue}}, 1);
  stack.attention[0] = {1, 1};
  EXPECT_TRUE(contains(error({0}, 2), "reads rows that the layer before it did not write"));
}

}  // namespace
}  // namespace hgt
