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

  // False: there is no more. The line stays valid until the next call.
  bool next() {
    while (true) {
      const char* end = window_.line_end(window_.begin());
      if (end == nullptr) {
        if (window_.is_full()) fail_too_long();
        window_.extend();
        continue;
      }
      if (window_.empty()) return false;
      text_ = {window_.begin(), end};
      ++number_;
      window_.drop_line(end);
      if (!is_blank(text_)) return true;
    }
  }

  std::string_view text() const { return text_; }
  uint64_t number() const { return number_; }
  const ByteSource& source() const { return window_.source(); }

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

std::vector<std::string> keys_of(const std::string& name, const Lines& first) {
  const auto object = parse_json<nlohmann::ordered_json>(first.text(), false);
  if (!object.is_object()) {
    throw Error(
        fmt::format("{}:{}: the first line is not a JSON object, which is needed to find the "
                    "columns; correct it, or name the columns with 'columns' in the manifest",
                    name, first.number()));
  }
  std::vector<std::string> keys;
  for (const auto& member : object.items()) keys.push_back(member.key());
  return keys;
}

class JsonRows : public RowSource {
 public:
  JsonRows(const Path& file, const RowOptions& options)
      : name_(file.string()),
        before_line_(name_ + ":"),
        short_name_(file.filename().string()),
        lines_(file),
        has_line_(lines_.next()),
        columns_(options.columns.empty() ? first_keys() : options.columns),
        object_(columns_),
        cells_(columns_.size()) {}

  const std::string& name() const override { return name_; }
  std::string short_name() const override { return short_name_; }
  std::span<const std::string> columns() const override { return columns_; }

  bool next(Row& row) override {
    if (gave_first_) has_line_ = has_line_ && lines_.next();
    gave_first_ = true;
    if (!has_line_) return false;
    row.position = {.before_number = before_line_, .number = lines_.number()};
    object_.read(lines_.text(), cells_);
    if (object_.nested()) fail_nested(*object_.nested(), row.position);
    row.cells = cells_;
    row.defect = object_.defect();
    return true;
  }

  ReadSoFar read_so_far() const override {
    const ByteSource& source = lines_.source();
    return {.done = source.stored_bytes_read(), .total = source.stored_bytes_total()};
  }

 private:
  std::vector<std::string> first_keys() const {
    if (has_line_) return keys_of(name_, lines_);
    throw Error(
        fmt::format("{}: is empty; it should contain one JSON object per line, or name the "
                    "columns with 'columns' in the manifest",
                    name_));
  }

  [[noreturn]] void fail_nested(size_t column, const RowPosition& position) const {
    throw Error(
        fmt::format("{}: '{}' holds an object or an array, which cannot be a cell; list the other "
                    "keys to read with 'columns' in the manifest",
                    to_string(position), columns_[column]));
  }

  std::string name_;
  std::string before_line_;
  std::string short_name_;
  Lines lines_;
  bool has_line_;            // lines_ is at a line
  bool gave_first_ = false;  // the first line, which told the columns, has been given as a row
  std::vector<std::string> columns_;
  ObjectReader object_;
  std::vector<std::string_view> cells_;
};

}  // namespace

std::unique_ptr<RowSource> open_json_rows(const Path& file, const RowOptions& options) {
  return std::make_unique<JsonRows>(file, options);
}

}  // namespace hgt
