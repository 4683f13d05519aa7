#include "hgt/insight/run_report.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <ctime>

#include "hgt/error.h"
#include "hgt/graph/time_text.h"
#include "hgt/insight/batch_balance.h"
#include "hgt/insight/confusion.h"
#include "hgt/insight/evolution.h"
#include "hgt/insight/explain.h"
#include "hgt/run/saved_run.h"
#include "hgt/run/version.h"
#include "hgt/run/warnings_json.h"

namespace hgt {

namespace {

using Json = OrderedJson;

constexpr uint64_t kSliderSteps = 60;
constexpr uint64_t kEnoughToCompare = 5;

// Of "a/b", "a/b/", and of "." in b: "b".
std::string last_part(const Path& folder) {
  const Path whole = std::filesystem::absolute(folder).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

std::string time_words(const Schema& schema, Time time) {
  return time == kNoTime ? "" : format_time(time, schema.time_unit);
}

Json node_types(const Schema& schema) {
  Json types = Json::array();
  for (const NodeTypeSpec& type : schema.node_types()) {
    const auto& features = type.features;
    types.push_back({{"type", type.name},
                     {"nodes", type.nodes},
                     {"event", type.kind == NodeKind::event},
                     {"named", type.names},
                     {"features", features ? Json(features->origin) : Json(nullptr)},
                     {"width", features ? features->width : 0}});
  }
  return types;
}

Json relations(const Schema& schema) {
  Json all = Json::array();
  for (const RelationSpec& relation : schema.relations()) {
    if (relation.reverse) continue;
    all.push_back({{"source", schema.at(relation.source).name},
                   {"edge", relation.edge},
                   {"target", schema.at(relation.target).name},
                   {"edges", relation.edges}});
  }
  return all;
}

Json graph_card(const HeteroGraph& graph) {
  const Schema& schema = graph.schema();
  const auto& range = schema.time_range;
  return {{"folder", last_part(graph.folder())},
          {"time_unit", to_string(schema.time_unit)},
          {"times", range ? Json::array({time_words(schema, range->first),
                                         time_words(schema, range->second)})
                          : Json(nullptr)},
          {"steps", time_steps(schema)},
          {"nodes", node_types(schema)},
          {"relations", relations(schema)}};
}

// As a run's file has them: [name, value] pairs.
Json settings(const RunOptions& options) {
  Json pairs = Json::array();
  RunOptions own = options;
  const OptionTable table = training_table(own);
  for (const OptionTable::Entry& entry : table.entries()) {
    pairs.push_back(Json::array({entry.key, fmt::format("{}", fmt::join(entry.get(), ", "))}));
  }
  return pairs;
}

// [name, value] pairs, without the graph, which is a path of this machine.
Json environment(const RunEnvironment& about) {
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"hgt", about.hgt},
      {"commit", about.commit},
      {"libtorch", about.libtorch},
      {"blas", about.blas},
      {"kernels", about.kernels},
      {"cores", std::to_string(about.cores)},
      {"threads", std::to_string(about.threads)},
      {"graph_checksum", about.graph_checksum},
      {"structure_checksum", about.structure_checksum},
      {"options_checksum", about.options_checksum},
      {"task_checksum", about.task_checksum}};
  return pairs;  // as arrays of two
}

// A damaged file leaves its part of the page empty, not the whole page.
template <typename Read>
auto if_readable(const Read& read) -> decltype(read()) {
  try {
    return read();
  } catch (const Error&) {
    return std::nullopt;
  }
}

Json training(const std::optional<TrainingSummary>& summary) {
  if (!summary) return nullptr;
  Json json = {{"parameters", summary->parameters},
               {"peak_memory_mb", summary->peak_megabytes},
               {"seeds", Json::array()},
               {"warnings", warnings_json(summary->warnings)}};
  for (const SeedReport& seed : summary->seeds) {
    json["seeds"].push_back({{"seed", seed.seed},
                             {"batches", seed.batches},
                             {"best_batch", seed.best_batch},
                             {"validation_loss", seed.validation_loss},
                             {"seconds", seed.seconds},
                             {"seconds_per_batch", seed.seconds_per_batch},
                             {"stopped_early", seed.stopped_early}});
  }
  return json;
}

Json curve(const SeedFolder& folder) {
  Json points = Json::array();
  for (const LogEntry& entry : TrainingLog(folder.log_file()).read()) {
    points.push_back({{"batch", entry.step},
                      {"train_loss", entry.train_loss},
                      {"validation_loss", entry.validation_loss},
                      {"ndcg", entry.metric("ndcg", 0)}});
  }
  return points;
}

Json results(const std::optional<RunResult>& found) {
  if (!found) return nullptr;
  Json metrics = Json::array();
  for (const auto& [name, value] : found->metrics) {
    metrics.push_back({{"name", name}, {"mean", value.mean}, {"deviation", value.deviation}});
  }
  return {{"split", to_string(found->split)},
          {"examples", found->seeds.front().examples},
          {"seeds", found->seeds.size()},
          {"metrics", metrics},
          {"warnings", warnings_json(found->warnings)}};
}

Json line_json(const HeteroGraph& graph, NodeType type, const EvolutionLine& line) {
  Json similarity = Json::array();
  for (const double value : line.similarity) {
    similarity.push_back(std::isnan(value) ? Json(nullptr) : Json(value));
  }
  return {{"id", graph.id(type, line.node)},
          {"name", graph.name(type, line.node)},
          {"similarity", similarity}};
}

Json evolution_json(const Similarity& similarity, const Evolution& evolution) {
  const HeteroGraph& graph = similarity.graph();
  const NodeType type = similarity.representations().type();
  Json json = {{"type", graph.schema().at(type).name},
               {"layer", similarity.representations().layer()},
               {"among", similarity.describe()},
               {"times", Json::array()},
               {"focus", Json::array()},
               {"map", Json::array()}};
  for (const Time time : evolution.times) json["times"].push_back(time_words(graph.schema(), time));
  for (const auto& focus : evolution.focus) {
    Json lines = Json::array();
    for (const EvolutionLine& line : focus.lines) lines.push_back(line_json(graph, type, line));
    json["focus"].push_back({{"id", graph.id(type, focus.node)},
                             {"name", graph.name(type, focus.node)},
                             {"lines", lines}});
  }
  for (size_t i = 0; i < evolution.times.size(); ++i) {
    Json points = Json::array();
    for (const auto& [node, place] : evolution.map[i]) {
      points.push_back({{"id", graph.id(type, node)},
                        {"name", graph.name(type, node)},
                        {"x", place[0]},
                        {"y", place[1]}});
    }
    json["map"].push_back({{"time", json["times"][i]}, {"points", points}});
  }
  return json;
}

// Else its vectors are the same at all times, if there are any.
bool reads_neighbors(const Run& run) {
  return row_of(run.options().training.model.kind).reads_neighbors;
}

}  // namespace

std::optional<NodeType> evolving_type(const Run& run) {
  const Task& task = run.task();
  const HeteroGraph& graph = task.graph();
  if (!graph.schema().time_range || !reads_neighbors(run)) return std::nullopt;
  const auto fits = [&](NodeType type) {
    return graph.times(type).empty() && graph.num_nodes(type) >= kEnoughToCompare &&
           represented_layer(run, type) > 0 && !spread_times(graph, type, 1).empty();
  };
  if (!task.predicted().empty() && fits(task.other_type())) return task.other_type();
  std::optional<NodeType> smallest;
  for (size_t i = 0; i < graph.schema().node_types().size(); ++i) {
    const auto type = NodeType(i);
    if (!fits(type)) continue;
    if (!smallest || graph.num_nodes(type) < graph.num_nodes(*smallest)) smallest = type;
  }
  return smallest;
}

std::vector<std::string> time_steps(const Schema& schema) {
  if (!schema.time_range) return {};
  const auto [first, last] = *schema.time_range;
  const int64_t span = int64_t{last} - first;
  const uint64_t count = std::min<uint64_t>(kSliderSteps, static_cast<uint64_t>(span) + 1);
  std::vector<std::string> steps;
  for (uint64_t i = 0; i < count; ++i) {
    const double share = count == 1 ? 1 : static_cast<double>(i) / static_cast<double>(count - 1);
    steps.push_back(time_words(
        schema, static_cast<Time>(first + std::llround(static_cast<double>(span) * share))));
  }
  return steps;
}

RunReport::RunReport(const Run& run, ReportOptions options)
    : run_(run), options_(std::move(options)) {
  for (const Seed& seed : options_.focus) {
    if (seed.type != options_.focus.front().type) {
      throw Error("the nodes whose evolution is shown must be of one type");
    }
  }
}

Json RunReport::from_files() const {
  const Task& task = run_.task();
  const TaskSpec& spec = task.spec();
  const RunFolder& files = run_.files();
  const SavedRun saved = read_run(files);
  Json curves = Json::array();
  for (const uint64_t seed : run_.seeds()) {
    curves.push_back({{"seed", seed}, {"points", curve(files.seed(seed))}});
  }
  return {{"name", last_part(run_.folder())},
          {"model", to_string(run_.options().training.model.kind)},
          {"task",
           {{"name", spec.name},
            {"node", spec.node},
            {"other", spec.other},
            {"kind", to_string(spec.kind)},
            {"classes", task.num_classes()}}},
          {"graph", graph_card(task.graph())},
          {"options", settings(saved.options)},
          {"environment", environment(saved.environment)},
          {"training", training(if_readable([&] { return read_training_summary(files); }))},
          {"curves", curves},
          {"results", results(if_readable([&] { return read_result(files, options_.split); }))},
          {"confusion", nullptr},
          {"attention", nullptr},
          {"evolution", nullptr},
          {"balance", nullptr}};
}

Json RunReport::confusion(const ProgressSink& progress) const {
  const auto counted = count_confusion(
      run_, options_.split, {.examples = options_.examples, .classes = options_.classes}, progress);
  if (!counted) return nullptr;
  return {{"split", to_string(options_.split)},
          {"examples", counted->examples},
          {"classes", counted->classes},
          {"counts", counted->counts}};
}

Json RunReport::attention(const ProgressSink& progress) const {
  if (!row_of(run_.options().training.model.kind).pays_attention) return nullptr;
  const AttentionTrees trees =
      explain_type(run_, {.split = options_.split, .batches = options_.batches}, progress);
  return to_json(trees, run_.task().graph().schema(), options_.branches, WithSvg::yes);
}

bool RunReport::has_evolution() const {
  return options_.focus.empty() ? evolving_type(run_).has_value() : reads_neighbors(run_);
}

Json RunReport::evolution(const ProgressSink& progress) const {
  if (!has_evolution()) return nullptr;
  const NodeType type = options_.focus.empty() ? *evolving_type(run_) : options_.focus.front().type;
  Similarity similarity(run_, type, {.among = options_.among});
  EvolutionOptions how{.times = options_.times};
  for (const Seed& seed : options_.focus) how.focus.push_back(seed.node);
  return evolution_json(similarity, evolve(similarity, how, progress));
}

Json RunReport::balance(const ProgressSink& progress) const {
  const Schema& schema = run_.task().graph().schema();
  const BatchBalance means = mean_balance(run_, options_.batches, progress);
  Json json = {{"batches", means.batches}, {"nodes", Json::array()}, {"edges", Json::array()}};
  for (size_t i = 0; i < means.nodes.size(); ++i) {
    json["nodes"].push_back({{"type", schema.node_types()[i].name}, {"mean", means.nodes[i]}});
  }
  for (size_t i = 0; i < schema.relations().size(); ++i) {
    json["edges"].push_back({{"relation", schema.describe(Relation(i))}, {"mean", means.edges[i]}});
  }
  return json;
}

Json RunReport::whole(const ProgressSink& progress) const {
  Json json = from_files();
  json["confusion"] = confusion(progress);
  json["attention"] = attention(progress);
  json["evolution"] = evolution(progress);
  json["balance"] = balance(progress);
  return json;
}

Json report_json(std::vector<Json> runs, bool live) {
  return {{"hgt", version()},
          {"made", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
          {"live", live},
          {"runs", std::move(runs)}};
}

std::string filled_page(const std::string& page, const Json& report) {
  const std::string place = R"(<script id="report" type="application/json">null</script>)";
  const size_t at = page.find(place);
  if (at == std::string::npos) throw Error("the page has no place for a report; install hgt again");
  std::string escaped;  // "</script>" in a name must not end the element
  for (const char c : json_text(report)) {
    if (c == '<') {
      escaped += "\\u003c";
    } else {
      escaped += c;
    }
  }
  std::string filled = page;
  filled.replace(at + place.find("null"), 4, escaped);
  return filled;
}

}  // namespace hgt
