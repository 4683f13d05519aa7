// One table of a manifest, read key by key. For manifest.cc.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hgt/error.h"
#include "hgt/graph/types.h"

namespace hgt {

// One table of the manifest. Every key that is asked for becomes a known one; close() complains
// about keys that nobody asked for, which catches misspelled ones.
class ManifestSection {
 public:
  ManifestSection(const Path& file, std::string title, const toml::table& table)
      : file_(file), title_(std::move(title)), table_(table) {}

  uint64_t line() const { return table_.source().begin.line; }

  [[noreturn]] void fail(const std::string& what, uint64_t line) const {
    throw Error(fmt::format("{}:{}: {}", file_.string(), line, what));
  }
  [[noreturn]] void fail(const std::string& what) const { fail(what, line()); }
  // Lists the keys that are there: the missing one may be among them, misspelled.
  [[noreturn]] void fail_missing(const std::string& key) const {
    std::vector<std::string> keys;
    for (const auto& [name, node] : table_) keys.emplace_back(name.str());
    fail(fmt::format("{} has no '{}'; it has {}", title_, key, fmt::join(keys, ", ")));
  }

  bool has(const std::string& key) {
    known_.insert(key);
    return table_.contains(key);
  }

  std::optional<std::string> text(const std::string& key) {
    return value<std::string>(key, "text");
  }
  std::string required_text(const std::string& key) {
    const auto found = text(key);
    if (!found) fail_missing(key);
    if (found->empty()) fail(fmt::format("'{}' in {} is empty", key, title_));
    return *found;
  }
  bool flag(const std::string& key) { return value<bool>(key, "true or false").value_or(false); }
  // From 0, which it is by default, to `most`.
  uint64_t count(const std::string& key, uint64_t most) {
    const int64_t found = value<int64_t>(key, "a whole number").value_or(0);
    if (found < 0 || static_cast<uint64_t>(found) > most) {
      fail(fmt::format("'{}' in {} is {}; it must be from 0 to {}", key, title_, found, most));
    }
    return static_cast<uint64_t>(found);
  }

  // One of the listed words; the first is the default.
  std::string word(const std::string& key, const std::vector<std::string>& words) {
    const std::string found = text(key).value_or(words.front());
    if (std::find(words.begin(), words.end(), found) != words.end()) return found;
    fail(fmt::format("'{}' in {} is '{}'; choose one of {}", key, title_, found,
                     fmt::join(words, ", ")));
  }

  // A text, or an array of texts.
  std::vector<std::string> texts(const std::string& key) {
    if (!has(key)) return {};
    return to_texts(key, *table_.get(key), false);
  }

  // As texts(), of which there must be one.
  std::vector<std::string> required_texts(const std::string& key) {
    if (!has(key)) fail_missing(key);
    std::vector<std::string> found = texts(key);
    const bool empty =
        std::any_of(found.begin(), found.end(), [](auto& text) { return text.empty(); });
    if (found.empty() || empty) fail(fmt::format("'{}' in {} is empty", key, title_));
    return found;
  }

  // A number, or one of the listed words; the first is the default.
  std::variant<double, std::string> number_or_word(const std::string& key,
                                                   const std::vector<std::string>& words) {
    if (!has(key)) return words.front();
    const toml::node& node = *table_.get(key);
    if (const auto whole = node.value_exact<int64_t>()) return static_cast<double>(*whole);
    if (const auto real = node.value_exact<double>(); real && std::isfinite(*real)) return *real;
    const auto text = node.value_exact<std::string>();
    if (text && std::find(words.begin(), words.end(), *text) != words.end()) return *text;
    fail(fmt::format("'{}' in {} must be a finite number or one of {}", key, title_,
                     fmt::join(words, ", ")));
  }

  // A table of texts or whole numbers, or of arrays of them, in the order of its keys.
  std::map<std::string, std::vector<std::string>> text_map(const std::string& key) {
    std::map<std::string, std::vector<std::string>> result;
    if (!has(key)) return result;
    for (const auto& [name, node] : child(key)) {
      result[std::string(name.str())] = to_texts(key, node, true);
    }
    return result;
  }

  ManifestSection section(const std::string& key) {
    known_.insert(key);
    return {file_, fmt::format("'{}' of {}", key, title_), child(key)};
  }

  // Every table of the array [[key]].
  template <typename Read>
  void each(const std::string& key, const Read& read) {
    if (!has(key)) return;
    const toml::array* array = table_.get_as<toml::array>(key);
    if (array == nullptr) fail(fmt::format("'{}' must be written as [[{}]]", key, key));
    for (const toml::node& node : *array) {
      const toml::table* table = node.as_table();
      if (table == nullptr) fail(fmt::format("'{}' must be written as [[{}]]", key, key));
      ManifestSection item(file_, fmt::format("[[{}]]", key), *table);
      read(item);
      item.close();
    }
  }

  void close() const {
    for (const auto& [name, node] : table_) {
      if (known_.contains(std::string(name.str()))) continue;
      fail(fmt::format("unknown key '{}' in {}; the known keys are {}", name.str(), title_,
                       fmt::join(known_, ", ")),
           name.source().begin.line);
    }
  }

 private:
  template <typename T>
  std::optional<T> value(const std::string& key, std::string_view kind) {
    if (!has(key)) return std::nullopt;
    const auto found = table_.get(key)->value_exact<T>();
    if (!found) fail(fmt::format("'{}' in {} must be {}", key, title_, kind));
    return found;
  }

  const toml::table& child(const std::string& key) const {
    const toml::table* table = table_.get_as<toml::table>(key);
    if (table == nullptr) fail(fmt::format("'{}' in {} must be a table: {{ ... }}", key, title_));
    return *table;
  }

  // A text; with `numbers` also a whole number, as it would stand in a table.
  static std::optional<std::string> to_text(const toml::node& node, bool numbers) {
    const auto number = node.value_exact<int64_t>();
    return numbers && number ? std::to_string(*number) : node.value_exact<std::string>();
  }

  std::vector<std::string> to_texts(const std::string& key, const toml::node& node,
                                    bool numbers) const {
    if (const auto one = to_text(node, numbers)) return {*one};
    std::vector<std::string> result;
    const toml::array* array = node.as_array();
    const auto bad = [&] {
      fail(fmt::format("'{}' in {} must be text or a list of texts", key, title_));
    };
    if (array == nullptr) bad();
    for (const toml::node& item : *array) {
      const auto text = to_text(item, numbers);
      if (!text) bad();
      result.push_back(*text);
    }
    return result;
  }

  const Path& file_;
  std::string title_;
  const toml::table& table_;
  std::set<std::string> known_;
};

}  // namespace hgt
