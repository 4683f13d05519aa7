#include "hgt/run/example_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include "hgt/disk/whole_file.h"
#include "hgt/error.h"

namespace hgt {

namespace fs = std::filesystem;

namespace {

// What is worth comparing example by example.
constexpr const char* kHeader = "ndcg\tmrr\thits@1";
constexpr size_t kMetrics = 3;

// An example: the ids that stand before its metrics, and how many with the same ids came before it
// (a link may be there several times).
using ExampleKey = std::pair<std::string, uint64_t>;
struct Sum {
  double value = 0;
  uint64_t seeds = 0;
};
using ExampleSums = std::map<ExampleKey, Sum>;

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, '\t');) cells.push_back(cell);
  return cells;
}

void add_examples(const Path& file, const std::string& metric, ExampleSums& sums) {
  std::istringstream in(read_text(file));
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> titles = cells_of(line);
  const auto found = std::find(titles.begin(), titles.end(), metric);
  if (found == titles.end()) {
    throw Error(fmt::format("{}: there is no column '{}'; choose ndcg, mrr or hits@1",
                            file.string(), metric));
  }
  const auto column = static_cast<size_t>(found - titles.begin());
  std::map<std::string, uint64_t> met;
  while (std::getline(in, line)) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() != titles.size()) throw Error(fmt::format("{}: is damaged", file.string()));
    std::string ids;
    for (size_t i = 0; i + kMetrics < cells.size(); ++i) ids += cells[i] + '\t';
    try {
      Sum& sum = sums[{ids, met[ids]++}];
      sum.value += std::stod(cells[column]);
      ++sum.seeds;
    } catch (const std::logic_error&) {
      throw Error(fmt::format("{}: '{}' is not a number", file.string(), cells[column]));
    }
  }
}

// The mean of each example over the seeds.
std::map<ExampleKey, double> example_means(const RunFolder& run, Split split,
                                           const std::string& metric) {
  const std::string name = run.path().string();
  const std::string remedy = fmt::format("run: hgt evaluate {} --split {}", name, to_string(split));
  ExampleSums sums;
  uint64_t seeds = 0;
  if (!fs::is_directory(run.path())) throw Error(fmt::format("{}: not a run", name));
  for (const SeedFolder& seed : run.seeds()) {
    const Path file = seed.example_scores_file(split);
    if (!fs::exists(file)) continue;
    add_examples(file, metric, sums);
    ++seeds;
  }
  if (sums.empty()) {
    throw Error(fmt::format("{}: has not been scored on {}; {}", name, to_string(split), remedy));
  }
  std::map<ExampleKey, double> means;
  for (const auto& [key, sum] : sums) {
    if (sum.seeds != seeds) {
      throw Error(fmt::format("{}: its seeds were scored on different examples of {}; {}", name,
                              to_string(split), remedy));
    }
    means[key] = sum.value / static_cast<double>(seeds);
  }
  return means;
}

}  // namespace

std::string example_scores(const Task& task, Split split, std::span<const uint32_t> numbers,
                           std::span<const Ranking> rankings) {
  std::string text = fmt::format("{}\t{}\n", task.example_columns(), kHeader);
  for (size_t i = 0; i < rankings.size(); ++i) {
    const Ranking& ranking = rankings[i];
    text += fmt::format("{}\t{:.6g}\t{:.6g}\t{:.6g}\n", task.describe_example(split, numbers[i]),
                        ranking.ndcg, ranking.reciprocal_rank, ranking.hits_1);
  }
  return text;
}

PairedTest compare_runs(const RunFolder& a, const RunFolder& b, Split split,
                        const std::string& metric) {
  const auto in_a = example_means(a, split, metric);
  const auto in_b = example_means(b, split, metric);
  std::vector<double> values_a;
  std::vector<double> values_b;
  for (const auto& [key, value] : in_a) {
    const auto found = in_b.find(key);
    if (found == in_b.end() || in_a.size() != in_b.size()) {
      throw Error(fmt::format("{} and {} were scored on different examples", a.path().string(),
                              b.path().string()));
    }
    values_a.push_back(value);
    values_b.push_back(found->second);
  }
  return paired_test(values_a, values_b);
}

}  // namespace hgt
