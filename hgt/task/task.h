// A task on a graph: which examples there are, in which split each one lies, what to sample for a
// batch of them, and what is the truth about it.
//
//   const auto task = open_task(graph, find_task("paper-venue", graph.schema()));
//   const Question question = task->question(Split::train, examples, draw);
//   Sampler sampler(graph, task->sampling({.width = 128}, Split::train));
//   sampler.sample(question.request, draw, subgraph);
//
// A task either names classes or compares pairs of seeds (Answers). Code outside this folder asks
// for what a task can do, here or in its row of task_kinds.h, not for its kind.
// Immutable: safe to use from any number of threads.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hgt/graph/hetero_graph.h"
#include "hgt/sampling/sampling_options.h"
#include "hgt/sampling/time_split.h"
#include "hgt/task/task_spec.h"

namespace hgt {

// What the examples of a task are.
enum class Answers {
  classes,  // one seed each, which has one or several of num_classes() classes
  pairs,    // a group of pairs of seeds each, some of them relevant
};

// A batch of examples: what is asked of the sampler, and the truth.
struct Question {
  Request request = {};

  // --- classes: example i is seed i ---
  std::vector<uint32_t> answer_offsets = {};  // [examples + 1]
  std::vector<uint32_t> answers = {};         // classes of each example

  // --- pairs; an example that has nothing to be compared with has none ---
  std::vector<uint32_t> pair_offsets = {};  // [examples + 1]
  std::vector<uint32_t> left = {};          // [pairs] place in request.seeds
  std::vector<uint32_t> right = {};         // [pairs]
  std::vector<uint8_t> relevant = {};       // [pairs]

  uint64_t num_examples() const {
    return (answer_offsets.empty() ? pair_offsets.size() : answer_offsets.size()) - 1;
  }
};

// The splits that examples lie in, in their order.
constexpr std::array<Split, 3> kSplits = {Split::train, Split::validation, Split::test};

class Task {
 public:
  virtual ~Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  const HeteroGraph& graph() const { return graph_; }
  const TaskSpec& spec() const { return spec_; }  // nothing in it is automatic any more
  const TimeSplit& time_split() const { return time_split_; }
  // An end of the split is a quantile of the examples' times (split_dates.h); spec() has its date.
  bool chose_dates() const { return chose_dates_; }
  // The relations that are predicted, <other, edge, node>; then those of also_hide.
  std::span<const Relation> predicted() const { return predicted_; }
  std::span<const Relation> also_hidden() const { return also_hidden_; }
  // The relations of leave_out: no part of the graph, as far as the model is concerned.
  const std::vector<Relation>& left_out() const { return left_out_; }

  // A predicted edge joins the two; there is one at a node of the other type.
  bool is_linked(NodeId node, NodeId other) const;
  bool has_link(NodeId other) const;

  Answers answers() const;
  // Pairs: any node of the other type may be the answer, and examples are compared with some that
  // are drawn. Otherwise examples bring all their candidates with them.
  bool draws_negatives() const;
  // Names of the metrics that apply, the most telling first.
  virtual std::vector<std::string> metrics() const = 0;
  // The titles of a table of answers, best first for each example, separated by tabs.
  virtual std::string answer_columns() const = 0;

  // The validation examples are drawn: TaskSpec::validation_draw changes them, and nothing else.
  bool draws_validation() const;
  virtual uint64_t num_examples(Split split) const = 0;
  // Those that are compared with some of their candidates only.
  virtual uint64_t num_capped(Split /*split*/) const { return 0; }
  // At which the example's node is asked about; kNoTime: it has none.
  virtual Time example_time(Split split, uint32_t example) const = 0;
  // `random_seed` draws what the example leaves open (negatives); evaluation passes kNoDraw and
  // gets the same every time.
  static constexpr uint64_t kNoDraw = 0;
  virtual Question question(Split split, std::span<const uint32_t> examples,
                            uint64_t random_seed) const = 0;
  // What an example is about, in the user's ids: cells of a table, separated by tabs.
  virtual std::string describe_example(Split split, uint32_t example) const = 0;
  std::string example_columns() const;  // the titles of these cells

  // The bound in force where this one is asked for, and never automatic (docs/training.md has the
  // table). Throws Error: the end of a split that has none in time.
  TimeBound time_bound(TimeBound asked) const;
  // The options with the split's time bound, settled, and hidden edges: the leakage guard.
  SamplingOptions sampling(SamplingOptions options, Split split) const;

  // --- classes ---
  virtual uint32_t num_classes() const { return 0; }
  virtual bool has_several_answers() const { return false; }  // some example has two classes
  virtual std::string class_id(uint32_t /*number*/) const { return ""; }
  virtual std::string class_name(uint32_t /*number*/) const { return ""; }
  // A question about any nodes of the type, examples or not.
  virtual Question question_about(std::span<const Seed> seeds) const;

  NodeType node_type() const { return node_; }
  NodeType other_type() const { return other_; }  // of pairs and edges

 protected:
  Task(HeteroGraph graph, TaskSpec spec);

  // Settles the ends of a split by time that nobody gave: the usual ones, or quantiles of the times
  // where these leave a split without examples. To be called before split_of().
  void settle_dates(std::span<const Time> times);
  // The split of an example with that time, or number, or that the label column put there.
  Split split_of(Time time, uint64_t number, Split given = Split::none) const;
  bool is_for_validation(double place, double test_share) const;
  // Throws Error when a split has no example; says where the examples are.
  void check_examples(std::span<const Time> times) const;
  // The predicted edges of the split's examples.
  virtual void append_links(Split split, std::vector<HiddenEdge>& links) const = 0;
  Seed seed_at(NodeType type, NodeId node, Time time) const;

  HeteroGraph graph_;
  TaskSpec spec_;
  TimeSplit time_split_;
  NodeType node_{};
  NodeType other_{};
  std::vector<Relation> predicted_;
  std::vector<Relation> also_hidden_;
  std::vector<Relation> hidden_relations_;  // both
  std::vector<Relation> left_out_;
  bool given_validation_ = false;

 private:
  void settle_split();
  void find_relations();
  void find_left_out();

  bool chose_dates_ = false;
};

// Throws Error: a declaration that does not fit the graph; a split without examples.
std::unique_ptr<const Task> open_task(const HeteroGraph& graph, const TaskSpec& spec);

}  // namespace hgt
