#include "hgt/run/tune_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "hgt/disk/json_text.h"
#include "hgt/disk/whole_file.h"
#include "hgt/error.h"

namespace hgt {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kTuneFormat = "hgt tune 1";

Json to_json(const TuneScore& score) {
  Json json = {{"split", to_string(score.split)},
               {"trial", score.trial},
               {"rung", score.rung},
               {"draw", score.draw},
               {"batches", score.batches},
               {"score", nullptr},
               {"seconds", score.seconds}};
  if (score.score) json["score"] = *score.score;
  for (const auto& [name, value] : score.metrics) json["metrics"][name] = value;
  for (const auto& [key, value] : score.drawn) json["options"][key] = value;
  if (!score.failure.empty()) json["failure"] = score.failure;
  return json;
}

// No value: the line is damaged.
std::optional<TuneScore> score_of(const std::string& line) {
  const Json json = parse_json<Json>(line, false);
  if (!json.is_object()) return std::nullopt;
  try {
    TuneScore score{.trial = json.at("trial").get<uint64_t>(),
                    .rung = json.at("rung").get<uint64_t>(),
                    .draw = json.at("draw").get<uint64_t>(),
                    .split = from_word<Split>(json.at("split").get<std::string>()),
                    .batches = json.at("batches").get<uint64_t>(),
                    .seconds = json.at("seconds").get<double>(),
                    .failure = json.value("failure", "")};
    if (!json.at("score").is_null()) score.score = json.at("score").get<double>();
    const Json metrics = json.value("metrics", Json::object());
    for (const auto& [name, value] : metrics.items()) {
      score.metrics.emplace_back(name, value.get<double>());
    }
    const Json drawn = json.value("options", Json::object());
    for (const auto& [key, value] : drawn.items()) {
      score.drawn.emplace_back(key, value.get<std::string>());
    }
    return score;
  } catch (const Json::exception&) {
    return std::nullopt;
  } catch (const Error&) {  // no split
    return std::nullopt;
  }
}

}  // namespace

void write_plan(const TuneFolder& folder, const TunePlan& plan) {
  const TuneOptions& options = plan.options;
  const Json json = {{"format", kTuneFormat},    {"trials", options.trials},
                     {"budget", options.budget}, {"rungs", options.rungs},
                     {"draws", options.draws},   {"draws_reason", plan.draws_reason},
                     {"metric", options.metric}};
  write_text(folder.plan_file(), json.dump(1) + '\n');
}

TunePlan read_plan(const TuneFolder& folder) {
  if (!holds_plan(folder)) {
    throw Error(
        fmt::format("{}: no search was begun here; begin one with: hgt tune GRAPH --task ...",
                    folder.path().string()));
  }
  try {
    const Json json = parse_json<Json>(read_text(folder.plan_file()));
    TunePlan plan{.options = {.trials = json.at("trials").get<uint64_t>(),
                              .budget = json.at("budget").get<std::string>(),
                              .rungs = json.at("rungs").get<uint64_t>(),
                              .draws = json.at("draws").get<uint64_t>(),
                              .metric = json.at("metric").get<std::string>()},
                  .draws_reason = json.at("draws_reason").get<std::string>()};
    if (json.at("format") != kTuneFormat) throw Error("it was written by another version of hgt");
    OptionTable table = tune_table(plan.options);
    for (const auto& entry : table.entries()) table.set(entry.key, entry.get());  // their ranges
    check(plan.options);
    return plan;
  } catch (const std::exception& error) {
    throw Error(
        fmt::format("{}: the file is damaged ({}); begin the search again in another folder",
                    folder.plan_file().string(), error.what()));
  }
}

bool holds_plan(const TuneFolder& folder) { return std::filesystem::exists(folder.plan_file()); }

std::vector<TuneScore> TuneLog::read() const {
  std::vector<TuneScore> scores;
  std::ifstream in(file_);
  for (std::string line; std::getline(in, line);) {
    if (const auto score = score_of(line)) scores.push_back(*score);
  }
  return scores;
}

void TuneLog::append(const TuneScore& score) const { append_line(file_, to_json(score).dump()); }

void TuneLog::drop_half_line() const {
  if (!std::filesystem::exists(file_)) return;
  const std::string text = read_text(file_);
  const size_t end = text.rfind('\n');
  const size_t whole = end == std::string::npos ? 0 : end + 1;
  if (whole < text.size()) write_text(file_, text.substr(0, whole));
}

std::optional<double> kept_score(const std::vector<LogEntry>& entries, const std::string& metric,
                                 uint64_t until) {
  const LogEntry* kept = nullptr;
  for (const LogEntry& entry : entries) {
    if (entry.step > until) continue;
    if (kept == nullptr || entry.validation_loss < kept->validation_loss) kept = &entry;
  }
  if (kept == nullptr) return std::nullopt;
  return metric == "loss" ? -kept->validation_loss : kept->metric(metric, 0);
}

RungScores mean_scores(const std::vector<TuneScore>& log, const Halving& halving) {
  std::map<RungOfTrial, std::map<uint64_t, std::optional<double>>> by_draw;
  for (const TuneScore& score : log) {
    if (score.split != Split::validation) continue;
    by_draw[{score.trial, score.rung}][score.draw] = score.score;
  }
  RungScores means;
  for (const auto& [job, scores] : by_draw) {
    const bool failed = std::any_of(scores.begin(), scores.end(),
                                    [](const auto& each) { return !each.second.has_value(); });
    if (failed) means[job] = std::nullopt;
    if (failed || scores.size() < draws_of_rung(halving, job.rung)) continue;
    double sum = 0;
    for (const auto& [draw, score] : scores) sum += *score;
    means[job] = sum / static_cast<double>(scores.size());
  }
  return means;
}

double seconds_spent(const std::vector<TuneScore>& log) {
  std::map<std::pair<uint64_t, uint64_t>, double> latest;
  for (const TuneScore& score : log) {
    if (score.split == Split::validation) latest[{score.trial, score.draw}] = score.seconds;
  }
  double sum = 0;
  for (const auto& [training, seconds] : latest) sum += seconds;
  return sum;
}

bool has_read_test(const std::vector<TuneScore>& log) {
  return std::any_of(log.begin(), log.end(),
                     [](const TuneScore& score) { return score.split == Split::test; });
}

}  // namespace hgt
