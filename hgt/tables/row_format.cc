#include "hgt/tables/row_format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "hgt/error.h"
#include "hgt/tables/delimited_rows.h"
#include "hgt/tables/json_rows.h"
#include "hgt/tables/number_text.h"

namespace hgt {

namespace {

std::string lower_extension(const Path& file) {
  std::string extension = file.extension().string();
  for (char& letter : extension) {
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return extension;
}

const std::string* first_repeated(const std::vector<std::string>& names) {
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) return &name;
  }
  return nullptr;
}

const FormatOption* find_option(const RowFormat& format, std::string_view key) {
  const auto found = std::find_if(format.options.begin(), format.options.end(),
                                  [&](const FormatOption& option) { return option.key == key; });
  return found == format.options.end() ? nullptr : &*found;
}

}  // namespace

const std::vector<RowFormat>& row_formats() {
  static const std::vector<RowFormat> formats = {
      {"tsv", {".tsv", ".tab", ".txt"}, delimited_options(), open_tsv},
      {"csv", {".csv"}, delimited_options(), open_csv},
      {"jsonl", {".jsonl", ".ndjson"}, {}, open_json_rows},
  };
  return formats;
}

const std::string* RowOptions::find(std::string_view key) const {
  const auto found = values.find(key);
  return found == values.end() ? nullptr : &found->second;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const RowFormat& format : row_formats()) names.emplace_back(format.name);
  return names;
}

const RowFormat& row_format(std::string_view name) {
  for (const RowFormat& format : row_formats()) {
    if (format.name == name) return format;
  }
  throw Error(fmt::format("there is no table format '{}'; choose one of {}", name,
                          fmt::join(format_names(), ", ")));
}

const RowFormat& row_format_of(const Path& file, std::string_view name) {
  if (!name.empty()) return row_format(name);
  const std::string suffix = lower_extension(file);
  const bool compressed = suffix == ".gz" || suffix == ".zst";
  const std::string ending = compressed ? lower_extension(file.stem()) : suffix;
  for (const RowFormat& format : row_formats()) {
    const auto& endings = format.endings;
    if (std::find(endings.begin(), endings.end(), ending) != endings.end()) return format;
  }
  return row_formats().front();
}

std::vector<FormatOption> format_options() {
  std::map<std::string_view, FormatOption> options;
  for (const RowFormat& format : row_formats()) {
    for (const FormatOption& option : format.options) options.emplace(option.key, option);
  }
  std::vector<FormatOption> result;
  for (const auto& [key, option] : options) result.push_back(option);
  return result;
}

std::string complaint(const FormatOption& option, const std::string& value) {
  std::string_view what;
  if (option.kind == FormatOption::Kind::count && parse_whole(value).value_or(-1) < 0) {
    what = "must be a whole number, 0 or more";
  } else if (option.complaint != nullptr) {
    what = option.complaint(value);
  }
  return what.empty() ? "" : fmt::format("'{}' {}", option.key, what);
}

std::string complaint(const RowFormat& format, const RowOptions& options) {
  if (const std::string* name = first_repeated(options.columns)) {
    return fmt::format("'columns' names '{}' twice; give each column its own name", *name);
  }
  for (const auto& [key, value] : options.values) {
    const FormatOption* option = find_option(format, key);
    if (option == nullptr) {
      return fmt::format(
          "'{1}' does not apply to the table format {0}; leave it out, or choose another 'format' "
          "from {2}",
          format.name, key, fmt::join(format_names(), ", "));
    }
    std::string text = complaint(*option, value);
    if (!text.empty()) return text;
  }
  return "";
}

std::unique_ptr<RowSource> open_rows(const Path& file, const RowOptions& options,
                                     std::string_view format) {
  const RowFormat& chosen = row_format_of(file, format);
  const std::string text = complaint(chosen, options);
  if (!text.empty()) throw Error(fmt::format("{}: {}", file.string(), text));
  return chosen.open(file, options);
}

}  // namespace hgt
