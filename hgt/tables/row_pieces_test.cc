// Rows read in pieces on several threads are the rows that the source gives one by one.
#include "hgt/tables/row_pieces.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "hgt/random.h"
#include "hgt/tables/compressed_test_text.h"
#include "hgt/tables/import_test_folder.h"
#include "hgt/tables/row_format.h"
#include "hgt/tables/text_window.h"

namespace hgt {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 20U;

std::string shown(const Row& row) {
  std::string text = to_string(row.position);
  if (!row.well_formed()) return text + " malformed: " + row.defect;
  for (const std::string_view cell : row.cells) text += "|" + quoted_cell(cell);
  return text;
}

struct Outcome {
  Texts rows;
  std::string error;
  bool operator==(const Outcome&) const = default;
};

class RowPiecesTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    file_ = folder_.write(name, text);
  }
  void append(const std::string& text) const {
    std::ofstream(file_, std::ios::binary | std::ios::app) << text;
  }

  Outcome one_by_one(const RowOptions& options = {}) const {
    Outcome outcome;
    try {
      const auto source = open_rows(file_, options);
      for (Row row; source->next(row);) outcome.rows.push_back(shown(row));
    } catch (const Error& error) {
      outcome.error = error.what();
    }
    return outcome;
  }
  Outcome in_pieces(unsigned threads, const RowOptions& options = {}) {
    Outcome outcome;
    pieces_ = 0;
    try {
      const auto source = open_rows(file_, options);
      read_in_pieces<StoredRows>(
          *source, threads,
          [](unsigned /*worker*/, const Row& row, StoredRows& rows) { rows.add(row); },
          [&](const StoredRows& rows, uint64_t line, const ReadSoFar& /*read*/) {
            ++pieces_;
            rows.for_each(line, [&](const Row& row) { outcome.rows.push_back(shown(row)); });
          });
    } catch (const Error& error) {
      outcome.error = error.what();
    }
    return outcome;
  }
  void expect_same(const RowOptions& options = {}) {
    const Outcome expected = one_by_one(options);
    for (const unsigned threads : {1, 2, 5}) {
      const Outcome found = in_pieces(threads, options);
      EXPECT_EQ(found.error, expected.error);
      ASSERT_EQ(found.rows.size(), expected.rows.size());
      for (size_t i = 0; i < found.rows.size(); ++i) ASSERT_EQ(found.rows[i], expected.rows[i]);
    }
  }

  ImportTestFolder folder_;
  Path file_;
  uint64_t pieces_ = 0;
};

// A row of three cells, some of them quoted and with whatever makes reading hard.
std::string random_row(Draws& draws) {
  constexpr std::array<std::string_view, 8> kHard = {"\n",   "\"\"", ",", "\r\n",
                                                     "a\nb", "\n\n", "",  "x"};
  std::string row;
  for (int cell = 0; cell < 3; ++cell) {
    if (cell > 0) row += ',';
    if (!draws.chance(0.3)) {
      row += std::to_string(draws.below(1'000'000));
      continue;
    }
    row += '"';
    for (uint64_t i = draws.below(20); i > 0; --i) row += kHard.at(draws.below(kHard.size()));
    row += '"';
  }
  if (draws.chance(0.01)) row += ",more";
  if (draws.chance(0.01)) row += "\"y\"z";
  return row + (draws.chance(0.1) ? "\r\n" : "\n");
}

std::string random_csv(uint64_t seed, size_t bytes) {
  Draws draws(seed);
  std::string text = "a,b,c\n";
  while (text.size() < bytes) text += random_row(draws);
  return text;
}

TEST_F(RowPiecesTest, GiveTheRowsOfATableWithLineEndsInQuotes) {
  for (const uint64_t seed : {1, 2, 3}) {
    write("t.csv", random_csv(seed, 3 * kPieceBytes));
    expect_same();
    EXPECT_GE(pieces_, 3U);
  }
}

TEST_F(RowPiecesTest, GiveARowThatIsLongerThanSeveralPieces) {
  std::string cell;
  while (cell.size() < 4 * kPieceBytes) cell += "a line, and \"\"another\"\"\n";
  write("t.csv", "a,b\n1,2\n\"" + cell + "\",3\n4,5\n");
  expect_same();
}

TEST_F(RowPiecesTest, GiveALineThatIsLongerThanSeveralPieces) {
  write("t.csv", "a,b\n1,2\n" + std::string(5 * kPieceBytes, 'x') + ",3\n4,5\n");
  expect_same();
}

TEST_F(RowPiecesTest, GiveTheRowsOfShortTables) {
  for (const char* text : {"a,b\n", "a,b", "a,b\n1,2", "a,b\n1,2\n", "a,b\n\n\n1\n"}) {
    write("t.csv", text);
    expect_same();
  }
}

TEST_F(RowPiecesTest, CountLinesThatAreSkipped) {
  write("t.csv", "one\ntwo\na,b\n" + random_csv(4, 2 * kPieceBytes));
  expect_same({.values = {{"skip_lines", "2"}}});
  expect_same({.columns = {"x", "y", "z"}});
}

TEST_F(RowPiecesTest, GiveTheRowsBeforeAnErrorAndItsLine) {
  write("t.csv", random_csv(5, 3 * kPieceBytes) + "1,\"never closed,3\n4,5,6\n");
  expect_same();
  EXPECT_TRUE(contains(one_by_one().error, "never closed")) << one_by_one().error;
}

TEST_F(RowPiecesTest, GiveTheErrorOfARowBeyondAllBounds) {
  write("t.csv", "a,b\n1,2\n\"");
  for (size_t bytes = 0; bytes <= kMaxRowBytes; bytes += kPieceBytes) {
    append(std::string(kPieceBytes - 1, 'x') + "\n");
  }
  append("\",3\n");
  const Outcome expected = one_by_one();
  EXPECT_TRUE(contains(expected.error, "longer than")) << expected.error;
  EXPECT_EQ(in_pieces(3), expected);
}

TEST_F(RowPiecesTest, GiveTheErrorOfDamagedData) {
  const std::string stored = gzip(random_csv(6, 4 * kPieceBytes));
  write("t.csv", stored.substr(0, stored.size() / 2));
  const Outcome expected = one_by_one();
  EXPECT_TRUE(contains(expected.error, "truncated")) << expected.error;
  EXPECT_EQ(in_pieces(3).error, expected.error);
}

TEST_F(RowPiecesTest, GiveTheRowsOfJsonLines) {
  Draws draws(7);
  std::string text = "\n\n";
  while (text.size() < 3 * kPieceBytes) {
    text += "{\"id\": " + std::to_string(draws.bits()) + ", \"name\": ";
    text += draws.chance(0.1) ? "null" : "\"a \\\"b\\\" \\n\"";
    text += draws.chance(0.01) ? "\n" : "}\n";
    if (draws.chance(0.01)) text += " \r\n";
  }
  write("t.jsonl", text);
  expect_same();
  append("{\"id\": {\"deep\": 1}}\n");
  expect_same();
  EXPECT_TRUE(contains(one_by_one().error, "an object or an array"));
}

// --- the whole import ---

class ThreadsImportTest : public RowPiecesTest {
 protected:
  // Rows with every kind of defect, in tables of several pieces.
  void write_tables() {
    Draws draws(8);
    std::string papers = "id,title,year\n";
    for (int i = 0; i < 40'000; ++i) {
      const bool repeated = draws.chance(0.001);
      papers += "p" + std::to_string(repeated ? 1 : i) + ",\"title\nof " + std::to_string(i) +
                "\"," + (draws.chance(0.001) ? "soon" : std::to_string(1990 + i % 30)) + "\n";
    }
    folder_.write("paper.csv", papers);
    std::string cites = "s,t,w,kind\n";
    for (int i = 0; i < 150'000; ++i) {
      const auto end = [&] { return "p" + std::to_string(draws.below(40'100)); };
      cites += end() + "," + end() + "," + (draws.chance(0.001) ? "much" : "0.5") + "," +
               (draws.chance(0.4)     ? "near"
                : draws.chance(0.999) ? "far"
                                      : "odd") +
               "\n";
      if (draws.chance(0.001)) cites += "p1\n";
    }
    folder_.write("cites.csv", cites);
  }
  static std::string manifest() {
    return nodes("paper", "files = 'paper.csv'\nname = 'title'\ntime = 'year'\n") +
           edges("paper", "cites", "paper",
                 "files = 'cites.csv'\nweight = 'w'\nby_column = { column = 'kind', values = "
                 "{ near = 'near', far = 'far' } }\n");
  }
};

TEST_F(ThreadsImportTest, GraphAndReportAreThoseOfOneThread) {
  write_tables();
  const Imported one = folder_.import(manifest(), "one", {.build = {.threads = 1}});
  EXPECT_GT(one.report.dropped(), 0U);
  for (const unsigned threads : {2, 5}) {
    const Imported several =
        folder_.import(manifest(), "several", {.build = {.replace = true, .threads = threads}});
    Texts differing = differing_files(folder_ / "one", folder_ / "several");
    std::erase(differing, "verified.json");  // of when the graph was read
    EXPECT_EQ(differing, Texts{});
    ASSERT_EQ(several.report.tables.size(), one.report.tables.size());
    for (size_t i = 0; i < one.report.tables.size(); ++i) {
      const TableReport& expected = one.report.tables[i];
      const TableReport& found = several.report.tables[i];
      EXPECT_EQ(found.rows, expected.rows);
      EXPECT_EQ(found.kept, expected.kept);
      EXPECT_EQ(found.defects, expected.defects);
      EXPECT_EQ(found.examples, expected.examples);
      EXPECT_EQ(describe_losses(found), describe_losses(expected));
    }
  }
}

TEST_F(ThreadsImportTest, TheFirstDefectIsThatOfOneThread) {
  write_tables();
  const auto error = [&](unsigned threads) {
    return folder_.import_error(manifest(), {.strict = true, .build = {.threads = threads}});
  };
  const std::string expected = error(1);
  EXPECT_TRUE(contains(expected, "paper.csv:")) << expected;
  EXPECT_EQ(error(4), expected);
}

TEST_F(ThreadsImportTest, TellsHowMuchOfTheWholeIsDone) {
  write_tables();
  double last = 0;
  const auto note = [&](const Progress& progress) {
    ASSERT_TRUE(progress.whole);
    EXPECT_GE(*progress.whole, last - 1e-9) << progress.stage;
    last = *progress.whole;
  };
  folder_.import(manifest(), "told", {.build = {.progress = note}});
  EXPECT_NEAR(last, 1, 1e-9);
}

}  // namespace
}  // namespace hgt
