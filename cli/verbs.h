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

// Verbs of hgt-learn.
constexpr const char* kDoctorHelp =
    "Show what hgt computes with here, how fast it is, and what to mend";
void add_doctor(CLI::App& program);

}  // namespace hgt::cli
