// A small TOML file of `key = value` lines: what a task is, or the flags of a command.
//
//   node = "paper"
//   edges = ["pub_conference", "pub_journal"]
//   width = 128
//   rte = true
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hgt/disk/file.h"

namespace hgt {

struct Setting {
  std::string key;
  std::vector<std::string> values;  // as on a command line; a list has several
  uint64_t line = 0;
};

// In the order of the file. Throws Error with file and line if it is not TOML or contains a table.
std::vector<Setting> read_settings(const Path& file);

// A file that also has sections of one name, each beginning with [[name]].
struct SettingSections {
  std::vector<Setting> common;                 // what comes before the sections
  std::vector<std::vector<Setting>> sections;  // in the order of the file
};
SettingSections read_setting_sections(const Path& file, const std::string& name);

// What a key may become: one of several values, or a number of a range.
//
//   hidden = [64, 128]
//   fanout = [[10, 10], [20, 20, 20]]
//   learning-rate = { low = 1e-4, high = 1e-2, log = true }
struct SettingRange {
  std::string key;
  std::vector<std::vector<std::string>> choices = {};  // one value, or the values of a list, each
  std::vector<Setting> members = {};                   // of { ... }; then there are no choices
  uint64_t line = 0;
};

// In the order of the file. Throws Error with file and line: not TOML, or neither of the two.
std::vector<SettingRange> read_setting_ranges(const Path& file);

// One line `key = value`, in TOML.
std::string setting_line(const std::string& key, const std::string& text);
std::string setting_line(const std::string& key, const std::vector<std::string>& texts);
std::string setting_line(const std::string& key, double number);
std::string setting_line(const std::string& key, uint64_t number);
std::string setting_line(const std::string& key, bool flag);

}  // namespace hgt
