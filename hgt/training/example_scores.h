// How well a model did on each example, as a table: RUN/seed-1/test.tsv. Two runs are compared by
// what stands in theirs (compare_runs in run.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "hgt/task/metrics.h"
#include "hgt/task/task.h"

namespace hgt {

// The ids of each example and its NDCG, MRR and hit, a line each. `numbers` are the examples' in
// the task; as many as rankings.
std::string example_scores(const Task& task, Split split, std::span<const uint32_t> numbers,
                           std::span<const Ranking> rankings);

}  // namespace hgt
