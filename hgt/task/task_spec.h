// What is to be predicted, declared: in a small file (docs/training.md) or by a name.
//
//   paper-venue, paper-field-L1, movie-genre   the other end of edges: NODE-OTHER[-SUFFIX]
//   paper:class                                a label column: NODE:LABEL
//   author-disambiguation                      which of the same-named authors a paper belongs to
//   link:rates                                 whether an edge exists, against drawn negatives
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hgt/enum_words.h"
#include "hgt/graph/schema.h"
#include "hgt/graph/types.h"
#include "hgt/options/option_table.h"

namespace hgt {

enum class TaskKind {
  edge,   // the other end of an edge type, out of all nodes that have such edges
  label,  // the classes of a label column
  name,   // which of the nodes of one name a link belongs to
  link,   // which of some nodes a link goes to; the others are drawn
};
constexpr auto words_of(TaskKind) {
  return enum_words<TaskKind>("kind of task", {{TaskKind::edge, "edge"},
                                               {TaskKind::label, "label"},
                                               {TaskKind::name, "name"},
                                               {TaskKind::link, "link"}});
}

enum class SplitRule {
  automatic,  // given where the label column has a split, else time
  time,       // by the time of the example: training, then validation, then test
  random,     // by shares
  given,      // by the label column; validation is a share of training unless it is given too
};
constexpr auto words_of(SplitRule) {
  return enum_words<SplitRule>("split", {{SplitRule::automatic, "automatic"},
                                         {SplitRule::time, "time"},
                                         {SplitRule::random, "random"},
                                         {SplitRule::given, "given"}});
}

enum class Loss {
  automatic,  // binary for label columns with several classes to a node, else softmax
  softmax,    // cross entropy with the classes of the example, each with the same share
  binary,     // a yes or no for each class
};
constexpr auto words_of(Loss) {
  return enum_words<Loss>(
      "loss",
      {{Loss::automatic, "automatic"}, {Loss::softmax, "softmax"}, {Loss::binary, "binary"}});
}

// Predicted links that a sub-graph leaves out.
enum class Hidden {
  automatic,  // split for links, else batch
  batch,      // those of the batch's examples: the paper's protocol
  split,      // besides, those of all validation and test examples of the split that is read and
              // of later ones
};
constexpr auto words_of(Hidden) {
  return enum_words<Hidden>(
      "choice of hidden links",
      {{Hidden::automatic, "automatic"}, {Hidden::batch, "batch"}, {Hidden::split, "split"}});
}

struct TaskSpec {
  std::string name = {};
  TaskKind kind = TaskKind::edge;
  std::string node = {};                // the type that is asked about
  std::string other = {};               // the type at the other end; none for labels
  std::vector<std::string> edges = {};  // edge types between them, in either direction
  std::string label = {};
  Loss loss = Loss::automatic;

  SplitRule split = SplitRule::automatic;
  std::string train_end = {};       // a date; empty: 2014, or what fits (split_dates.h)
  std::string validation_end = {};  // empty: 2016, or what fits
  double validation_share = 0.2;    // random: of all; given: of the training nodes
  double test_share = 0.2;          // random: of all
  // random, given: which of the examples that are not for testing are for validation. As long as
  // draws are fewer than 1 / share, they have no example in common. The test set is always the
  // same.
  uint32_t validation_draw = 0;
  uint64_t split_seed = 0;

  bool guard = true;  // false: predicted links stay visible; for showing what leakage does
  Hidden hide_links = Hidden::automatic;
  std::vector<std::string> also_hide = {};   // further edge types that are treated like `edges`
  std::vector<std::string> leave_out = {};   // edge types that the model never sees
  std::vector<std::string> meta_paths = {};  // that han follows, hgt/message/meta_path.h

  uint32_t min_links = 1;         // name: candidates with fewer training links are left out
  uint32_t max_candidates = 0;    // name: of an example; others are drawn from. 0: all
  uint32_t negatives = 20;        // link: drawn for each training example
  uint32_t test_negatives = 100;  // link: drawn for each example that is scored

  friend bool operator==(const TaskSpec&, const TaskSpec&) = default;
};

// A file (it ends in .toml) or a name. Throws Error: an unknown key, a name that fits nothing in
// the schema (then it lists what would).
TaskSpec find_task(const std::string& name_or_file, const Schema& schema);
TaskSpec read_task(const Path& file);
// What can be said of a task besides what it is: split, loss, guard, negatives. `spec` must outlive
// the table.
OptionTable task_table(TaskSpec& spec);
std::string to_toml(const TaskSpec& spec);  // read_task gives back the same

// The split that the task comes to: nothing automatic any more.
SplitRule settled_split(const TaskSpec& spec, const Schema& schema);

// All names that find_task knows for the schema, kind by kind.
std::vector<std::string> task_names(const Schema& schema);

}  // namespace hgt
