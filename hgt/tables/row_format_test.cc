#include "hgt/tables/row_format.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "hgt/tables/import_test_folder.h"

namespace hgt {
namespace {

class RowFormatTest : public testing::Test {
 protected:
  // The cells of the first row.
  Texts first_row(const std::string& name, const std::string& text, const RowOptions& options = {},
                  const std::string& format = "") {
    const auto source = open_rows(folder_.write(name, text), options, format);
    Row row;
    if (!source->next(row)) return {};
    return {row.cells.begin(), row.cells.end()};
  }

  ImportTestFolder folder_;
};

TEST(RowFormats, TheEndingTellsTheFormatThroughCompressionSuffixes) {
  for (const char* name : {"a.csv", "a.csv.gz", "b/a.tsv.csv.zst", "A.CSV.GZ"}) {
    EXPECT_EQ(row_format_of(name).name, "csv") << name;
  }
  for (const char* name :
       {"a.tsv", "a.tsv.gz", "a.txt.zst", "csv", "a", "a.csv.bak", ".csv", "a.gz"}) {
    EXPECT_EQ(row_format_of(name).name, "tsv") << name;
  }
}

TEST(RowFormats, JsonLinesHaveTwoEndings) {
  for (const char* name : {"a.jsonl", "a.ndjson", "a.JSONL.zst", "a.ndjson.gz"}) {
    EXPECT_EQ(row_format_of(name).name, "jsonl") << name;
  }
}

TEST(RowFormats, NamesAndEndingsBelongToOneFormatEach) {
  std::set<std::string_view> names;
  std::set<std::string_view> endings;
  for (const RowFormat& format : row_formats()) {
    EXPECT_TRUE(names.insert(format.name).second) << format.name;
    EXPECT_EQ(&row_format(format.name), &format);
    for (const std::string_view ending : format.endings) {
      EXPECT_TRUE(endings.insert(ending).second) << ending;
      EXPECT_EQ(&row_format_of("a" + std::string(ending)), &format);
    }
  }
}

TEST(RowFormats, AnUnknownFormatIsAnErrorThatListsThem) {
  const std::string text = error_of([] { row_format("xml"); });
  expect_contains(text, "'xml'");
  expect_contains(text, "tsv, csv, jsonl");
}

TEST_F(RowFormatTest, TsvHasTabsAndNoQuotes) {
  EXPECT_EQ(first_row("t.tsv", "a\tb\n\"1\t2,3\n"), (Texts{"\"1", "2,3"}));
}

TEST_F(RowFormatTest, CsvHasCommasAndQuotes) {
  EXPECT_EQ(first_row("t.csv", "a,b\n\"1,2\",3\t\n"), (Texts{"1,2", "3\t"}));
}

TEST_F(RowFormatTest, OptionsChangeWhatTheFormatSays) {
  EXPECT_EQ(first_row("t.csv", "skipped\n'x;y';\"z\"\n",
                      {.columns = {"a", "b"},
                       .values = {{"delimiter", ";"}, {"quote", "'"}, {"skip_lines", "1"}}}),
            (Texts{"x;y", "\"z\""}));
  EXPECT_EQ(first_row("t.csv", "a\n\"1\"\n", {.values = {{"quote", ""}}}), Texts{"\"1\""});
}

TEST_F(RowFormatTest, TheNameOfAFormatGoesBeforeTheEnding) {
  EXPECT_EQ(first_row("t.tsv", "a,b\n1,2\n", {}, "csv"), (Texts{"1", "2"}));
}

TEST_F(RowFormatTest, OptionsThatTheFormatDoesNotTakeAreErrors) {
  const std::vector<std::pair<RowOptions, std::string>> cases = {
      {{.values = {{"sheet", "x"}}}, "'sheet' does not apply to the table format tsv"},
      {{.values = {{"delimiter", ""}}}, "'delimiter' must be one character"},
      {{.values = {{"skip_lines", "-1"}}}, "'skip_lines' must be a whole number"},
      {{.values = {{"skip_lines", "x"}}}, "'skip_lines' must be a whole number"},
      {{.columns = {"a", "b", "a"}}, "'columns' names 'a' twice"}};
  for (const auto& [options, what] : cases) {
    const std::string text =
        error_of([&, &options = options] { first_row("t.tsv", "a\n1\n", options); });
    expect_contains(text, (folder_ / "t.tsv").string());
    expect_contains(text, what);
  }
}

TEST_F(RowFormatTest, ARowKnowsItsPositionAndItsDefect) {
  const auto source = open_rows(folder_.write("t.tsv", "a\tb\n1\t\n1\n2\t3\n"), {});
  EXPECT_EQ(source->name(), (folder_ / "t.tsv").string());
  EXPECT_EQ(source->short_name(), "t.tsv");
  Row row;
  ASSERT_TRUE(source->next(row));
  EXPECT_TRUE(row.well_formed());
  EXPECT_EQ(to_string(row.position), source->name() + ":2");
  EXPECT_EQ(row.cell(1), "");
  EXPECT_FALSE(is_null(row.cell(1)));
  ASSERT_TRUE(source->next(row));
  EXPECT_FALSE(row.well_formed());
  expect_contains(row.defect, "1 cells");
  EXPECT_EQ(to_string(row.position), source->name() + ":3");
  ASSERT_TRUE(source->next(row));
  EXPECT_TRUE(row.well_formed());
  EXPECT_EQ(row.cell(source->column("b")), "3");
  EXPECT_FALSE(source->next(row));
  EXPECT_EQ(source->read_so_far().done, source->read_so_far().total);
}

TEST(RowPositions, ReadAsTheirSourceSays) {
  EXPECT_EQ(to_string(RowPosition{"papers.tsv:", 17}), "papers.tsv:17");
  EXPECT_EQ(to_string(RowPosition{"query 'papers', row ", 17}), "query 'papers', row 17");
}

TEST(NullCells, AreToldFromEmptyText) {
  EXPECT_TRUE(is_null(kNullCell));
  EXPECT_FALSE(is_null(""));
  EXPECT_EQ(quoted_cell(kNullCell), "null");
  EXPECT_EQ(quoted_cell(""), "''");
  EXPECT_EQ(quoted_cell("null"), "'null'");
}

}  // namespace
}  // namespace hgt
