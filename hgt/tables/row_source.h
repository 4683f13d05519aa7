// Rows of cells, wherever they come from: the one interface between the import and the formats of
// tables (row_format.h lists them).
//
//   const std::unique_ptr<RowSource> source = open_rows("papers.csv.gz", {});
//   const size_t year = source->column("year");
//   Row row;
//   while (source->next(row)) {
//     if (row.well_formed()) use(row.cell(year), to_string(row.position));
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace hgt {

// A cell is text. One without a value (NULL in a database, null in JSON) is a view without data,
// which is also empty, so code that does not ask treats it as empty text.
constexpr std::string_view kNullCell = {};
inline bool is_null(std::string_view cell) { return cell.data() == nullptr; }
// For messages: the text in single quotes, or null.
std::string quoted_cell(std::string_view cell);

// Where a row is, for messages.
struct RowPosition {
  std::string_view before_number = {};  // "papers.tsv:" or "query 'papers', row "; the source's
  uint64_t number = 0;                  // of the line or the row, from 1
};
std::string to_string(const RowPosition& position);  // "papers.tsv:17"

// All views are those of the source, valid until its next row.
struct Row {
  std::span<const std::string_view> cells = {};  // one per column, if the row is well-formed
  RowPosition position = {};
  std::string defect = {};  // why the row is malformed, and what to do; empty: it is not

  bool well_formed() const { return defect.empty(); }
  std::string_view cell(size_t column) const { return cells[column]; }
};

// How much of a source has been read, in bytes or rows. A total of 0: unknown.
struct ReadSoFar {
  uint64_t done = 0;
  uint64_t total = 0;
};

// A part of a source's text that ends with a line, though perhaps within a row.
struct TextPiece {
  std::string text;
  bool last = false;  // nothing comes after it
  ReadSoFar read = {};
};

// Reads the rows of one piece after the other. Several of one source may be in use at once, on
// several threads.
class PieceReader {
 public:
  virtual ~PieceReader() = default;

  // Takes the piece for one that begins with a row, on this line. Copies its text.
  virtual void start(const TextPiece& piece, uint64_t line) = 0;
  // As that of RowSource; false at the end of the piece.
  virtual bool next(Row& row) = 0;
  virtual uint64_t next_line() const = 0;  // of what next() has not read
  virtual size_t unread() const = 0;       // bytes at the end that are only the beginning of a row
};

class RowSource {
 public:
  virtual ~RowSource() = default;

  // For messages: "tables/papers.tsv".
  virtual const std::string& name() const = 0;
  // For progress: "papers.tsv".
  virtual std::string short_name() const = 0;
  // Known before the first row; all names are different.
  virtual std::span<const std::string> columns() const = 0;
  // Fills every member of `row`; false at the end. A malformed row counts as a row. Throws Error
  // if reading cannot continue: damaged data, a row that is too long.
  virtual bool next(Row& row) = 0;
  virtual ReadSoFar read_so_far() const = 0;

  // --- instead of next(), for reading on several threads (row_pieces.h) ---
  // Moves the next part of the text to `piece`; after the last one there is none.
  virtual void cut(TextPiece& piece) = 0;
  virtual uint64_t next_line() const = 0;  // with which the first piece begins
  // For pieces of this source, which need not exist any more.
  virtual std::unique_ptr<PieceReader> piece_reader() const = 0;

  // The number of a column. Unknown: an Error that names the source and lists its columns.
  size_t column(std::string_view column_name) const;
};

}  // namespace hgt
