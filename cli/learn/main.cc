// hgt-learn: the verbs that compute with LibTorch. Started by hgt, not by people.
#include <fmt/format.h>

#include <cstdio>
#include <string_view>

#include "cli/program.h"
#include "hgt/model/machine.h"

namespace {

using namespace hgt::cli;

constexpr Verb kVerbs[] = {HGT_VERBS(HGT_OTHER_VERB, HGT_OWN_VERB)};

}  // namespace

int main(int argc, char** argv) {
  const auto program = make_program(kVerbs);
  if (argc > 1 && std::string_view(argv[1]) == "--help-all") {  // the second half, main.cc of hgt
    fmt::print("{}", help_of_own_verbs(*program, kVerbs));
    return 0;
  }
  if (const auto warning = hgt::blas_warning()) fmt::print(stderr, "hgt: {}\n", *warning);
  return run(*program, argc, argv);
}
