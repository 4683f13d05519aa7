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

// One line `key = value`, in TOML.
std::string setting_line(const std::string& key, const std::string& text);
std::string setting_line(const std::string& key, const std::vector<std::string>& texts);
std::string setting_line(const std::string& key, double number);
std::string setting_line(const std::string& key, uint64_t number);
std::string setting_line(const std::string& key, bool flag);

}  // namespace hgt
