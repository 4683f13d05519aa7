// hgt: the command line. Data goes to stdout, progress and complaints to stderr.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <thread>

#include "cli/program.h"
#include "cli/streams.h"
#include "hgt/disk/memory_limit.h"

namespace {

using namespace hgt::cli;

constexpr Verb kVerbs[] = {HGT_VERBS(HGT_OWN_VERB, HGT_OTHER_VERB)};

// Address space that loading hgt-learn takes: LibTorch with what it depends on, and 128 MB for each
// thread of OpenBLAS, which asks for them until it gets them.
size_t bytes_to_load() {
  const char* const given = std::getenv("OMP_NUM_THREADS");
  const int threads = given != nullptr ? std::atoi(given) : 0;
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  return (640 + 128 * size_t{threads > 0 ? static_cast<unsigned>(threads) : cores}) << 20U;
}

// Becomes hgt-learn, which lies beside hgt or, once installed, in ../libexec/hgt.
int become_learn(char** argv) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  const fs::path beside = folder / "hgt-learn";
  const fs::path installed = folder / ".." / "libexec" / "hgt" / "hgt-learn";
  const fs::path& program = fs::exists(beside, ignored) ? beside : installed;
  const auto limit = hgt::memory_limit();
  if (limit && !hgt::can_map(bytes_to_load())) {
    tell(
        fmt::format("hgt: memory ran out: loading LibTorch takes about {} MB, and the process may "
                    "have {} MB; raise the limit (ulimit -v, ulimit -d), or use fewer threads "
                    "(OMP_NUM_THREADS=1)\n",
                    bytes_to_load() >> 20U, *limit >> 20U));
    return 1;
  }
  // Threads that wait for one another spin before they sleep. libgomp's default of several
  // milliseconds makes a computation ten times slower as soon as anything else runs, and our own
  // sampling threads do; it must be set before the library is loaded.
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) setenv("GOMP_SPINCOUNT", "1000", 0);
  execv(program.c_str(), argv);
  tell(fmt::format("hgt: cannot start {}: {}; install hgt again\n", program.string(),
                   std::strerror(errno)));
  return 1;
}

// The general help, the verbs of hgt, then, by hgt-learn, the others.
int help_of_all(char** argv) {
  const auto program = make_program(kVerbs);
  print_text(program->help() + help_of_own_verbs(*program, kVerbs));
  const int code = with_output_written(0);
  return code != 0 ? code : become_learn(argv);
}

}  // namespace

int main(int argc, char** argv) {
  prepare_streams();
  const std::string_view first = argc > 1 ? argv[1] : "--help";
  if (first == "--help-all") return help_of_all(argv);
  const Verb* verb = find_verb(kVerbs, first);
  if (verb == nullptr && !first.starts_with('-')) return refuse_verb(kVerbs, first);
  if (verb != nullptr && verb->add == nullptr) return become_learn(argv);
  return run(*make_program(kVerbs), argc, argv);
}
