// Several models on one task under one protocol: the same graph, sampler, adaptation layer, budget
// and seeds; only the layers differ. (Paper, Table 2.)
//
//   DIR/comparison.json    which models, in the order of the table
//   DIR/MODEL              the run of each (run.h)
//
//   create_comparison("venue", options, chosen_models("all"));
//   for (const std::string& model : open_comparison("venue")) train_and_score("venue" / model);
//   const ComparisonTable table = read_comparison("venue");
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hgt/run/run_options.h"
#include "hgt/task/metrics.h"

namespace hgt {

// "all", or names out of compared_models(). Throws Error: lists them.
std::vector<std::string> chosen_models(const std::vector<std::string>& names);
// The floors first, then the baselines, then HGT's variants, HGT itself last.
std::vector<std::string> compared_models();

// Makes the run of every model, of which none is trained yet. Throws Error when the folder holds a
// comparison, or the options do not fit the graph.
void create_comparison(const Path& folder, const RunOptions& options,
                       const std::vector<std::string>& models);
// The models of a comparison. Throws Error: there is none.
std::vector<std::string> open_comparison(const Path& folder);

struct ComparisonRow {
  std::string model;
  uint64_t parameters = 0;
  Spread seconds_per_batch = {};
  double peak_megabytes = 0;
  std::vector<std::pair<std::string, Spread>> metrics = {};
  std::optional<PairedTest> against_hgt = {};  // NDCG of the same examples, less that of hgt
};

struct ComparisonTable {
  std::string task;
  uint64_t examples = 0;
  uint64_t seeds = 0;
  std::vector<ComparisonRow> rows = {};
};

// What the runs left of training and evaluation. Throws Error when one of them is missing.
ComparisonTable read_comparison(const Path& folder);

std::string to_markdown(const ComparisonTable& table);  // the best of each metric in bold
std::string to_json(const ComparisonTable& table);
std::string to_svg(const ComparisonTable& table);  // NDCG as bars with deviations

}  // namespace hgt
