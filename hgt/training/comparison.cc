#include "hgt/training/comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "hgt/disk/whole_file.h"
#include "hgt/error.h"
#include "hgt/run/example_scores.h"
#include "hgt/training/run.h"

namespace hgt {

namespace fs = std::filesystem;

namespace {

constexpr const char* kReference = "hgt";

// Metrics that have a column, in this order, where the task has them.
constexpr std::array<const char*, 6> kColumns = {"ndcg",     "mrr",      "accuracy",
                                                 "micro_f1", "macro_f1", "auc"};

Path comparison_file(const Path& folder) { return folder / "comparison.json"; }

nlohmann::json read_json(const Path& file, const std::string& remedy) {
  std::ifstream in(file);
  auto json = nlohmann::json::parse(in, nullptr, false);
  if (!in.is_open() || json.is_discarded()) {
    throw Error(fmt::format("{}: is missing or damaged; {}", file.string(), remedy));
  }
  return json;
}

Spread spread_of(const nlohmann::json& json) {
  return {.mean = json.at("mean").get<double>(), .deviation = json.at("deviation").get<double>()};
}

void read_training(const Path& run, ComparisonRow& row) {
  const auto json = read_json(run / "training.json", fmt::format("train it: hgt train --run {} "
                                                                 "--resume",
                                                                 run.string()));
  row.parameters = json.at("parameters").get<uint64_t>();
  row.peak_megabytes = json.at("peak_memory_mb").get<double>();
  std::vector<double> seconds;
  for (const auto& seed : json.at("seeds")) {
    seconds.push_back(seed.at("seconds_per_batch").get<double>());
  }
  row.seconds_per_batch = spread(seconds);
}

void read_test(const Path& run, ComparisonRow& row, ComparisonTable& table) {
  const auto json = read_json(run / "test.json", "score it: hgt evaluate " + run.string());
  for (const char* name : kColumns) {
    const auto found = json.at("metrics").find(name);
    if (found != json.at("metrics").end()) row.metrics.emplace_back(name, spread_of(*found));
  }
  table.seeds = json.at("seeds").size();
  table.examples = json.at("seeds").at(0).at("examples").get<uint64_t>();
}

const Spread* metric_of(const ComparisonRow& row, const std::string& name) {
  for (const auto& [own, value] : row.metrics) {
    if (own == name) return &value;
  }
  return nullptr;
}

double best_of(const ComparisonTable& table, const std::string& metric) {
  double best = 0;
  for (const ComparisonRow& row : table.rows) {
    const Spread* value = metric_of(row, metric);
    if (value != nullptr) best = std::max(best, value->mean);
  }
  return best;
}

std::string metric_cell(const ComparisonTable& table, const ComparisonRow& row,
                        const std::string& metric) {
  const Spread* value = metric_of(row, metric);
  if (value == nullptr) return "";
  const std::string number = table.seeds > 1
                                 ? fmt::format("{:.3f} ± {:.3f}", value->mean, value->deviation)
                                 : fmt::format("{:.3f}", value->mean);
  return value->mean == best_of(table, metric) ? fmt::format("**{}**", number) : number;
}

std::string against_cell(const ComparisonRow& row) {
  if (!row.against_hgt) return "";
  const double p = row.against_hgt->p_value;
  return fmt::format("{:+.3f} ({})", row.against_hgt->difference,
                     p < 0.001 ? "p < 0.001" : fmt::format("p = {:.3f}", p));
}

std::string row_line(const ComparisonTable& table, const ComparisonRow& row) {
  std::string line = fmt::format("| {} | {:.2f} M | {:.0f} ms | {:.0f} MB |", row.model,
                                 static_cast<double>(row.parameters) / 1e6,
                                 row.seconds_per_batch.mean * 1e3, row.peak_megabytes);
  for (const auto& [metric, unused] : table.rows.front().metrics) {
    line += fmt::format(" {} |", metric_cell(table, row, metric));
  }
  return line + fmt::format(" {} |\n", against_cell(row));
}

// One that is there was left by a comparison that was stopped while it was made.
void make_run(const Path& folder, const RunOptions& options) {
  if (!fs::exists(folder / "run.json")) {
    Run::create(folder, options);
  } else if (!Run::open(folder).is_made_of(options)) {
    throw Error(
        fmt::format("{}: there is a run with other options already; give the same options as "
                    "then, remove it, or choose another folder",
                    folder.string()));
  }
}

}  // namespace

std::vector<std::string> compared_models() {
  std::vector<std::string> names;
  for (const Contestant& contestant : contestants()) names.push_back(contestant.name);
  return names;
}

std::vector<std::string> chosen_models(const std::vector<std::string>& names) {
  const std::vector<std::string> all = compared_models();
  if (names == std::vector<std::string>{"all"}) return all;
  for (const std::string& name : names) {
    if (std::find(all.begin(), all.end(), name) != all.end()) continue;
    throw Error(fmt::format("unknown model '{}'; there are all, {}", name, fmt::join(all, ", ")));
  }
  std::vector<std::string> chosen;  // in the order of the table, each once
  std::copy_if(all.begin(), all.end(), std::back_inserter(chosen), [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  });
  if (chosen.empty()) throw Error("there is no model to compare");
  return chosen;
}

void create_comparison(const Path& folder, const RunOptions& options,
                       const std::vector<std::string>& models) {
  if (fs::exists(comparison_file(folder))) {
    throw Error(fmt::format(
        "{}: there is a comparison already; go on with --resume, or choose another folder",
        folder.string()));
  }
  for (const Contestant& contestant : contestants()) {
    if (std::find(models.begin(), models.end(), contestant.name) == models.end()) continue;
    RunOptions own = options;
    ModelOptions& model = own.training.model;
    model.kind = contestant.kind;
    model.heterogeneous = contestant.heter;
    model.temporal = contestant.rte;
    make_run(folder / contestant.name, own);
  }
  write_text(comparison_file(folder), nlohmann::ordered_json{{"models", models}}.dump(1) + '\n');
}

std::vector<std::string> open_comparison(const Path& folder) {
  const auto json =
      read_json(comparison_file(folder), "make a comparison with: hgt compare GRAPH --task ...");
  return json.at("models").get<std::vector<std::string>>();
}

ComparisonTable read_comparison(const Path& folder) {
  ComparisonTable table;
  const std::vector<std::string> models = open_comparison(folder);
  const bool has_reference = std::find(models.begin(), models.end(), kReference) != models.end();
  for (const std::string& model : models) {
    const Path run = folder / model;
    ComparisonRow row{.model = model};
    try {
      read_training(run, row);
      read_test(run, row, table);
    } catch (const nlohmann::json::exception& error) {
      throw Error(
          fmt::format("{}: what it left of training is damaged: {}", run.string(), error.what()));
    }
    table.rows.push_back(std::move(row));
  }
  for (ComparisonRow& row : table.rows) {
    if (!has_reference || row.model == kReference) continue;
    row.against_hgt = compare_runs(folder / row.model, folder / kReference, Split::test, "ndcg");
  }
  table.task = Run::open(folder / models.front()).task().spec().name;
  return table;
}

std::string to_markdown(const ComparisonTable& table) {
  std::string text =
      fmt::format("{}: {} test examples, {} seeds\n\n", table.task, table.examples, table.seeds);
  text += "| model | parameters | time per batch | peak memory |";
  std::string rule = "| --- | ---: | ---: | ---: |";
  for (const auto& [metric, unused] : table.rows.front().metrics) {
    text += " " + metric + " |";
    rule += " ---: |";
  }
  text += " NDCG against hgt |\n" + rule + " ---: |\n";
  for (const ComparisonRow& row : table.rows) text += row_line(table, row);
  return text;
}

std::string to_json(const ComparisonTable& table) {
  nlohmann::ordered_json json = {
      {"task", table.task}, {"examples", table.examples}, {"seeds", table.seeds}};
  for (const ComparisonRow& row : table.rows) {
    nlohmann::ordered_json entry = {{"model", row.model},
                                    {"parameters", row.parameters},
                                    {"seconds_per_batch", row.seconds_per_batch.mean},
                                    {"peak_memory_mb", row.peak_megabytes}};
    for (const auto& [metric, value] : row.metrics) {
      entry["metrics"][metric] = {{"mean", value.mean}, {"deviation", value.deviation}};
    }
    if (row.against_hgt) {
      entry["ndcg_against_hgt"] = {{"difference", row.against_hgt->difference},
                                   {"low", row.against_hgt->low},
                                   {"high", row.against_hgt->high},
                                   {"p_value", row.against_hgt->p_value}};
    }
    json["models"].push_back(entry);
  }
  return json.dump(1) + '\n';
}

std::string to_svg(const ComparisonTable& table) {
  constexpr int kLeft = 170;
  constexpr int kWidth = 420;
  constexpr int kStep = 26;
  const int height = 60 + kStep * static_cast<int>(table.rows.size());
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" font-size=\"13\">\n"
      "<title>NDCG of each model</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
      "<text x=\"{2}\" y=\"20\">NDCG, mean and deviation over {3} seeds</text>\n",
      kLeft + kWidth + 70, height, kLeft, table.seeds);
  int y = 36;
  for (const ComparisonRow& row : table.rows) {
    const Spread* value = metric_of(row, "ndcg");
    if (value == nullptr) continue;
    const double end = kLeft + kWidth * value->mean;
    const double whisker = kWidth * value->deviation;
    svg += fmt::format(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>"
        "<rect x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"16\" fill=\"{}\"/>"
        "<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{}\" y2=\"{}\" stroke=\"#222\"/>"
        "<text x=\"{:.1f}\" y=\"{}\">{:.3f}</text>\n",
        kLeft - 8, y + 13, row.model, kLeft, y, kWidth * value->mean,
        row.model == kReference ? "#2b6cb0" : "#90aac4", end - whisker, end + whisker, y + 8, y + 8,
        end + whisker + 6, y + 13, value->mean);
    y += kStep;
  }
  return svg + "</svg>\n";
}

}  // namespace hgt
