// Everything that can be shown of a run, as JSON: what its files say all at once, and what the
// model must compute section by section. `hgt report` puts everything into one page, `hgt view`
// serves it. The members are those of web/src/model.ts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hgt/insight/insight_json.h"
#include "hgt/insight/similarity.h"
#include "hgt/progress.h"
#include "hgt/training/run.h"

namespace hgt {

struct ReportOptions {
  Split split = Split::test;  // whose examples are looked at
  // --- evolution ---
  std::vector<Seed> focus = {};  // nodes of one type; empty: the most prominent of evolving_type()
  std::vector<Time> times = {};  // empty: spread over those of the graph
  uint64_t among = 40;           // nodes that are compared
  // --- how much is looked at ---
  uint64_t examples = 2000;  // for the confusion of classes
  uint64_t classes = 12;     // of them, the others together
  uint64_t batches = 20;     // for attention and balance
  uint64_t branches = 4;     // of a node of the attention tree
};

// The type whose evolution is shown: at the other end of what the task predicts if its nodes can be
// asked for at any time, else the one with fewest nodes, at least five, that can. Nodes have a
// history by the events linked to them, so there must be some, and a model that reads them. No
// value: none.
std::optional<NodeType> evolving_type(const Run& run);

// Times for a slider, ascending; none where the graph has none.
std::vector<std::string> time_steps(const Schema& schema);

class RunReport {
 public:
  // `run` must outlive it.
  explicit RunReport(const Run& run, ReportOptions options = {});

  // RunReport of web/src/model.ts without `confusion`, `attention`, `evolution` and `balance`.
  OrderedJson from_files() const;

  // Each is null where the run has nothing of the kind: a task without classes, a model without
  // attention, a graph without times.
  OrderedJson confusion(const ProgressSink& progress = no_progress) const;
  OrderedJson attention(const ProgressSink& progress = no_progress) const;
  OrderedJson evolution(const ProgressSink& progress = no_progress) const;
  OrderedJson balance(const ProgressSink& progress = no_progress) const;

  bool has_evolution() const;  // the section is not null

  // All of it.
  OrderedJson whole(const ProgressSink& progress = no_progress) const;

 private:
  const Run& run_;
  ReportOptions options_;
};

// Report of web/src/model.ts, of runs as from_files() or whole() gave them.
OrderedJson report_json(std::vector<OrderedJson> runs, bool live);

// The page with the report in it, ready to be opened without anything else. Throws Error: the page
// has no place for it.
std::string filled_page(const std::string& page, const OrderedJson& report);

}  // namespace hgt
