#include "hgt/tables/feature_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "hgt/graph/text_features.h"
#include "hgt/tables/import_test_folder.h"
#include "hgt/tables/row_format.h"

namespace hgt {
namespace {

using Form = FeatureColumns::Form;
using Numbers = std::vector<float>;

class FeatureTextTest : public testing::Test {
 protected:
  // Parses the one row of a table; the texts are header and row.
  bool parse(const FeatureColumns& spec, const std::string& header, const std::string& row) {
    const auto table = open_rows(folder_.write("t.tsv", header + "\n" + row + "\n"), {});
    Row cells;
    if (!table->next(cells)) throw std::runtime_error("the table has no row");
    FeatureParser parser(spec, *table);
    const bool good = parser.parse(cells);
    values_.assign(parser.values().begin(), parser.values().end());
    defect_ = parser.defect();
    return good;
  }
  bool parse_cell(const FeatureColumns& spec, const std::string& cell) {
    return parse(spec, "id\tx", "7\t" + cell);
  }

  ImportTestFolder folder_;
  Numbers values_;
  std::string defect_;
};

TEST_F(FeatureTextTest, ColumnsAreReadInTheOrderOfTheManifest) {
  const FeatureColumns spec{.form = Form::columns, .columns = {"b", "a"}, .width = 2};
  EXPECT_TRUE(parse(spec, "a\tb\tc", "1.5\t-2e3\tx"));
  EXPECT_EQ(values_, (Numbers{-2000, 1.5F}));
}

TEST_F(FeatureTextTest, AColumnThatIsNoNumberIsNamed) {
  const FeatureColumns spec{.form = Form::columns, .columns = {"a", "b"}, .width = 2};
  for (const char* bad : {"", "x", "1.5x", "nan", "inf", "1e99", "1,5"}) {
    EXPECT_FALSE(parse(spec, "a\tb", "1\t" + std::string(bad))) << bad;
    expect_contains(defect_, "'" + std::string(bad) + "' in column b");
  }
}

TEST_F(FeatureTextTest, AColumnThatTheTableLacksIsAnError) {
  const FeatureColumns spec{.form = Form::list, .columns = {"z"}};
  const std::string text = error_of([&] { parse_cell(spec, "1"); });
  expect_contains(text, "t.tsv");
  expect_contains(text, "'z'");
  expect_contains(text, "id, x");
}

TEST_F(FeatureTextTest, AListIsSplitAtTheSeparator) {
  FeatureColumns spec{.form = Form::list, .columns = {"x"}};
  EXPECT_TRUE(parse_cell(spec, "1 2.5 -3"));
  EXPECT_EQ(values_, (Numbers{1, 2.5F, -3}));
  spec.separator = "||";
  EXPECT_TRUE(parse_cell(spec, "1||2.5"));
  EXPECT_EQ(values_, (Numbers{1, 2.5F}));
}

TEST_F(FeatureTextTest, RepeatedAndTrailingSeparatorsAddNothingToAList) {
  const FeatureColumns spec{.form = Form::list, .columns = {"x"}, .width = 2};
  EXPECT_TRUE(parse_cell(spec, " 1   2 "));
  EXPECT_EQ(values_, (Numbers{1, 2}));
}

TEST_F(FeatureTextTest, AListOfAnotherLengthIsADefect) {
  const FeatureColumns spec{.form = Form::list, .columns = {"x"}, .width = 3};
  EXPECT_FALSE(parse_cell(spec, "1 2"));
  EXPECT_EQ(defect_, "the row has 2 features instead of 3");
  EXPECT_FALSE(parse_cell(spec, "1 2 3 4"));
  EXPECT_FALSE(parse_cell(spec, ""));
}

TEST_F(FeatureTextTest, AListWithSomethingElseInItIsADefect) {
  const FeatureColumns spec{.form = Form::list, .columns = {"x"}};
  EXPECT_FALSE(parse_cell(spec, "1 two 3"));
  EXPECT_EQ(defect_, "feature 'two' is not a finite number");
  EXPECT_FALSE(parse_cell(spec, "1 inf 3"));
}

TEST_F(FeatureTextTest, SparseFeaturesNotNamedAreZero) {
  const FeatureColumns spec{.form = Form::sparse, .columns = {"x"}, .width = 4};
  EXPECT_TRUE(parse_cell(spec, "3:0.5 1:-2"));
  EXPECT_EQ(values_, (Numbers{0, -2, 0, 0.5F}));
  EXPECT_TRUE(parse_cell(spec, ""));
  EXPECT_EQ(values_, (Numbers{0, 0, 0, 0}));
}

TEST_F(FeatureTextTest, SparseFeaturesForgetTheRowBefore) {
  const FeatureColumns spec{.form = Form::sparse, .columns = {"x"}, .width = 2};
  const auto table = open_rows(folder_.write("t.tsv", "x\n0:1\n1:2\n"), {});
  Row row;
  FeatureParser parser(spec, *table);
  ASSERT_TRUE(table->next(row) && parser.parse(row));
  ASSERT_TRUE(table->next(row) && parser.parse(row));
  EXPECT_EQ(Numbers(parser.values().begin(), parser.values().end()), (Numbers{0, 2}));
}

TEST_F(FeatureTextTest, ASparseFeatureWithoutIndexOrBeyondTheWidthIsADefect) {
  const FeatureColumns spec{.form = Form::sparse, .columns = {"x"}, .width = 4};
  for (const char* bad : {"4:1", "-1:1", "2", "a:1", "2:", "2:x", "2:nan", ":1"}) {
    EXPECT_FALSE(parse_cell(spec, "0:1 " + std::string(bad))) << bad;
    EXPECT_EQ(defect_, "feature '" + std::string(bad) +
                           "' is not index:value with an index below the width 4");
  }
}

TEST_F(FeatureTextTest, HashedWordsAreThoseOfTheLibrary) {
  const FeatureColumns spec{.form = Form::hashed_words, .columns = {"x"}, .width = 16};
  EXPECT_TRUE(parse_cell(spec, "Graph attention networks"));
  Numbers expected(16);
  hashed_words("graph ATTENTION networks", expected);
  EXPECT_EQ(values_, expected);
  double squares = 0;
  for (const float value : values_) squares += value * value;
  EXPECT_NEAR(squares, 1.0, 1e-6);
}

TEST_F(FeatureTextTest, ATextWithoutWordsIsTheZeroRow) {
  const FeatureColumns spec{.form = Form::hashed_words, .columns = {"x"}, .width = 3};
  EXPECT_TRUE(parse_cell(spec, "..."));
  EXPECT_EQ(values_, (Numbers{0, 0, 0}));
}

TEST(FeatureOrigin, TellsFormAndColumns) {
  EXPECT_EQ(describe({.form = Form::hashed_words, .columns = {"title"}}), "hashed words of title");
  EXPECT_EQ(describe({.form = Form::npy, .columns = {"x.npy"}}), "rows of x.npy");
  EXPECT_EQ(describe({.form = Form::columns, .columns = {"a", "b"}}), "columns a, b");
  EXPECT_EQ(describe({.form = Form::columns, .columns = {"a", "b", "c", "d", "e", "f"}}),
            "6 columns");
  EXPECT_EQ(describe({.form = Form::list, .columns = {"v"}}), "column v");
}

}  // namespace
}  // namespace hgt
