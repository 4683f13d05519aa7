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

// Does one of the names mean the relation, in this direction or the other?
bool is_named(const Schema& schema, Relation relation, const std::vector<std::string>& edges) {
  const std::string& own = schema.at(relation).edge;
  const std::string& other = schema.at(schema.reverse(relation)).edge;
  return std::any_of(edges.begin(), edges.end(),
                     [&](const std::string& edge) { return edge == own || edge == other; });
}

Time last_time(const std::string& until, TimeUnit unit) {
  if (const auto time = parse_end(until, unit)) return *time;
  throw Error(fmt::format("until is '{}', which is not a date in the unit {}; an example is {}",
                          until, to_string(unit),
                          format_time(default_time_split(unit).train_end, unit)));
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
    case TextEncoder::bert:
      return {"from", "encoder", "bert"};
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

// Of a task, those that change what its features may know.
constexpr std::array<const char*, 5> kTaskOptions = {"split", "train-end", "validation-end",
                                                     "also-hide", "leave-out"};

// The task that a step is for, with what the step says of it.
TaskSpec task_of(const FeatureStep& step, const Schema& schema) {
  TaskSpec task = find_task(step.task, schema);
  TaskSpec given = step.task_options;
  TaskSpec plain;
  OptionTable table = task_table(task);
  for (const char* key : kTaskOptions) {
    const OptionTable::Values values = task_table(given).find(key)->get();
    if (values != task_table(plain).find(key)->get()) table.set(key, values);
  }
  return task;
}

void refuse_ends(const FeatureStep& step) {
  if (step.task_options.train_end.empty() && step.task_options.validation_end.empty()) return;
  throw Error("train-end and validation-end apply only to a split by time; leave them out");
}

void refuse_options_without_task(const FeatureStep& step) {
  if (step.task_options == TaskSpec{}) return;
  throw Error(
      fmt::format("{} say something about a task; name it with --task, or give the last time that "
                  "features may know with --until",
                  fmt::join(kTaskOptions, ", ")));
}

}  // namespace

StepKind FeatureStep::kind() const {
  if (!metapath2vec.empty()) return StepKind::walks;
  return mean_of.empty() ? StepKind::text : StepKind::mean;
}

std::vector<std::string> options_of_reach() {
  std::vector<std::string> keys = {"task", "until"};
  keys.insert(keys.end(), kTaskOptions.begin(), kTaskOptions.end());
  return keys;
}

namespace {

// What the features may know.
void add_reach_options(OptionTable& table, FeatureStep& step) {
  table
      .add("task", step.task,
           "Task that the features are for, a name or a file, which also says what is not given of "
           "its split and of edge types to hide or to leave out; the links that it predicts are "
           "not used")
      .everyday();
  table =
      table.with(task_table(step.task_options).only({kTaskOptions.begin(), kTaskOptions.end()}));
  table.add("until", step.until,
            "Use nothing later than this time (empty = the end of the task's training period, "
            "otherwise 2014)");
}

}  // namespace

OptionTable step_table(FeatureStep& step) {
  OptionTable table;
  table.begin_group("step");
  table.add("type", step.types, "The same as --types").everyday();
  table.add("types", step.types, "Node types that get features, separated by commas").everyday();
  table.add("from", step.from, "Text to encode: title or name, whichever the graph has").everyday();
  table
      .add("encoder", step.encoder,
           "How text becomes numbers: fasttext = trained on the texts of the graph, vectors = "
           "pre-trained word vectors, xlnet = a pre-trained XLNet, bert = a pre-trained sentence "
           "encoder of the BERT family, hashed = hashed words")
      .everyday();
  table
      .add("vectors", step.vectors,
           "File of word vectors in the text format of GloVe or fastText, for --encoder vectors")
      .everyday();
  table
      .add("xlnet", step.xlnet,
           "Folder with config.json, model.safetensors and spiece.model, for --encoder xlnet")
      .everyday();
  table
      .add("bert", step.bert,
           "Folder with config.json, model.safetensors, vocab.txt and tokenizer_config.json, for "
           "--encoder bert")
      .everyday();
  table
      .add("mean-of", step.mean_of,
           "Use the mean of the features of neighbors of this node type instead of text")
      .everyday();
  table.add("via", step.via, "Edge types that lead to the neighbors of --mean-of (empty = all)");
  table
      .add("metapath2vec", step.metapath2vec,
           "Use metapath2vec along these meta paths instead of text, separated by commas, such as "
           "venue-paper-author-paper-venue or VPAPV (auto = proposed from the schema)")
      .everyday();
  table.add("walks", step.walks, {1, 1e6}, "Random walks of metapath2vec from every node");
  table.add("length", step.length, {2, 1e6}, "Nodes per walk of metapath2vec");
  table.add("window", step.window, {1, 1e4},
            "Largest distance in a walk at which two nodes form a pair of metapath2vec");
  table.add("negatives", step.negatives, {1, 1e4}, "Negative nodes drawn per pair of metapath2vec");
  table.add("learning-rate", step.learning_rate, {0, 1}, "Initial learning rate of metapath2vec");
  table
      .add("width", step.width, {1, kWidestFeatures},
           "Numbers per node, for fasttext, hashed and metapath2vec")
      .everyday();
  table.add("epochs", step.epochs, {0, kMostEpochs},
            "Passes of fasttext over the texts (0 = enough to read four million words, 5 to 30)");
  table.add("seed", step.seed, kAnySeed, "Seed of all random numbers");
  table.add("threads", step.threads, {1, kMostFeatureThreads},
            "Threads that train fasttext or metapath2vec; with more than one, results differ "
            "slightly from run to run");
  table.add("precision", step.precision, "Precision of the stored numbers");
  add_reach_options(table, step);
  return table;
}

Reach reach_of(const FeatureStep& step, const HeteroGraph& graph) {
  const Schema& schema = graph.schema();
  Reach reach{.hidden = std::vector<bool>(schema.relations().size(), false)};
  reach.hidden_by_batch = reach.hidden;
  TimeSplit split = default_time_split(schema.time_unit);
  bool bounded = schema.time_range.has_value();
  if (step.task.empty()) refuse_options_without_task(step);
  if (!step.task.empty()) {
    const auto task = open_task(graph, task_of(step, schema));
    const TaskSpec& spec = task->spec();
    if (spec.split != SplitRule::time) refuse_ends(step);
    split = task->time_split();
    bounded = bounded && spec.split == SplitRule::time;
    for (size_t i = 0; i < schema.relations().size(); ++i) {
      const bool left_out = is_named(schema, Relation(i), spec.leave_out);
      reach.hidden[i] = is_named(schema, Relation(i), spec.edges) ||
                        is_named(schema, Relation(i), spec.also_hide) || left_out;
      reach.hidden_by_batch[i] = reach.hidden[i] && !left_out;
    }
  }
  if (bounded) reach.until = split.train_end;
  if (!step.until.empty()) reach.until = last_time(step.until, schema.time_unit);
  return reach;
}

void check_step(const FeatureStep& step, const Schema& schema) {
  if (step.types.empty()) throw Error("give the node type that gets the features with --type");
  for (const std::string& type : step.types) static_cast<void>(schema.node_type(type));
  if (!step.mean_of.empty() && !step.metapath2vec.empty()) {
    throw Error(
        "features are either a mean of neighbors or made by metapath2vec; choose one of them");
  }
  if (step.kind() == StepKind::mean) static_cast<void>(schema.node_type(step.mean_of));
  check_range("width", step.width, 1, kWidestFeatures);
  check_range("threads", step.threads, 1, kMostFeatureThreads);
  check_range("epochs", step.epochs, 0, kMostEpochs);
  if (step.kind() != StepKind::text) return;
  if (step.from != "title" && step.from != "name") {
    throw Error(
        fmt::format("from is '{}'; it must be title or name, the text that the graph keeps for a "
                    "node (`name` in the manifest)",
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
    throw Error("give the file of word vectors with --vectors");
  }
  const bool xlnet = step.encoder == TextEncoder::xlnet && step.xlnet.empty();
  const bool bert = step.encoder == TextEncoder::bert && step.bert.empty();
  if (xlnet || bert) {
    throw Error(fmt::format(
        "give the folder of the model with --{}; docs/features.md says where to get one",
        to_string(step.encoder)));
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
  used.insert(used.end(), kTaskOptions.begin(), kTaskOptions.end());
  for (const OptionTable::Entry& entry : given.entries()) {
    if (std::find(used.begin(), used.end(), entry.key) != used.end()) continue;
    if (entry.get() == defaults.find(entry.key)->get()) continue;
    throw Error(fmt::format("--{} has no effect on features made {}; leave it out", entry.key,
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
  std::vector<Relation> by_batch;
  bool hidden = false;
  for (const Relation relation : schema.incoming(target)) {
    if (schema.at(relation).source != source) continue;
    if (!step.via.empty() && !is_named(schema, relation, step.via)) continue;
    hidden = hidden || reach.hidden[index(relation)];
    if (!reach.hidden[index(relation)]) usable.push_back(relation);
    if (reach.hidden_by_batch[index(relation)]) by_batch.push_back(relation);
  }
  if (!usable.empty()) return usable;
  if (!by_batch.empty() && source != target) return by_batch;
  throw Error(fmt::format(
      "no edges {}lead from {} to {}{}",
      step.via.empty() ? "" : fmt::format("of type {} ", fmt::join(step.via, ", ")), step.mean_of,
      step.types.front(),
      hidden ? fmt::format(" except those that the task {} predicts or leaves out", step.task)
             : ""));
}

}  // namespace hgt
