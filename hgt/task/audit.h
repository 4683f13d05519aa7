// Shows that a task's sub-graphs hold nothing that its examples must not see: samples batches of
// every split and looks, knowing nothing of how they are made.
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
    uint64_t predicted_links = 0;  // between the ends of an example, in either direction
    uint64_t hidden_links = 0;     // of the edge types of also_hide, likewise
    uint64_t late_nodes = 0;       // later than the bound
    uint64_t late_edges = 0;       // edges whose own time is later than the bound
    std::string first = {};        // the first offence, in the user's ids
  };
  std::vector<Finding> findings;   // by split
  std::vector<std::string> notes;  // what cannot be told from the graph alone

  bool clean() const;
};

// Batches of 64 examples, as many as it takes for `examples` of each split.
Audit audit(const Task& task, const SamplingOptions& sampling, uint64_t examples);
std::string audit_text(const Audit& audit);

}  // namespace hgt
