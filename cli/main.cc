// hgt: the command line. Data goes to stdout, progress and complaints to stderr.
// Exit codes: 0 done, 1 an error of input or environment, 2 wrong usage, 130 stopped by Ctrl-C.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "cli/progress_bar.h"
#include "cli/verbs.h"
#include "hgt/error.h"

namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;
constexpr int kInterrupted = 130;

int run(CLI::App& program, int argc, char** argv) {
  try {
    program.parse(argc, argv);
    return 0;
  } catch (const CLI::Success& help) {  // --help, --version
    return program.exit(help);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "hgt: {}\nRun 'hgt --help' or 'hgt VERB --help' for what is possible.\n",
               error.what());
    return kWrongUsage;
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App program("Learning on heterogeneous, dynamic graphs (Heterogeneous Graph Transformer)",
                   "hgt");
  program.set_version_flag("--version", "hgt " HGT_VERSION);
  program.require_subcommand(1);
  program.set_help_all_flag("--help-all", "Help of all verbs");
  hgt::cli::add_generate(program);
  hgt::cli::add_import(program);
  hgt::cli::add_export(program);
  hgt::cli::add_inspect(program);
  hgt::cli::add_sample(program);
  hgt::cli::catch_interrupt();
  try {
    if (argc == 1) {
      fmt::print("{}", program.help());
      return 0;
    }
    return run(program, argc, argv);
  } catch (const hgt::Interrupted& error) {
    fmt::print(stderr, "\nhgt: {}\n", error.what());
    return kInterrupted;
  } catch (const std::exception& error) {
    fmt::print(stderr, "hgt: {}\n", error.what());
    return kFailed;
  }
}
