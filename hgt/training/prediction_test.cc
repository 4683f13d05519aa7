// Run::predict and Run::embed: tables and vectors in the user's own ids.
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "hgt/error.h"
#include "hgt/graph/array_file.h"
#include "hgt/model/torch.h"
#include "hgt/tables/npy_matrix.h"
#include "hgt/training/run.h"
#include "hgt/training/training_test_graph.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;
using Cells = std::vector<std::string>;

std::vector<Cells> table_cells(const Path& file) {
  std::vector<Cells> table;
  std::istringstream in(read_bytes(file));
  for (std::string line; std::getline(in, line);) {
    Cells cells(1);
    for (const char c : line) {
      if (c == '\t') {
        cells.emplace_back();
      } else {
        cells.back() += c;
      }
    }
    table.push_back(cells);
  }
  return table;
}

// The answers of one node, in the order of the table.
using Answers = std::vector<Cells>;

class Prediction : public testing::Test {
 protected:
  hgt::Run trained(const std::string& task, const Cells& leave_out = {}) {
    RunOptions options{.graph = training_graph().string(),
                       .task = find_task(task, graph_.schema()),
                       .training = quick_options()};
    options.task.leave_out = leave_out;
    options.training.batches = 3;
    options.training.validation.limit = 30;
    const std::string name = fmt::format("{}-{}.run", task, leave_out.size());
    hgt::Run run = hgt::Run::create(folder_ / name, options);
    run.train();
    return run;
  }
  // Lines of one key lie together; their ranks count from 1 and their values fall.
  static std::map<std::string, Answers> answers_by(const std::vector<Cells>& table, size_t keys) {
    std::map<std::string, Answers> by_key;
    for (size_t line = 1; line < table.size(); ++line) {
      const Cells& cells = table[line];
      EXPECT_EQ(cells.size(), table[0].size()) << "line " << line;
      std::string key = cells[0];
      for (size_t i = 1; i < keys; ++i) key += '\t' + cells[i];
      Answers& answers = by_key[key];
      answers.push_back({cells.begin() + static_cast<ptrdiff_t>(keys), cells.end()});
      EXPECT_EQ(answers.back()[0], std::to_string(answers.size()));
      if (answers.size() > 1) {
        EXPECT_LE(std::stod(answers.back().back()), std::stod(answers.end()[-2].back()));
        EXPECT_EQ(table[line - 1][0], cells[0]);
      }
    }
    return by_key;
  }
  NodeType type(const char* name) const { return graph_.schema().node_type(name); }

  TestFolder folder_;
  const HeteroGraph graph_ = HeteroGraph::open(training_graph());
};

// --- classes ---

TEST_F(Prediction, RanksTheClassesOfAllNodes) {
  hgt::Run run = trained("paper-venue");
  const Path out = folder_ / "all.tsv";
  const uint32_t classes = run.task().num_classes();
  EXPECT_EQ(run.predict({.top = classes + 10U}, out), graph_.num_nodes(type("paper")));
  const auto table = table_cells(out);
  EXPECT_EQ(table[0], (Cells{"paper", "rank", "venue", "name", "probability"}));
  const auto by_paper = answers_by(table, 1);
  EXPECT_EQ(by_paper.size(), graph_.num_nodes(type("paper")));
  std::map<std::string, std::string> names;
  for (uint32_t i = 0; i < classes; ++i) names[run.task().class_id(i)] = run.task().class_name(i);
  for (const auto& [paper, answers] : by_paper) {
    EXPECT_TRUE(graph_.find(type("paper"), paper)) << paper;
    ASSERT_EQ(answers.size(), classes);
    double sum = 0;
    std::set<std::string> seen;
    for (const Cells& answer : answers) {
      seen.insert(answer[1]);
      EXPECT_EQ(answer[2], names.at(answer[1]));
      sum += std::stod(answer[3]);
    }
    EXPECT_EQ(seen.size(), classes);
    EXPECT_NEAR(sum, 1, 1e-4);
  }
  EXPECT_FALSE(holds_partial(folder_.path()));
}

TEST_F(Prediction, AnswersForTheNodesThatAreNamed) {
  hgt::Run run = trained("paper-venue");
  const Path out = folder_ / "some.tsv";
  const PredictOptions options{
      .nodes = {{.type = type("paper"), .node = 7}, {.type = type("paper"), .node = 3}}, .top = 2};
  EXPECT_EQ(run.predict(options, out), 2U);
  const auto table = table_cells(out);
  ASSERT_EQ(table.size(), 5U);
  EXPECT_EQ(table[1][0], graph_.id(type("paper"), 7));
  EXPECT_EQ(table[3][0], graph_.id(type("paper"), 3));
  for (const auto& [paper, answers] : answers_by(table, 1)) EXPECT_EQ(answers.size(), 2U);
  EXPECT_EQ(run.predict(options, folder_ / "again.tsv"), 2U);
  EXPECT_EQ(read_bytes(folder_ / "again.tsv"), read_bytes(out));
}

TEST_F(Prediction, RefusesNodesOfAnotherType) {
  for (const char* task : {"paper-venue", "link:cites"}) {
    hgt::Run run = trained(task);
    const std::string error = error_of([&] {
      run.predict({.nodes = {{.type = type("author"), .node = 0}}}, folder_ / "out.tsv");
    });
    EXPECT_TRUE(contains(error, "is about nodes of type paper, not author")) << error;
    EXPECT_FALSE(fs::exists(folder_ / "out.tsv"));
    EXPECT_FALSE(holds_partial(folder_.path()));
  }
}

TEST_F(Prediction, SaysWhereItCannotWrite) {
  hgt::Run run = trained("paper-venue");
  const std::string error = error_of([&] { run.predict({}, folder_ / "no" / "out.tsv"); });
  EXPECT_TRUE(contains(error, "out.tsv: cannot be written")) << error;
}

TEST_F(Prediction, IsNotMadeBeforeTheRunIsTrained) {
  const RunOptions options{.graph = training_graph().string(),
                           .task = find_task("paper-venue", graph_.schema()),
                           .training = quick_options()};
  hgt::Run run = hgt::Run::create(folder_ / "run", options);
  EXPECT_TRUE(contains(error_of([&] { run.predict({}, folder_ / "out.tsv"); }), "no trained"));
  EXPECT_TRUE(
      contains(error_of([&] { run.embed(type("paper"), {}, folder_ / "out"); }), "no trained"));
}

// --- pairs ---

TEST_F(Prediction, RanksTheCandidatesOfEveryMention) {
  hgt::Run run = trained("author-disambiguation");
  const Path out = folder_ / "mentions.tsv";
  uint64_t mentions = 0;
  for (const Split split : kSplits) mentions += run.task().num_examples(split);
  EXPECT_EQ(run.predict({.top = 1000}, out), mentions);
  const auto table = table_cells(out);
  EXPECT_EQ(table[0], (Cells{"paper", "truth", "rank", "candidate", "probability"}));
  const auto by_mention = answers_by(table, 2);
  EXPECT_EQ(by_mention.size(), mentions);
  for (const auto& [mention, answers] : by_mention) {
    const std::string truth = mention.substr(mention.find('\t') + 1);
    double sum = 0;
    bool found = false;
    for (const Cells& answer : answers) {
      sum += std::stod(answer[2]);
      found = found || answer[1] == truth;
      const auto name = [&](const std::string& id) {
        return graph_.name(type("author"), graph_.find(type("author"), id).value());
      };
      EXPECT_EQ(name(answer[1]), name(truth));
    }
    EXPECT_TRUE(found) << mention;
    EXPECT_NEAR(sum, 1, 1e-4);
  }
  EXPECT_TRUE(
      contains(error_of([&] { run.predict({.nodes = {{.type = type("paper")}}}, folder_ / "o"); }),
               "mentions are predicted all together"));
}

TEST_F(Prediction, OffersLinksThatAreNotThereYet) {
  hgt::Run run = trained("link:cites");
  const Path out = folder_ / "links.tsv";
  EXPECT_EQ(run.predict({.nodes = {{.type = type("paper"), .node = 250}}, .top = 10000}, out), 1U);
  const auto table = table_cells(out);
  EXPECT_EQ(table[0], (Cells{"paper", "rank", "paper", "name", "score"}));
  const auto by_paper = answers_by(table, 1);
  ASSERT_EQ(by_paper.size(), 1U);
  EXPECT_EQ(by_paper.begin()->first, graph_.id(type("paper"), 250));
  std::set<std::string> linked;
  for (const Relation relation : run.task().predicted()) {
    for (const NodeId other : graph_.incoming(relation, 250).sources) {
      linked.insert(std::string(graph_.id(type("paper"), other)));
    }
  }
  ASSERT_FALSE(linked.empty());
  const Answers& answers = by_paper.begin()->second;
  EXPECT_EQ(answers.size() + linked.size(), graph_.num_nodes(type("paper")));
  for (const Cells& answer : answers) EXPECT_FALSE(linked.contains(answer[1])) << answer[1];
  run.predict({.nodes = {{.type = type("paper"), .node = 250}}, .top = 3}, out);
  const auto best = table_cells(out);
  EXPECT_EQ(best, (std::vector<Cells>(table.begin(), table.begin() + 4)));
}

// --- vectors ---

TEST_F(Prediction, WritesTheVectorOfEveryNodeOfAType) {
  hgt::Run run = trained("paper-venue");
  for (const char* name : {"paper", "author"}) {
    const Path out = folder_ / (std::string(name) + ".vectors");
    EXPECT_EQ(run.embed(type(name), {}, out), graph_.num_nodes(type(name)));
    EXPECT_EQ(names_in(out), (Cells{"nodes.tsv", "vectors.npy"}));
    NpyMatrix vectors(out / "vectors.npy");
    EXPECT_EQ(vectors.rows(), graph_.num_nodes(type(name)));
    EXPECT_EQ(vectors.width(), 8U);
    const auto table = table_cells(out / "nodes.tsv");
    ASSERT_EQ(table.size(), graph_.num_nodes(type(name)) + 1);
    EXPECT_EQ(table[0], (Cells{"id", "time", "name"}));
    std::set<std::vector<float>> different;
    for (NodeId node = 0; node < graph_.num_nodes(type(name)); ++node) {
      EXPECT_EQ(table[node + 1][0], graph_.id(type(name), node));
      std::vector<float> row(8);
      vectors.read_row(node, row);
      for (const float value : row) EXPECT_TRUE(std::isfinite(value));
      different.insert(row);
    }
    EXPECT_GT(different.size(), graph_.num_nodes(type(name)) / 2);
  }
}

// The papers of 2010 and before whose vectors do not depend on whether later ones may be seen.
TEST_F(Prediction, ReadsNoEdgeTypeThatIsLeftOut) {
  std::set<std::string> edges;
  for (const auto& relation : graph_.schema().relations()) edges.insert(relation.edge);
  const auto same = [&](const Cells& leave_out) {
    hgt::Run run = trained("paper-venue", leave_out);
    std::array<std::map<std::string, std::vector<float>>, 2> vectors;
    for (const bool early : {false, true}) {
      const Path out = folder_ / fmt::format("at{}-{}", early ? 1 : 0, leave_out.size());
      run.embed(type("paper"), {.inference = {.at = early ? 2010 : kNoTime}}, out);
      NpyMatrix matrix(out / "vectors.npy");
      const auto table = table_cells(out / "nodes.tsv");
      for (size_t i = 1; i < table.size(); ++i) {
        std::vector<float>& row = vectors[early ? 1 : 0][table[i][0]];
        row.resize(matrix.width());
        matrix.read_row(i - 1, row);
      }
    }
    EXPECT_GT(vectors[1].size(), 50U);
    return std::all_of(vectors[1].begin(), vectors[1].end(),
                       [&](const auto& own) { return vectors[0].at(own.first) == own.second; });
  };
  EXPECT_TRUE(same({edges.begin(), edges.end()}));
  EXPECT_FALSE(same({}));
}

TEST_F(Prediction, LeavesOutNodesThatAreLaterThanAsked) {
  hgt::Run run = trained("paper-venue");
  const Path out = folder_ / "early";
  uint64_t expected = 0;
  for (NodeId node = 0; node < graph_.num_nodes(type("paper")); ++node) {
    if (graph_.time(type("paper"), node) <= 2010) ++expected;
  }
  ASSERT_LT(expected, graph_.num_nodes(type("paper")));
  ASSERT_GT(expected, 0U);
  EXPECT_EQ(run.embed(type("paper"), {.inference = {.at = 2010}}, out), expected);
  const auto table = table_cells(out / "nodes.tsv");
  EXPECT_EQ(table.size(), expected + 1);
  for (size_t i = 1; i < table.size(); ++i) EXPECT_LE(std::stoi(table[i][1]), 2010);
}

TEST_F(Prediction, DoesNotWriteVectorsOverWhatIsThere) {
  hgt::Run run = trained("paper-venue");
  fs::create_directories(folder_ / "out");
  write_bytes(folder_ / "out" / "mine", "x");
  EXPECT_NE(error_of([&] { run.embed(type("paper"), {}, folder_ / "out"); }), "");
  EXPECT_EQ(read_bytes(folder_ / "out" / "mine"), "x");
}

// In a model of two layers for papers, what authors are after the second one is never trained.
TEST_F(Prediction, WritesTheVectorsOfTheLastLayerThatWasTrainedForTheType) {
  hgt::Run run = trained("paper-venue");
  const auto vectors = [&](const char* name, uint32_t layer) {
    const Path out = folder_ / "vectors";
    run.embed(type(name), {.layer = layer}, out);
    std::string bytes = read_bytes(out / "vectors.npy");
    fs::remove_all(out);
    return bytes;
  };
  EXPECT_EQ(vectors("author", 0), vectors("author", 1));
  EXPECT_NE(vectors("author", 0), vectors("author", 2));
  EXPECT_EQ(vectors("paper", 0), vectors("paper", 2));
  EXPECT_NE(vectors("paper", 0), vectors("paper", 1));
  const auto error = [&](const char* name, uint32_t layer) {
    return error_of([&] { run.embed(type(name), {.layer = layer}, folder_ / "no"); });
  };
  EXPECT_TRUE(contains(error("venue", 0), "task paper-venue makes no use of")) << error("venue", 0);
  EXPECT_TRUE(contains(error("venue", 0), "--layer"));
  EXPECT_EQ(error("paper", 3), "layer is 3; the model has layers 1 to 2");
  EXPECT_FALSE(fs::exists(folder_ / "no"));
}

// --- stopped ---

TEST_F(Prediction, CanBeStoppedAndLeavesNothing) {
  const auto stops = [&](const std::string& task, const PredictOptions& options,
                         const std::string& stage) {
    hgt::Run run = trained(task);
    const Path out = folder_ / "stopped" / "out.tsv";
    fs::create_directories(out.parent_path());
    EXPECT_THROW(run.predict(options, out,
                             [&](const Progress& progress) {
                               EXPECT_LE(progress.fraction, 1);
                               if (progress.stage == stage) throw Interrupted();
                             }),
                 Interrupted)
        << task;
    EXPECT_EQ(names_in(out.parent_path()), Cells{}) << "neither a table nor scratch";
  };
  stops("paper-venue", {.nodes = {{.type = type("paper"), .node = 7}}}, "answers");
  stops("link:cites", {}, "ranking");
}

// Memory is where temporary files lie, on many systems.
TEST_F(Prediction, PutsItsScratchBesideTheTable) {
  hgt::Run run = trained("paper-field-L1");
  const Path nowhere = folder_ / "nowhere";
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("TMPDIR", nowhere.c_str(), 1);
  const std::string error = error_of([&] { run.predict({}, folder_ / "out.tsv"); });
  if (before == nullptr) {
    ::unsetenv("TMPDIR");
  } else {
    ::setenv("TMPDIR", kept.c_str(), 1);
  }
  EXPECT_EQ(error, "");
}

}  // namespace
}  // namespace hgt
