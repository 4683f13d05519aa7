// What the two programs have in common. `hgt` itself does not load LibTorch, which alone takes a
// third of a second; verbs that compute with it live in `hgt-learn`, which hgt starts in its place.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "cli/verbs.h"

namespace hgt::cli {

// Groups of --help. An option is a common one unless it is put into another group.
constexpr const char* kCommon = "Common options";
constexpr const char* kAdvanced = "Advanced options";

// Name, version and help of the command line, with all verbs; those of the other program have no
// options.
std::unique_ptr<CLI::App> make_program(std::span<const Verb> verbs);

// The help of each of the program's own verbs.
std::string help_of_own_verbs(const CLI::App& program, std::span<const Verb> verbs);

// nullptr: there is none of that name.
const Verb* find_verb(std::span<const Verb> verbs, std::string_view name);

// Says that there is no such verb, and which one may have been meant. Returns the exit code.
int refuse_verb(std::span<const Verb> verbs, std::string_view name);

// Parses and runs. Exit codes: 0 done, 1 an error of input or environment, or output that did not
// arrive, 2 wrong usage, 130 stopped by Ctrl-C, SIGTERM or SIGHUP.
int run(CLI::App& program, int argc, char** argv);

}  // namespace hgt::cli
