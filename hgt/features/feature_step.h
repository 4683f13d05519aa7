// One step of a recipe: which types get features, and how.
//
//   type = "paper"                            text: the names of the nodes, through an encoder
//   from = "title"
//   encoder = "fasttext"
//
//   type = "author"                           mean: of the features of neighbors
//   mean-of = "paper"
//
//   types = ["field", "venue"]                walks: metapath2vec
//   metapath2vec = ["venue-paper-author-paper-venue", "FPF"]
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "hgt/enum_words.h"
#include "hgt/graph/hetero_graph.h"
#include "hgt/options/option_table.h"
#include "hgt/task/task_spec.h"

namespace hgt {

enum class TextEncoder { fasttext, vectors, xlnet, bert, hashed };
constexpr auto words_of(TextEncoder) {
  return enum_words<TextEncoder>("encoder", {{TextEncoder::fasttext, "fasttext"},
                                             {TextEncoder::vectors, "vectors"},
                                             {TextEncoder::xlnet, "xlnet"},
                                             {TextEncoder::bert, "bert"},
                                             {TextEncoder::hashed, "hashed"}});
}

enum class StepKind { text, mean, walks };

struct FeatureStep {
  std::vector<std::string> types = {};

  std::string from = "title";  // or "name": the same, the text that the graph keeps of a node
  TextEncoder encoder = TextEncoder::fasttext;
  std::string vectors = {};  // file of word vectors
  std::string xlnet = {};    // folder of the model
  std::string bert = {};     // folder of the model

  std::string mean_of = {};           // type of the neighbors
  std::vector<std::string> via = {};  // edge types to them; none: all

  std::vector<std::string> metapath2vec = {};  // meta paths; "auto": proposed from the schema
  uint32_t walks = 10;                         // from every node
  uint32_t length = 80;                        // nodes of a walk
  uint32_t window = 5;
  uint32_t negatives = 5;
  double learning_rate = 0.025;

  uint32_t width = 128;
  uint32_t epochs = 0;  // fasttext; 0: by the number of titles
  uint64_t seed = 1;
  uint32_t threads = 1;
  FeatureType precision = FeatureType::float16;

  std::string task = {};  // a name or a file; nothing it predicts is used
  // What is said of the task besides: split, ends of training and validation, edge types to hide
  // and to leave out. What is at its default is as the task has it.
  TaskSpec task_options = {};
  std::string until = {};  // a date; empty: the end of the task's training period, or 2014

  StepKind kind() const;
};

// Its options by name; `step` must outlive the table.
OptionTable step_table(FeatureStep& step);

// Those of them that say what a step may know, and not how it is made.
std::vector<std::string> options_of_reach();

// What a step may read.
struct Reach {
  Time until = std::numeric_limits<Time>::max();  // the largest: no bound
  std::vector<bool> hidden = {};  // [relations] that a task predicts, hides or leaves out
  // [relations] Those of them that it hides batch by batch: a mean over them can leave out what a
  // batch hides (hgt/graph/mean_features.h).
  std::vector<bool> hidden_by_batch = {};

  bool bounded() const { return until != std::numeric_limits<Time>::max(); }
};

// Nothing later than the end of training, where graph and task know times; no relation that the
// task predicts or leaves out, in either direction. Throws Error: no such task, no date, options of
// a task without one.
Reach reach_of(const FeatureStep& step, const HeteroGraph& graph);

// Throws Error: a step that says nothing, or two things at once, or names what is not there, or a
// number out of range.
void check_step(const FeatureStep& step, const Schema& schema);

// Throws Error: an option that is not at its default says nothing about such a step; without types,
// about the default recipe. For what a user spelled out; steps of a recipe share what stands above
// them.
void refuse_idle_options(const FeatureStep& step);

// The relations that a mean may use: by edge type (in either direction; none: all), without hidden
// ones; where there are no others, those that are hidden by batch. Throws Error: there is none.
std::vector<Relation> usable_relations(const FeatureStep& step, const Schema& schema,
                                       const Reach& reach);

}  // namespace hgt
