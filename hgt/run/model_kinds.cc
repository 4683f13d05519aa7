#include "hgt/run/model_kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace hgt {

namespace {

// How much of the graph a model makes use of.
int breadth(const ModelRow& row) {
  return int{row.reads_features} + int{row.reads_neighbors} + int{row.has_variants};
}

void append_variants(const ModelRow& row, std::vector<Contestant>& all) {
  for (const bool heter : {false, true}) {
    for (const bool rte : {false, true}) {
      all.push_back(
          {.name = fmt::format("{}{}{}", row.name, heter ? "" : "-no-heter", rte ? "" : "-no-rte"),
           .kind = row.kind,
           .heter = heter,
           .rte = rte});
    }
  }
}

}  // namespace

std::vector<std::string> model_names(bool ModelRow::*capability) {
  std::vector<std::string> names;
  for (const ModelRow& row : kModels) {
    if (row.*capability) names.emplace_back(row.name);
  }
  return names;
}

std::string model_descriptions() {
  std::vector<std::string> lines;
  for (const ModelRow& row : kModels) {
    lines.push_back(fmt::format("{}: {}", row.name, row.description));
  }
  return fmt::format("{}", fmt::join(lines, "; "));
}

std::vector<Contestant> contestants() {
  std::vector<ModelRow> rows(kModels.begin(), kModels.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ModelRow& a, const ModelRow& b) { return breadth(a) < breadth(b); });
  std::vector<Contestant> all;
  for (const ModelRow& row : rows) {
    if (row.has_variants) {
      append_variants(row, all);
    } else {
      all.push_back({.name = std::string(row.name), .kind = row.kind});
    }
  }
  return all;
}

}  // namespace hgt
