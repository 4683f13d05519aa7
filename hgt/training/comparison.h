// Begins a comparison of several models (hgt/run/comparison.h reads what comes of it).
//
//   create_comparison(ComparisonFolder("venue"), with_options(chosen_models({"all"}), options));
#pragma once

#include <string>
#include <vector>

#include "hgt/progress.h"
#include "hgt/run/comparison.h"

namespace hgt {

// Makes the run of every model, of which none is trained yet. Throws Error when the folder holds a
// comparison, or the options do not fit the graph.
void create_comparison(const ComparisonFolder& folder, const std::vector<ComparedModel>& models,
                       const ProgressSink& progress = no_progress);

}  // namespace hgt
