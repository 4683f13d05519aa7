#include "hgt/features/feature_step.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>

#include "hgt/error.h"
#include "hgt/graph/time_text.h"
#include "hgt/task/task.h"

namespace hgt {

namespace {

constexpr std::array<std::string_view, 4> kEncoders = {"fasttext", "vectors", "xlnet", "hashed"};

// Does one of the names mean the relation, in this direction or the other?
bool is_named(const Schema& schema, Relation relation, const std::vector<std::string>& edges) {
  const std::string& own = schema.at(relation).edge;
  const std::string& other = schema.at(schema.reverse(relation)).edge;
  return std::any_of(edges.begin(), edges.end(),
                     [&](const std::string& edge) { return edge == own || edge == other; });
}

Time last_time(const std::string& until, TimeUnit unit) {
  if (const auto time = parse_end(until, unit)) return *time;
  throw Error(fmt::format("until is '{}', which is no date in the unit {}; one is {}", until,
                          to_string(unit), format_time(default_time_split(unit).train_end, unit)));
}

// The options that say something about a step, besides those that every step has.
std::vector<std::string_view> options_in_use(const FeatureStep& step) {
  if (step.kind() == StepKind::mean) return {"mean-of", "via"};
  if (step.kind() == StepKind::walks) {
    return {"metapath2vec",  "walks", "length", "window", "negatives",
            "learning-rate", "width", "seed",   "threads"};
  }
  switch (step.encoder) {
    case TextEncoder::fasttext:
      return {"from", "encoder", "width", "epochs", "seed", "threads"};
    case TextEncoder::vectors:
      return {"from", "encoder", "vectors"};
    case TextEncoder::xlnet:
      return {"from", "encoder", "xlnet"};
    default:
      return {"from", "encoder", "width"};
  }
}

// The default recipe has titles and walks.
std::vector<std::string_view> options_of_the_default(const FeatureStep& step) {
  std::vector<std::string_view> used = options_in_use(step);
  const auto more = options_in_use({.metapath2vec = {"auto"}});
  used.insert(used.end(), more.begin(), more.end());
  return used;
}

void check_range(const char* option, uint32_t value, uint32_t least, uint32_t most) {
  if (value >= least && value <= most) return;
  throw Error(fmt::format("{} is {}; give {} to {}", option, value, least, most));
}

constexpr uint32_t kWidestFeatures = 1U << 16U;
constexpr uint32_t kMostFeatureThreads = 1024;
constexpr uint32_t kMostEpochs = 1'000'000;

constexpr std::array<std::string_view, 5> kOptionsOfEveryStep = {"type", "types", "precision",
                                                                 "task", "until"};

}  // namespace

std::string_view to_string(TextEncoder encoder) {
  return kEncoders.at(static_cast<size_t>(encoder));
}

TextEncoder text_encoder(std::string_view name) {
  const auto* const found = std::find(kEncoders.begin(), kEncoders.end(), name);
  if (found != kEncoders.end()) return static_cast<TextEncoder>(found - kEncoders.begin());
  throw Error(
      fmt::format("encoder '{}' is unknown; known are {}", name, fmt::join(kEncoders, ", ")));
}

StepKind FeatureStep::kind() const {
  if (!metapath2vec.empty()) return StepKind::walks;
  return mean_of.empty() ? StepKind::text : StepKind::mean;
}

OptionTable step_table(FeatureStep& step) {
  OptionTable table;
  table.add("type", step.types, "Node types that get features, with commas between them");
  table.add("types", step.types, "The same as --type");
  table.add("from", step.from, "Text to encode: title or name, what the graph keeps of a node");
  table.add_word("encoder", step.encoder, {kEncoders.begin(), kEncoders.end()}, text_encoder,
                 "fasttext: trained on these titles; vectors: pre-trained word vectors; xlnet: a "
                 "pre-trained XLNet; hashed: hashed words");
  table.add("vectors", step.vectors,
            "File of word vectors, GloVe's or fastText's text format; for --encoder vectors");
  table.add("xlnet", step.xlnet,
            "Folder with config.json, model.safetensors and spiece.model; for --encoder xlnet");
  table.add("mean-of", step.mean_of, "Mean of the features of neighbors of this type");
  table.add("via", step.via, "Edge types that lead to those neighbors; none: all");
  table.add("metapath2vec", step.metapath2vec,
            "Walk along these meta paths, such as venue-paper-author-paper-venue or VPAPV, with "
            "commas between them; auto: proposed from the schema");
  table.add("walks", step.walks, "metapath2vec: from every node");
  table.add("length", step.length, "metapath2vec: nodes of a walk");
  table.add("window", step.window, "metapath2vec: steps between two nodes that are a pair");
  table.add("negatives", step.negatives, "metapath2vec: drawn for each pair");
  table.add("learning-rate", step.learning_rate, "metapath2vec: at the beginning");
  table.add("width", step.width, "Numbers per node: fasttext, hashed, metapath2vec");
  table.add(
      "epochs", step.epochs,
      "fasttext: passes over the titles; 0: so many that four million words are read, 5 to 30");
  table.add("seed", step.seed, "Of all that is random");
  table.add("threads", step.threads,
            "That train fasttext or metapath2vec; with more than one the result varies a little "
            "from run to run");
  table.add_word("precision", step.precision, {"float16", "float32"}, feature_type,
                 "Of the stored numbers");
  table.add("task", step.task, "What will be predicted, a name or a file: such links are not used");
  table.add("until", step.until,
            "Nothing later is used; empty: the end of the task's training period, else 2014");
  return table;
}

Reach reach_of(const FeatureStep& step, const HeteroGraph& graph) {
  const Schema& schema = graph.schema();
  Reach reach{.hidden = std::vector<bool>(schema.relations().size(), false)};
  TimeSplit split = default_time_split(schema.time_unit);
  bool bounded = schema.time_range.has_value();
  if (!step.task.empty()) {
    const auto task = open_task(graph, find_task(step.task, schema));
    const TaskSpec& spec = task->spec();
    split = task->time_split();
    bounded = bounded && spec.split == SplitRule::time;
    for (size_t i = 0; i < schema.relations().size(); ++i) {
      reach.hidden[i] = is_named(schema, Relation(i), spec.edges) ||
                        is_named(schema, Relation(i), spec.also_hide) ||
                        is_named(schema, Relation(i), spec.leave_out);
    }
  }
  if (bounded) reach.until = split.train_end;
  if (!step.until.empty()) reach.until = last_time(step.until, schema.time_unit);
  return reach;
}

void check_step(const FeatureStep& step, const Schema& schema) {
  if (step.types.empty()) throw Error("name the node type that gets the features with --type");
  for (const std::string& type : step.types) static_cast<void>(schema.node_type(type));
  if (!step.mean_of.empty() && !step.metapath2vec.empty()) {
    throw Error("features are either a mean of neighbors or metapath2vec's; say one of them");
  }
  if (step.kind() == StepKind::mean) static_cast<void>(schema.node_type(step.mean_of));
  check_range("width", step.width, 1, kWidestFeatures);
  check_range("threads", step.threads, 1, kMostFeatureThreads);
  check_range("epochs", step.epochs, 0, kMostEpochs);
  if (step.kind() != StepKind::text) return;
  if (step.from != "title" && step.from != "name") {
    throw Error(
        fmt::format("from is '{}'; it is title or name, the text that the graph keeps of "
                    "a node (a manifest's `name`)",
                    step.from));
  }
  for (const std::string& type : step.types) {
    if (schema.at(schema.node_type(type)).names) continue;
    throw Error(
        fmt::format("nodes of type {} have no name or title to encode; give one with "
                    "`name` in the manifest, or use --mean-of or --metapath2vec",
                    type));
  }
  if (step.encoder == TextEncoder::vectors && step.vectors.empty()) {
    throw Error("name the file of word vectors with --vectors");
  }
  if (step.encoder == TextEncoder::xlnet && step.xlnet.empty()) {
    throw Error(
        "name the folder of the model with --xlnet; docs/features.md says where to get one");
  }
}

void refuse_idle_options(const FeatureStep& step) {
  FeatureStep own = step;
  FeatureStep plain;
  const OptionTable given = step_table(own);
  const OptionTable defaults = step_table(plain);
  std::vector<std::string_view> used =
      step.types.empty() ? options_of_the_default(step) : options_in_use(step);
  used.insert(used.end(), kOptionsOfEveryStep.begin(), kOptionsOfEveryStep.end());
  for (const OptionTable::Entry& entry : given.entries()) {
    if (std::find(used.begin(), used.end(), entry.key) != used.end()) continue;
    if (entry.get() == defaults.find(entry.key)->get()) continue;
    throw Error(fmt::format("--{} says nothing about features made {}; leave it out", entry.key,
                            step.kind() == StepKind::mean ? "as a mean of neighbors"
                            : step.kind() == StepKind::walks
                                ? "by metapath2vec"
                                : fmt::format("by the encoder {}", to_string(step.encoder))));
  }
}

std::vector<Relation> usable_relations(const FeatureStep& step, const Schema& schema,
                                       const Reach& reach) {
  const NodeType target = schema.node_type(step.types.front());
  const NodeType source = schema.node_type(step.mean_of);
  std::vector<Relation> usable;
  bool hidden = false;
  for (const Relation relation : schema.incoming(target)) {
    if (schema.at(relation).source != source) continue;
    if (!step.via.empty() && !is_named(schema, relation, step.via)) continue;
    hidden = hidden || reach.hidden[index(relation)];
    if (!reach.hidden[index(relation)]) usable.push_back(relation);
  }
  if (!usable.empty()) return usable;
  throw Error(
      fmt::format("no edges {}lead from {} to {}{}",
                  step.via.empty() ? "" : fmt::format("of type {} ", fmt::join(step.via, ", ")),
                  step.mean_of, step.types.front(),
                  hidden ? fmt::format(" but those that the task {} predicts", step.task) : ""));
}

}  // namespace hgt
