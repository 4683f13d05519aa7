#include "cli/program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/nearest_word.h"
#include "cli/number_ranges.h"
#include "cli/progress_bar.h"
#include "cli/streams.h"
#include "hgt/error.h"

namespace hgt::cli {

namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;
constexpr int kInterrupted = 130;
constexpr const char* kSeeHelp =
    "Run 'hgt --help' for all verbs, 'hgt VERB --help' for the options of one.";

int parse(CLI::App& program, int argc, char** argv) {
  try {
    program.parse(argc, argv);
    return 0;
  } catch (const CLI::Success& help) {  // --help, --version
    return program.exit(help);
  } catch (const CLI::ParseError& error) {
    tell(fmt::format("hgt: {}\n{}\n", error.what(), kSeeHelp));
    return kWrongUsage;
  }
}

// Of bad_alloc, and of LibTorch's, which comes with a trace of its calls.
bool is_out_of_memory(const std::exception& error) {
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
         std::string_view(error.what()).find("can't allocate memory") != std::string_view::npos;
}

std::string explained(const std::exception& error) {
  if (!is_out_of_memory(error)) return error.what();
  return "memory ran out; lower --threads, --workers, --batch-size, --width or --memory, or let "
         "the process have more (ulimit -v, the limit of the container)";
}

// For exceptions that nobody could catch: in a library's own thread, or in a destructor.
[[noreturn]] void end_with_reason() {
  try {
    const std::exception_ptr error = std::current_exception();
    if (error) std::rethrow_exception(error);
  } catch (const std::exception& error) {
    tell(fmt::format("hgt: ended at once: {}\n", explained(error)));
  } catch (...) {
    tell("hgt: ended at once, for an unknown reason\n");
  }
  std::abort();
}

int run_and_explain(CLI::App& program, int argc, char** argv) {
  try {
    if (argc > 1) return parse(program, argc, argv);
    fmt::print("{}", program.help());
    return 0;
  } catch (const Interrupted& error) {
    tell(fmt::format("\nhgt: {}\n", error.what()));
    return kInterrupted;
  } catch (const std::system_error& error) {  // fmt's, too
    const bool lost = std::ferror(stdout) != 0;
    tell(fmt::format("hgt: {}{}\n", lost ? "standard output: " : "", error.what()));
    return kFailed;
  } catch (const std::exception& error) {
    tell(fmt::format("hgt: {}\n", explained(error)));
    return kFailed;
  }
}

}  // namespace

std::unique_ptr<CLI::App> make_program(std::span<const Verb> verbs) {
  auto program = std::make_unique<CLI::App>(
      "Learning on heterogeneous, dynamic graphs (Heterogeneous Graph Transformer)", "hgt");
  program->set_version_flag("--version", "hgt " HGT_VERSION);
  program->require_subcommand(1);
  program->set_help_all_flag("--help-all", "Show the help of all verbs");
  for (const Verb& verb : verbs) {
    CLI::App* command = program->add_subcommand(verb.name, verb.help);
    command->set_help_all_flag("--help-all")->group("");  // not listed again for each verb
    command->get_help_ptr()->group(kCommon);
    command->option_defaults()->group(kCommon);
    if (verb.add == nullptr) continue;
    verb.add(*command);
    bound_numbers(*command);
  }
  return program;
}

std::string help_of_own_verbs(const CLI::App& program, std::span<const Verb> verbs) {
  std::string text;
  for (const Verb& verb : verbs) {
    if (verb.add == nullptr) continue;
    const CLI::App* command = program.get_subcommand(verb.name);
    text += fmt::format("\n--- hgt {} ---\n\n{}", verb.name, command->help("hgt"));
  }
  return text;
}

const Verb* find_verb(std::span<const Verb> verbs, std::string_view name) {
  for (const Verb& verb : verbs) {
    if (verb.name == name) return &verb;
  }
  return nullptr;
}

int refuse_verb(std::span<const Verb> verbs, std::string_view name) {
  std::vector<std::string> names;
  for (const Verb& verb : verbs) names.emplace_back(verb.name);
  const std::string meant = nearest_word(name, names);
  tell(fmt::format("hgt: unknown verb '{}'; {}\n{}\n", name,
                   meant.empty() ? fmt::format("the verbs are {}", fmt::join(names, ", "))
                                 : fmt::format("did you mean '{}'?", meant),
                   kSeeHelp));
  return kWrongUsage;
}

int run(CLI::App& program, int argc, char** argv) {
  std::set_terminate(end_with_reason);
  return with_output_written(run_and_explain(program, argc, argv));
}

}  // namespace hgt::cli
