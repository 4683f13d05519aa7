// Do the vectors show what was planted? On a generated graph, walks over venues, papers and authors
// must bring together what shares a topic.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "hgt/academic/academic_test_graph.h"
#include "hgt/features/metapath2vec/skip_gram.h"
#include "hgt/random.h"

namespace hgt {
namespace {

constexpr uint32_t kVectorWidth = 32;

struct TopicVectors {
  TopicVectors()
      : data(generated()), walks(data.graph, {path()}, {.walks_per_node = 150, .length = 40}) {
    inputs.resize(rows.size() * kVectorWidth);
    outputs.resize(inputs.size());
    SkipGram skip_gram(walks, count_occurrences(walks, walks.size()),
                       {.width = kVectorWidth, .learning_rate = 0.05}, {inputs, outputs});
    skip_gram.initialize();
    skip_gram.train(walks, 0, walks.size());
  }

  static AcademicGraph generated() {
    generate_academic_graph(workplace() / "topics", {.papers = 3000, .features = 0});
    return AcademicGraph(workplace() / "topics");
  }
  WalkPath path() const {
    const Schema& schema = data.graph.schema();
    WalkPath made{.type = schema.node_type("venue"),
                  .steps = std::vector<std::vector<Relation>>(4)};
    for (const std::string& edge : venue_edges) {
      made.steps[0].push_back(schema.relation("paper", edge, "venue"));
      made.steps[3].push_back(schema.reverse(made.steps[0].back()));
    }
    for (const std::string& edge : writes_edges) {
      made.steps[1].push_back(schema.relation("author", edge, "paper"));
      made.steps[2].push_back(schema.reverse(made.steps[1].back()));
    }
    return made;
  }
  double cosine(NodeType type, NodeId a, NodeId b) const {
    const float* x = &inputs[uint64_t{rows({type, a})} * kVectorWidth];
    const float* y = &inputs[uint64_t{rows({type, b})} * kVectorWidth];
    double product = 0;
    double x_square = 0;
    double y_square = 0;
    for (uint32_t i = 0; i < kVectorWidth; ++i) {
      product += x[i] * y[i];
      x_square += x[i] * x[i];
      y_square += y[i] * y[i];
    }
    return product / std::sqrt(x_square * y_square);
  }

  AcademicGraph data;
  Walks walks;
  NodeRows rows{walks};
  std::vector<float> inputs;
  std::vector<float> outputs;
};

const TopicVectors& topic_vectors() {
  static const TopicVectors vectors;
  return vectors;
}

struct Mean {
  void add(double value) {
    sum += value;
    ++number;
  }
  double value() const { return sum / number; }
  double sum = 0;
  double number = 0;
};

// The L1 fields of the topics that a venue has at the beginning and at the end.
std::vector<NodeId> venue_fields(const Truth& truth, NodeId venue) {
  const auto topics = truth.as<int32_t>("venue_topic");
  const uint64_t years = truth.shape("venue_topic")[1];
  const auto fields = truth.as<NodeId>("topic_l1");
  return {fields[static_cast<size_t>(topics[venue * years])],
          fields[static_cast<size_t>(topics[(venue + 1) * years - 1])]};
}

// Measured: 0.57 and 0.26.
TEST(Communities, VenuesOfOneFieldAreNearerToEachOtherThanToOthers) {
  const TopicVectors& vectors = topic_vectors();
  const NodeType venue = vectors.data.type("venue");
  Mean same;
  Mean other;
  for (NodeId a = 0; a < vectors.data.nodes("venue"); ++a) {
    const auto fields = venue_fields(vectors.data.truth, a);
    for (NodeId b = 0; b < a; ++b) {
      const auto others = venue_fields(vectors.data.truth, b);
      const bool shared = std::find_first_of(fields.begin(), fields.end(), others.begin(),
                                             others.end()) != fields.end();
      if (fields == others) same.add(vectors.cosine(venue, a, b));
      if (!shared) other.add(vectors.cosine(venue, a, b));
    }
  }
  EXPECT_GT(same.number, 20);
  EXPECT_GT(other.number, 500);
  EXPECT_GT(same.value(), other.value() + 0.2) << same.value() << " and " << other.value();
}

// Measured: 0.69 and 0.37. Of authors who did not change their topic.
TEST(Communities, AuthorsOfOneTopicAreNearerToEachOtherThanToOthers) {
  const TopicVectors& vectors = topic_vectors();
  const NodeType author = vectors.data.type("author");
  const auto early = vectors.data.truth.as<int32_t>("author_topic_early");
  const auto late = vectors.data.truth.as<int32_t>("author_topic_late");
  const auto fields = vectors.data.truth.as<NodeId>("topic_l1");
  Mean same;
  Mean other;
  Draws draws(1);
  for (int trial = 0; trial < 100'000; ++trial) {
    const auto a = static_cast<NodeId>(draws.below(early.size()));
    const auto b = static_cast<NodeId>(draws.below(early.size()));
    if (a == b || early[a] != late[a] || early[b] != late[b]) continue;
    if (early[a] == early[b]) same.add(vectors.cosine(author, a, b));
    const bool same_field =
        fields[static_cast<size_t>(early[a])] == fields[static_cast<size_t>(early[b])];
    if (!same_field) other.add(vectors.cosine(author, a, b));
  }
  EXPECT_GT(same.number, 500);
  EXPECT_GT(same.value(), other.value() + 0.25) << same.value() << " and " << other.value();
}

}  // namespace
}  // namespace hgt
