#include "hgt/run/run_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace hgt {

namespace fs = std::filesystem;

namespace {

constexpr const char* kSeedPrefix = "seed-";

std::string results_name(Split split) { return fmt::format("{}.json", to_string(split)); }

}  // namespace

Path SeedFolder::results_file(Split split) const { return path_ / results_name(split); }

Path SeedFolder::example_scores_file(Split split) const {
  return path_ / fmt::format("{}.tsv", to_string(split));
}

Path RunFolder::results_file(Split split) const { return path_ / results_name(split); }

SeedFolder RunFolder::seed(uint64_t seed) const {
  return SeedFolder(path_ / fmt::format("{}{}", kSeedPrefix, seed));
}

std::vector<SeedFolder> RunFolder::seeds() const {
  std::vector<Path> paths;
  std::error_code none;  // a run that was never trained may have no folder
  for (const auto& entry : fs::directory_iterator(path_, none)) {
    if (entry.path().filename().string().starts_with(kSeedPrefix)) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<SeedFolder> folders;
  for (Path& path : paths) folders.emplace_back(std::move(path));
  return folders;
}

bool RunFolder::holds_run() const { return fs::exists(environment_file()); }

void RunFolder::remove_results(uint64_t number) const {
  for (const Split split : kSplits) {
    fs::remove(results_file(split));
    fs::remove(seed(number).results_file(split));
    fs::remove(seed(number).example_scores_file(split));
  }
}

RunFolder TuneFolder::trial(uint64_t number, uint64_t draw) const {
  return RunFolder(path_ / "trials" / fmt::format("{:04}", number) / fmt::format("draw-{}", draw));
}

}  // namespace hgt
