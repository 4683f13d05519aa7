// A library's table of options as flags of a verb, and as a config file.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hgt/options/option_table.h"

namespace hgt::cli {

class OptionFlags {
 public:
  // Adds a flag for each option: everyday ones to the common options of --help, the others to
  // groups of their own. What was given takes effect in apply().
  OptionFlags(CLI::App& verb, OptionTable table);
  OptionFlags(const OptionFlags&) = delete;
  OptionFlags& operator=(const OptionFlags&) = delete;

  void apply();
  // As apply(), but an option that is not listed is refused with the reason.
  void apply_only(const std::vector<std::string>& keys, const std::string& reason);

  std::vector<std::string> given() const;  // the keys of those on the command line

  OptionTable& table() { return table_; }
  const OptionTable& table() const { return table_; }

 private:
  struct Given {
    CLI::Option* option = nullptr;
    std::vector<std::string> values;
    bool flag = false;
  };
  OptionTable table_;
  std::map<std::string, std::unique_ptr<Given>> given_;
};

// Every line of the file goes to the first of the tables that knows its key. Errors name the line.
void read_config(const std::string& file, const std::vector<OptionFlags*>& flags);

}  // namespace hgt::cli
