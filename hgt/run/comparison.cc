#include "hgt/run/comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "hgt/disk/json_text.h"
#include "hgt/disk/whole_file.h"
#include "hgt/error.h"
#include "hgt/run/example_scores.h"
#include "hgt/run/results.h"
#include "hgt/run/saved_run.h"
#include "hgt/run/training_log.h"

namespace hgt {

namespace {

constexpr const char* kReference = "hgt";

// Metrics that have a column, in this order, where the task has them.
constexpr std::array<const char*, 6> kColumns = {"ndcg",     "mrr",      "accuracy",
                                                 "micro_f1", "macro_f1", "auc"};

void read_training(const RunFolder& run, ComparisonRow& row) {
  const auto summary = read_training_summary(run);
  if (!summary) {
    throw Error(fmt::format("{}: the run is not trained yet; train it: hgt train --run {} --resume",
                            run.path().string(), run.path().string()));
  }
  row.parameters = summary->parameters;
  row.peak_megabytes = summary->peak_megabytes;
  std::vector<double> seconds;
  for (const SeedReport& seed : summary->seeds) seconds.push_back(seed.seconds_per_batch);
  row.seconds_per_batch = spread(seconds);
}

void read_test(const RunFolder& run, ComparisonRow& row, ComparisonTable& table) {
  const auto result = read_result(run, Split::test);
  if (!result) {
    throw Error(fmt::format("{}: the run is not scored yet; score it: hgt evaluate {}",
                            run.path().string(), run.path().string()));
  }
  for (const char* name : kColumns) {
    const Spread* value = result->metric(name);
    if (value != nullptr) row.metrics.emplace_back(name, *value);
  }
  table.seeds = result->seeds.size();
  table.examples = result->seeds.front().examples;
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
    throw Error(
        fmt::format("unknown model '{}'; choose one of all, {}", name, fmt::join(all, ", ")));
  }
  std::vector<std::string> chosen;  // in the order of the table, each once
  std::copy_if(all.begin(), all.end(), std::back_inserter(chosen), [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  });
  if (chosen.empty()) throw Error("no models were given to compare");
  return chosen;
}

RunOptions compared_options(const std::string& model, const RunOptions& options) {
  const std::vector<Contestant> all = contestants();
  const auto contestant = std::find_if(
      all.begin(), all.end(), [&](const Contestant& known) { return known.name == model; });
  assert(contestant != all.end());  // chosen_models() has checked it
  RunOptions own = options;
  own.training.model.kind = contestant->kind;
  own.training.model.heter = contestant->heter;
  own.training.model.rte = contestant->rte;
  return own;
}

std::vector<ComparedModel> with_options(const std::vector<std::string>& models,
                                        const RunOptions& options) {
  std::vector<ComparedModel> compared;
  for (const std::string& model : models) {
    compared.push_back({model, compared_options(model, options)});
  }
  return compared;
}

void write_compared_models(const ComparisonFolder& folder, const std::vector<std::string>& models) {
  write_text(folder.models_file(), nlohmann::ordered_json{{"models", models}}.dump(1) + '\n');
}

std::vector<std::string> read_compared_models(const ComparisonFolder& folder) {
  const bool there = std::filesystem::is_regular_file(folder.models_file());
  const auto json = parse_json(there ? read_text(folder.models_file()) : "", false);
  const auto models = json.is_object() ? json.value("models", nlohmann::json()) : nlohmann::json();
  const bool named = models.is_array() && !models.empty() &&
                     std::all_of(models.begin(), models.end(),
                                 [](const nlohmann::json& name) { return name.is_string(); });
  if (!named) {
    throw Error(fmt::format(
        "{}: the file is missing or damaged; begin a comparison with: hgt compare GRAPH --task ...",
        folder.models_file().string()));
  }
  return models.get<std::vector<std::string>>();
}

ComparisonTable read_comparison(const ComparisonFolder& folder) {
  ComparisonTable table;
  const std::vector<std::string> models = read_compared_models(folder);
  const bool has_reference = std::find(models.begin(), models.end(), kReference) != models.end();
  for (const std::string& model : models) {
    ComparisonRow row{.model = model};
    read_training(folder.run(model), row);
    read_test(folder.run(model), row, table);
    table.rows.push_back(std::move(row));
  }
  for (ComparisonRow& row : table.rows) {
    if (!has_reference || row.model == kReference) continue;
    row.against_hgt =
        compare_runs(folder.run(row.model), folder.run(kReference), Split::test, "ndcg");
  }
  table.task = read_run(folder.run(models.front())).options.task.name;
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
