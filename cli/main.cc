// hgt: the command line. Data goes to stdout, progress and complaints to stderr.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "cli/program.h"
#include "cli/verbs.h"

namespace {

// The verbs of hgt-learn, for the list that --help prints.
struct LearnVerb {
  const char* name;
  const char* help;
};
constexpr std::array<LearnVerb, 11> kLearnVerbs = {{{"doctor", hgt::cli::kDoctorHelp},
                                                    {"features", hgt::cli::kFeaturesHelp},
                                                    {"train", hgt::cli::kTrainHelp},
                                                    {"compare", hgt::cli::kCompareHelp},
                                                    {"evaluate", hgt::cli::kEvaluateHelp},
                                                    {"predict", hgt::cli::kPredictHelp},
                                                    {"embed", hgt::cli::kEmbedHelp},
                                                    {"explain", hgt::cli::kExplainHelp},
                                                    {"similar", hgt::cli::kSimilarHelp},
                                                    {"report", hgt::cli::kReportHelp},
                                                    {"view", hgt::cli::kViewHelp}}};

bool is_learn_verb(std::string_view name) {
  return std::any_of(kLearnVerbs.begin(), kLearnVerbs.end(),
                     [&](const LearnVerb& verb) { return verb.name == name; });
}

// Becomes hgt-learn, which lies beside hgt or, once installed, in ../libexec/hgt.
int become_learn(char** argv) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  const fs::path beside = folder / "hgt-learn";
  const fs::path installed = folder / ".." / "libexec" / "hgt" / "hgt-learn";
  const fs::path& program = fs::exists(beside, ignored) ? beside : installed;
  // Threads that wait for one another spin before they sleep. libgomp's default of several
  // milliseconds makes a computation ten times slower as soon as anything else runs, and our own
  // sampling threads do; it must be set before the library is loaded.
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) setenv("GOMP_SPINCOUNT", "1000", 0);
  execv(program.c_str(), argv);
  fmt::print(stderr, "hgt: cannot start {}: {}; install hgt again\n", program.string(),
             std::strerror(errno));
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && is_learn_verb(argv[1])) return become_learn(argv);
  CLI::App program("Learning on heterogeneous, dynamic graphs (Heterogeneous Graph Transformer)",
                   "hgt");
  hgt::cli::describe(program);
  hgt::cli::add_generate(program);
  hgt::cli::add_import(program);
  hgt::cli::add_export(program);
  hgt::cli::add_inspect(program);
  hgt::cli::add_sample(program);
  for (const LearnVerb& verb : kLearnVerbs) program.add_subcommand(verb.name, verb.help);
  return hgt::cli::run(program, argc, argv);
}
