// Reads a TSV or CSV table row by row: plain, gzip or zstd, told apart by their first bytes.
//
// Grammar: rows end with LF, CRLF or the end of the file; a UTF-8 byte order mark at the start is
// skipped; empty lines are skipped. With a quote character, a cell may be enclosed in quotes and
// then hold delimiters, line ends and doubled quotes; text after the closing quote is an error of
// the row. Without one, every byte but delimiter and line end is data.
//
//   TableReader table("papers.tsv.gz", {});
//   const size_t year = table.column("year");
//   while (table.next()) use(table.cell(year), table.line());
//
// Memory: one buffer of about a megabyte plus the longest row (at most kMaxRowBytes).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hgt/graph/types.h"
#include "hgt/tables/row_source.h"
#include "hgt/tables/text_window.h"

namespace hgt {

struct TableFormat {
  char delimiter = '\t';
  std::optional<char> quote = {};         // none: quotes are ordinary characters
  std::vector<std::string> columns = {};  // names for a file without header line; empty: has one
  uint64_t skip_lines = 0;                // lines before the header (or the first row)
};

class TableReader final : public RowSource {
 public:
  // Opens and reads the header. Throws Error: missing or unreadable file, no header line, the same
  // column name twice.
  TableReader(const Path& file, const TableFormat& format);
  TableReader(TableReader&&) noexcept;
  TableReader& operator=(TableReader&&) noexcept;
  ~TableReader() override;

  const std::string& name() const override;  // the file
  std::string short_name() const override;
  std::span<const std::string> columns() const override;
  bool next(Row& row) override;
  ReadSoFar read_so_far() const override;  // in bytes of the file as stored
  void cut(TextPiece& piece) override;
  uint64_t next_line() const override;
  std::unique_ptr<PieceReader> piece_reader() const override;

  // Moves to the next row; false at the end. Throws Error on damaged compressed data, an unfinished
  // quote at the end of the file, or a row longer than kMaxRowBytes.
  bool next();

  // Of the current row; valid until the next call of next().
  std::span<const std::string_view> cells() const;
  // True: the row has as many cells as there are columns and its quotes are in order. Where it is
  // false, defect() says why and cells must not be relied upon.
  bool well_formed() const;
  std::string defect() const;
  std::string_view cell(size_t column) const { return cells()[column]; }
  uint64_t line() const;  // of the row's first line, from 1

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hgt
