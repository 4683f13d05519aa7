#include "hgt/options/option_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <limits>
#include <type_traits>

#include "hgt/error.h"
#include "hgt/options/settings_file.h"

namespace hgt {

namespace {

// As its ends were written: 64, not 64.000000; that of a seed is the largest there is.
template <typename Number>
std::string end_text(double end) {
  const bool beyond = end >= static_cast<double>(std::numeric_limits<Number>::max());
  if (std::is_integral_v<Number> && beyond) {
    return fmt::format("{}", std::numeric_limits<Number>::max());
  }
  return fmt::format("{:.15g}", end);
}

template <typename Number>
Number number_of(const std::string& text, NumberRange range) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto real = static_cast<double>(number);
  const bool read = error == std::errc{} && end == text.data() + text.size();
  if (read && real >= range.least && real <= range.most) return number;  // NaN is neither
  throw Error(fmt::format("'{}' is not a {}number from {} to {}", text,
                          std::is_integral_v<Number> ? "whole " : "", end_text<Number>(range.least),
                          end_text<Number>(range.most)));
}

// TOML's whole numbers end at 2^63 - 1; a seed may be larger and is then written as text.
bool fits_toml(const std::string& number) {
  int64_t unused = 0;
  return std::from_chars(number.data(), number.data() + number.size(), unused).ec !=
         std::errc::result_out_of_range;
}

bool flag_of(const std::string& text) {
  if (text == "true") return true;
  if (text == "false") return false;
  throw Error(fmt::format("'{}' must be true or false", text));
}

}  // namespace

const std::string& OptionTable::single(const Values& values) {
  if (values.size() == 1) return values.front();
  throw Error("expected a single value");
}

OptionTable::Entry& OptionTable::add_entry(Entry entry) {
  assert(find(entry.key) == nullptr);
  if (entry.group.empty()) entry.group = group_;
  entries_.push_back(std::move(entry));
  return entries_.back();
}

OptionTable OptionTable::without(const std::vector<std::string>& keys) const {
  OptionTable others;
  for (const Entry& entry : entries_) {
    if (std::find(keys.begin(), keys.end(), entry.key) == keys.end()) others.add_entry(entry);
  }
  return others;
}

OptionTable OptionTable::only(const std::vector<std::string>& keys) const {
  OptionTable some;
  for (const Entry& entry : entries_) {
    if (std::find(keys.begin(), keys.end(), entry.key) != keys.end()) some.add_entry(entry);
  }
  return some;
}

OptionTable OptionTable::with(const OptionTable& more) const {
  OptionTable all = *this;
  for (const Entry& entry : more.entries()) all.add_entry(entry);
  return all;
}

OptionTable::Entry& OptionTable::add(const std::string& key, std::string& value,
                                     const std::string& help) {
  return add_entry({.key = key,
                    .help = help,
                    .get = [&value] { return Values{value}; },
                    .set = [&value](const Values& values) { value = single(values); }});
}

OptionTable::Entry& OptionTable::add(const std::string& key, bool& value, const std::string& help) {
  return add_entry({.key = key,
                    .help = help,
                    .form = Form::flag,
                    .get = [&value] { return Values{value ? "true" : "false"}; },
                    .set = [&value](const Values& values) { value = flag_of(single(values)); }});
}

template <typename Number>
OptionTable::Entry& OptionTable::add_number(const std::string& key, Number& value,
                                            NumberRange range, const std::string& help) {
  return add_entry(
      {.key = key,
       .help = help,
       .form = Form::number,
       .range = range,
       .whole = std::is_integral_v<Number>,
       .get = [&value] { return Values{fmt::format("{}", value)}; },
       .set = [&value,
               range](const Values& values) { value = number_of<Number>(single(values), range); }});
}

OptionTable::Entry& OptionTable::add(const std::string& key, double& value, NumberRange range,
                                     const std::string& help) {
  return add_number(key, value, range, help);
}
OptionTable::Entry& OptionTable::add(const std::string& key, int& value, NumberRange range,
                                     const std::string& help) {
  return add_number(key, value, range, help);
}
OptionTable::Entry& OptionTable::add(const std::string& key, int64_t& value, NumberRange range,
                                     const std::string& help) {
  return add_number(key, value, range, help);
}
OptionTable::Entry& OptionTable::add(const std::string& key, uint32_t& value, NumberRange range,
                                     const std::string& help) {
  return add_number(key, value, range, help);
}
OptionTable::Entry& OptionTable::add(const std::string& key, uint64_t& value, NumberRange range,
                                     const std::string& help) {
  return add_number(key, value, range, help);
}

OptionTable::Entry& OptionTable::add(const std::string& key, std::vector<std::string>& value,
                                     const std::string& help) {
  return add_entry({.key = key,
                    .help = help,
                    .form = Form::list,
                    .get = [&value] { return value; },
                    .set = [&value](const Values& values) { value = values; }});
}

OptionTable::Entry& OptionTable::add(const std::string& key, std::vector<uint32_t>& value,
                                     NumberRange range, const std::string& help) {
  const auto get = [&value] {
    Values texts;
    for (const uint32_t number : value) texts.push_back(std::to_string(number));
    return texts;
  };
  const auto set = [&value, range](const Values& values) {
    if (values.size() > kMaxListLength) {
      throw Error(fmt::format("it has {} numbers; give at most {}", values.size(), kMaxListLength));
    }
    std::vector<uint32_t> numbers;
    for (const std::string& text : values) numbers.push_back(number_of<uint32_t>(text, range));
    value = numbers;
  };
  return add_entry(
      {.key = key, .help = help, .form = Form::list, .range = range, .get = get, .set = set});
}

const OptionTable::Entry* OptionTable::find(std::string_view key) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.key == key; });
  return found == entries_.end() ? nullptr : &*found;
}

void OptionTable::set(const std::string& key, const Values& values) {
  const Entry* entry = find(key);
  if (entry == nullptr) {
    std::vector<std::string> keys;
    for (const Entry& known : entries_) keys.push_back(known.key);
    std::sort(keys.begin(), keys.end());
    throw Error(fmt::format("unknown key '{}'; the known keys are {}", key, fmt::join(keys, ", ")));
  }
  try {
    entry->set(values);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", key, error.what()));
  }
}

void OptionTable::read(const Path& file) {
  for (const Setting& setting : read_settings(file)) {
    try {
      set(setting.key, setting.values);
    } catch (const Error& error) {
      throw Error(fmt::format("{}:{}: {}", file.string(), setting.line, error.what()));
    }
  }
}

std::string OptionTable::to_toml() const {
  std::string text;
  for (const Entry& entry : entries_) {
    const Values values = entry.get();
    switch (entry.form) {
      case Form::list:
        text += setting_line(entry.key, values);
        break;
      case Form::text:
        text += setting_line(entry.key, values.front());
        break;
      default:
        text += fits_toml(values.front()) ? fmt::format("{} = {}\n", entry.key, values.front())
                                          : setting_line(entry.key, values.front());
    }
  }
  return text;
}

}  // namespace hgt
