// What train and compare have in common: a graph, a task, a folder, and every option of a run.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/learn/option_flags.h"
#include "hgt/run/run_options.h"

namespace hgt::cli {

class RunFlags {
 public:
  // Offers every option of a run but those named in `without`, and those of `more`, which a config
  // file may have as well.
  explicit RunFlags(CLI::App& verb, const std::vector<std::string>& without = {},
                    const OptionTable& more = {});

  // In rising precedence: preset, config file, command line. Throws when there is no graph or no
  // task, and when an option of the command line has no effect.
  RunOptions effective();

  // Options of model, sampling and training that are on the command line.
  std::vector<std::string> given() const { return training_.given(); }
  // On the command line. They are for one of the models that compare trains.
  bool names_meta_paths() const;

  bool resumes() const { return resume_; }
  // The options of a run that is continued: only its threads can change, and a search's budget.
  RunOptions resumed(const RunOptions& saved);

  // The folder; throws when it was not named.
  const std::string& folder();

 private:
  CLI::App& add_own(CLI::App& verb);  // the options of no table; returns the verb
  // The config file, then task, folder and preset of the command line.
  void read_general();
  void refuse_idle_options(const Schema& schema) const;

  std::string graph_;
  std::string config_;
  bool resume_ = false;
  std::string task_;
  std::string run_;
  std::string preset_ = "release";
  RunOptions options_;
  OptionFlags general_;
  OptionFlags training_;
  OptionFlags task_flags_;
};

}  // namespace hgt::cli
