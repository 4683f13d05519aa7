#include "hgt/features/feature_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "hgt/disk/checksum.h"
#include "hgt/features/fasttext_words.h"
#include "hgt/features/feature_source.h"
#include "hgt/features/pretrained_titles.h"
#include "hgt/features/walk_vectors.h"
#include "hgt/graph/array_file.h"
#include "hgt/graph/feature_sets.h"

namespace hgt {

namespace fs = std::filesystem;

namespace {

// A file outside the graph: its content is too much to read twice.
std::string stamp(const Path& file) {
  std::error_code error;
  const auto size = fs::file_size(file, error);
  const auto time = fs::last_write_time(file, error);
  return error ? "" : fmt::format("{} {}\n", size, time.time_since_epoch().count());
}

// Of what is made; a new one makes all features anew.
constexpr int kVersion = 2;

// All that the features of a type depend on, as text.
std::string ingredients(const PlannedStep& plan, const std::string& type, const Schema& schema) {
  const FeatureStep& step = plan.step;
  const Reach& reach = plan.reach;
  FeatureStep own = step;
  own.types = {type};
  std::vector<std::string> idle = {"types", "threads"};
  for (const std::string& key : options_of_reach()) idle.push_back(key);
  if (step.bert.empty())
    idle.emplace_back("bert");  // sets made before there was one stay as they are
  // The task and the date count by what they forbid, and threads only decide how long it takes.
  std::string text = step_table(own).without(idle).to_toml();
  text += fmt::format("{} {}\n", kVersion, reach.until);
  for (const bool hidden : reach.hidden) text += hidden ? '1' : '0';
  const auto is_features = [&](const std::string& file) {
    return std::any_of(schema.node_types().begin(), schema.node_types().end(),
                       [&](const NodeTypeSpec& spec) {
                         return spec.features && file == spec.name + "/" + spec.features->file &&
                                (step.kind() != StepKind::mean || spec.name != step.mean_of);
                       });
  };
  for (const ArrayRecord& array : schema.arrays) {
    if (!is_features(array.file)) text += fmt::format("{:016x}\n", array.checksum);
  }
  if (!step.vectors.empty()) text += stamp(step.vectors);
  if (!step.xlnet.empty()) {
    for (const char* file : {"config.json", "model.safetensors", "spiece.model"}) {
      text += stamp(Path(step.xlnet) / file);
    }
  }
  if (step.bert.empty()) return text;
  for (const Path& file : bert_files(step.bert)) text += file.filename().string() + stamp(file);
  return text;
}

}  // namespace

std::string key_of_features(const PlannedStep& plan, const std::string& type,
                            const Schema& schema) {
  return text_checksum(ingredients(plan, type, schema));
}

std::string key_of_recipe(const std::vector<PlannedStep>& plans, const Schema& base) {
  std::string text;
  for (const PlannedStep& plan : plans) {
    text += ingredients(plan, fmt::format("{}", fmt::join(plan.step.types, ",")), base);
  }
  for (const ArrayRecord& array : base.arrays) {
    text += fmt::format("{} {:016x}\n", array.file, array.checksum);
  }
  return text_checksum(text);
}

std::optional<FeatureSpec> find_features(const Schema& stored, const std::string& type,
                                         const std::string& key) {
  for (const FeatureSet& set : all_feature_sets(stored)) {
    const auto has = set.types.find(type);
    if (has != set.types.end() && has->second.key == key) return has->second;
  }
  return std::nullopt;
}

// --- time ---

namespace {

using Clock = std::chrono::steady_clock;

// Per second on one core that was shared with other work, for vectors of 128 numbers; all measured
// but the rate of reading a file of word vectors, which is assumed.
constexpr double kUsualWidth = 128;
constexpr double kTitlesRead = 200'000;          // to vectors of words, or by hashing
constexpr double kWordsTrained = 30'000;         // by fastText
constexpr double kVectorBytesRead = 30'000'000;  // of a file of word vectors, which is read twice
constexpr double kNeighborsRead = 120'000;       // of a mean
constexpr double kPairsTrained = 6'000'000;  // of a node and a negative or its context, by walks
constexpr double kBytesPerWord = 7;          // of titles, with the space after it
constexpr uint64_t kTitlesTried = 32;        // with XLNet or BERT

double cores() { return std::max(1.0, static_cast<double>(std::thread::hardware_concurrency())); }

uint64_t nodes_up_to(const HeteroGraph& graph, NodeType type, Time until) {
  const auto times = graph.times(type);
  if (times.empty()) return graph.num_nodes(type);
  const auto known = std::count_if(times.begin(), times.end(), [&](Time t) { return t <= until; });
  return static_cast<uint64_t>(known);
}

// Of the titles that train.
double words_up_to(const HeteroGraph& graph, NodeType type, Time until) {
  const std::string file = graph.schema().at(type).name + "/name_bytes.npy";
  double bytes = 0;
  for (const ArrayRecord& array : graph.schema().arrays) {
    if (array.file == file) bytes = static_cast<double>(num_items(array.shape));
  }
  const auto nodes = static_cast<double>(std::max<uint64_t>(1, graph.num_nodes(type)));
  return bytes / kBytesPerWord * static_cast<double>(nodes_up_to(graph, type, until)) / nodes;
}

double seconds_of_fasttext(const PlannedStep& plan, const HeteroGraph& graph, NodeType type) {
  const double words = words_up_to(graph, type, plan.reach.until);
  const uint64_t epochs =
      plan.step.epochs > 0 ? plan.step.epochs : fasttext_epochs(static_cast<uint64_t>(words));
  return words * static_cast<double>(epochs) / kWordsTrained *
         (static_cast<double>(plan.step.width) / kUsualWidth) / plan.step.threads;
}

double seconds_of_pretrained(const PlannedStep& plan, const HeteroGraph& graph, NodeType type) {
  const uint64_t nodes = graph.num_nodes(type);
  if (nodes == 0) return 0;
  const auto titles = open_pretrained(plan.step, graph, type);
  const uint64_t tried = std::min(nodes, kTitlesTried);
  std::vector<float> rows(tried * titles->width());
  std::vector<bool> missing(tried);
  const auto start = Clock::now();
  titles->read(static_cast<NodeId>((nodes - tried) / 2), rows, missing);
  const std::chrono::duration<double> took = Clock::now() - start;
  return took.count() * static_cast<double>(nodes) / static_cast<double>(tried);
}

double seconds_of_text(const PlannedStep& plan, const HeteroGraph& graph, NodeType type) {
  const double rows = static_cast<double>(graph.num_nodes(type)) / kTitlesRead;
  std::error_code error;
  switch (plan.step.encoder) {
    case TextEncoder::fasttext:
      return rows + seconds_of_fasttext(plan, graph, type);
    case TextEncoder::vectors:
      return rows +
             2 * static_cast<double>(fs::file_size(plan.step.vectors, error)) / kVectorBytesRead;
    case TextEncoder::xlnet:
    case TextEncoder::bert:
      return seconds_of_pretrained(plan, graph, type);
    default:
      return rows;
  }
}

// As long as walks can start; where they cannot, making the features says so.
double walks_of(const PlannedStep& plan, const HeteroGraph& graph) {
  try {
    return static_cast<double>(num_walks(graph, plan.step, plan.reach));
  } catch (const NoFeatures&) {
    return 0;
  }
}

double seconds_of_walks(const PlannedStep& plan, const HeteroGraph& graph) {
  const FeatureStep& step = plan.step;
  const double pairs = walks_of(plan, graph) * step.length * 2 * step.window;
  return pairs * (1.0 + step.negatives) / kPairsTrained * (step.width / kUsualWidth) / step.threads;
}

}  // namespace

double estimate_seconds(const PlannedStep& plan, const std::string& type, const HeteroGraph& graph,
                        bool first) {
  const NodeType number = graph.schema().node_type(type);
  if (plan.step.kind() == StepKind::text) return seconds_of_text(plan, graph, number);
  if (plan.step.kind() == StepKind::walks) return first ? seconds_of_walks(plan, graph) : 0;
  double neighbors = 0;
  for (const Relation relation : relations_used(plan, type, graph.schema())) {
    neighbors += static_cast<double>(graph.num_edges(relation));
  }
  return neighbors / kNeighborsRead / cores();
}

}  // namespace hgt
