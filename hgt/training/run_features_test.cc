// Runs on graphs with several feature sets: which one they read, and when it has changed.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "hgt/disk/checksum.h"
#include "hgt/disk/whole_file.h"
#include "hgt/graph/feature_set_writer.h"
#include "hgt/graph/feature_writer.h"
#include "hgt/run/saved_run.h"
#include "hgt/training/run.h"
#include "hgt/training/training_test_graph.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;

class RunFeaturesTest : public testing::Test {
 protected:
  RunFeaturesTest() { generate_academic_graph(graph(), {.papers = 300, .features = 8}); }

  Path graph() const { return (folder_ / "graph").lexically_normal(); }
  RunOptions options(const std::string& features = {}) const {
    RunOptions options;
    options.graph = graph().string();
    options.features = features;
    options.task = find_task("paper-venue", read_schema(graph()));
    options.training = quick_options();
    options.training.batches = 4;
    options.training.validate_every = 2;
    return options;
  }
  // Numbers that depend on the node and on `factor`, for papers.
  void make_set(const std::string& name, float factor, bool replace = false) const {
    const FeatureLock lock(graph());
    FeatureSetWriter set(lock, {.name = name, .key = std::to_string(factor), .replace = replace});
    FeatureWriter writer(set, "paper", {.width = 3, .origin = "a test", .key = "key"});
    std::vector<float> rows;
    for (uint64_t i = 0; i < 3 * writer.nodes(); ++i) {
      rows.push_back(factor * static_cast<float>(i % 7));
    }
    writer.append(rows, std::vector<bool>(writer.nodes(), false));
    writer.finish();
    set.finish();
  }
  double loss(const std::string& name) {
    hgt::Run run = hgt::Run::open(folder_ / name);
    return run.evaluate(Split::test, run.scoring()).seeds.front().loss;
  }
  std::string error(const std::string& name) {
    return error_of([&] { hgt::Run::open(folder_ / name); });
  }

  const TestFolder folder_;
};

TEST_F(RunFeaturesTest, ReadsTheNewestSetUnlessAnotherIsNamed) {
  EXPECT_EQ(hgt::Run::create(folder_ / "a", options()).options().features, "imported");
  make_set("one", 1);
  make_set("two", 2);
  const auto width = [](const hgt::Run& run) {
    const HeteroGraph& of = run.task().graph();
    return of.features(of.schema().node_type("paper")).width;
  };
  const hgt::Run newest = hgt::Run::create(folder_ / "b", options());
  EXPECT_EQ(newest.options().features, "two");
  EXPECT_EQ(width(newest), 3U);
  const hgt::Run imported = hgt::Run::create(folder_ / "c", options("imported"));
  EXPECT_EQ(imported.options().features, "imported");
  EXPECT_EQ(width(imported), 8U);
  EXPECT_TRUE(contains(read_bytes(folder_ / "b" / "options.toml"), "features = \"two\""));
  EXPECT_TRUE(contains(error_of([&] { hgt::Run::create(folder_ / "d", options("won")); }),
                       "there is no feature set 'won'"));
}

TEST_F(RunFeaturesTest, StaysUsableWhenOthersAreAdded) {
  make_set("one", 1);
  hgt::Run::create(folder_ / "imported", options("imported")).train();
  hgt::Run::create(folder_ / "one", options("one")).train();
  const double with_imported = loss("imported");
  const double with_one = loss("one");
  EXPECT_NE(with_imported, with_one);
  make_set("two", 2);
  EXPECT_EQ(loss("imported"), with_imported);
  EXPECT_EQ(loss("one"), with_one);
  EXPECT_TRUE(hgt::Run::open(folder_ / "one").is_made_of(options())) << "keeps its own";
  EXPECT_FALSE(hgt::Run::open(folder_ / "one").is_made_of(options("two")));
  {
    const FeatureLock lock(graph());
    remove_feature_set(lock, "two");
  }
  EXPECT_EQ(loss("one"), with_one);
}

TEST_F(RunFeaturesTest, NoticesThatItsSetIsAnotherOne) {
  make_set("one", 1);
  hgt::Run::create(folder_ / "run", options()).train();
  const double before = loss("run");
  make_set("one", 2, true);
  EXPECT_TRUE(
      contains(error("run"), graph().string() + ": the feature set 'one' has changed since"))
      << error("run");
  make_set("one", 1, true);
  EXPECT_EQ(loss("run"), before) << "made again in the same way";
  {
    const FeatureLock lock(graph());
    remove_feature_set(lock, "one");
  }
  EXPECT_TRUE(contains(error("run"), "the feature set 'one' that the run")) << error("run");
  EXPECT_TRUE(contains(error("run"), "is not there any more")) << error("run");
}

// As runs were written before graphs had several sets.
TEST_F(RunFeaturesTest, ARunThatNamesNoSetWasTrainedOnTheImportedOne) {
  hgt::Run::create(folder_ / "run", options()).train();
  const double before = loss("run");
  const Path file = folder_ / "run" / "options.toml";
  std::string text = read_bytes(file);
  const std::string line = "features = \"imported\"\n";
  ASSERT_NE(text.find(line), std::string::npos) << text;
  text.erase(text.find(line), line.size());
  write_text(file, text);
  auto json = nlohmann::ordered_json::parse(read_bytes(folder_ / "run" / "run.json"));
  json["options_checksum"] = text_checksum(text);
  json["graph_checksum"] = text_checksum(read_bytes(graph() / "schema.json"));
  json.erase("structure_checksum");
  write_text(folder_ / "run" / "run.json", json.dump(1) + "\n");
  EXPECT_EQ(loss("run"), before);
  make_set("one", 1);
  EXPECT_EQ(loss("run"), before);
  EXPECT_EQ(hgt::Run::open(folder_ / "run").options().features, "imported");
}

TEST_F(RunFeaturesTest, IsNotTrainedOnAnUnfinishedSet) {
  const FeatureLock lock(graph());
  {
    FeatureSetWriter set(lock, {.name = "one"});
    FeatureWriter writer(set, "venue", {.width = 1, .key = "key"});
    writer.append(std::vector<float>(writer.nodes(), 1), std::vector<bool>(writer.nodes(), false));
    writer.finish();
  }
  EXPECT_EQ(hgt::Run::create(folder_ / "a", options()).options().features, "imported");
  EXPECT_TRUE(contains(error_of([&] { hgt::Run::create(folder_ / "b", options("one.partial")); }),
                       "is unfinished"));
}

TEST_F(RunFeaturesTest, ADamagedSetIsOfNoConcernToOtherRuns) {
  hgt::Run::create(folder_ / "run", options()).train();
  const double before = loss("run");
  make_set("one", 1);
  const HeteroGraph one = HeteroGraph::open(graph(), "one");
  const std::string file = one.schema().at(one.schema().node_type("paper")).features.value().file;
  fs::remove(graph() / "paper" / file);
  EXPECT_EQ(loss("run"), before);
  EXPECT_TRUE(contains(error_of([&] { hgt::Run::create(folder_ / "other", options("one")); }),
                       "it belongs to the feature set 'one'"));
}

}  // namespace
}  // namespace hgt
