// What lies in the folder of a graph, for those who replace one.
#pragma once

#include <string_view>

#include "hgt/disk/file.h"

namespace hgt {

constexpr std::string_view kGraphFormat = "hgt-graph";  // the "format" of schema.json

// The planted truth of a generated graph (hgt/academic), beside the folders of node types.
constexpr const char* kTruthFolder = "truth";

// Throws Error unless the folder holds a graph, of any format version, and nothing right inside it
// that hgt did not make.
void require_only_graph(const Path& folder);

}  // namespace hgt
