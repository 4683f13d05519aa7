#include "hgt/run/model_kinds.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "hgt/error.h"
#include "hgt/run/model_options.h"

namespace hgt {
namespace {

using Names = std::vector<std::string>;

TEST(ModelRows, HaveDifferentNamesThatLeadBackToThem) {
  std::set<std::string_view> names;
  for (const ModelRow& row : kModels) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(from_word<ModelKind>(row.name), row.kind);
    EXPECT_EQ(to_string(row.kind), row.name);
    EXPECT_EQ(&row_of(row.kind), &row);
  }
  EXPECT_EQ(all_words<ModelKind>().size(), kModels.size());
}

TEST(ModelRows, SayWhatTheModelIsInOneLine) {
  for (const ModelRow& row : kModels) {
    EXPECT_FALSE(row.description.empty()) << row.name;
    EXPECT_EQ(row.description.find('\n'), std::string_view::npos) << row.name;
    EXPECT_EQ(row.paper.empty(), !row.reads_neighbors) << row.name << ": only floors need no paper";
    EXPECT_NE(
        model_descriptions().find(std::string(row.name) + ": " + std::string(row.description)),
        std::string::npos);
  }
}

TEST(ModelRows, ClaimNothingThatContradictsItself) {
  for (const ModelRow& row : kModels) {
    const bool needs_neighbors = row.pays_attention || row.follows_meta_paths || row.has_variants;
    EXPECT_TRUE(row.reads_neighbors || !needs_neighbors) << row.name;
    EXPECT_FALSE(row.pays_attention && row.follows_meta_paths) << row.name;
    EXPECT_GE(row.hidden_multiple, 1) << row.name;
    EXPECT_EQ(row.hidden_multiple == 1, row.hidden_rule.empty()) << row.name;
  }
}

TEST(ModelRows, AreWhatCheckAsks) {
  for (const ModelRow& row : kModels) {
    const ModelOptions good{.kind = row.kind, .hidden = 6, .heads = 1};
    EXPECT_NO_THROW(check(good)) << row.name;
    const auto refuses = [](const ModelOptions& options) {
      try {
        check(options);
      } catch (const Error&) {
        return true;
      }
      return false;
    };
    ModelOptions odd = good;
    odd.hidden = 7;
    EXPECT_EQ(refuses(odd), 7 % row.hidden_multiple != 0) << row.name;
    ModelOptions variant = good;
    variant.rte = false;
    EXPECT_EQ(refuses(variant), !row.has_variants) << row.name;
    ModelOptions guided = good;
    guided.meta_paths = {"paper-author-paper"};
    EXPECT_EQ(refuses(guided), !row.follows_meta_paths) << row.name;
  }
}

TEST(ModelRows, AreFoundByWhatTheyCanDo) {
  EXPECT_EQ(model_names(&ModelRow::follows_meta_paths), (Names{"han"}));
  EXPECT_EQ(model_names(&ModelRow::has_variants), (Names{"hgt"}));
  EXPECT_EQ(model_names(&ModelRow::reads_features).size(), kModels.size() - 1);
  EXPECT_EQ(model_names(&ModelRow::reads_neighbors).size(), kModels.size() - 2);
}

TEST(Contestants, AreTheFloorsThenTheBaselinesThenTheVariantsOfHgt) {
  Names names;
  for (const Contestant& contestant : contestants()) names.push_back(contestant.name);
  Names wanted = {"majority", "mlp"};
  for (const ModelRow& row : kModels) {
    if (row.reads_neighbors && !row.has_variants) wanted.emplace_back(row.name);
  }
  for (const char* name : {"hgt-no-heter-no-rte", "hgt-no-heter", "hgt-no-rte", "hgt"}) {
    wanted.emplace_back(name);
  }
  EXPECT_EQ(names, wanted);
}

TEST(Contestants, CoverEveryRowWithOptionsThatItAccepts) {
  std::set<ModelKind> met;
  for (const Contestant& contestant : contestants()) {
    ModelOptions options{.kind = contestant.kind};
    options.heter = contestant.heter;
    options.rte = contestant.rte;
    EXPECT_NO_THROW(check(options)) << contestant.name;
    EXPECT_TRUE(contestant.name.starts_with(to_string(contestant.kind))) << contestant.name;
    met.insert(contestant.kind);
  }
  EXPECT_EQ(met.size(), kModels.size());
}

}  // namespace
}  // namespace hgt
