#include "hgt/run/model_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "hgt/disk/json_text.h"
#include "hgt/error.h"

namespace hgt {

namespace {

// Numbers and switches of the options by name, once for writing and once for reading.
template <typename Options, typename Field>
void visit(Options& options, const Field& field) {
  field("hidden", options.hidden);
  field("heads", options.heads);
  field("layers", options.layers);
  field("dropout", options.dropout);
  field("heter", options.heter);
  field("rte", options.rte);
  field("norm", options.norm);
  field("gated_skip", options.gated_skip);
  field("tanh_adaptation", options.tanh_adaptation);
  field("matrix_per_head", options.matrix_per_head);
  field("divide_by_head_width", options.divide_by_head_width);
  field("time_scale", options.time_scale);
}

// Those that saved models may lack: they were made before there was a choice.
template <typename Options, typename Field>
void visit_later(Options& options, const Field& field) {
  field("scaled_sinusoids", options.scaled_sinusoids);
  field("paired_sinusoids", options.paired_sinusoids);
}

void check_against(const ModelRow& row, const ModelOptions& options) {
  if (options.hidden % row.hidden_multiple != 0) {
    throw Error(fmt::format("hidden is {}; {}", options.hidden, row.hidden_rule));
  }
  const auto those = [](bool ModelRow::*capability) {
    return fmt::format("{}", fmt::join(model_names(capability), ", "));
  };
  if (!row.has_variants && !(options.heter && options.rte)) {
    throw Error(fmt::format("-Heter and -RTE are variants of {}; the model is {}",
                            those(&ModelRow::has_variants), row.name));
  }
  if (!row.follows_meta_paths && !options.meta_paths.empty()) {
    throw Error(fmt::format("meta paths are for {}; the model is {}",
                            those(&ModelRow::follows_meta_paths), row.name));
  }
}

}  // namespace

ModelOptions paper_preset() { return {}; }

ModelOptions release_preset() {
  return {.dropout = 0.2,
          .tanh_adaptation = true,
          .norm = true,
          .gated_skip = true,
          .matrix_per_head = true,
          .divide_by_head_width = true,
          .prior = Prior::edge_type_and_head};
}

ModelOptions preset(const std::string& name) {
  if (name == "paper") return paper_preset();
  if (name == "release") return release_preset();
  throw Error(fmt::format("unknown preset '{}'; choose one of paper, release", name));
}

void check(const ModelOptions& options) {
  const auto at_least_one = [](const char* name, int64_t value) {
    if (value < 1) throw Error(fmt::format("{} is {}; it must be at least 1", name, value));
  };
  at_least_one("hidden", options.hidden);
  at_least_one("heads", options.heads);
  at_least_one("layers", options.layers);
  constexpr int64_t kMostHidden = 1 << 16;
  if (options.hidden > kMostHidden) {
    throw Error(fmt::format("hidden is {}; it must be at most {}", options.hidden, kMostHidden));
  }
  if (options.heads > 256) {
    throw Error(fmt::format("heads is {}; it must be at most 256", options.heads));
  }
  if (options.hidden % options.heads != 0) {
    throw Error(fmt::format(
        "hidden is {} and heads is {}; hidden must be a multiple of heads, such "
        "as {}",
        options.hidden, options.heads, (options.hidden / options.heads + 1) * options.heads));
  }
  if (!(options.dropout >= 0 && options.dropout < 1)) {
    throw Error(
        fmt::format("dropout is {}; it must be at least 0 and less than 1", options.dropout));
  }
  if (!(options.time_scale > 0)) {
    throw Error(fmt::format("time_scale is {}; it must be greater than 0", options.time_scale));
  }
  check_against(row_of(options.kind), options);
}

std::string to_json(const ModelOptions& options) {
  nlohmann::ordered_json json;
  const auto write = [&](const char* name, const auto& value) { json[name] = value; };
  visit(options, write);
  visit_later(options, write);
  json["prior"] = to_string(options.prior);
  json["matrix_per_relation"] = options.matrix_per_relation;
  json["degree_weights"] = to_string(options.degree_weights);
  json["model"] = to_string(options.kind);
  json["meta_paths"] = options.meta_paths;
  return json.dump();
}

ModelOptions options_from_json(const std::string& text, const std::string& where) {
  ModelOptions options;
  try {
    const auto json = parse_json(text);
    visit(options, [&](const char* name, auto& value) { json.at(name).get_to(value); });
    visit_later(options, [&](const char* name, auto& value) { value = json.value(name, false); });
    options.prior = from_word<Prior>(json.at("prior").get<std::string>());
    // What models did that were saved before these options existed.
    options.matrix_per_relation = json.value("matrix_per_relation", false);
    options.degree_weights = from_word<DegreeWeights>(json.value("degree_weights", "mean"));
    options.kind = from_word<ModelKind>(json.value("model", "hgt"));
    options.meta_paths = json.value("meta_paths", options.meta_paths);
    check(options);
  } catch (const nlohmann::json::exception& error) {
    throw Error(fmt::format("{}: cannot read the options of the model: {}", where, error.what()));
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", where, error.what()));
  }
  return options;
}

}  // namespace hgt
