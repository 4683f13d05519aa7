#include "hgt/tables/json_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "hgt/disk/json_text.h"
#include "hgt/error.h"
#include "hgt/tables/text_window.h"

namespace hgt {

namespace {

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

// The lines of a file that are not blank.
class Lines {
 public:
  explicit Lines(const Path& file) : window_(file), file_(file.string()) {}
  // Of pieces of a file.
  explicit Lines(std::string file) : file_(std::move(file)) {}

  void start(const TextPiece& piece, uint64_t line) {
    window_.hold(piece.text, piece.last);
    number_ = line - 1;
  }
  void cut(TextPiece& piece) {
    piece.last = !window_.cut(piece.text);
    piece.read = read_so_far();
  }

  // False: there is no more. The line stays valid until the next call.
  bool next() {
    while (true) {
      const char* end = window_.line_end(window_.begin());
      if (end == nullptr) {
        if (window_.is_full()) fail_too_long();
        if (!window_.extend()) return false;
        continue;
      }
      if (window_.empty()) return false;
      text_ = {window_.begin(), end};
      ++number_;
      window_.drop_line(end);
      if (!is_blank(text_)) return true;
    }
  }

  // The line that next() found will be found again.
  void put_back() {
    window_.drop_until(text_.data());
    --number_;
  }

  std::string_view text() const { return text_; }
  uint64_t number() const { return number_; }
  size_t unread() const { return window_.size(); }
  ReadSoFar read_so_far() const {
    const ByteSource& source = window_.source();
    return {.done = source.stored_bytes_read(), .total = source.stored_bytes_total()};
  }

 private:
  [[noreturn]] void fail_too_long() const {
    throw Error(
        fmt::format("{}:{}: the row is longer than {} MiB; check that the file has one JSON "
                    "object per line",
                    file_, number_ + 1, kMaxRowBytes >> 20U));
  }

  TextWindow window_;
  std::string file_;
  std::string_view text_;
  uint64_t number_ = 0;
};

// The cells of one line. Members that are no columns are passed over, whatever they hold.
class ObjectReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit ObjectReader(std::span<const std::string> columns) : pieces_(columns.size()) {
    for (size_t i = 0; i < columns.size(); ++i) places_.emplace(columns[i], i);
  }

  // Reads into `cells`, one per column, whose texts are valid until the next call.
  void read(std::string_view line, std::span<std::string_view> cells) {
    std::fill(pieces_.begin(), pieces_.end(), Piece{});
    texts_.clear();
    defect_.clear();
    nested_.reset();
    depth_ = 0;
    nlohmann::json::sax_parse(line.begin(), line.end(), this);
    for (size_t i = 0; i < cells.size(); ++i) {
      const Piece& piece = pieces_[i];
      cells[i] =
          piece.has_text ? std::string_view(texts_).substr(piece.begin, piece.size) : kNullCell;
    }
  }
  const std::string& defect() const { return defect_; }  // of the line; empty: none
  // The column that holds an object or an array, where reading stopped.
  std::optional<size_t> nested() const { return nested_; }

  bool null() override { return add(kNullCell); }
  bool boolean(bool value) override { return add(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return add(fmt::format_int(value)); }
  bool number_unsigned(number_unsigned_t value) override { return add(fmt::format_int(value)); }
  bool number_float(number_float_t /*value*/, const string_t& written) override {
    return add(written);
  }
  bool string(string_t& value) override { return add(value); }
  bool binary(binary_t& /*value*/) override { return false; }  // JSON text has none

  bool start_object(size_t /*elements*/) override { return depth_ == 0 ? enter() : enter_value(); }
  bool start_array(size_t /*elements*/) override { return depth_ == 0 ? reject() : enter_value(); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }

  bool key(string_t& name) override {
    if (depth_ > 1) return true;
    const auto found = places_.find(name);
    column_ = found == places_.end() ? std::nullopt : std::optional(found->second);
    if (!column_ || !pieces_[*column_].seen) return true;
    defect_ = fmt::format("the key '{}' occurs twice; keep one of them", name);
    return false;
  }

  bool parse_error(size_t position, const std::string& /*last*/,
                   const nlohmann::detail::exception& /*error*/) override {
    defect_ = fmt::format("the line is not valid JSON from byte {} on; write one object per line",
                          position);
    return false;
  }

 private:
  struct Piece {
    size_t begin = 0;  // in texts_
    size_t size = 0;
    bool seen = false;
    bool has_text = false;
  };

  bool add(const fmt::format_int& number) {
    return add(std::string_view(number.data(), number.size()));
  }
  bool add(std::string_view text) {
    if (depth_ == 0) return reject();
    if (depth_ > 1 || !column_) return true;
    pieces_[*column_] = {
        .begin = texts_.size(), .size = text.size(), .seen = true, .has_text = !is_null(text)};
    texts_.append(text);
    return true;
  }

  bool reject() {
    defect_ = "the line is not a JSON object; write it as {\"column\": value, ...}";
    return false;
  }

  bool enter_value() {
    if (depth_ == 1 && column_) nested_ = column_;
    return !nested_ && enter();
  }
  bool enter() {
    ++depth_;
    return true;
  }
  bool leave() {
    --depth_;
    return true;
  }

  std::unordered_map<std::string, size_t> places_;  // of the columns
  std::vector<Piece> pieces_;                       // per column
  std::string texts_;                               // of all cells
  std::string defect_;
  std::optional<size_t> nested_;
  std::optional<size_t> column_;  // of the last key at depth 1
  uint64_t depth_ = 0;
};

std::vector<std::string> first_keys(const std::string& name, Lines& lines) {
  if (!lines.next()) {
    throw Error(
        fmt::format("{}: is empty; it should contain one JSON object per line, or name the "
                    "columns with 'columns' in the manifest",
                    name));
  }
  const auto object = parse_json<nlohmann::ordered_json>(lines.text(), false);
  if (!object.is_object()) {
    throw Error(
        fmt::format("{}:{}: the first line is not a JSON object, which is needed to find the "
                    "columns; correct it, or name the columns with 'columns' in the manifest",
                    name, lines.number()));
  }
  lines.put_back();
  std::vector<std::string> keys;
  for (const auto& member : object.items()) keys.push_back(member.key());
  return keys;
}

// The rows of a file or of its pieces.
class JsonLines final : public PieceReader {
 public:
  JsonLines(const Path& file, const RowOptions& options)
      : name_(file.string()),
        before_line_(name_ + ":"),
        lines_(file),
        columns_(options.columns.empty() ? first_keys(name_, lines_) : options.columns),
        object_(columns_),
        cells_(columns_.size()) {}
  JsonLines(const JsonLines& other)
      : name_(other.name_),
        before_line_(other.before_line_),
        lines_(other.name_),
        columns_(other.columns_),
        object_(columns_),
        cells_(columns_.size()) {}
  JsonLines& operator=(const JsonLines&) = delete;
  ~JsonLines() override = default;

  const std::string& name() const { return name_; }
  const std::vector<std::string>& columns() const { return columns_; }
  Lines& lines() { return lines_; }
  const Lines& lines() const { return lines_; }

  void start(const TextPiece& piece, uint64_t line) override { lines_.start(piece, line); }
  uint64_t next_line() const override { return lines_.number() + 1; }
  size_t unread() const override { return lines_.unread(); }

  bool next(Row& row) override {
    if (!lines_.next()) return false;
    row.position = {.before_number = before_line_, .number = lines_.number()};
    object_.read(lines_.text(), cells_);
    if (object_.nested()) fail_nested(*object_.nested(), row.position);
    row.cells = cells_;
    row.defect = object_.defect();
    return true;
  }

 private:
  [[noreturn]] void fail_nested(size_t column, const RowPosition& position) const {
    throw Error(
        fmt::format("{}: '{}' holds an object or an array, which cannot be a cell; list the other "
                    "keys to read with 'columns' in the manifest",
                    to_string(position), columns_[column]));
  }

  std::string name_;
  std::string before_line_;
  Lines lines_;
  std::vector<std::string> columns_;
  ObjectReader object_;
  std::vector<std::string_view> cells_;
};

class JsonRows final : public RowSource {
 public:
  JsonRows(const Path& file, const RowOptions& options)
      : short_name_(file.filename().string()), rows_(file, options) {}

  const std::string& name() const override { return rows_.name(); }
  std::string short_name() const override { return short_name_; }
  std::span<const std::string> columns() const override { return rows_.columns(); }
  bool next(Row& row) override { return rows_.next(row); }
  ReadSoFar read_so_far() const override { return rows_.lines().read_so_far(); }
  void cut(TextPiece& piece) override { rows_.lines().cut(piece); }
  uint64_t next_line() const override { return rows_.next_line(); }
  std::unique_ptr<PieceReader> piece_reader() const override {
    return std::make_unique<JsonLines>(rows_);
  }

 private:
  std::string short_name_;
  JsonLines rows_;
};

}  // namespace

std::unique_ptr<RowSource> open_json_rows(const Path& file, const RowOptions& options) {
  return std::make_unique<JsonRows>(file, options);
}

}  // namespace hgt
