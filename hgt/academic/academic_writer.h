// Writes a planned academic graph into a builder, in a stream.
#pragma once

#include "hgt/academic/academic_plan.h"
#include "hgt/academic/academic_truth.h"
#include "hgt/graph/graph_builder.h"
#include "hgt/progress.h"

namespace hgt {

// Adds all nodes and edges of the plan, and the planted truth. The builder must be empty and of the
// academic schema; `features` is the width of the papers' title vectors, 0 for none. Memory is
// bounded: tables of the plan, and one byte for each common name.
// Throws Error when the totals cannot be met: too few nodes for this many distinct edges.
void write_academic_graph(const AcademicPlan& plan, uint64_t features, GraphBuilder& builder,
                          AcademicTruth& truth, const ProgressSink& progress);

}  // namespace hgt
