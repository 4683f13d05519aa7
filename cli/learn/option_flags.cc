#include "cli/learn/option_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/program.h"
#include "hgt/error.h"
#include "hgt/options/settings_file.h"

namespace hgt::cli {

namespace {

std::string default_text(const OptionTable::Entry& entry) {
  return fmt::format("{}", fmt::join(entry.get(), ","));
}

std::string group_of(const OptionTable::Entry& entry) {
  const bool everyday = entry.level == OptionTable::Level::everyday;
  return everyday ? kCommon : "Advanced: " + entry.group;
}

OptionTable& table_that_knows(const std::string& key, const std::vector<OptionFlags*>& flags) {
  std::vector<std::string> keys;
  for (OptionFlags* some : flags) {
    if (some->table().find(key) != nullptr) return some->table();
    for (const auto& entry : some->table().entries()) keys.push_back(entry.key);
  }
  throw Error(fmt::format("unknown key '{}'; the known keys are {}", key, fmt::join(keys, ", ")));
}

}  // namespace

OptionFlags::OptionFlags(CLI::App& verb, OptionTable table) : table_(std::move(table)) {
  for (const OptionTable::Entry& entry : table_.entries()) {
    auto given = std::make_unique<Given>();
    const std::string name = "--" + entry.key;
    if (entry.form == OptionTable::Form::flag) {
      const bool on = entry.get().front() == "true";
      given->option = verb.add_flag(name + ",!--no-" + entry.key, given->flag,
                                    entry.help + (on ? " [on]" : " [off]"));
    } else {
      given->option = verb.add_option(name, given->values, entry.help)
                          ->default_str(default_text(entry))
                          ->allow_extra_args(false);
      if (entry.form == OptionTable::Form::list) given->option->delimiter(',')->expected(1, -1);
      if (entry.form != OptionTable::Form::list) given->option->expected(1);
      if (entry.form == OptionTable::Form::number) given->option->type_name("NUMBER");
      if (!entry.words.empty()) given->option->check(CLI::IsMember(entry.words));
    }
    given->option->group(group_of(entry));
    given_[entry.key] = std::move(given);
  }
}

std::vector<std::string> OptionFlags::given() const {
  std::vector<std::string> keys;
  for (const auto& [key, given] : given_) {
    if (given->option->count() > 0) keys.push_back(key);
  }
  return keys;
}

void OptionFlags::apply() {
  for (const auto& [key, given] : given_) {
    if (given->option->count() == 0) continue;
    const bool is_flag = table_.find(key)->form == OptionTable::Form::flag;
    table_.set(key, is_flag ? OptionTable::Values{given->flag ? "true" : "false"} : given->values);
  }
}

void OptionFlags::apply_only(const std::vector<std::string>& keys, const std::string& reason) {
  for (const auto& [key, given] : given_) {
    const bool allowed = std::find(keys.begin(), keys.end(), key) != keys.end();
    if (given->option->count() > 0 && !allowed) throw CLI::ValidationError("--" + key, reason);
  }
  apply();
}

void read_config(const std::string& file, const std::vector<OptionFlags*>& flags) {
  for (const Setting& setting : read_settings(file)) {
    try {
      table_that_knows(setting.key, flags).set(setting.key, setting.values);
    } catch (const Error& error) {
      throw Error(fmt::format("{}:{}: {}", file, setting.line, error.what()));
    }
  }
}

}  // namespace hgt::cli
