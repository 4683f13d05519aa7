// The preset `tiny`: an academic graph of 13 nodes that can be checked by hand.
#pragma once

#include <string_view>

#include "hgt/academic/academic_generator.h"
#include "hgt/graph/schema.h"
#include "hgt/graph/types.h"

namespace hgt {

constexpr std::string_view kTinySentence =
    "13 nodes and every edge written out in tiny_graph.cc: for tests by hand";

// As generate_academic_graph, for preset tiny; looks at neither preset nor seed. Throws Error when
// options.papers is given: the graph is fixed.
Schema write_tiny_graph(const Path& folder, const GenerateOptions& options);

}  // namespace hgt
