#include "hgt/features/walk_vectors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>
#include <utility>

#include "hgt/disk/mapping.h"
#include "hgt/disk/whole_file.h"
#include "hgt/error.h"
#include "hgt/features/metapath2vec/skip_gram.h"
#include "hgt/graph/array_file.h"
#include "hgt/message/meta_path.h"
#include "hgt/message/model_schema.h"

namespace hgt {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kWalksAtOnce = 1024;
constexpr uint64_t kLeastWalks = 10'000;  // of each path
constexpr std::chrono::seconds kBetweenSaves{10};

Path with_ending(Path path, const char* ending) {
  path += ending;
  return path;
}

// Numbers in a file, read and written in place.
class FileTable {
 public:
  FileTable(const Path& path, uint64_t numbers)
      : mapping_(Mapping::to_write(grown(path, numbers * sizeof(float)), numbers * sizeof(float))) {
  }

  std::span<float> numbers() {
    const std::span<std::byte> bytes = mapping_.writable_bytes();
    return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
  }

 private:
  static File grown(const Path& path, uint64_t bytes) {
    File file = File::open_to_write(path);
    file.reserve(bytes);
    return file;
  }

  Mapping mapping_;
};

// The type that begins with the letter; throws Error unless there is exactly one.
const std::string& type_of_letter(char letter, const std::string& path, const Schema& schema) {
  const std::string* found = nullptr;
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  for (const NodeTypeSpec& type : schema.node_types()) {
    if (lower(type.name.front()) != lower(letter)) continue;
    if (found != nullptr) {
      throw Error(
          fmt::format("meta path '{}': both {} and {} begin with '{}'; write types out, such "
                      "as {}-{}-{}",
                      path, *found, type.name, letter, *found, type.name, *found));
    }
    found = &type.name;
  }
  if (found != nullptr) return *found;
  std::vector<std::string> names;
  for (const NodeTypeSpec& type : schema.node_types()) names.push_back(type.name);
  throw Error(fmt::format("meta path '{}': no type begins with '{}'; the types are {}", path,
                          letter, fmt::join(names, ", ")));
}

std::string spelled_out(const std::string& path, const Schema& schema) {
  const bool initials = path.find('-') == std::string::npos && path.size() > 1;
  if (!initials) return path;
  std::vector<std::string> types;
  for (const char letter : path) types.push_back(type_of_letter(letter, path, schema));
  return fmt::format("{}", fmt::join(types, "-"));
}

// The relations of a step that may be taken.
std::vector<Relation> usable(const std::vector<bool>& allowed, const Reach& reach,
                             const std::string& path) {
  std::vector<Relation> relations;
  for (size_t i = 0; i < reach.hidden.size(); ++i) {
    if (allowed[i] && !reach.hidden[i]) relations.push_back(Relation(i));
  }
  if (!relations.empty()) return relations;
  throw Error(
      fmt::format("meta path '{}': one of its steps has no edges except those that the task "
                  "predicts; choose another path",
                  path));
}

}  // namespace

std::vector<WalkPath> walk_paths(const std::vector<std::string>& names, const Schema& schema,
                                 const Reach& reach) {
  std::vector<std::string> spelled;
  for (const std::string& name : names) spelled.push_back(spelled_out(name, schema));
  std::vector<WalkPath> paths;
  for (const MetaPath& path : meta_paths(spelled, model_schema(schema))) {
    WalkPath walk{.type = NodeType(path.type)};
    for (const std::vector<bool>& allowed : path.steps) {
      walk.steps.push_back(usable(allowed, reach, path.name));
    }
    paths.push_back(std::move(walk));
  }
  return paths;
}

namespace {

bool is_met(NodeType type, const std::vector<WalkPath>& paths, const Schema& schema) {
  return std::any_of(paths.begin(), paths.end(), [&](const WalkPath& path) {
    return std::any_of(path.steps.begin(), path.steps.end(), [&](const auto& relations) {
      return schema.at(relations.front()).target == type;
    });
  });
}

WalkOptions walk_options(const FeatureStep& step, const Reach& reach) {
  return {.walks_per_node = step.walks,
          .length = step.length,
          .seed = step.seed,
          .last_time = reach.until};
}

SkipGramOptions skip_gram_options(const FeatureStep& step) {
  return {.width = step.width,
          .window = step.window,
          .negatives = step.negatives,
          .learning_rate = step.learning_rate,
          .seed = step.seed,
          .threads = step.threads};
}

}  // namespace

void check_walks(const FeatureStep& step, const Schema& schema, const Reach& reach) {
  check_walk_options(walk_options(step, reach));
  check_skip_gram_options(skip_gram_options(step));
  const std::vector<WalkPath> paths = walk_paths(step.metapath2vec, schema, reach);
  for (const std::string& type : step.types) {
    if (is_met(schema.node_type(type), paths, schema)) continue;
    throw Error(fmt::format("no meta path passes through {}; give one that does", type));
  }
}

namespace {

// The nodes that start walks: later ones do not, and must not count.
uint64_t num_starts(const HeteroGraph& graph, NodeType type, Time until) {
  const auto times = graph.times(type);
  if (times.empty()) return graph.num_nodes(type);
  const auto late = std::count_if(times.begin(), times.end(), [&](Time t) { return t > until; });
  return times.size() - static_cast<uint64_t>(late);
}

// A type of few nodes starts few walks; its paths count several times then, so that enough walks
// are made to learn from.
std::vector<WalkPath> repeated_paths(const HeteroGraph& graph, const FeatureStep& step,
                                     const Reach& reach) {
  check_walks(step, graph.schema(), reach);
  std::vector<WalkPath> all;
  bool can_start = false;
  for (const WalkPath& path : walk_paths(step.metapath2vec, graph.schema(), reach)) {
    const uint64_t walks = num_starts(graph, path.type, reach.until) * step.walks;
    can_start = can_start || walks > 0;
    all.insert(all.end(), walks == 0 ? 1 : (kLeastWalks + walks - 1) / walks, path);
  }
  if (can_start) return all;
  throw NoFeatures(fmt::format("no node of type {} can start a walk{}",
                               graph.schema().at(all.front().type).name,
                               reach.bounded() ? "; give the end of training with --until" : ""));
}

}  // namespace

uint64_t num_walks(const HeteroGraph& graph, const FeatureStep& step, const Reach& reach) {
  uint64_t walks = 0;
  for (const WalkPath& path : repeated_paths(graph, step, reach)) {
    walks += num_starts(graph, path.type, reach.until) * step.walks;
  }
  return walks;
}

struct WalkTraining::State {
  State(const HeteroGraph& graph, const FeatureStep& step, const Reach& reach,
        const ProgressSink& progress)
      : walks(graph, repeated_paths(graph, step, reach), walk_options(step, reach), progress) {}

  void save() const { write_text(with_ending(kept, ".position"), fmt::format("{}\n", position)); }

  Path kept;
  Walks walks;
  uint64_t width = 0;
  std::vector<uint64_t> occurrences = {};
  std::unique_ptr<FileTable> inputs = {};
  std::unique_ptr<FileTable> outputs = {};
  std::unique_ptr<SkipGram> skip_gram = {};
  uint64_t position = 0;  // walks that were trained on
};

WalkTraining::WalkTraining(const HeteroGraph& graph, const FeatureStep& step, const Reach& reach,
                           Path kept, const ProgressSink& progress)
    : state_(std::make_unique<State>(graph, step, reach, progress)) {
  State& s = *state_;
  s.kept = std::move(kept);
  s.width = step.width;
  // Counts do not depend on the threads that count.
  s.occurrences = count_occurrences(s.walks, s.walks.size(),
                                    std::max(1U, std::thread::hardware_concurrency()), progress);
  const uint64_t numbers = s.occurrences.size() * s.width;
  const auto is_whole = [&](const char* ending) {
    const Path file = with_ending(s.kept, ending);
    return fs::exists(file) && fs::file_size(file) == numbers * sizeof(float);
  };
  std::ifstream(with_ending(s.kept, ".position")) >> s.position;
  const bool fits = s.position <= s.walks.size() && is_whole(".inputs") && is_whole(".outputs");
  if (!fits) s.position = 0;
  s.inputs = std::make_unique<FileTable>(with_ending(s.kept, ".inputs"), numbers);
  s.outputs = std::make_unique<FileTable>(with_ending(s.kept, ".outputs"), numbers);
  s.skip_gram = std::make_unique<SkipGram>(
      s.walks, s.occurrences, skip_gram_options(step),
      SkipGramTables{.inputs = s.inputs->numbers(), .outputs = s.outputs->numbers()});
  if (s.position == 0) s.skip_gram->initialize();
}

WalkTraining::~WalkTraining() = default;

void WalkTraining::train(const ProgressSink& progress) {
  State& s = *state_;
  auto saved = Clock::now();
  Progress report{.stage = "metapath2vec", .unit = "walks"};
  while (s.position < s.walks.size()) {
    const uint64_t last = std::min(s.position + kWalksAtOnce, s.walks.size());
    s.skip_gram->train(s.walks, s.position, last);
    s.position = last;
    report.count = last;
    report.fraction = static_cast<double>(last) / static_cast<double>(s.walks.size());
    report.finished = last == s.walks.size();
    try {
      progress(report);
    } catch (...) {
      s.save();
      throw;
    }
    if (Clock::now() - saved < kBetweenSaves && !report.finished) continue;
    s.save();
    saved = Clock::now();
  }
}

void WalkTraining::remove_files() {
  for (const char* ending : {".inputs", ".outputs", ".position"}) {
    fs::remove(with_ending(state_->kept, ending));
  }
}

uint64_t WalkTraining::width() const { return state_->width; }

std::span<const float> WalkTraining::vector(WalkNode node) const {
  const uint64_t row = state_->skip_gram->rows()(node);
  return state_->inputs->numbers().subspan(row * state_->width, state_->width);
}

bool WalkTraining::occurs(WalkNode node) const {
  return state_->occurrences[state_->skip_gram->rows()(node)] > 0;
}

void WalkVectors::read(NodeId first, std::span<float> rows, std::vector<bool>& missing) {
  for (size_t i = 0; i < missing.size(); ++i) {
    const WalkNode node{.type = type_, .node = first + static_cast<NodeId>(i)};
    missing[i] = !training_.occurs(node);
    const auto vector = training_.vector(node);
    if (missing[i]) continue;
    std::copy(vector.begin(), vector.end(), rows.subspan(i * width(), width()).begin());
  }
}

}  // namespace hgt
