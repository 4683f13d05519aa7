// read_recipe() of recipe.h: in a file of its own, which needs no LibTorch.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "hgt/error.h"
#include "hgt/features/recipe.h"
#include "hgt/options/settings_file.h"

namespace hgt {

namespace {

bool has_key(const std::vector<Setting>& settings, std::string_view key) {
  return std::any_of(settings.begin(), settings.end(),
                     [&](const Setting& setting) { return setting.key == key; });
}

void apply_settings(const Path& file, const std::vector<Setting>& settings, FeatureStep& step) {
  OptionTable table = step_table(step);
  for (const Setting& setting : settings) {
    try {
      const bool twice = setting.key == "types" && has_key(settings, "type");
      if (twice) throw Error("type and types mean the same; give one of them");
      table.set(setting.key, setting.values);
    } catch (const Error& error) {
      throw Error(fmt::format("{}:{}: {}", file.string(), setting.line, error.what()));
    }
  }
}

void make_absolute(const Path& folder, std::string& path) {
  if (!path.empty() && Path(path).is_relative()) path = (folder / path).string();
}

// All files that a step names.
void make_files_absolute(const Path& folder, FeatureStep& step) {
  make_absolute(folder, step.vectors);
  make_absolute(folder, step.xlnet);
  make_absolute(folder, step.bert);
  if (step.task.ends_with(".toml")) make_absolute(folder, step.task);
}

}  // namespace

std::vector<FeatureStep> read_recipe(const Path& file) {
  const SettingSections sections = read_setting_sections(file, "features");
  FeatureStep common;
  apply_settings(file, sections.common, common);
  std::vector<FeatureStep> steps;
  for (const auto& section : sections.sections) {
    FeatureStep own = common;
    apply_settings(file, section, own);
    make_files_absolute(file.parent_path(), own);
    steps.push_back(std::move(own));
  }
  if (steps.empty()) {
    throw Error(
        fmt::format("{}: contains no steps; each step begins with [[features]]", file.string()));
  }
  return steps;
}

}  // namespace hgt
