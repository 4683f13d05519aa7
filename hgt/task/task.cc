#include "hgt/task/task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>

#include "hgt/error.h"
#include "hgt/graph/time_text.h"
#include "hgt/random.h"
#include "hgt/task/split_dates.h"
#include "hgt/task/task_kinds.h"
#include "hgt/task/time_bound.h"

namespace hgt {

namespace {

// Tells the draws of splits from others.
constexpr uint64_t kSplitStream = 0x5b117;

// <other, edge, node>: whichever direction the edge type was declared in.
Relation relation_into(const Schema& schema, NodeType node, NodeType other,
                       const std::string& edge) {
  if (const auto out = schema.find_relation(node, edge, other)) return schema.reverse(*out);
  if (const auto in = schema.find_relation(other, edge, node)) return *in;
  std::vector<std::string> known;
  for (const RelationSpec& relation : schema.relations()) {
    const bool joins = (relation.source == node && relation.target == other) ||
                       (relation.source == other && relation.target == node);
    if (joins && !relation.reverse) known.push_back(relation.edge);
  }
  throw Error(fmt::format(
      "no edge type '{}' joins {} and {}; {}", edge, schema.at(node).name, schema.at(other).name,
      known.empty() ? "no edge type joins them"
                    : fmt::format("those that do are {}", fmt::join(known, ", "))));
}

Time end_of(const char* what, const std::string& text, Time otherwise, TimeUnit unit) {
  if (text.empty()) return otherwise;
  const auto time = parse_end(text, unit);
  if (time) return *time;
  throw Error(fmt::format("{} is '{}', which is not a date in the unit {}; an example is {}", what,
                          text, to_string(unit), format_time(otherwise, unit)));
}

void check_shares(const TaskSpec& spec) {
  const bool random = spec.split == SplitRule::random;
  const double sum = spec.validation_share + (random ? spec.test_share : 0);
  const bool good = spec.validation_share > 0 && (spec.test_share > 0 || !random) && sum < 1;
  if (good || spec.split == SplitRule::time) return;
  throw Error(fmt::format(
      "validation gets {} of the examples and test {}; both must be above 0 and leave something "
      "for training",
      spec.validation_share, spec.test_share));
}

std::vector<Time> known_times(std::span<const Time> times) {
  std::vector<Time> known;
  std::copy_if(times.begin(), times.end(), std::back_inserter(known),
               [](Time time) { return time != kNoTime; });
  return known;
}

}  // namespace

Task::Task(HeteroGraph graph, TaskSpec spec) : graph_(std::move(graph)), spec_(std::move(spec)) {
  node_ = graph_.schema().node_type(spec_.node);
  const TaskRow& row = row_of(spec_.kind);
  other_ = row.predicts_edges ? graph_.schema().node_type(spec_.other) : node_;
  settle_split();
  find_relations();
  find_left_out();
  if (spec_.hide_links == Hidden::automatic) spec_.hide_links = row.hide_links;
}

Answers Task::answers() const { return row_of(spec_.kind).answers; }

bool Task::draws_negatives() const { return row_of(spec_.kind).draws_negatives; }

std::string Task::example_columns() const {
  return answers() == Answers::pairs ? spec_.node + '\t' + spec_.other : spec_.node;
}

void Task::settle_split() {
  const Schema& schema = graph_.schema();
  spec_.split = settled_split(spec_, schema);
  if (spec_.split == SplitRule::given && !has_given_split(schema, spec_)) {
    throw Error(
        "the split cannot be 'given': no table says which nodes are for training and testing; "
        "choose --split time or random");
  }
  check_shares(spec_);
  const TimeSplit usual = default_time_split(schema.time_unit);
  time_split_ = {
      .train_end = end_of("train-end", spec_.train_end, usual.train_end, schema.time_unit),
      .validation_end =
          end_of("validation-end", spec_.validation_end, usual.validation_end, schema.time_unit)};
  const bool given = !spec_.train_end.empty() && !spec_.validation_end.empty();
  if (given) check_time_split(time_split_, schema.time_unit);
}

void Task::settle_dates(std::span<const Time> times) {
  if (spec_.split != SplitRule::time) return;
  if (!spec_.train_end.empty() && !spec_.validation_end.empty()) return;
  std::vector<Time> known = known_times(times);
  if (fits(time_split_, known)) return;
  const auto given = [](const std::string& date, Time end) {
    return date.empty() ? std::nullopt : std::optional(end);
  };
  const auto chosen = fitting_split(std::move(known), given(spec_.train_end, time_split_.train_end),
                                    given(spec_.validation_end, time_split_.validation_end));
  if (!chosen) return;  // check_examples() says which split is empty
  const TimeUnit unit = graph_.schema().time_unit;
  time_split_ = *chosen;
  spec_.train_end = format_time(chosen->train_end, unit);
  spec_.validation_end = format_time(chosen->validation_end, unit);
  chose_dates_ = true;
}

void Task::find_relations() {
  const Schema& schema = graph_.schema();
  if (row_of(spec_.kind).predicts_edges) {
    if (spec_.edges.empty()) throw Error("the task names no edge types to predict");
    for (const std::string& edge : spec_.edges) {
      const Relation relation = relation_into(schema, node_, other_, edge);
      const bool is_new =
          std::find(predicted_.begin(), predicted_.end(), relation) == predicted_.end();
      if (is_new) predicted_.push_back(relation);
    }
  }
  for (const std::string& edge : spec_.also_hide) {
    if (answers() == Answers::pairs) {
      also_hidden_.push_back(relation_into(schema, node_, other_, edge));
      continue;
    }
    const size_t before = also_hidden_.size();
    for (const Relation relation : schema.incoming(node_)) {
      const bool named =
          schema.at(relation).edge == edge || schema.at(schema.reverse(relation)).edge == edge;
      if (named) also_hidden_.push_back(relation);
    }
    if (also_hidden_.size() == before) {
      throw Error(
          fmt::format("also-hide: no edge type '{}' begins or ends at {}", edge, spec_.node));
    }
  }
  hidden_relations_ = predicted_;
  hidden_relations_.insert(hidden_relations_.end(), also_hidden_.begin(), also_hidden_.end());
}

void Task::find_left_out() {
  const Schema& schema = graph_.schema();
  for (const std::string& edge : spec_.leave_out) {
    const size_t before = left_out_.size();
    for (size_t i = 0; i < schema.relations().size(); ++i) {
      if (schema.relations()[i].edge == edge) left_out_.push_back(Relation(i));
    }
    if (left_out_.size() > before) continue;
    throw Error(fmt::format("leave-out: the graph has no edge type '{}'", edge));
  }
}

bool Task::draws_validation() const {
  return spec_.split == SplitRule::random ||
         (spec_.split == SplitRule::given && !given_validation_);
}

// Places from test_share to 1 are a circle, on which every draw takes the share after the one
// before.
bool Task::is_for_validation(double place, double test_share) const {
  const double circle = 1 - test_share;
  const double start = std::fmod(spec_.validation_draw * spec_.validation_share, circle);
  const double moved = place - start < test_share ? place - start + circle : place - start;
  return moved < test_share + spec_.validation_share;
}

Split Task::split_of(Time time, uint64_t number, Split given) const {
  const auto draw = [&] { return to_unit(hash(spec_.split_seed, kSplitStream, number)); };
  switch (spec_.split) {
    case SplitRule::random: {
      const double at = draw();
      if (at < spec_.test_share) return Split::test;
      return is_for_validation(at, spec_.test_share) ? Split::validation : Split::train;
    }
    case SplitRule::given:
      if (given == Split::train && !given_validation_ && is_for_validation(draw(), 0)) {
        return Split::validation;
      }
      return given;
    default:
      return time_split_.split_of(time);
  }
}

void Task::check_examples(std::span<const Time> times) const {
  for (const Split split : kSplits) {
    if (num_examples(split) > 0) continue;
    if (spec_.split != SplitRule::time) {
      throw Error(
          fmt::format("task {}: there are no examples for {}", spec_.name, to_string(split)));
    }
    std::vector<Time> known = known_times(times);
    if (known.empty()) {
      throw Error(fmt::format(
          "task {}: no example has a time, so they cannot be split by time; choose --split random",
          spec_.name));
    }
    const TimeUnit unit = graph_.schema().time_unit;
    const auto [first, last] = std::minmax_element(known.begin(), known.end());
    const std::string what = fmt::format(
        "task {}: there are no examples for {}: training ends with {}, validation with {}, and the "
        "examples range from {} to {}",
        spec_.name, to_string(split), format_time(time_split_.train_end, unit),
        format_time(time_split_.validation_end, unit), format_time(*first, unit),
        format_time(*last, unit));
    const auto better = fitting_split(std::move(known), {}, {});
    if (!better)
      throw Error(what + "; there are too few different times, so choose --split random");
    throw Error(fmt::format("{}; set --train-end and --validation-end, for example to {} and {}",
                            what, format_time(better->train_end, unit),
                            format_time(better->validation_end, unit)));
  }
}

bool Task::is_linked(NodeId node, NodeId other) const {
  return std::any_of(predicted_.begin(), predicted_.end(), [&](Relation relation) {
    const auto sources = graph_.unchecked_incoming(relation, node).sources;
    return std::binary_search(sources.begin(), sources.end(), other);
  });
}

bool Task::has_link(NodeId other) const {
  return std::any_of(predicted_.begin(), predicted_.end(), [&](Relation relation) {
    return graph_.unchecked_incoming(graph_.schema().reverse(relation), other).size() > 0;
  });
}

Seed Task::seed_at(NodeType type, NodeId node, Time time) const {
  const bool dated = graph_.time(type, node) != kNoTime;
  return {.type = type, .node = node, .time = dated ? kNoTime : time};
}

Question Task::question_about(std::span<const Seed> /*seeds*/) const {
  throw Error(
      fmt::format("task {} compares pairs; it cannot be asked about single nodes", spec_.name));
}

TimeBound Task::time_bound(TimeBound asked) const {
  const TimeBound settled = settled_time_bound(asked, spec_, graph_.schema());
  if (settled == TimeBound::split && spec_.split != SplitRule::time) {
    throw Error(fmt::format(
        "the time bound cannot be split: the split of task {} is {}, so it does not end at a time "
        "and would bound nothing; train with --time-bound seed (nothing later than each example), "
        "or none",
        spec_.name, to_string(spec_.split)));
  }
  return settled;
}

SamplingOptions Task::sampling(SamplingOptions options, Split split) const {
  options.time_bound = time_bound(options.time_bound);
  const bool ends = options.time_bound == TimeBound::split;
  if (ends) options.split_end = time_split_.last_time(split);
  auto& everywhere = options.hidden.everywhere;
  everywhere.insert(everywhere.end(), left_out_.begin(), left_out_.end());
  if (!spec_.guard) return options;
  if (answers() == Answers::classes) {
    auto& at_seeds = options.hidden.at_seeds;
    at_seeds.insert(at_seeds.end(), hidden_relations_.begin(), hidden_relations_.end());
  }
  if (spec_.hide_links == Hidden::batch) return options;
  for (const Split later : kSplits) {
    // What is for training may be seen while others are scored, and later splits lie behind the
    // bound already.
    if (later == Split::train || later < split) continue;
    if (later > split && ends) continue;
    append_links(later, options.hidden.edges);
  }
  return options;
}

std::unique_ptr<const Task> open_task(const HeteroGraph& graph, const TaskSpec& spec) {
  return row_of(spec.kind).open(graph, spec);
}

}  // namespace hgt
