// What happens to a graph on its way to those who use it: zeroed pages, flipped bits, cut files,
// numbers out of range. Every verb names the file; none crashes, and none gives a score.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hgt/graph/array_file.h"
#include "hgt/graph/graph_builder.h"
#include "hgt/random.h"
#include "tests/run_program.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr NodeId kPapers = 240;
constexpr NodeId kAuthors = 60;

// Every kind of array that there is.
Schema damaged_schema() {
  Schema schema;
  schema.at(schema.add_node_type("paper", NodeKind::event)).names = true;
  schema.at(schema.add_node_type("author", NodeKind::plain)).names = true;
  schema.add_relation({.source = "author", .edge = "writes", .target = "paper", .weights = true});
  schema.add_relation({.source = "paper", .edge = "cites", .target = "paper", .times = true});
  schema.number_relations();
  return schema;
}

void add_papers(GraphBuilder& builder) {
  const NodeType paper = builder.schema().node_type("paper");
  builder.declare_features(paper, {.width = 4, .type = FeatureType::float16});
  const uint32_t topic = builder.declare_label(paper, "topic");
  for (NodeId node = 0; node < kPapers; ++node) {
    const std::string id = "P" + std::to_string(node);
    builder.add_node(paper, {.id = id, .name = "About " + id, .time = 2000 + Time(node % 20)});
    const float sign = node % 2 == 0 ? 1.0F : -1.0F;
    builder.set_features(paper, node, std::vector<float>{sign, 0.5F, -sign, 1.0F});
    builder.add_label(paper, topic, node, node % 2 == 0 ? "even" : "odd");
    builder.set_split(paper, topic, node, Split(1 + node % 3));
  }
}

void build_graph(const Path& folder) {
  GraphBuilder builder(folder, damaged_schema());
  const Schema& schema = builder.schema();
  add_papers(builder);
  const NodeType author = schema.node_type("author");
  builder.declare_features(author, {.width = 2, .type = FeatureType::float32});
  for (NodeId node = 0; node < kAuthors; ++node) {
    const std::string id = "A" + std::to_string(node);
    builder.add_node(author, {.id = id, .name = "Dr. " + id});
    builder.set_features(author, node, std::vector<float>{1.0F, static_cast<float>(node)});
  }
  Draws draws(5);
  for (NodeId node = 0; node < kPapers; ++node) {
    const auto writer = static_cast<NodeId>(draws.below(kAuthors));
    const auto cited = static_cast<NodeId>(draws.below(kPapers));
    builder.add_edge(schema.relation("author", "writes", "paper"),
                     {.source = writer, .target = node, .weight = 0.5F});
    builder.add_edge(schema.relation("paper", "cites", "paper"),
                     {.source = node, .target = cited, .time = 2000 + Time(node % 20)});
  }
  builder.finish();
}

enum class Damage { zeros, bit, cut, out_of_range };
constexpr size_t kDamages = 4;

class DamageProgram : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared = std::make_unique<TestFolder>();
    build_graph(graph());
    const Outcome made = hgt(train("run"));
    ASSERT_EQ(made.exit_code, 0) << made.err;
    good = folder_bytes(graph());
    std::erase_if(good, [](const auto& file) { return !file.first.ends_with(".npy"); });
    score = evaluation();
    ASSERT_NE(score, "");
  }
  static void TearDownTestSuite() { shared.reset(); }

  static Path graph() { return (*shared / "graph").lexically_normal(); }
  static Outcome hgt(const Words& words) { return run_program(shared->path(), words); }
  static Words train(const std::string& run) {
    return {"train",     graph().string(),
            "--task",    "paper:topic",
            "--run",     (*shared / run).string(),
            "--hidden",  "4",
            "--heads",   "1",
            "--layers",  "1",
            "--width",   "4",
            "--depth",   "1",
            "--threads", "1",
            "--batches", "2",
            "--quiet"};
  }
  static Words evaluate() {
    return {"evaluate", (*shared / "run").string(), "--quiet", "--threads", "1"};
  }
  static Words sample() {
    return {"sample", graph().string(), "--random", "paper:200",    "--width",
            "1000",   "--depth",        "2",        "--time-bound", "none"};
  }
  static std::string evaluation() {
    const Outcome outcome = hgt(evaluate());
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  }

  // No value: this damage would change nothing, or the array has no range.
  static std::optional<std::string> damaged(const std::string& name, Damage damage) {
    std::string bytes = good.at(name);
    if (damage == Damage::cut) return bytes.substr(0, bytes.size() - 1);
    if (bytes.size() == kArrayHeaderBytes) return std::nullopt;  // an empty array
    if (damage == Damage::bit) bytes[(kArrayHeaderBytes + bytes.size()) / 2] ^= 4;
    const size_t page = std::min<size_t>(bytes.size(), 4096);
    const bool zeros = damage == Damage::zeros;
    if (zeros) std::fill(bytes.begin() + kArrayHeaderBytes, bytes.begin() + page, '\0');
    if (damage == Damage::out_of_range) {
      std::fill(bytes.begin() + kArrayHeaderBytes, bytes.begin() + page, '\x7f');
    }
    return bytes == good.at(name) ? std::nullopt : std::optional(bytes);
  }

  static void expect_named(const Words& words, const std::string& name, Damage damage) {
    const Outcome outcome = hgt(words);
    EXPECT_EQ(outcome.exit_code, 1) << words[0] << " " << name << " " << static_cast<int>(damage)
                                    << ": " << outcome.out << outcome.err;
    EXPECT_NE(outcome.err.find((graph() / name).string()), std::string::npos)
        << words[0] << " " << name << ": " << outcome.err;
  }

  // Damages the file, tries the verb, and repairs the file with the time that it had.
  static void try_damage(const Words& words, const std::string& name, Damage damage) {
    const auto bytes = damaged(name, damage);
    if (!bytes) return;
    const auto time = fs::last_write_time(graph() / name);
    write_bytes(graph() / name, *bytes);
    expect_named(words, name, damage);
    write_bytes(graph() / name, good.at(name));
    fs::last_write_time(graph() / name, time);
    ++tried;
  }

  static inline std::unique_ptr<TestFolder> shared;
  static inline std::map<std::string, std::string> good;  // the arrays
  static inline std::string score;
  static inline size_t tried = 0;
};

TEST_F(DamageProgram, IsFoundInEveryArrayBySample) {
  tried = 0;
  for (const auto& [name, bytes] : good) {
    for (size_t kind = 0; kind < kDamages; ++kind) try_damage(sample(), name, Damage(kind));
  }
  EXPECT_GT(tried, good.size() * 3);
  EXPECT_EQ(hgt(sample()).exit_code, 0) << "it is repaired";
}

// LibTorch takes its time to load: one kind of damage for each array, another for the next verb.
TEST_F(DamageProgram, IsFoundInEveryArrayByTrainAndEvaluate) {
  size_t number = 0;
  for (const auto& [name, bytes] : good) {
    try_damage(train("new"), name, Damage(number % kDamages));
    EXPECT_FALSE(fs::exists(*shared / "new")) << name;
    try_damage(evaluate(), name, Damage((number + 2) % kDamages));
    ++number;
  }
  EXPECT_EQ(evaluation(), score) << "it is repaired";
}

TEST_F(DamageProgram, InSourcesIsFoundByEveryVerb) {
  const std::string run = (*shared / "run").string();
  const std::string out = (*shared / "out").string();
  for (const Damage damage : {Damage::zeros, Damage::out_of_range}) {
    for (const Words& words :
         {train("new"), evaluate(), Words{"predict", run, "--all", "--out", out},
          Words{"embed", run, "--type", "paper", "--out", out}, Words{"explain", run},
          Words{"similar", run, "--node", "paper:P0"}, Words{"report", run, "--json", "--out", out},
          Words{"view", run, "--port", "0"}, Words{"export", graph().string(), "--out", out},
          Words{"features", graph().string(), "--type", "author", "--mean-of", "paper"},
          Words{"train", "--run", run, "--resume"}}) {
      try_damage(words, "paper/incoming_sources.npy", damage);
      EXPECT_FALSE(fs::exists(out)) << words[0];
    }
  }
  EXPECT_EQ(evaluation(), score) << "it is repaired";
}

}  // namespace
}  // namespace hgt
