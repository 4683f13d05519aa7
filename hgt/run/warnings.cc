#include "hgt/run/warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <span>

#include "hgt/message/model_schema.h"

namespace hgt {

namespace {

constexpr uint64_t kFewExamples = 50;
constexpr uint32_t kManyClasses = 10;  // with fewer, a label may have one per example by chance

// Calls look(question) for the examples of a split, some at a time, until it returns false.
template <typename Look>
void look_at_examples(const Task& task, Split split, const Look& look) {
  constexpr uint64_t kTogether = 1024;
  const uint64_t count = task.num_examples(split);
  for (uint64_t first = 0; first < count; first += kTogether) {
    std::vector<uint32_t> numbers(std::min(kTogether, count - first));
    std::iota(numbers.begin(), numbers.end(), static_cast<uint32_t>(first));
    if (!look(task.question(split, numbers, Task::kNoDraw))) return;
  }
}

void add_one_class(const Task& task, Split split, std::vector<Warning>& warnings) {
  if (task.answers() != Answers::classes) return;
  std::set<uint32_t> classes;
  look_at_examples(task, split, [&](const Question& question) {
    classes.insert(question.answers.begin(), question.answers.end());
    return classes.size() < 2;
  });
  if (classes.size() != 1) return;
  warnings.push_back(
      {.kind = WarningKind::one_class,
       .text = fmt::format("all {} {} examples have the class '{}': {}", task.num_examples(split),
                           to_string(split), task.class_id(*classes.begin()),
                           split == Split::train
                               ? "there is nothing to learn; choose another label or split"
                               : "any model that knows only this class gets the best score; choose "
                                 "another split")});
}

void add_class_per_example(const Task& task, std::vector<Warning>& warnings) {
  const bool is_label = task.answers() == Answers::classes && task.predicted().empty();
  if (!is_label || task.has_several_answers() || task.num_classes() < kManyClasses) return;
  uint64_t examples = 0;
  for (const Split split : kSplits) examples += task.num_examples(split);
  if (2 * uint64_t{task.num_classes()} <= examples) return;
  warnings.push_back(
      {.kind = WarningKind::class_per_example,
       .text = fmt::format("the label '{}' has {} classes for {} examples; is it a number or an "
                           "id? Only classes can be predicted: put it into a few ranges first",
                           task.spec().label, task.num_classes(), examples)});
}

// Whether the relation is left out, or hidden at the examples.
bool is_out_of_sight(const Task& task, Relation relation) {
  const Relation reverse = task.graph().schema().reverse(relation);
  const auto lists = [&](std::span<const Relation> relations) {
    return std::any_of(relations.begin(), relations.end(),
                       [&](Relation each) { return each == relation || each == reverse; });
  };
  if (lists(task.left_out())) return true;
  const bool hides = task.spec().guard && task.answers() == Answers::classes;
  return hides && (lists(task.predicted()) || lists(task.also_hidden()));
}

bool sees_an_edge(const Task& task, const Seed& seed) {
  const HeteroGraph& graph = task.graph();
  const auto relations = graph.schema().incoming(seed.type);
  return std::any_of(relations.begin(), relations.end(), [&](Relation relation) {
    return !is_out_of_sight(task, relation) && graph.incoming(relation, seed.node).size() > 0;
  });
}

void add_no_edges(const Task& task, const TrainOptions& options, std::vector<Warning>& warnings) {
  if (!row_of(options.model.kind).reads_neighbors) return;
  bool found = false;
  look_at_examples(task, Split::train, [&](const Question& question) {
    const auto& seeds = question.request.seeds;
    found = std::any_of(seeds.begin(), seeds.end(),
                        [&](const Seed& seed) { return sees_an_edge(task, seed); });
    return !found;
  });
  if (found) return;
  warnings.push_back({.kind = WarningKind::no_edges,
                      .text = fmt::format(
                          "no edge leads to the training examples ({}), or all such edge types "
                          "are predicted, hidden or left out: the model sees nothing but their own "
                          "features; check --leave-out and --also-hide",
                          task.spec().node)});
}

uint64_t examples_validated(const Task& task, const TrainOptions& options) {
  const uint64_t all = task.num_examples(Split::validation);
  return options.validation.limit == 0 ? all : std::min(options.validation.limit, all);
}

void add_few_examples(Split split, uint64_t examples, std::vector<Warning>& warnings) {
  if (examples >= kFewExamples) return;
  warnings.push_back(
      {.kind = WarningKind::few_examples,
       .text =
           fmt::format("only {} {} examples are scored: with fewer than {}, scores{} are "
                       "mostly chance; give the split a longer period or a larger share",
                       examples, to_string(split), kFewExamples,
                       split == Split::validation ? " and the choice of the best weights" : "")});
}

// Nodes are in one split each, so those of other splits have vectors that were never trained.
void add_own_vectors(const Task& task, const TrainOptions& options,
                     std::vector<Warning>& warnings) {
  if (task.answers() != Answers::classes || !row_of(options.model.kind).reads_features) return;
  const ModelSchema schema = model_schema(task.graph().schema(), options.node_vectors);
  const ModelSchema::NodeInput& type = schema.node_types[index(task.node_type())];
  if (type.vectors == 0) return;
  warnings.push_back(
      {.kind = WarningKind::own_vectors,
       .text = fmt::format("nodes of type {} have no features, so each has a learned vector of its "
                           "own, by which training examples can be learned by heart and which says "
                           "nothing about any other node; give them features, or --node-vectors 0",
                           type.name)});
}

// Unless that is what was asked for.
void add_one_vector(const Task& task, const TrainOptions& options, std::vector<Warning>& warnings) {
  if (options.node_vectors == 0 || !row_of(options.model.kind).reads_features) return;
  const Schema& schema = task.graph().schema();
  const ModelSchema model = model_schema(schema, options.node_vectors);
  for (size_t i = 0; i < model.node_types.size(); ++i) {
    const ModelSchema::NodeInput& type = model.node_types[i];
    const uint64_t nodes = schema.node_types()[i].nodes;
    if (type.features > 0 || type.vectors > 0 || nodes < 2) continue;
    warnings.push_back(
        {.kind = WarningKind::one_vector,
         .text = fmt::format("the {} nodes of type {} have no features and are more than "
                             "--node-vectors {}, so all of them share one input vector; give them "
                             "features with 'hgt features --task {} --type {} --mean-of TYPE', or "
                             "set --node-vectors {}",
                             nodes, type.name, options.node_vectors, task.spec().name, type.name,
                             nodes)});
  }
}

void add_capped_candidates(const Task& task, Split split, std::vector<Warning>& warnings) {
  const uint64_t capped = task.num_capped(split);
  if (capped == 0) return;
  warnings.push_back(
      {.kind = WarningKind::capped_candidates,
       .text = fmt::format("{} of {} {} examples have more candidates than --max-candidates {} and "
                           "are compared with drawn ones only: scores are higher than they would "
                           "be with all of them",
                           capped, task.num_examples(split), to_string(split),
                           task.spec().max_candidates)});
}

}  // namespace

std::vector<Warning> find_warnings(const Task& task, const TrainOptions& options,
                                   const std::optional<ScoredSplit>& scored) {
  std::vector<Warning> warnings;
  const Split judged = scored ? scored->split : Split::validation;
  add_one_class(task, Split::train, warnings);
  if (judged != Split::train) add_one_class(task, judged, warnings);
  add_class_per_example(task, warnings);
  add_no_edges(task, options, warnings);
  add_few_examples(judged, scored ? scored->examples : examples_validated(task, options), warnings);
  add_own_vectors(task, options, warnings);
  add_one_vector(task, options, warnings);
  add_capped_candidates(task, judged, warnings);
  if (scored && scored->equal_scores && row_of(options.model.kind).reads_features) {
    warnings.push_back({.kind = WarningKind::equal_scores,
                        .text =
                            "all examples got the same scores: the model tells nothing apart; "
                            "look for features (hgt inspect), edges to the examples, or a lower "
                            "--learning-rate"});
  }
  return warnings;
}

}  // namespace hgt
