// hgt-learn: the verbs that compute with LibTorch. Started by hgt, not by people.
#include <fmt/format.h>

#include <string_view>

#include "cli/program.h"
#include "cli/streams.h"
#include "hgt/model/blas_memory.h"
#include "hgt/model/machine.h"

namespace {

using namespace hgt::cli;

constexpr Verb kVerbs[] = {HGT_VERBS(HGT_OTHER_VERB, HGT_OWN_VERB)};

}  // namespace

int main(int argc, char** argv) {
  prepare_streams();
  hgt::keep_within_container();
  const auto program = make_program(kVerbs);
  if (argc > 1 && std::string_view(argv[1]) == "--help-all") {  // the second half, main.cc of hgt
    print_text(help_of_own_verbs(*program, kVerbs));
    return with_output_written(0);
  }
  if (const auto warning = hgt::blas_warning()) tell(fmt::format("hgt: {}\n", *warning));
  return run(*program, argc, argv);
}
