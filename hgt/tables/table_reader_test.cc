#include "hgt/tables/table_reader.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hgt/disk/temporary_test_folder.h"
#include "hgt/error.h"
#include "hgt/tables/compressed_test_text.h"

namespace hgt {
namespace {

using Cells = std::vector<std::string>;
using Compress = std::function<std::string(const std::string&)>;

const TableFormat kTsv = {};
const TableFormat kCsv = {.delimiter = ',', .quote = '"'};

constexpr size_t kWindowBytes = size_t{1} << 20U;  // where the reader refills first

struct Row {
  uint64_t line = 0;
  bool well_formed = true;
  Cells cells = {};  // of a well-formed row only

  bool operator==(const Row&) const = default;
};

void PrintTo(const Row& row, std::ostream* out) {
  *out << "line " << row.line << (row.well_formed ? "" : " (defect)");
  for (const std::string& cell : row.cells) *out << " [" << cell << "]";
}

class TableReaderTest : public testing::Test {
 protected:
  Path store(const std::string& bytes, const std::string& name = "table") const {
    const Path file = folder_ / name;
    std::ofstream out(file, std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!out.flush()) throw std::runtime_error("cannot write " + file.string());
    return file;
  }

  TableReader open(const std::string& bytes, const TableFormat& format = kTsv) const {
    return TableReader(store(bytes), format);
  }

  std::vector<Row> rows(const std::string& bytes, const TableFormat& format = kTsv) const {
    TableReader table = open(bytes, format);
    return rest_of(table);
  }

  static std::vector<Row> rest_of(TableReader& table) {
    std::vector<Row> found;
    while (table.next()) {
      Row& row = found.emplace_back();
      row.line = table.line();
      row.well_formed = table.well_formed();
      if (row.well_formed) row.cells.assign(table.cells().begin(), table.cells().end());
    }
    return found;
  }

  // The text of the Error that reading all rows ends with, without the folder's name.
  std::string error(const std::string& bytes, const TableFormat& format = kTsv) const {
    return error_of([&] { rows(bytes, format); });
  }
  std::string error_of(const std::function<void()>& action) const {
    try {
      action();
    } catch (const Error& error) {
      const std::string text = error.what();
      const std::string prefix = folder_.path().string() + "/";
      return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
    }
    return "no Error";
  }

  TestFolder folder_;
};

// --- rows and cells ---

TEST_F(TableReaderTest, ReadsTabSeparatedCells) {
  TableReader table = open("id\tname\n1\tann\n2\tbob\n");
  EXPECT_EQ(Cells(table.columns().begin(), table.columns().end()), (Cells{"id", "name"}));
  ASSERT_TRUE(table.next());
  EXPECT_EQ(table.cell(table.column("name")), "ann");
  EXPECT_EQ(table.cell(table.column("id")), "1");
  EXPECT_EQ(table.line(), 2U);
  ASSERT_TRUE(table.next());
  EXPECT_EQ(table.cell(1), "bob");
  EXPECT_FALSE(table.next());
  EXPECT_FALSE(table.next());
}

TEST_F(TableReaderTest, ReadsEmptyCells) {
  EXPECT_EQ(rows("a\tb\tc\n\t\t\nx\t\t\n"),
            (std::vector<Row>{{2, true, {"", "", ""}}, {3, true, {"x", "", ""}}}));
}

TEST_F(TableReaderTest, TreatsQuotesAsDataWithoutAQuoteCharacter) {
  EXPECT_EQ(rows("a\tb\n\"x\t\"\"\n"), (std::vector<Row>{{2, true, {"\"x", "\"\""}}}));
}

TEST_F(TableReaderTest, KeepsNulBytesAndLoneCarriageReturns) {
  const std::string nul(1, '\0');
  EXPECT_EQ(rows("a\tb\nx" + nul + "y\tp\rq\n\r\r\n"),
            (std::vector<Row>{{2, true, {"x" + nul + "y", "p\rq"}}, {3, false}}));
  EXPECT_EQ(rows("a\nx\r\r\n"), (std::vector<Row>{{2, true, {"x\r"}}}));
}

TEST_F(TableReaderTest, StripsTheCarriageReturnOfALineEnd) {
  const std::vector<Row> expected = {{2, true, {"1", "2"}}, {3, true, {"3", ""}}};
  EXPECT_EQ(rows("a\tb\r\n1\t2\r\n3\t\r\n"), expected);
  EXPECT_EQ(rows("a\tb\r\n1\t2\r\n3\t\r"), expected);
  EXPECT_EQ(rows("a,b\r\n\"1\",\"2\"\r\n\"3\",\r\n", kCsv), expected);
  EXPECT_EQ(rows("a,b\r\n\"1\",\"2\"\r\n\"3\",\"\"\r", kCsv), expected);
}

TEST_F(TableReaderTest, ReadsALastLineWithoutLineEnd) {
  EXPECT_EQ(rows("a\tb\n1\t2"), (std::vector<Row>{{2, true, {"1", "2"}}}));
  EXPECT_EQ(rows("a\tb\n1\t"), (std::vector<Row>{{2, true, {"1", ""}}}));
  EXPECT_EQ(rows("a,b\n1,\"2\"", kCsv), (std::vector<Row>{{2, true, {"1", "2"}}}));
  EXPECT_EQ(rows("a\tb"), (std::vector<Row>{}));
}

TEST_F(TableReaderTest, SkipsEmptyLinesButCountsThem) {
  EXPECT_EQ(rows("\n\r\na\tb\n\n\r\n1\t2\n\n3\t4\n\r\n\n\r"),
            (std::vector<Row>{{6, true, {"1", "2"}}, {8, true, {"3", "4"}}}));
}

TEST_F(TableReaderTest, SkipsAByteOrderMarkAtTheStartOnly) {
  TableReader table = open("\xef\xbb\xbfid\tb\n\xef\xbb\xbf\tx\n");
  EXPECT_EQ(table.column("id"), 0U);
  ASSERT_TRUE(table.next());
  EXPECT_EQ(table.cell(0), "\xef\xbb\xbf");
}

// --- quotes ---

TEST_F(TableReaderTest, ReadsQuotedDelimitersAndDoubledQuotes) {
  EXPECT_EQ(
      rows("a,b,c\n\"x, y\",\"say \"\"hi\"\"\",\"\"\n\"\"\"\",\"\"\"\"\"\",z\n", kCsv),
      (std::vector<Row>{{2, true, {"x, y", "say \"hi\"", ""}}, {3, true, {"\"", "\"\"", "z"}}}));
}

TEST_F(TableReaderTest, TreatsAQuoteInsideAnUnquotedCellAsData) {
  EXPECT_EQ(rows("a,b\n5\" disk,x\"\"\n", kCsv),
            (std::vector<Row>{{2, true, {"5\" disk", "x\"\""}}}));
}

TEST_F(TableReaderTest, KeepsLineBreaksInsideQuotesAsStored) {
  EXPECT_EQ(rows("a,b\r\n\"x\r\ny\",\"\n\"\r\n", kCsv),
            (std::vector<Row>{{2, true, {"x\r\ny", "\n"}}}));
}

TEST_F(TableReaderTest, KeepsLineNumbersAcrossQuotedLineBreaks) {
  EXPECT_EQ(rows("a,b\n\"1\n\n\",\"2\r\n\"\n3,4\n\n\"5\",\"6\"\n", kCsv),
            (std::vector<Row>{
                {2, true, {"1\n\n", "2\r\n"}}, {6, true, {"3", "4"}}, {8, true, {"5", "6"}}}));
}

TEST_F(TableReaderTest, ReadsAQuotedEmptyCellAsARow) {
  EXPECT_EQ(rows("a\n\"\"\n", kCsv), (std::vector<Row>{{2, true, {""}}}));
}

TEST_F(TableReaderTest, ReadsQuotedColumnNames) {
  TableReader table = open("\"last, first\",\"the \"\"id\"\"\"\nx,y\n", kCsv);
  EXPECT_EQ(table.column("last, first"), 0U);
  EXPECT_EQ(table.column("the \"id\""), 1U);
}

TEST_F(TableReaderTest, TakesOtherDelimitersAndQuotes) {
  EXPECT_EQ(rows("a|b\n'x|y'|it''s\n", {.delimiter = '|', .quote = '\''}),
            (std::vector<Row>{{2, true, {"x|y", "it''s"}}}));
}

// --- defects of a row ---

TEST_F(TableReaderTest, ReadsOnAfterARowWithTheWrongNumberOfCells) {
  EXPECT_EQ(rows("a\tb\n1\n1\t2\t3\n\n4\t5\n"),
            (std::vector<Row>{{2, false}, {3, false}, {5, true, {"4", "5"}}}));
  TableReader table = open("a\tb\n1\t2\t3\t4\n");
  ASSERT_TRUE(table.next());
  EXPECT_EQ(table.defect(),
            "the row has 4 cells, but the table has 2 columns; check its delimiters");
}

TEST_F(TableReaderTest, ReadsOnAfterTextBehindAClosingQuote) {
  EXPECT_EQ(rows("a,b\n1,\"x\" y\n\"x\ny\"z,\"\n\"3\"\r,4\n5,6\n", kCsv),
            (std::vector<Row>{{2, false}, {3, false}, {5, false}, {6, true, {"5", "6"}}}));
  TableReader table = open("a,b\n1,\"x\"y\n", kCsv);
  ASSERT_TRUE(table.next());
  EXPECT_EQ(table.defect(),
            "cell 2 has text after its closing quote; double the quotes inside a cell");
}

TEST_F(TableReaderTest, ReportsAnUnfinishedQuoteWithItsLine) {
  const std::string what =
      "the quote that starts a cell here is never closed; close it, or double it if it is part of "
      "the text";
  EXPECT_EQ(error("a,b\n1,2\n\"x\ny\",\"z\n5,6\n", kCsv), "table:4: " + what);
  EXPECT_EQ(error("a,b\n1,\"", kCsv), "table:2: " + what);
  EXPECT_EQ(error("a,b\n1,\"x\"\"", kCsv), "table:2: " + what);
  EXPECT_EQ(error("\"a,b\n", kCsv), "table:1: " + what);
}

// --- header and columns ---

TEST_F(TableReaderTest, TakesTheFirstLineAsARowIfColumnsAreGiven) {
  TableFormat format = kTsv;
  format.columns = {"x", "y"};
  TableReader table = open("1\t2\n3\t4\n", format);
  EXPECT_EQ(table.column("y"), 1U);
  EXPECT_EQ(rest_of(table), (std::vector<Row>{{1, true, {"1", "2"}}, {2, true, {"3", "4"}}}));
}

TEST_F(TableReaderTest, AllowsAnEmptyFileIfColumnsAreGiven) {
  TableFormat format = kTsv;
  format.columns = {"x", "y"};
  EXPECT_EQ(rows("", format), (std::vector<Row>{}));
}

TEST_F(TableReaderTest, SkipsLinesBeforeTheHeader) {
  TableFormat format = kCsv;
  format.skip_lines = 3;
  EXPECT_EQ(rows("# \"made by hand\n\nonly two lines\na,b\n1,2\n", format),
            (std::vector<Row>{{5, true, {"1", "2"}}}));
  format.columns = {"a", "b"};
  EXPECT_EQ(rows("\xef\xbb\xbf#\r\n\r\n#\r\n1,2\n", format),
            (std::vector<Row>{{4, true, {"1", "2"}}}));
}

TEST_F(TableReaderTest, SkipsALineLongerThanItsBuffer) {
  TableFormat format = kTsv;
  format.skip_lines = 1;
  EXPECT_EQ(rows(std::string(3 * kWindowBytes, 'x') + "\na\n1\n", format),
            (std::vector<Row>{{3, true, {"1"}}}));
}

TEST_F(TableReaderTest, RefusesAFileWithoutHeader) {
  const std::string remedy =
      "start it with a header line, or name the columns with 'columns' in the manifest";
  EXPECT_EQ(error(""), "table: is empty; " + remedy);
  EXPECT_EQ(error("\xef\xbb\xbf"), "table: is empty; " + remedy);
  EXPECT_EQ(error(gzip("")), "table: is empty; " + remedy);
  EXPECT_EQ(error(zstd("")), "table: is empty; " + remedy);
  TableFormat format = kTsv;
  format.skip_lines = uint64_t{1} << 60U;
  EXPECT_EQ(error("a\tb\n", format),
            "table: has nothing after the 1152921504606846976 lines to skip; " + remedy);
}

TEST_F(TableReaderTest, RefusesTheSameColumnNameTwice) {
  EXPECT_EQ(error("\nid\tx\tid\n"), "table:2: the header line names column 'id' twice; rename one");
  TableFormat format = kTsv;
  format.columns = {"x", "x"};
  EXPECT_EQ(error("1\t2\n", format),
            "table: 'columns' names 'x' twice; give each column its own name");
}

TEST_F(TableReaderTest, RefusesAHeaderWithMisplacedQuotes) {
  EXPECT_EQ(error("a,\"b\"c\n1,2\n", kCsv),
            "table:1: the header line has text after a closing quote; quote whole names only");
}

TEST_F(TableReaderTest, ListsTheColumnsIfAnUnknownOneIsAskedFor) {
  const TableReader table = open("id\ttitle\tyear\n");
  EXPECT_EQ(error_of([&] { table.column("yaer"); }),
            "table: has no column 'yaer'; its columns are: id, title, year");
}

TEST_F(TableReaderTest, RefusesALineEndAsDelimiterOrQuote) {
  const std::string line_end =
      "table: neither its delimiter nor its quote can be a line end; choose others";
  EXPECT_EQ(error("a\n", {.delimiter = '\n'}), line_end);
  EXPECT_EQ(error("a\n", {.quote = '\r'}), line_end);
  EXPECT_EQ(error("a\n", {.delimiter = ',', .quote = ','}),
            "table: its delimiter and its quote are the same byte; choose another quote");
}

// --- files ---

TEST_F(TableReaderTest, RefusesAMissingFile) {
  EXPECT_EQ(error_of([&] { TableReader(folder_ / "none.tsv", kTsv); }),
            "none.tsv: no such file; check the path");
}

TEST_F(TableReaderTest, RefusesADirectory) {
  std::filesystem::create_directory(folder_ / "tables");
  EXPECT_EQ(error_of([&] { TableReader(folder_ / "tables", kTsv); }),
            "tables: is a directory; name a table file inside it");
}

TEST_F(TableReaderTest, ReadsAPipe) {
  const Path pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::jthread writer([&] { std::ofstream(pipe) << gzip("a\tb\n1\t2\n"); });
  TableReader table(pipe, kTsv);
  EXPECT_EQ(rest_of(table), (std::vector<Row>{{2, true, {"1", "2"}}}));
}

TEST_F(TableReaderTest, KeepsItsPlaceWhenMoved) {
  TableReader first = open("a\n1\n2\n");
  ASSERT_TRUE(first.next());
  TableReader second = std::move(first);
  EXPECT_EQ(second.cell(0), "1");
  EXPECT_EQ(rest_of(second), (std::vector<Row>{{3, true, {"2"}}}));
}

TEST_F(TableReaderTest, HasReadAllStoredBytesAtTheEnd) {
  const std::string text = "a\n1\n2\n";
  for (const std::string& bytes : {text, gzip(text), zstd(text)}) {
    TableReader table = open(bytes);
    EXPECT_EQ(table.read_so_far().total, bytes.size());
    rest_of(table);
    EXPECT_EQ(table.read_so_far().done, bytes.size());
  }
}

// --- compressed data ---

class CompressedTableTest : public TableReaderTest,
                            public testing::WithParamInterface<std::pair<const char*, Compress>> {
 protected:
  std::string compress(const std::string& text) const { return GetParam().second(text); }
  std::string named(const std::string& text) const {
    return text + " " + GetParam().first + " data";
  }
};

TEST_P(CompressedTableTest, ReadsPartsOneAfterAnotherAsOneText) {
  EXPECT_EQ(rows(compress("a\tb\n1\t") + compress("") + compress("2\n3\t4\n")),
            (std::vector<Row>{{2, true, {"1", "2"}}, {3, true, {"3", "4"}}}));
}

TEST_P(CompressedTableTest, RefusesTruncatedData) {
  const std::string whole = compress("a\tb\n1\t2\n3\t4\n");
  for (size_t size = 4; size < whole.size(); ++size) {
    EXPECT_TRUE(error(whole.substr(0, size)).starts_with(named("table: contains truncated") + ";"))
        << size;
  }
  EXPECT_TRUE(
      error(whole + whole.substr(0, 6)).starts_with(named("table: contains truncated") + ";"));
}

// Not each flip is an error: both formats have padding bits, which change nothing.
TEST_P(CompressedTableTest, ReadsNoOtherRowsFromDataWithAFlippedBit) {
  constexpr size_t kHeaderBytes = 16;
  std::string text = "a\tb\n";
  for (int i = 0; i < 1000; ++i) text += std::to_string(i * i) + "\t" + std::to_string(i) + "\n";
  const std::vector<Row> expected = rows(text);
  const std::string whole = compress(text);
  size_t flips = 0;
  size_t errors = 0;
  for (size_t position = kHeaderBytes; position < whole.size(); position += 7) {
    std::string flipped = whole;
    flipped[position] = static_cast<char>(flipped[position] ^ (1 << (position % 8)));
    const std::string text_of_error =
        error_of([&] { EXPECT_EQ(rows(flipped), expected) << position; });
    ++flips;
    if (text_of_error.find(named("")) != std::string::npos) ++errors;
  }
  EXPECT_GT(flips, 500U);
  EXPECT_GE(errors, flips * 95 / 100);
}

TEST_P(CompressedTableTest, RefusesDataWithAWrongChecksum) {
  std::string bytes = compress("a\tb\n1\t2\n");
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  EXPECT_TRUE(error(bytes).starts_with(named("table: contains damaged") + " ("));
}

TEST_P(CompressedTableTest, RefusesOtherBytesAfterTheData) {
  EXPECT_TRUE(
      error(compress("a\n1\n") + "a\n1\n").starts_with(named("table: contains damaged") + " ("));
}

INSTANTIATE_TEST_SUITE_P(Formats, CompressedTableTest,
                         testing::Values(std::pair<const char*, Compress>("gzip", gzip),
                                         std::pair<const char*, Compress>("zstd", zstd)),
                         [](const auto& test) { return std::string(test.param.first); });

TEST_F(TableReaderTest, ReadsZstdDataBehindASkippableFrame) {
  const std::string skippable("\x50\x2a\x4d\x18\x03\x00\x00\x00xyz", 11);
  EXPECT_EQ(rows(skippable + zstd("a\n1\n")), (std::vector<Row>{{2, true, {"1"}}}));
}

// --- the buffer's boundary ---

TEST_F(TableReaderTest, ReadsRowsThatStraddleTheBoundaryOfTheBuffer) {
  const std::string row = "\"p\"\"q\",\"\",\"r\r\n\",s\r\n\r\n\"t\",u,v,\"\"\"\"\r\n";
  for (size_t before = 0; before <= row.size() + 1; ++before) {
    const std::string header = "a,b,c,d\n";
    const std::string first_tail = ",,,\n";
    std::string text = header;
    text.append(kWindowBytes - header.size() - first_tail.size() - before, 'x');
    text += first_tail + row;
    const std::vector<Row> found = rows(text, kCsv);
    ASSERT_EQ(found.size(), 3U) << before;
    EXPECT_EQ(found[1], (Row{3, true, {"p\"q", "", "r\r\n", "s"}})) << before;
    EXPECT_EQ(found[2], (Row{6, true, {"t", "u", "v", "\""}})) << before;
  }
}

TEST_F(TableReaderTest, ReadsARowMuchLongerThanItsBuffer) {
  const std::string inner(5 * kWindowBytes, 'x');
  EXPECT_EQ(rows("a,b\n\"" + inner + "\"\"\n\",2\n3,4\n", kCsv),
            (std::vector<Row>{{2, true, {inner + "\"\n", "2"}}, {4, true, {"3", "4"}}}));
}

TEST_F(TableReaderTest, RefusesARowLongerThanTheLimit) {
  const std::string longest(kMaxRowBytes, 'x');
  for (const char* line_end : {"\n", "\r\n", ""}) {
    TableReader table = open(zstd("a\n" + longest + line_end));
    ASSERT_TRUE(table.next());
    EXPECT_TRUE(table.cell(0) == longest);
    EXPECT_FALSE(table.next());
  }
  for (const char* end : {"x", "x\n", "xx\ny\n"}) {
    EXPECT_EQ(error(zstd("a\n1\n" + longest + end)),
              "table:3: the row is longer than 64 MiB; check that the file is a table");
  }
  EXPECT_EQ(error(zstd("a\n\"" + longest + "\"\n"), kCsv),
            "table:2: the row is longer than 64 MiB; check that its quotes are closed and that the "
            "file is a table");
}

// --- random tables ---

// Splits the slow and obvious way, byte by byte, to judge the reader by.
class NaiveSplitter {
 public:
  NaiveSplitter(const std::string& text, const TableFormat& format)
      : text_(text), format_(format) {}

  std::vector<Row> rows() {
    std::vector<Row> found;
    while (!at_end()) {
      if (at_line_end()) {
        pass_line_end();
      } else {
        found.push_back(row());
      }
    }
    return found;
  }
  bool unfinished_quote() const { return unfinished_quote_; }

 private:
  bool at_end() const { return position_ == text_.size(); }
  char here() const { return text_[position_]; }
  bool at_line_end() const {
    if (at_end() || here() == '\n') return true;
    const size_t after = position_ + 1;
    return here() == '\r' && (after == text_.size() || text_[after] == '\n');
  }
  char pass() {
    if (here() == '\n') ++line_;
    return text_[position_++];
  }
  void pass_line_end() {
    if (!at_end() && here() == '\r') pass();
    if (!at_end()) pass();
  }

  Row row() {
    Row row = {.line = line_};
    bool more = true;
    while (more) {
      const bool quoted = !at_end() && format_.quote == here();
      row.cells.push_back(quoted ? quoted_cell() : unquoted_cell());
      if (!at_line_end() && here() != format_.delimiter) row.well_formed = false;
      more = row.well_formed && !at_line_end();
      if (more) pass();
    }
    while (!at_end() && here() != '\n') pass();
    pass_line_end();
    if (row.cells.size() != format_.columns.size()) row.well_formed = false;
    if (!row.well_formed) row.cells.clear();
    return row;
  }
  std::string unquoted_cell() {
    std::string cell;
    while (!at_line_end() && here() != format_.delimiter) cell += pass();
    return cell;
  }
  std::string quoted_cell() {
    std::string cell;
    pass();
    while (!at_end()) {
      const char byte = pass();
      const bool is_quote = byte == format_.quote;
      if (is_quote && (at_end() || here() != format_.quote)) return cell;
      if (is_quote) pass();
      cell += byte;
    }
    unfinished_quote_ = true;
    return cell;
  }

  const std::string& text_;
  const TableFormat& format_;
  size_t position_ = 0;
  uint64_t line_ = 1;
  bool unfinished_quote_ = false;
};

std::string random_text(std::mt19937& random, size_t size, std::string_view alphabet) {
  std::string text(size, '\0');
  for (char& byte : text) byte = alphabet[random() % alphabet.size()];
  return text;
}

TEST_F(TableReaderTest, SplitsRandomBytesAsTheNaiveSplitterDoes) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    TableFormat format = round % 4 == 0 ? kTsv : kCsv;
    format.columns = {"a", "b"};
    const std::string text = random_text(random, random() % 40, "ab,\t\"\"\n\n\r");
    NaiveSplitter naive(text, format);
    const std::vector<Row> expected = naive.rows();
    if (naive.unfinished_quote()) {
      EXPECT_NE(error(text, format).find("never closed"), std::string::npos) << text;
    } else {
      EXPECT_EQ(rows(text, format), expected) << text;
    }
  }
}

std::string quoted(const std::string& cell) {
  std::string text = "\"";
  for (const char byte : cell) text += byte == '"' ? "\"\"" : std::string(1, byte);
  return text + "\"";
}

std::string csv_row(std::mt19937& random, const Cells& cells) {
  std::string text;
  for (const std::string& cell : cells) {
    const bool must_quote = cell.find_first_of("\",\r\n") != std::string::npos;
    if (&cell != &cells.front()) text += ',';
    text += must_quote || random() % 4 == 0 ? quoted(cell) : cell;
  }
  return text + (random() % 2 == 0 ? "\n" : "\r\n");
}

TEST_F(TableReaderTest, ReadsALargeRandomTableCellByCell) {
  std::mt19937 random(11);
  TableFormat format = kCsv;
  format.columns = {"a", "b", "c"};
  std::string text;
  std::vector<Cells> table;
  while (text.size() < 4 * kWindowBytes) {
    const size_t longest = random() % 1000 == 0 ? 100000 : 40;
    Cells& cells = table.emplace_back();
    cells.push_back(std::to_string(table.size()));
    cells.push_back(random_text(random, random() % longest, "abc \",\r\n\t"));
    cells.push_back(random_text(random, random() % longest, "abcdefghijklmnop"));
    text += csv_row(random, cells);
  }
  const std::vector<Row> expected = NaiveSplitter(text, format).rows();
  for (const std::string& bytes : {text, gzip(text), zstd(text)}) {
    const std::vector<Row> found = rows(bytes, format);
    ASSERT_EQ(found.size(), table.size());
    for (size_t i = 0; i < table.size(); ++i) {
      ASSERT_EQ(found[i].cells, table[i]);
      ASSERT_EQ(found[i], expected[i]);
    }
  }
}

}  // namespace
}  // namespace hgt
