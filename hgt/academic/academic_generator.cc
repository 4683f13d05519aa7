#include "hgt/academic/academic_generator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hgt/academic/academic_plan.h"
#include "hgt/academic/academic_schema.h"
#include "hgt/academic/academic_sizes.h"
#include "hgt/academic/academic_truth.h"
#include "hgt/academic/academic_writer.h"
#include "hgt/academic/tiny_graph.h"
#include "hgt/error.h"
#include "hgt/parallel.h"

namespace hgt {

namespace {

const AcademicPreset& find_preset(const std::string& name) {
  const auto presets = academic_presets();
  const auto found =
      std::find_if(presets.begin(), presets.end(),
                   [&](const AcademicPreset& preset) { return preset.name == name; });
  if (found != presets.end()) return *found;
  throw Error(fmt::format("there is no preset '{}'; the presets are {}", name,
                          fmt::join(preset_names(), ", ")));
}

}  // namespace

std::vector<GraphPreset> graph_presets() {
  std::vector<GraphPreset> presets = {{"tiny", std::string(kTinySentence)}};
  for (const AcademicPreset& preset : academic_presets()) {
    presets.push_back({std::string(preset.name), std::string(preset.sentence)});
  }
  return presets;
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const GraphPreset& preset : graph_presets()) names.push_back(preset.name);
  return names;
}

Schema generate_academic_graph(const Path& folder, const GenerateOptions& options) {
  if (options.preset == "tiny") return write_tiny_graph(folder, options);
  const AcademicPreset& preset = find_preset(options.preset);
  const AcademicSizes sizes = academic_sizes(preset, options.papers);
  Schema schema = academic_schema(options.shortcuts);
  schema.origin = {{"generator", "hgt generate"},
                   {"preset", options.preset},
                   {"papers", std::to_string(sizes.papers)},
                   {"seed", std::to_string(options.seed)}};
  WholeWork work(options.build.progress);
  BuildOptions build = options.build;
  build.progress = work.sink();
  GraphBuilder builder(folder, schema, build);
  AcademicTruth truth(builder);
  const AcademicPlan plan(sizes, options.seed);
  write_academic_graph(plan, builder, truth,
                       {.features = options.features.value_or(preset.features),
                        .threads = thread_count(build.threads),
                        .work = work});
  auto about = schema.origin;
  about["first_year"] = std::to_string(sizes.first_year);
  about["last_year"] = std::to_string(sizes.last_year);
  truth.finish(about);
  return builder.finish();
}

}  // namespace hgt
