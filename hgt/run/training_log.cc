#include "hgt/run/training_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "hgt/disk/json_text.h"
#include "hgt/disk/whole_file.h"
#include "hgt/error.h"
#include "hgt/run/warnings_json.h"

namespace hgt {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kMetricPrefix = "validation_";
constexpr std::string_view kValidationLoss = "validation_loss";

Json to_json(const LogEntry& entry) {
  Json json = {{"step", entry.step},
               {"epoch", entry.epoch},
               {"train_loss", entry.train_loss},
               {kValidationLoss, entry.validation_loss}};
  for (const auto& [name, value] : entry.metrics) json[std::string(kMetricPrefix) + name] = value;
  json["learning_rate"] = entry.learning_rate;
  json["seconds"] = entry.seconds;
  json["edges_per_second"] = entry.edges_per_second;
  json["waiting"] = entry.waiting;
  return json;
}

// No value: the line is damaged.
std::optional<LogEntry> entry_of(const std::string& line) {
  const Json json = parse_json<Json>(line, false);
  if (!json.is_object() || !json.contains("step")) return std::nullopt;
  try {
    LogEntry entry{.step = json.at("step").get<uint64_t>(),
                   .epoch = json.value("epoch", 0.0),
                   .train_loss = json.value("train_loss", 0.0),
                   .validation_loss = json.value(std::string(kValidationLoss), 0.0),
                   .learning_rate = json.value("learning_rate", 0.0),
                   .seconds = json.value("seconds", 0.0),
                   .edges_per_second = json.value("edges_per_second", 0.0),
                   .waiting = json.value("waiting", 0.0)};
    for (const auto& [name, value] : json.items()) {
      if (!name.starts_with(kMetricPrefix) || name == kValidationLoss) continue;
      entry.metrics.emplace_back(name.substr(kMetricPrefix.size()), value.get<double>());
    }
    return entry;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

// JSON has no infinity: it is written as null.
double loss_of(const Json& json) {
  return json.is_null() ? std::numeric_limits<double>::infinity() : json.get<double>();
}

}  // namespace

double LogEntry::metric(const std::string& name, double otherwise) const {
  const auto found = std::find_if(metrics.begin(), metrics.end(),
                                  [&](const auto& metric) { return metric.first == name; });
  return found == metrics.end() ? otherwise : found->second;
}

std::vector<LogEntry> TrainingLog::read() const {
  std::vector<LogEntry> entries;
  std::ifstream in(file_);
  for (std::string line; std::getline(in, line);) {
    const std::optional<LogEntry> entry = entry_of(line);
    if (entry) entries.push_back(*entry);
  }
  return entries;
}

void TrainingLog::append(const LogEntry& entry) const { append_line(file_, to_json(entry).dump()); }

void TrainingLog::keep_until(uint64_t step) const {
  if (!std::filesystem::exists(file_)) return;
  const std::string text = read_text(file_);
  std::istringstream in(text);
  std::string kept;
  for (std::string line; std::getline(in, line);) {
    const std::optional<LogEntry> entry = entry_of(line);
    if (!entry || entry->step > step) break;
    kept += line + '\n';
  }
  if (kept != text) write_text(file_, kept);
}

void write_training_summary(const RunFolder& folder, const TrainingSummary& summary) {
  Json json = {{"parameters", summary.parameters}, {"peak_memory_mb", summary.peak_megabytes}};
  for (const SeedReport& report : summary.seeds) {
    json["seeds"].push_back({{"seed", report.seed},
                             {"batches", report.batches},
                             {"best_batch", report.best_batch},
                             {"validation_loss", report.validation_loss},
                             {"seconds", report.seconds},
                             {"seconds_per_batch", report.seconds_per_batch},
                             {"stopped_early", report.stopped_early}});
  }
  json["warnings"] = warnings_json(summary.warnings);
  write_text(folder.training_file(), json.dump(1) + '\n');
}

std::optional<TrainingSummary> read_training_summary(const RunFolder& folder) {
  const Path file = folder.training_file();
  if (!std::filesystem::exists(file)) return std::nullopt;
  try {
    const Json json = parse_json<Json>(read_text(file));
    TrainingSummary summary{.parameters = json.at("parameters").get<uint64_t>(),
                            .peak_megabytes = json.at("peak_memory_mb").get<double>()};
    for (const Json& seed : json.at("seeds")) {
      summary.seeds.push_back({.seed = seed.at("seed").get<uint64_t>(),
                               .batches = seed.at("batches").get<uint64_t>(),
                               .best_batch = seed.at("best_batch").get<uint64_t>(),
                               .validation_loss = loss_of(seed.at("validation_loss")),
                               .seconds = seed.at("seconds").get<double>(),
                               .seconds_per_batch = seed.at("seconds_per_batch").get<double>(),
                               .stopped_early = seed.value("stopped_early", false)});
    }
    summary.warnings = warnings_of(json);
    return summary;
  } catch (const Json::exception& error) {
    throw Error(
        fmt::format("{}: the file is damaged ({}); write it again with: hgt train --run {} "
                    "--resume",
                    file.string(), error.what(), folder.path().string()));
  }
}

}  // namespace hgt
