// The built-in synthetic academic graph, with planted structure that a model should find.
// docs/generator.md says what is planted and how strongly.
//
//   generate_academic_graph("small.graph", {.preset = "small", .seed = 7});
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hgt/graph/graph_builder.h"
#include "hgt/graph/schema.h"
#include "hgt/graph/types.h"

namespace hgt {

struct GenerateOptions {
  std::string preset = "small";
  std::optional<uint64_t> papers = {};  // default: as the preset says; other counts in proportion
  uint64_t seed = 1;
  bool shortcuts = false;  // also author-field, author-venue, coauthor relations
  // Width of the papers' title vectors (fp16); 0: none. Default: 64 for tiny and small, else 0.
  std::optional<uint64_t> features = {};
  BuildOptions build = {};
};

struct GraphPreset {
  std::string name;
  std::string sentence;  // what it is
};

std::vector<GraphPreset> graph_presets();
std::vector<std::string> preset_names();

// Writes the graph to `folder` and the planted truth to its sub-folder "truth": both appear or
// neither. Returns the schema as written. The bytes of both are a function of the options alone
// (tiny does not look at the seed). Throws Error: unknown preset, a number of papers that the
// preset cannot have, a folder that exists.
Schema generate_academic_graph(const Path& folder, const GenerateOptions& options);

}  // namespace hgt
