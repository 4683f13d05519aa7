#include "hgt/options/settings_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "hgt/error.h"
#include "hgt/options/toml_file.h"

namespace hgt {

namespace {

std::optional<std::string> scalar(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return text;
  if (const auto number = node.value_exact<int64_t>()) return std::to_string(*number);
  if (const auto number = node.value_exact<double>()) return fmt::format("{}", *number);
  if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
  if (const auto date = node.value_exact<toml::date>()) {
    return fmt::format("{:04}-{:02}-{:02}", date->year, date->month, date->day);
  }
  return std::nullopt;
}

std::vector<std::string> values_of(const Path& file, const std::string& key,
                                   const toml::node& node) {
  if (const auto one = scalar(node)) return {*one};
  std::vector<std::string> values;
  const toml::array* array = node.as_array();
  const auto bad = [&] {
    throw Error(fmt::format("{}:{}: '{}' must be text, a number, true, false or a list of these{}",
                            file.string(), node.source().begin.line, key,
                            node.is_date_time() || node.is_time() ? "; put times in quotes" : ""));
  };
  if (array == nullptr) bad();
  for (const toml::node& item : *array) {
    const auto value = scalar(item);
    if (!value) bad();
    values.push_back(*value);
  }
  return values;
}

// As a TOML string.
std::string quoted(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      escaped += '\\';
      escaped += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      escaped += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      escaped += c;
    }
  }
  return '"' + escaped + '"';
}

// The lines of a table, in the order of the file.
std::vector<Setting> settings_of(const Path& file, const toml::table& table) {
  std::vector<Setting> settings;
  for (const auto& [name, node] : table) {
    const std::string key(name.str());
    settings.push_back(
        {.key = key, .values = values_of(file, key, node), .line = name.source().begin.line});
  }
  std::sort(settings.begin(), settings.end(),
            [](const Setting& a, const Setting& b) { return a.line < b.line; });
  return settings;
}

// Of a list, whose items may be lists themselves.
std::vector<std::vector<std::string>> choices_of(const Path& file, const std::string& key,
                                                 const toml::array& array) {
  std::vector<std::vector<std::string>> choices;
  for (const toml::node& item : array) choices.push_back(values_of(file, key, item));
  if (!choices.empty()) return choices;
  throw Error(
      fmt::format("{}:{}: '{}' has nothing to choose from; give at least one value, as in "
                  "{} = [64, 128]",
                  file.string(), array.source().begin.line, key, key));
}

}  // namespace

std::vector<Setting> read_settings(const Path& file) {
  return settings_of(file, parse_toml_file(file));
}

std::vector<SettingRange> read_setting_ranges(const Path& file) {
  const toml::table table = parse_toml_file(file);
  std::vector<SettingRange> ranges;
  for (const auto& [name, node] : table) {
    SettingRange range{.key = std::string(name.str()), .line = name.source().begin.line};
    if (const toml::array* array = node.as_array()) {
      range.choices = choices_of(file, range.key, *array);
    } else if (const toml::table* members = node.as_table()) {
      range.members = settings_of(file, *members);
    } else {
      throw Error(
          fmt::format("{}:{}: '{}' must be a list of values, as in [64, 128], or a range, "
                      "as in {{ low = 0.1, high = 1, log = true }}",
                      file.string(), range.line, range.key));
    }
    ranges.push_back(std::move(range));
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const SettingRange& a, const SettingRange& b) { return a.line < b.line; });
  return ranges;
}

SettingSections read_setting_sections(const Path& file, const std::string& name) {
  toml::table table = parse_toml_file(file);
  SettingSections result;
  if (const toml::node* node = table.get(name)) {
    const toml::array* sections = node->as_array();
    const bool fits = sections != nullptr && sections->is_array_of_tables();
    if (!fits) {
      throw Error(fmt::format("{}:{}: '{}' must be sections, each beginning with [[{}]]",
                              file.string(), node->source().begin.line, name, name));
    }
    for (const toml::node& section : *sections) {
      result.sections.push_back(settings_of(file, *section.as_table()));
    }
    table.erase(name);
  }
  result.common = settings_of(file, table);
  return result;
}

std::string setting_line(const std::string& key, const std::string& text) {
  return fmt::format("{} = {}\n", key, quoted(text));
}

std::string setting_line(const std::string& key, const std::vector<std::string>& texts) {
  std::vector<std::string> parts;
  for (const std::string& text : texts) parts.push_back(quoted(text));
  return fmt::format("{} = [{}]\n", key, fmt::join(parts, ", "));
}

std::string setting_line(const std::string& key, double number) {
  return fmt::format("{} = {}\n", key, number);
}

std::string setting_line(const std::string& key, uint64_t number) {
  // TOML's whole numbers end there; larger ones are read back from text just as well.
  const bool fits = number <= uint64_t{std::numeric_limits<int64_t>::max()};
  return fits ? fmt::format("{} = {}\n", key, number) : setting_line(key, std::to_string(number));
}

std::string setting_line(const std::string& key, bool flag) {
  return fmt::format("{} = {}\n", key, flag);
}

}  // namespace hgt
