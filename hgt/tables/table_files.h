// The files of one manifest entry.
#pragma once

#include <vector>

#include "hgt/graph/types.h"
#include "hgt/tables/manifest.h"

namespace hgt {

// The files that the entry's names and patterns stand for, sorted within each pattern. Throws Error
// with the manifest's line when one matches nothing, or is of a format that cannot do what the
// entry says about it.
std::vector<Path> expand_files(const TableSource& source, const Path& folder, const Path& manifest);

// Throws Error if the input lies in the folder of the graph, which the import would replace.
void require_outside(const Path& graph, const Path& input);

}  // namespace hgt
