// hgt-learn: the verbs that compute with LibTorch. Started by hgt, not by people.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/program.h"
#include "cli/verbs.h"
#include "hgt/model/machine.h"

int main(int argc, char** argv) {
  CLI::App program("Learning on heterogeneous, dynamic graphs (Heterogeneous Graph Transformer)",
                   "hgt");
  hgt::cli::describe(program);
  hgt::cli::add_doctor(program);
  hgt::cli::add_features(program);
  hgt::cli::add_train(program);
  hgt::cli::add_compare(program);
  hgt::cli::add_evaluate(program);
  hgt::cli::add_predict(program);
  hgt::cli::add_embed(program);
  hgt::cli::add_explain(program);
  hgt::cli::add_similar(program);
  hgt::cli::add_report(program);
  hgt::cli::add_view(program);
  if (const auto warning = hgt::blas_warning()) fmt::print(stderr, "hgt: {}\n", *warning);
  return hgt::cli::run(program, argc, argv);
}
