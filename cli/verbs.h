// The verbs of the command line. Each adds its sub-command, with help, to the program; CLI11 calls
// it when the user asks for it. Verbs throw hgt::Error; only main() turns that into an exit code.
#pragma once

#include <CLI/CLI.hpp>

namespace hgt::cli {

void add_generate(CLI::App& program);
void add_import(CLI::App& program);
void add_export(CLI::App& program);
void add_inspect(CLI::App& program);
void add_sample(CLI::App& program);

}  // namespace hgt::cli
