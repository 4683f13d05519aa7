// Shows that a task's sub-graphs contain nothing that its examples must not see: samples batches of
// every split and inspects them, independently of how they are made.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hgt/task/task.h"

namespace hgt {

struct Audit {
  struct Finding {
    Split split = Split::none;
    uint64_t examples = 0;
    uint64_t instances = 0;
    uint64_t edges = 0;
    // Between the ends of an example of the batch, in either direction; with Hidden::split also of
    // the split's other examples (of later ones too, where no time lies between).
    uint64_t predicted_links = 0;
    uint64_t hidden_links = 0;  // of the edge types of also_hide, likewise
    // Nodes whose features are a mean over such links and are not what it is without them.
    uint64_t leaking_means = 0;
    // Later than the end of the split, where it is one by time, whatever the sampler's bound; or
    // than the seed, with TimeBound::seed.
    uint64_t late_nodes = 0;
    uint64_t late_edges = 0;  // by their own time
    // In a sub-graph for a single example, later than this example is: allowed unless the bound is
    // its time, but worth knowing.
    uint64_t later_nodes = 0;
    uint64_t later_edges = 0;
    uint64_t unbounded = 0;  // examples for which there is no bound (time_bound.h)
    std::string first = {};  // the first violation, with the user's ids

    bool clean() const {
      return predicted_links + hidden_links + leaking_means + late_nodes + late_edges == 0;
    }
  };
  std::string time_bound = {};         // the one in force and what it means
  std::vector<Finding> findings = {};  // by split
  // Made with what is later than training, where the split is by time, or along edges that the
  // task predicts or hides; a sentence each.
  std::vector<std::string> leaking_features = {};
  std::vector<std::string> notes = {};  // on other features: what the graph knows of them

  bool clean() const;
  uint64_t unbounded() const;  // examples of all splits
};

void refuse_leaking_features(const Task& task);  // throws Error

// Features are means over links that the task hides: in every sub-graph, what is hidden from it is
// left out of them (hgt/sampling/visible_features.h).
bool leaves_out_of_means(const Task& task);

// What is in the sub-graph of a batch of the split's examples and must not be, whatever it was
// drawn with; `bound` is what the sampler was to keep.
void count_offences(const Task& task, Split split, TimeBound bound, const Question& question,
                    const Subgraph& subgraph, Audit::Finding& finding);

// Batches of 64 examples, as many as it takes for `examples` of each split.
Audit audit(const Task& task, const SamplingOptions& sampling, uint64_t examples);
std::string audit_text(const Audit& audit);

}  // namespace hgt
