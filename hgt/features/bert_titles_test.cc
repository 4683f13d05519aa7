#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "hgt/features/bert/bert_test_folder.h"
#include "hgt/features/made_set_test.h"
#include "hgt/features/pretrained_titles.h"
#include "hgt/features/titled_test_graph.h"
#include "hgt/graph/graph_test_folder.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;

class BertFeatures : public testing::Test {
 protected:
  BertFeatures() { write_bert(random_bert(small_bert()), model()); }
  Path model() const { return folder_ / "tiny"; }
  FeatureStep step() const {
    FeatureStep step{.types = {"paper"}, .encoder = TextEncoder::bert};
    step.bert = model().string() + "/";
    step.precision = FeatureType::float32;
    return step;
  }

  const TestFolder folder_;
  const TestGraph graph_ = titled_graph(eight_papers());
};

TEST_F(BertFeatures, AreTheVectorsOfTheTitles) {
  const auto made = make(graph_.path(), step());
  EXPECT_EQ(made[0].spec.missing, 1U);
  EXPECT_EQ(made[0].spec.origin, "bert tiny of names");
  EXPECT_EQ(made[0].spec.until, std::nullopt);
  const FeatureRows rows = stored_rows(graph_.path(), "paper");
  const auto papers = eight_papers();
  const Bert bert = Bert::open(model());
  for (size_t i = 0; i < papers.size(); ++i) {
    std::vector<float> expected(13);
    const std::vector<std::string_view> titles = {papers[i].title};
    bert.encode(titles, std::span(expected).first(12));
    if (papers[i].title.empty()) expected.back() = 1;
    for (size_t j = 0; j < 13; ++j) EXPECT_NEAR(rows[i][j], expected[j], 1e-5) << i;
  }
}

TEST_F(BertFeatures, AreMadeAnewWhenAFileOfTheModelChanges) {
  make(graph_.path(), step());
  EXPECT_TRUE(make(graph_.path(), step())[0].already);
  for (const Path& file : bert_files(model())) {
    if (!fs::exists(file)) continue;
    fs::last_write_time(file, fs::last_write_time(file) + std::chrono::seconds(5));
    EXPECT_FALSE(make(graph_.path(), step())[0].already) << file;
  }
  EXPECT_TRUE(make(graph_.path(), step())[0].already);
}

TEST_F(BertFeatures, GoOnAfterAFewHundredTitles) {
  std::vector<TitledPaper> papers;
  for (int i = 0; i < 600; ++i) papers.push_back({std::string(1 + i % 9, 'a' + i % 26), 2010});
  const TestGraph whole = titled_graph(papers);
  make(whole.path(), step());
  const TestGraph stopped = titled_graph(papers);
  EXPECT_THROW(make(stopped.path(), step(), false, StopAt(2)), Interrupted);
  make(stopped.path(), step());
  EXPECT_EQ(stored_rows(stopped.path(), "paper"), stored_rows(whole.path(), "paper"));
}

}  // namespace
}  // namespace hgt
