#include "hgt/tables/table_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <limits>
#include <unordered_set>
#include <utility>

#include "hgt/error.h"
#include "hgt/tables/remedies.h"
#include "hgt/tables/text_window.h"

namespace hgt {
namespace {

uint64_t count_lines(const char* begin, const char* end) {
  return static_cast<uint64_t>(std::count(begin, end, '\n'));
}

class RowSplitter {
 public:
  RowSplitter(const Path& file, char delimiter, std::optional<char> quote)
      : window_(file), file_(file), delimiter_(delimiter), quote_(quote) {}
  // Reads pieces of the same file.
  RowSplitter(const RowSplitter& other, size_t kept_cells)
      : file_(other.file_),
        delimiter_(other.delimiter_),
        quote_(other.quote_),
        kept_cells_(kept_cells) {}

  void start(const TextPiece& piece, uint64_t line) {
    window_.hold(piece.text, piece.last);
    next_line_ = line;
  }
  void cut(TextPiece& piece) {
    piece.last = !window_.cut(piece.text);
    piece.read = read_so_far();
  }

  // Further cells of a row are counted but not kept, so that a row of nothing but delimiters
  // costs no memory.
  void keep_at_most(size_t cells) { kept_cells_ = cells; }

  // False: there is no line any more.
  bool skip_line() {
    while (true) {
      const char* end = window_.line_end(window_.begin());
      if (end != nullptr) {
        if (window_.empty()) return false;
        window_.drop_line(end);
        ++next_line_;
        return true;
      }
      window_.drop_until(window_.end());
      window_.extend();
    }
  }

  bool next() {
    while (!split_next()) {
      if (window_.is_full()) fail_too_long();
      if (!window_.extend()) return false;
    }
    return true;
  }

  std::span<const std::string_view> cells() const { return cells_; }
  size_t cell_count() const { return cell_count_; }  // also those not kept
  bool quotes_in_order() const { return quotes_in_order_; }
  uint64_t line() const { return line_; }
  uint64_t next_line() const { return next_line_; }
  size_t unread() const { return window_.size(); }
  ReadSoFar read_so_far() const {
    const ByteSource& source = window_.source();
    return {.done = source.stored_bytes_read(), .total = source.stored_bytes_total()};
  }

  [[noreturn]] void fail(uint64_t line, std::string_view what) const {
    throw Error(fmt::format("{}:{}: {}", file_.string(), line, what));
  }

 private:
  // False: the window does not hold the whole row.
  bool split_next() {
    while (!window_.empty()) {
      const char* row = window_.begin();
      const char* line_end = window_.line_end(row);
      if (line_end == nullptr) return false;
      const char* text_end = without_carriage_return(row, line_end);
      if (text_end != row) return split_row(row, text_end, line_end);
      window_.drop_line(line_end);
      ++next_line_;
    }
    return false;
  }

  bool split_row(const char* row, const char* text_end, const char* line_end) {
    cells_.clear();
    cell_count_ = 0;
    quotes_in_order_ = true;
    if (quote_ && find_byte(row, text_end, *quote_) != nullptr) {
      return split_quoted(row, line_end);
    }
    split_unquoted(row, text_end);
    finish_row(line_end, 1);
    return true;
  }

  void split_unquoted(const char* cell, const char* text_end) {
    while (const char* delimiter = find_byte(cell, text_end, delimiter_)) {
      add_cell(cell, delimiter);
      cell = delimiter + 1;
    }
    add_cell(cell, text_end);
  }

  // Changes nothing in the window until the row is known to be whole: it may be split once more.
  bool split_quoted(const char* row, const char* first_line_end) {
    const char* line_end = first_line_end;
    cells_with_doubled_quotes_.clear();
    const char* cell = row;
    while (cell != nullptr) {
      if (cell == line_end || *cell != *quote_) {
        cell = take_unquoted_cell(cell, line_end);
        continue;
      }
      const char* close = take_quoted_cell(cell);
      if (close == nullptr) return false;
      const char* after = close + 1;
      if (after > line_end) line_end = window_.line_end(after);
      if (line_end == nullptr) return false;
      cell = start_after_quote(after, line_end);
    }
    finish_row(line_end, 1 + count_lines(first_line_end, line_end));
    undouble_quotes();
    return true;
  }

  // The start of the next cell; nullptr: this was the last.
  const char* take_unquoted_cell(const char* cell, const char* line_end) {
    const char* delimiter = find_byte(cell, line_end, delimiter_);
    if (delimiter == nullptr) {
      add_cell(cell, without_carriage_return(cell, line_end));
      return nullptr;
    }
    add_cell(cell, delimiter);
    return delimiter + 1;
  }

  // The closing quote; nullptr: it is further on.
  const char* take_quoted_cell(const char* cell) {
    const char* from = cell + 1;
    bool doubled = false;
    while (const char* quote = find_byte(from, window_.end(), *quote_)) {
      if (quote + 1 == window_.end() || quote[1] != *quote_) {
        if (doubled && keeps_next_cell()) cells_with_doubled_quotes_.push_back(cells_.size());
        add_cell(cell + 1, quote);
        return quote;
      }
      doubled = true;
      from = quote + 2;
    }
    if (window_.holds_end_of_text()) {
      fail(next_line_ + count_lines(window_.begin(), cell),
           "the quote that starts a cell here is never closed; close it, or double it if it is "
           "part of the text");
    }
    return nullptr;
  }

  // The start of the next cell; nullptr: the row ends. After a misplaced quote nothing on the line
  // can be trusted, so that the row ends with it and later rows are not drawn in.
  const char* start_after_quote(const char* after, const char* line_end) {
    if (after != line_end && *after == delimiter_) return after + 1;
    quotes_in_order_ = after == without_carriage_return(after, line_end);
    return nullptr;
  }

  void undouble_quotes() {
    for (const size_t index : cells_with_doubled_quotes_) {
      std::string_view& cell = cells_[index];
      char* const begin = window_.writable(cell.data());
      char* write = begin;
      for (const char* read = begin; read != cell.data() + cell.size(); ++read) {
        *write++ = *read;
        if (*read == *quote_) ++read;
      }
      cell = {begin, write};
    }
  }

  bool keeps_next_cell() const { return cell_count_ < kept_cells_; }

  void add_cell(const char* begin, const char* end) {
    if (keeps_next_cell()) cells_.emplace_back(begin, static_cast<size_t>(end - begin));
    ++cell_count_;
  }

  void finish_row(const char* line_end, uint64_t lines) {
    const char* row = window_.begin();
    const char* text_end = without_carriage_return(row, line_end);
    if (static_cast<size_t>(text_end - row) > kMaxRowBytes) fail_too_long();
    line_ = next_line_;
    next_line_ += lines;
    window_.drop_line(line_end);
  }

  [[noreturn]] void fail_too_long() const {
    fail(next_line_,
         fmt::format("the row is longer than {} MiB; check {}that the file is a table",
                     kMaxRowBytes >> 20U, quote_ ? "that its quotes are closed and " : ""));
  }

  TextWindow window_;
  Path file_;
  char delimiter_;
  std::optional<char> quote_;
  size_t kept_cells_ = std::numeric_limits<size_t>::max();
  std::vector<std::string_view> cells_;
  std::vector<size_t> cells_with_doubled_quotes_;
  size_t cell_count_ = 0;
  bool quotes_in_order_ = true;
  uint64_t line_ = 0;
  uint64_t next_line_ = 1;  // the line at which the window begins
};

void check_format(const Path& file, const TableFormat& format) {
  const auto is_line_end = [](char byte) { return byte == '\n' || byte == '\r'; };
  if (is_line_end(format.delimiter) || (format.quote && is_line_end(*format.quote))) {
    throw Error(fmt::format(
        "{}: neither its delimiter nor its quote can be a line end; choose others", file.string()));
  }
  if (format.quote == format.delimiter) {
    throw Error(fmt::format(
        "{}: its delimiter and its quote are the same byte; choose another quote", file.string()));
  }
}

const std::string* first_duplicate(const std::vector<std::string>& names) {
  std::unordered_set<std::string_view> seen;
  const auto found = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
    return !seen.insert(name).second;
  });
  return found == names.end() ? nullptr : &*found;
}

std::vector<std::string> given_columns(const Path& file, const TableFormat& format) {
  if (const std::string* name = first_duplicate(format.columns)) {
    throw Error(fmt::format("{}: 'columns' names '{}' twice; give each column its own name",
                            file.string(), *name));
  }
  return format.columns;
}

std::vector<std::string> read_header(RowSplitter& rows, const Path& file, uint64_t skipped_lines) {
  if (!rows.next()) {
    const std::string what =
        skipped_lines == 0 ? "is empty"
                           : fmt::format("has nothing after the {} lines to skip", skipped_lines);
    throw Error(
        fmt::format("{}: {}; start it with a header line, or name the columns with "
                    "'columns' in the manifest",
                    file.string(), what));
  }
  if (!rows.quotes_in_order()) {
    rows.fail(rows.line(),
              "the header line has text after a closing quote; quote whole names only");
  }
  std::vector<std::string> columns(rows.cells().begin(), rows.cells().end());
  if (const std::string* name = first_duplicate(columns)) {
    rows.fail(rows.line(),
              fmt::format("the header line names column '{}' twice; rename one", *name));
  }
  return columns;
}

}  // namespace

// Of a file or of its pieces.
struct TableReader::State final : PieceReader {
  State(const Path& file, const TableFormat& format)
      : name(file.string()), before_line(name + ":"), rows(file, format.delimiter, format.quote) {
    for (uint64_t skipped = 0; skipped < format.skip_lines && rows.skip_line();) ++skipped;
    columns = format.columns.empty() ? read_header(rows, file, format.skip_lines)
                                     : given_columns(file, format);
    rows.keep_at_most(columns.size());
  }
  explicit State(const State& other)
      : name(other.name),
        before_line(other.before_line),
        rows(other.rows, other.columns.size()),
        columns(other.columns) {}

  void start(const TextPiece& piece, uint64_t line) override { rows.start(piece, line); }
  uint64_t next_line() const override { return rows.next_line(); }
  size_t unread() const override { return rows.unread(); }

  bool next(Row& row) override {
    if (!rows.next()) return false;
    row.cells = rows.cells();
    row.position = {.before_number = before_line, .number = rows.line()};
    row.defect.clear();
    if (!well_formed()) row.defect = defect();
    return true;
  }

  bool well_formed() const { return rows.quotes_in_order() && rows.cell_count() == columns.size(); }
  std::string defect() const;

  std::string name;
  std::string before_line;  // of positions
  RowSplitter rows;
  std::vector<std::string> columns;
};

std::string TableReader::State::defect() const {
  assert(!well_formed());
  if (!rows.quotes_in_order()) {
    return fmt::format("cell {} has text after its closing quote; double the quotes inside a cell",
                       rows.cell_count());
  }
  const bool one = rows.cell_count() == 1;
  const std::string hint = one ? delimiter_remedy(rows.cells()[0], columns.size()) : "";
  return fmt::format("the row has {} cells, but the table has {} columns; {}", rows.cell_count(),
                     columns.size(), hint.empty() ? "check its delimiters" : hint);
}

TableReader::TableReader(const Path& file, const TableFormat& format) {
  check_format(file, format);
  state_ = std::make_unique<State>(file, format);
}
TableReader::TableReader(TableReader&&) noexcept = default;
TableReader& TableReader::operator=(TableReader&&) noexcept = default;
TableReader::~TableReader() = default;

std::span<const std::string> TableReader::columns() const { return state_->columns; }

bool TableReader::next() { return state_->rows.next(); }

std::span<const std::string_view> TableReader::cells() const { return state_->rows.cells(); }

bool TableReader::well_formed() const { return state_->well_formed(); }
std::string TableReader::defect() const { return state_->defect(); }

uint64_t TableReader::line() const { return state_->rows.line(); }
uint64_t TableReader::next_line() const { return state_->next_line(); }
const std::string& TableReader::name() const { return state_->name; }
std::string TableReader::short_name() const { return Path(state_->name).filename().string(); }

bool TableReader::next(Row& row) { return state_->next(row); }

ReadSoFar TableReader::read_so_far() const { return state_->rows.read_so_far(); }

void TableReader::cut(TextPiece& piece) { state_->rows.cut(piece); }

std::unique_ptr<PieceReader> TableReader::piece_reader() const {
  return std::make_unique<State>(*state_);
}

}  // namespace hgt
