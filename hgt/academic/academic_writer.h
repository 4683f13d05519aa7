// Writes a planned academic graph into a builder, in a stream.
#pragma once

#include "hgt/academic/academic_plan.h"
#include "hgt/academic/academic_truth.h"
#include "hgt/graph/graph_builder.h"
#include "hgt/progress.h"

namespace hgt {

struct WriteOptions {
  uint64_t features = 0;  // width of the papers' title vectors; 0: none
  unsigned threads = 1;   // that draw; at least 1
  WholeWork& work;        // its last part, builder.finish(), is begun and left to the caller
};

// Adds all nodes and edges of the plan, and the planted truth. The builder must be empty and of the
// academic schema. What is added does not depend on the number of threads. Memory is bounded:
// tables of the plan, one byte for each common name, 100 bytes for a thousand papers or authors,
// and a few chunks for each thread.
// Throws Error when the totals cannot be met: too few nodes for this many distinct edges.
void write_academic_graph(const AcademicPlan& plan, GraphBuilder& builder, AcademicTruth& truth,
                          const WriteOptions& options);

}  // namespace hgt
