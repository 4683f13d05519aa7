#include "hgt/training/comparison.h"

#include <fmt/format.h>

#include <filesystem>

#include "hgt/error.h"
#include "hgt/training/run.h"

namespace hgt {

namespace {

// One that is there was left by a comparison that was stopped while it was made.
void make_run(const RunFolder& folder, const RunOptions& options, const ProgressSink& progress) {
  if (!folder.holds_run()) {
    Run::create(folder.path(), options, progress);
  } else if (!Run::open(folder.path(), progress).is_made_of(options)) {
    throw Error(
        fmt::format("{}: there is already a run with other options; give the same options as "
                    "before, remove it, or choose another folder",
                    folder.path().string()));
  }
}

}  // namespace

void create_comparison(const ComparisonFolder& folder, const std::vector<ComparedModel>& models,
                       const ProgressSink& progress) {
  if (std::filesystem::exists(folder.models_file())) {
    throw Error(fmt::format(
        "{}: there is already a comparison here; continue with --resume, or choose another folder",
        folder.path().string()));
  }
  std::vector<std::string> names;
  for (const ComparedModel& model : models) {
    make_run(folder.run(model.name), model.options, progress);
    names.push_back(model.name);
  }
  write_compared_models(folder, names);
}

}  // namespace hgt
