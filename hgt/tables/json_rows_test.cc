#include "hgt/tables/json_rows.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hgt/tables/compressed_test_text.h"
#include "hgt/tables/import_test_folder.h"

namespace hgt {
namespace {

class JsonRowsTest : public testing::Test {
 protected:
  // Every row as its line number and its cells, or its defect.
  Texts rows(const std::string& text, const Texts& columns = {},
             const std::string& name = "t.jsonl") {
    const auto source = open_rows(folder_.write(name, text), {.columns = columns});
    columns_.assign(source->columns().begin(), source->columns().end());
    Texts found;
    Row row;
    while (source->next(row)) {
      const std::string place = to_string(row.position);
      EXPECT_TRUE(place.starts_with(source->name() + ":")) << place;
      std::string& shown = found.emplace_back(place.substr(source->name().size() + 1) + ":");
      if (!row.well_formed()) shown += " " + row.defect;
      if (!row.well_formed()) continue;
      for (const std::string_view cell : row.cells) shown += " " + quoted_cell(cell);
    }
    EXPECT_FALSE(source->next(row)) << "the end is the end";
    EXPECT_EQ(source->read_so_far().done, source->read_so_far().total);
    return found;
  }
  std::string error(const std::string& text, const Texts& columns = {}) {
    return error_of([&] { rows(text, columns); });
  }

  ImportTestFolder folder_;
  Texts columns_;
};

// --- cells ---

TEST_F(JsonRowsTest, EveryLineIsARowWithTheColumnsOfTheFirst) {
  EXPECT_EQ(rows("{\"id\": \"p1\", \"year\": 2018}\n{\"year\": 2019, \"id\": \"p2\"}\n"),
            (Texts{"1: 'p1' '2018'", "2: 'p2' '2019'"}));
  EXPECT_EQ(columns_, (Texts{"id", "year"}));
}

TEST_F(JsonRowsTest, NumbersAndTruthValuesAreTextAsTheyAreWritten) {
  EXPECT_EQ(rows("{\"a\": -7, \"b\": 1.50, \"c\": 2e3, \"d\": 18446744073709551615, \"e\": "
                 "123456789012345678901234567890, \"f\": true, \"g\": false}"),
            Texts{"1: '-7' '1.50' '2e3' '18446744073709551615' '123456789012345678901234567890' "
                  "'true' 'false'"});
}

TEST_F(JsonRowsTest, NullAndMissingKeysAreNullCellsAndNoEmptyText) {
  EXPECT_EQ(rows("{\"a\": \"\", \"b\": null}\n{\"b\": \"x\"}\n{}\n"),
            (Texts{"1: '' null", "2: null 'x'", "3: null null"}));
}

TEST_F(JsonRowsTest, EscapesBecomeUtf8) {
  EXPECT_EQ(rows(R"({"a": "\u00e9\ud83d\ude00\n\t\"\\\/", "b": "é"})"),
            Texts{"1: '\xc3\xa9\xf0\x9f\x98\x80\n\t\"\\/' 'é'"});
  EXPECT_EQ(rows(R"({"\u0061": 1})"), Texts{"1: '1'"});
  EXPECT_EQ(columns_, Texts{"a"});
}

TEST_F(JsonRowsTest, KeysThatAreNoColumnsArePassedOverWhateverTheyHold) {
  EXPECT_EQ(rows("{\"a\": 1}\n{\"z\": [1, {\"a\": 5}], \"a\": 2, \"y\": {\"a\": [7]}, \"x\": 3}\n"
                 "{\"z\": 1, \"z\": 2, \"a\": 3}\n"),
            (Texts{"1: '1'", "2: '2'", "3: '3'"}));
}

TEST_F(JsonRowsTest, TheManifestCanNameTheColumns) {
  EXPECT_EQ(rows("{\"a\": 1, \"deep\": [2]}\n{\"b\": 3}\n", {"b", "a"}),
            (Texts{"1: null '1'", "2: '3' null"}));
  EXPECT_EQ(columns_, (Texts{"b", "a"}));
}

// --- lines ---

TEST_F(JsonRowsTest, BlankLinesAreSkippedButCounted) {
  EXPECT_EQ(rows("\xef\xbb\xbf\n{\"a\": 1}\r\n\r\n  \t\n{\"a\": 2}"), (Texts{"2: '1'", "5: '2'"}));
}

TEST_F(JsonRowsTest, CompressedFilesAreReadLikePlainOnes) {
  const std::string text = "{\"a\": 1}\n{\"a\": 2}\n";
  const Texts expected = {"1: '1'", "2: '2'"};
  EXPECT_EQ(rows(text, {}, "t.ndjson"), expected);
  EXPECT_EQ(rows(gzip(text), {}, "t.jsonl.gz"), expected);
  EXPECT_EQ(rows(zstd(text), {}, "t.ndjson.zst"), expected);
}

TEST_F(JsonRowsTest, ManyRowsAndRowsLongerThanTheBufferAreReadOneByOne) {
  std::string text;
  Texts expected;
  for (size_t i = 0; i < 3000; ++i) {
    const std::string cell(i == 1000 ? size_t{3} << 20U : 1 + i * 7919 % 2000, 'a' + i % 26);
    text += "{\"a\": \"" + cell + "\"}\n";
    expected.push_back(std::to_string(i + 1) + ": '" + cell + "'");
  }
  EXPECT_TRUE(rows(text) == expected);
}

TEST_F(JsonRowsTest, ARowLongerThanTheLimitIsAnError) {
  const std::string text = "{\"a\": 1}\n{\"a\": \"" + std::string((size_t{64} << 20U) + 1, 'x');
  expect_contains(error(text), "t.jsonl:2: the row is longer than 64 MiB");
}

TEST_F(JsonRowsTest, AnEmptyFileHasNoColumnsUnlessTheManifestNamesThem) {
  for (const char* text : {"", "\n \n"}) {
    expect_contains(error(text), "t.jsonl: is empty");
    EXPECT_EQ(rows(text, {"a"}), Texts{});
  }
}

// --- what is wrong with a line ---

TEST_F(JsonRowsTest, AMalformedLineIsAMalformedRowAndReadingGoesOn) {
  for (const char* bad : {"{\"a\": 1", "{\"a\" 1}", "{\"a\": 1,}", "{'a': 1}", "{\"a\": 01}",
                          "{\"a\": nan}", "{\"a\": 1} x", "{\"a\": 1} {\"a\": 2}", "x",
                          "{\"a\": \"\xff\"}", "{\"a\": \"\\ud83d\"}", "{\"a\": 1e999}", "}"}) {
    const Texts found = rows("{\"a\": 1}\n" + std::string(bad) + "\n{\"a\": 3}\n");
    ASSERT_EQ(found.size(), 3U) << bad;
    EXPECT_TRUE(found[1].starts_with("2: the line is not valid JSON from byte ")) << found[1];
    EXPECT_EQ(found[2], "3: '3'");
  }
}

TEST_F(JsonRowsTest, ALineThatIsNoObjectIsAMalformedRow) {
  for (const char* bad : {"[1]", "[]", "5", "\"a\"", "null", "true", "1.5"}) {
    const Texts found = rows("{\"a\": 1}\n" + std::string(bad) + "\n{}\n");
    ASSERT_EQ(found.size(), 3U) << bad;
    expect_contains(found[1], "2: the line is not a JSON object");
    EXPECT_EQ(found[2], "3: null");
  }
}

TEST_F(JsonRowsTest, AColumnThatComesTwiceMakesTheRowMalformed) {
  const Texts expected = {"1: '1'", "2: the key 'a' occurs twice; keep one of them", "3: '3'"};
  EXPECT_EQ(rows("{\"a\": 1}\n{\"a\": 1, \"a\": 2}\n{\"a\": 3}\n"), expected);
  EXPECT_EQ(rows("{\"a\": 1}\n{\"a\": null, \"a\": 2}\n{\"a\": 3}\n"), expected);
  EXPECT_EQ(rows("{\"a\": 1, \"a\": 2}\n"), Texts{"1: the key 'a' occurs twice; keep one of them"});
}

TEST_F(JsonRowsTest, ANestedValueIsAnErrorWithItsLineAndKey) {
  for (const char* nested : {"[1]", "{\"c\": 1}", "[]", "{}"}) {
    const std::string line = "{\"a\": 2, \"b\": " + std::string(nested) + "}\n";
    expect_contains(error(line), "t.jsonl:1: 'b' holds an object or an array");
    expect_contains(error("{\"a\": 1, \"b\": 1}\n" + line), "t.jsonl:2: 'b' holds");
    EXPECT_EQ(rows(line, {"a"}), Texts{"1: '2'"});
  }
}

TEST_F(JsonRowsTest, DeepNestingIsNoDanger) {
  const std::string deep(1000000, '[');
  EXPECT_EQ(rows("{\"a\": 1}\n{\"z\": " + deep + std::string(deep.size(), ']') + ", \"a\": 2}\n"),
            (Texts{"1: '1'", "2: '2'"}));
  expect_contains(rows("{\"a\": 1}\n{\"z\": " + deep + "\n").at(1), "not valid JSON");
}

TEST_F(JsonRowsTest, AFirstLineThatIsNoObjectCannotTellTheColumns) {
  for (const char* bad : {"[1]", "x", "{\"a\": "}) {
    const std::string text = "\n" + std::string(bad) + "\n{\"a\": 1}\n";
    expect_contains(error(text), "t.jsonl:2: the first line is not a JSON object");
    EXPECT_EQ(rows(text, {"a"}).at(1), "3: '1'");
  }
}

TEST_F(JsonRowsTest, AColumnThatTheFirstObjectLacksIsAnErrorThatListsTheOthers) {
  const auto source = open_rows(folder_.write("t.jsonl", "{\"id\": 1, \"year\": 2}\n"), {});
  const std::string text = error_of([&] { source->column("yaer"); });
  expect_contains(text, "t.jsonl: has no column 'yaer'; its columns are: id, year");
}

// --- imports ---

using JsonImportTest = TableImportTest;

const std::string kJsonManifest =
    "[[nodes]]\ntype = 'paper'\nfiles = 'papers.@'\nid = 'id'\nname = 'title'\ntime = 'year'\n"
    "missing_time = 'keep'\nlabels = { area = 'area' }\nfeatures = { columns = ['x', 'y'] }\n"
    "where = { kind = ['a', 'b'] }\n"
    "[[nodes]]\ntype = 'author'\nfiles = 'writes.@'\nid = 's'\nduplicates = 'ignore'\n"
    "[[edges]]\ntype = 'writes'\nfiles = 'writes.@'\nsource = { type = 'author', column = 's' }\n"
    "target = { type = 'paper', column = 't' }\nweight = 'w'\nby_order = { column = 'position' }\n";

std::string with_ending(std::string text, const std::string& ending) {
  for (size_t at = 0; (at = text.find('@')) != std::string::npos;) text.replace(at, 1, ending);
  return text;
}

TEST_F(JsonImportTest, TheSameTableGivesTheSameGraphAsTsvAndAsJsonLines) {
  folder_.write("papers.tsv",
                "id\ttitle\tyear\tarea\tx\ty\tkind\np1\tOne é\t2018\tml\t1\t2.5\ta\n"
                "p2\t\t\t\t0\t-1\tb\np3\tThree\t2020\tdb\t1\t1\tc\n");
  folder_.write("papers.jsonl",
                "{\"id\": \"p1\", \"title\": \"One \\u00e9\", \"year\": 2018, \"area\": \"ml\", "
                "\"x\": 1, \"y\": 2.5, \"kind\": \"a\"}\n"
                "{\"id\": \"p2\", \"year\": null, \"x\": 0, \"y\": -1, \"kind\": \"b\"}\n"
                "{\"id\": \"p3\", \"title\": \"Three\", \"year\": 2020, \"area\": \"db\", "
                "\"x\": 1, \"y\": 1, \"kind\": \"c\"}\n");
  folder_.write("writes.tsv", "s\tt\tposition\tw\n7\tp1\t1\t0.5\n8\tp1\t2\t2\n7\tp2\t1\t1\n");
  folder_.write("writes.jsonl",
                "{\"s\": 7, \"t\": \"p1\", \"position\": 1, \"w\": 0.5}\n"
                "{\"s\": 8, \"t\": \"p1\", \"position\": 2, \"w\": 2}\n"
                "{\"s\": 7, \"t\": \"p2\", \"position\": 1, \"w\": 1}\n");
  const auto tsv = folder_.import(with_ending(kJsonManifest, "tsv"), "a").report;
  const auto json = folder_.import(with_ending(kJsonManifest, "jsonl"), "b").report;
  EXPECT_EQ(differing_files(folder_ / "a", folder_ / "b"), Texts{});
  EXPECT_EQ(nodes_of(folder_.graph("b"), "paper"), (Texts{"p1|One é@2018", "p2|"}));
  ASSERT_EQ(json.tables.size(), tsv.tables.size());
  EXPECT_EQ(json.tables[0].filtered, 1U);
  EXPECT_EQ(json.dropped() + tsv.dropped(), 0U);
}

TEST_F(JsonImportTest, NullCellsAreNamedInTheReport) {
  folder_.write("x.jsonl",
                "{\"id\": \"1\", \"y\": 2000}\n{\"id\": null, \"y\": 2000}\n{\"id\": \"2\"}\n"
                "{\"id\": \"\", \"y\": 2000}\n{\"id\": \"3\" \"y\": 2000}\n");
  folder_.write("e.jsonl",
                "{\"s\": \"1\", \"t\": \"1\", \"w\": 1}\n{\"s\": null, \"t\": \"1\", \"w\": 1}\n"
                "{\"s\": \"1\", \"t\": \"1\", \"w\": null}\n");
  import(nodes("x", "files = 'x.jsonl'\ntime = 'y'") +
         edges("x", "e", "x", "files = 'e.jsonl'\nweight = 'w'"));
  const std::string x = (folder_ / "x.jsonl").string();
  const std::string e = (folder_ / "e.jsonl").string();
  ASSERT_EQ(report_.tables[0].examples.size(), 4U);
  EXPECT_EQ(report_.tables[0].examples[0], x + ":2: column id is null");
  expect_contains(report_.tables[0].examples[1], x + ":3: column y is null");
  EXPECT_EQ(report_.tables[0].examples[2], x + ":4: column id is empty");
  expect_contains(report_.tables[0].examples[3], x + ":5: the line is not valid JSON");
  EXPECT_EQ(report_.tables[0].defects[static_cast<size_t>(Defect::bad_row)], 1U);
  EXPECT_EQ(report_.tables[1].examples,
            (Texts{e + ":2: there is no node of type x with the id null",
                   e + ":3: w null is not a finite number"}));
}

TEST_F(JsonImportTest, TheFormatCanBeNamedWhereTheEndingDoesNotTell) {
  folder_.write("x.dump", "{\"id\": \"u\"}\n");
  EXPECT_EQ(nodes_of(import(nodes("x", "files = 'x.dump'\nformat = 'jsonl'")), "x"), Texts{"u"});
}

TEST_F(JsonImportTest, OptionsOfOtherFormatsAreErrorsWithTheLineOfTheEntry) {
  folder_.write("x.jsonl", "{\"id\": \"u\"}\n");
  for (const char* option : {"delimiter = ','", "quote = ''", "skip_lines = 0"}) {
    const std::string text =
        folder_.import_error(nodes("x", "files = 'x.json*'\n" + std::string(option)));
    expect_contains(text, "manifest.toml:1: ");
    expect_contains(text, "table format jsonl; leave it out");
  }
}

TEST_F(JsonImportTest, AFileWithoutRowsIsAnErrorUnlessTheManifestSaysOtherwise) {
  folder_.write("x.jsonl", "");
  expect_contains(folder_.import_error(nodes("x", "files = 'x.jsonl'")), "x.jsonl: is empty");
  const std::string named = nodes("x", "files = 'x.jsonl'\ncolumns = ['id']");
  expect_contains(folder_.import_error(named), "the table has no rows");
  EXPECT_EQ(nodes_of(import(named + "may_be_empty = true\n"), "x"), Texts{});
}

}  // namespace
}  // namespace hgt
