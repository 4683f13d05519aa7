#include "cli/program.h"

#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "cli/progress_bar.h"
#include "hgt/error.h"

namespace hgt::cli {

namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;
constexpr int kInterrupted = 130;

int parse(CLI::App& program, int argc, char** argv) {
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

void describe(CLI::App& program) {
  program.set_version_flag("--version", "hgt " HGT_VERSION);
  program.require_subcommand(1);
  program.set_help_all_flag("--help-all", "Help of all verbs");
}

int run(CLI::App& program, int argc, char** argv) {
  catch_interrupt();
  try {
    if (argc == 1) {
      fmt::print("{}", program.help());
      return 0;
    }
    return parse(program, argc, argv);
  } catch (const Interrupted& error) {
    fmt::print(stderr, "\nhgt: {}\n", error.what());
    return kInterrupted;
  } catch (const std::exception& error) {
    fmt::print(stderr, "hgt: {}\n", error.what());
    return kFailed;
  }
}

}  // namespace hgt::cli
