// Several models on one task under one protocol: the same graph, sampler, adaptation layer, budget
// and seeds; only the layers differ. (Paper, Table 2.) This header reads the results of a
// comparison as a table; create_comparison() in hgt/training begins one.
//
//   const ComparisonTable table = read_comparison(ComparisonFolder("venue"));
//   fmt::print("{}", to_markdown(table));
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hgt/run/run_folder.h"
#include "hgt/run/run_options.h"
#include "hgt/task/metrics.h"

namespace hgt {

// "all", or names out of compared_models(). Throws Error: lists them.
std::vector<std::string> chosen_models(const std::vector<std::string>& names);
// The floors first, then the baselines, then HGT's variants, HGT itself last.
std::vector<std::string> compared_models();

// The options of a compared model: those given, with its kind and variant.
RunOptions compared_options(const std::string& model, const RunOptions& options);

struct ComparedModel {
  std::string name;
  RunOptions options;
};
// All with the same options but these.
std::vector<ComparedModel> with_options(const std::vector<std::string>& models,
                                        const RunOptions& options);

// Which models a comparison is of. Throws Error when reading: there is none.
void write_compared_models(const ComparisonFolder& folder, const std::vector<std::string>& models);
std::vector<std::string> read_compared_models(const ComparisonFolder& folder);

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
ComparisonTable read_comparison(const ComparisonFolder& folder);

std::string to_markdown(const ComparisonTable& table);  // the best of each metric in bold
std::string to_json(const ComparisonTable& table);
std::string to_svg(const ComparisonTable& table);  // NDCG as bars with deviations

}  // namespace hgt
