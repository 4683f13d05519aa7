#include "hgt/run/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "hgt/disk/json_text.h"
#include "hgt/disk/whole_file.h"
#include "hgt/error.h"
#include "hgt/run/warnings_json.h"

namespace hgt {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const EvaluationOptions& how) {
  return {{"batch_size", how.batch_size},
          {"samples", how.samples},
          {"full", how.full},
          {"limit", how.limit}};
}

EvaluationOptions scoring_of(const Json& json) {
  return {.batch_size = json.at("batch_size").get<uint64_t>(),
          .samples = json.at("samples").get<uint32_t>(),
          .full = json.at("full").get<bool>(),
          .limit = json.at("limit").get<uint64_t>()};
}

// Members of a seed that are not metrics.
const std::set<std::string>& plain_members() {
  static const std::set<std::string> names = {"seed",     "best_batch", "finished", "examples",
                                              "left_out", "loss",       "seconds",  "equal_scores"};
  return names;
}

Json to_json(const SeedResult& result) {
  Json json = {{"seed", result.seed},         {"best_batch", result.best_batch},
               {"finished", result.finished}, {"examples", result.examples},
               {"left_out", result.left_out}, {"loss", result.loss}};
  for (const auto& [name, value] : result.metrics) json[name] = value;
  json["seconds"] = result.seconds;
  json["equal_scores"] = result.equal_scores;
  return json;
}

SeedResult seed_result_of(const Json& json) {
  SeedResult result{.seed = json.at("seed").get<uint64_t>(),
                    .best_batch = json.at("best_batch").get<uint64_t>(),
                    .finished = json.at("finished").get<bool>(),
                    .examples = json.at("examples").get<uint64_t>(),
                    .left_out = json.at("left_out").get<uint64_t>(),
                    .loss = json.at("loss").get<double>(),
                    .seconds = json.at("seconds").get<double>(),
                    .equal_scores = json.value("equal_scores", false)};
  for (const auto& [name, value] : json.items()) {
    if (!plain_members().contains(name)) result.metrics.emplace_back(name, value.get<double>());
  }
  return result;
}

void append_metric(const SeedResult& seed, const std::string& name, std::vector<double>& values) {
  for (const auto& [own, value] : seed.metrics) {
    if (own == name) values.push_back(value);
  }
}

}  // namespace

bool RunResult::is_finished() const {
  return std::all_of(seeds.begin(), seeds.end(),
                     [](const SeedResult& seed) { return seed.finished; });
}

const Spread* RunResult::metric(const std::string& name) const {
  const auto found = std::find_if(metrics.begin(), metrics.end(),
                                  [&](const auto& metric) { return metric.first == name; });
  return found == metrics.end() ? nullptr : &found->second;
}

void summarize(RunResult& result) {
  result.metrics.clear();
  for (const auto& [name, unused] : result.seeds.front().metrics) {
    std::vector<double> values;
    for (const SeedResult& seed : result.seeds) append_metric(seed, name, values);
    result.metrics.emplace_back(name, spread(values));
  }
}

void write_result(const SeedFolder& folder, Split split, const SeedResult& result) {
  write_text(folder.results_file(split), to_json(result).dump(1) + '\n');
}

void write_result(const RunFolder& folder, const RunResult& result) {
  Json json = {{"split", to_string(result.split)}, {"scoring", to_json(result.scoring)}};
  for (const auto& [name, value] : result.metrics) {
    json["metrics"][name] = {{"mean", value.mean}, {"deviation", value.deviation}};
  }
  for (const SeedResult& seed : result.seeds) json["seeds"].push_back(to_json(seed));
  json["warnings"] = warnings_json(result.warnings);
  write_text(folder.results_file(result.split), json.dump(1) + '\n');
}

std::optional<RunResult> read_result(const RunFolder& folder, Split split) {
  const Path file = folder.results_file(split);
  if (!std::filesystem::exists(file)) return std::nullopt;
  try {
    const Json json = parse_json<Json>(read_text(file));
    RunResult result{.split = split, .scoring = scoring_of(json.at("scoring"))};
    for (const Json& seed : json.at("seeds")) result.seeds.push_back(seed_result_of(seed));
    for (const auto& [name, value] : json.at("metrics").items()) {
      result.metrics.emplace_back(name, Spread{.mean = value.at("mean").get<double>(),
                                               .deviation = value.at("deviation").get<double>()});
    }
    json.at("seeds").at(0);  // one at least
    result.warnings = warnings_of(json);
    return result;
  } catch (const Json::exception& error) {
    throw Error(
        fmt::format("{}: the file is damaged ({}); write it again with: hgt evaluate {} "
                    "--split {}",
                    file.string(), error.what(), folder.path().string(), to_string(split)));
  }
}

}  // namespace hgt
