// Any bytes in the files of a run and of a comparison are read or refused with an hgt::Error. The
// input is the texts of the files, each but the last ending in a zero byte.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/fuzz_input.h"
#include "hgt/run/comparison.h"
#include "hgt/run/example_scores.h"
#include "hgt/run/model_options.h"
#include "hgt/run/results.h"
#include "hgt/run/saved_run.h"
#include "hgt/run/training_log.h"

namespace {

constexpr std::array<const char*, 8> kFiles = {
    "run.json",  "options.toml",    "task.toml",        "training.json",
    "test.json", "seed-1/test.tsv", "seed-1/log.jsonl", "comparison.json"};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const hgt::fuzz::FuzzFolder folder;
  std::string_view rest = hgt::fuzz::text_of(data, size);
  for (const char* name : kFiles) {
    const size_t end = rest.find('\0');
    folder.write(name, rest.substr(0, end));
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
  }
  const hgt::RunFolder run(folder.path());
  using hgt::fuzz::read_or_refuse;
  using hgt::fuzz::use;
  read_or_refuse([&] { use(hgt::read_run(run).options.repeats); });
  read_or_refuse([&] { use(hgt::read_training_summary(run)->seeds.size()); });
  read_or_refuse([&] { use(hgt::read_result(run, hgt::Split::test)->seeds.size()); });
  for (const hgt::SeedFolder& seed : run.seeds()) {
    read_or_refuse([&] { use(hgt::TrainingLog(seed.log_file()).read().size()); });
  }
  read_or_refuse([&] { hgt::compare_runs(run, run, hgt::Split::test, "ndcg"); });
  read_or_refuse([&] { use(hgt::read_compared_models(hgt::ComparisonFolder(run.path())).size()); });
  read_or_refuse([&] { hgt::options_from_json(std::string(rest), "model"); });
  return 0;
}
