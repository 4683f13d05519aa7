// hgt: the command line. Data goes to stdout, progress and complaints to stderr.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "cli/program.h"

namespace {

using namespace hgt::cli;

constexpr Verb kVerbs[] = {HGT_VERBS(HGT_OWN_VERB, HGT_OTHER_VERB)};

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

// The general help, the verbs of hgt, then, by hgt-learn, the others.
int help_of_all(char** argv) {
  const auto program = make_program(kVerbs);
  fmt::print("{}{}", program->help(), help_of_own_verbs(*program, kVerbs));
  std::fflush(stdout);
  return become_learn(argv);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "--help";
  if (first == "--help-all") return help_of_all(argv);
  const Verb* verb = find_verb(kVerbs, first);
  if (verb == nullptr && !first.starts_with('-')) return refuse_verb(kVerbs, first);
  if (verb != nullptr && verb->add == nullptr) return become_learn(argv);
  return run(*make_program(kVerbs), argc, argv);
}
