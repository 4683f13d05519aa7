// What the two programs have in common. `hgt` itself knows no LibTorch, whose loading alone takes a
// third of a second; verbs that compute with it live in `hgt-learn`, which hgt starts in its place.
#pragma once

#include <CLI/CLI.hpp>

namespace hgt::cli {

// Name, version and help of the command line.
void describe(CLI::App& program);

// Parses and runs. Exit codes: 0 done, 1 an error of input or environment, 2 wrong usage, 130
// stopped by Ctrl-C.
int run(CLI::App& program, int argc, char** argv);

}  // namespace hgt::cli
