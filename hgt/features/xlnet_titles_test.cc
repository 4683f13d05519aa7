#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "hgt/features/made_set_test.h"
#include "hgt/features/pretrained_titles.h"
#include "hgt/features/titled_test_graph.h"
#include "hgt/features/xlnet/xlnet_test_folder.h"
#include "hgt/graph/graph_test_folder.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;

class XlnetFeatures : public testing::Test {
 protected:
  XlnetFeatures() {
    fs::create_directory(model());
    write_xlnet(
        random_xlnet(
            {.vocab_size = 30, .d_model = 8, .n_layer = 3, .n_head = 2, .d_head = 4, .d_inner = 6}),
        model());
    write_bytes(model() / "spiece.model", spiece_bytes());
  }
  const Path& path() const { return path_; }
  FeatureSpec spec(const std::string& type) const {
    const HeteroGraph graph = HeteroGraph::open(path());
    return graph.schema().at(graph.schema().node_type(type)).features.value();
  }
  Path model() const { return folder_ / "tiny"; }
  FeatureStep step() const {
    FeatureStep step{.types = {"paper"}, .encoder = TextEncoder::xlnet};
    step.xlnet = model().string() + "/";
    step.precision = FeatureType::float32;
    return step;
  }
  // What the model makes of a title, and 0 for "has one".
  std::vector<float> row_of(const std::string& title) const {
    std::vector<float> row(9);
    const std::vector<std::string_view> titles = {title};
    Xlnet::open(model()).encode(titles, std::span(row).first(8));
    return row;
  }

  const TestFolder folder_;
  const TestGraph graph_ = titled_graph(eight_papers());
  const Path path_ = graph_.path();
};

TEST_F(XlnetFeatures, AreTheVectorsOfTheTitles) {
  EXPECT_EQ(make(path(), step())[0].spec.missing, 1U);
  EXPECT_EQ(spec("paper").origin, "xlnet tiny of names");
  EXPECT_EQ(spec("paper").until, std::nullopt);
  const FeatureRows rows = stored_rows(path(), "paper");
  const auto papers = eight_papers();
  for (size_t i = 0; i < papers.size(); ++i) {
    if (papers[i].title.empty()) {
      EXPECT_EQ(rows[i], (std::vector<float>{0, 0, 0, 0, 0, 0, 0, 0, 1}));
      continue;
    }
    const std::vector<float> expected = row_of(papers[i].title);
    for (size_t j = 0; j < 9; ++j) EXPECT_NEAR(rows[i][j], expected[j], 1e-5) << i;
  }
}

TEST_F(XlnetFeatures, AreMadeAnewWhenAFileOfTheModelChanges) {
  make(path(), step());
  EXPECT_TRUE(make(path(), step())[0].already);
  for (const char* file : {"config.json", "model.safetensors", "spiece.model"}) {
    fs::last_write_time(model() / file,
                        fs::last_write_time(model() / file) + std::chrono::seconds(5));
    EXPECT_FALSE(make(path(), step())[0].already) << file;
    EXPECT_TRUE(make(path(), step())[0].already) << file;
  }
}

TEST_F(XlnetFeatures, GoOnAfterAFewHundredTitles) {
  std::vector<TitledPaper> papers;
  for (int i = 0; i < 600; ++i) papers.push_back({std::string(1, 'a' + i % 26), 2010});
  const TestGraph many = titled_graph(papers);
  EXPECT_THROW(make(many.path(), step(), false, StopAt(2)), Interrupted);
  std::vector<uint64_t> counts;
  make(many.path(), step(), false,
       [&](const Progress& progress) { counts.push_back(progress.count); });
  EXPECT_EQ(counts, (std::vector<uint64_t>{256, 512, 600}));
  const FeatureRows rows = stored_rows(many.path(), "paper");
  for (size_t i = 26; i < rows.size(); ++i) {
    for (size_t j = 0; j < 8; ++j) EXPECT_NEAR(rows[i][j], rows[i % 26][j], 1e-5) << i;
  }
}

}  // namespace
}  // namespace hgt
