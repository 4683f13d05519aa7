// Options by name: one table for command lines, config files and the file that a run keeps.
//
//   OptionTable table;
//   table.add("width", options.width, {1, 1000}, "Instances drawn per type and step");
//   table.set("width", {"64"});
//   table.read("train.toml");
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hgt/disk/file.h"
#include "hgt/enum_words.h"

namespace hgt {

// What a number may be, both ends included. Every number has one: no option is unbounded.
struct NumberRange {
  double least = 0;
  double most = 0;
};
constexpr NumberRange kAnySeed = {0, 18446744073709551615.0};
constexpr NumberRange kAnyShare = {0, 1};
constexpr NumberRange kAnyCount = {0, 1e12};
constexpr NumberRange kThreads = {0, 1024};

class OptionTable {
 public:
  enum class Form { text, number, flag, list };  // how it is written in a file
  static constexpr size_t kMaxListLength = 1000;
  enum class Level { everyday, advanced };  // help shows everyday options first
  using Values = std::vector<std::string>;
  struct Entry {
    std::string key;
    std::string help;
    Form form = Form::text;
    std::vector<std::string> words = {};    // the allowed values, if they are listed
    std::optional<NumberRange> range = {};  // of a number, and of each number of a list
    bool whole = false;                     // a number without a fraction
    std::function<Values()> get = {};
    std::function<void(const Values&)> set = {};  // throws Error for a bad value
    std::string group = {};                       // what it is about: "model", "sampling"
    Level level = Level::advanced;

    Entry& everyday() {
      level = Level::everyday;
      return *this;
    }
  };

  // Entries added from here on belong to this group.
  void begin_group(const std::string& name) { group_ = name; }

  // By convention a key is the name of the field, with '-' for '_'. The variables must outlive
  // the table, and the returned entry is valid until the next one is added.
  Entry& add(const std::string& key, std::string& value, const std::string& help);
  Entry& add(const std::string& key, bool& value, const std::string& help);
  Entry& add(const std::string& key, double& value, NumberRange range, const std::string& help);
  Entry& add(const std::string& key, int& value, NumberRange range, const std::string& help);
  Entry& add(const std::string& key, int64_t& value, NumberRange range, const std::string& help);
  Entry& add(const std::string& key, uint32_t& value, NumberRange range, const std::string& help);
  Entry& add(const std::string& key, uint64_t& value, NumberRange range, const std::string& help);
  Entry& add(const std::string& key, std::vector<std::string>& value, const std::string& help);
  // At most kMaxListLength numbers, each within the range.
  Entry& add(const std::string& key, std::vector<uint32_t>& value, NumberRange range,
             const std::string& help);
  // A word of the enum (hgt/enum_words.h).
  template <WordedEnum Enum>
  Entry& add(const std::string& key, Enum& value, const std::string& help) {
    return add_entry(
        {.key = key,
         .help = help,
         .words = all_words<Enum>(),
         .get = [&value] { return Values{std::string(to_string(value))}; },
         .set = [&value](const Values& values) { value = from_word<Enum>(single(values)); }});
  }

  OptionTable without(const std::vector<std::string>& keys) const;  // the others
  OptionTable only(const std::vector<std::string>& keys) const;     // these, in this table's order
  OptionTable with(const OptionTable& more) const;                  // followed by these
  const std::vector<Entry>& entries() const { return entries_; }
  const Entry* find(std::string_view key) const;  // nullptr: unknown

  // Throws Error for an unknown key or a bad value.
  void set(const std::string& key, const Values& values);
  // Sets every line of a settings file. Errors name the file and the line.
  void read(const Path& file);
  std::string to_toml() const;

 private:
  static const std::string& single(const Values& values);
  Entry& add_entry(Entry entry);
  template <typename Number>
  Entry& add_number(const std::string& key, Number& value, NumberRange range,
                    const std::string& help);

  std::vector<Entry> entries_;
  std::string group_;
};

}  // namespace hgt
