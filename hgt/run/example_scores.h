// How well a model did on each example, as a table: RUN/seed-1/test.tsv. Two runs are compared
// by these tables.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "hgt/run/run_folder.h"
#include "hgt/task/metrics.h"
#include "hgt/task/task.h"

namespace hgt {

// The ids of each example and its NDCG, MRR and hit, a line each. `numbers` are the examples' in
// the task; as many as rankings.
std::string example_scores(const Task& task, Split split, std::span<const uint32_t> numbers,
                           std::span<const Ranking> rankings);

// The metric of every example of two runs, as their evaluations wrote them; of several seeds the
// mean. Throws Error: not evaluated, or on other examples.
PairedTest compare_runs(const RunFolder& a, const RunFolder& b, Split split,
                        const std::string& metric);

}  // namespace hgt
