#include "hgt/task/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "hgt/graph/time_text.h"
#include "hgt/random.h"
#include "hgt/sampling/sampler.h"
#include "hgt/sampling/uniform_choice.h"

namespace hgt {

namespace {

constexpr uint64_t kBatch = 64;
constexpr uint64_t kAuditStream = 0xa0d17;

using Ends = std::pair<NodeId, NodeId>;  // node, other

// What one batch's sub-graph must not hold.
class Watch {
 public:
  Watch(const Task& task, const Question& question) : task_(task), schema_(task.graph().schema()) {
    for (const Relation relation : task.predicted()) mark(predicted_, relation);
    for (const Relation relation : task.also_hidden()) mark(also_, relation);
    const auto& seeds = question.request.seeds;
    if (task.num_classes() > 0) {
      for (const Seed& seed : seeds) asked_.insert(seed.node);
      return;
    }
    for (size_t i = 0; i < question.left.size(); ++i) {
      if (question.relevant[i] == 0) continue;
      pairs_.insert({seeds[question.left[i]].node, seeds[question.right[i]].node});
    }
  }

  // Counts the offences of an edge.
  void look(const Subgraph& subgraph, uint32_t target, uint64_t edge, Audit::Finding& finding) {
    const uint32_t number = index(subgraph.relations[edge]);
    if (number >= schema_.relations().size()) return;  // self
    const bool predicted = predicted_.contains(number);
    if (!predicted && !also_.contains(number)) return;
    const RelationSpec& spec = schema_.relations()[number];
    const NodeId source_node = subgraph.nodes[subgraph.sources[edge]];
    const NodeId target_node = subgraph.nodes[target];
    const bool inward = spec.target == task_.node_type() && into_node_.contains(number);
    const Ends ends = inward ? Ends{target_node, source_node} : Ends{source_node, target_node};
    const bool offends =
        task_.num_classes() > 0 ? asked_.contains(ends.first) : pairs_.contains(ends);
    if (!offends) return;
    ++(predicted ? finding.predicted_links : finding.hidden_links);
    if (finding.first.empty()) {
      finding.first = fmt::format("{} {} {}", task_.graph().id(spec.source, source_node), spec.edge,
                                  task_.graph().id(spec.target, target_node));
    }
  }

 private:
  void mark(std::set<uint32_t>& set, Relation relation) {
    set.insert(index(relation));
    set.insert(index(schema_.reverse(relation)));
    into_node_.insert(index(relation));
  }

  const Task& task_;
  const Schema& schema_;
  std::set<uint32_t> predicted_;
  std::set<uint32_t> also_;
  std::set<uint32_t> into_node_;  // relations whose target is the node that is asked about
  std::set<NodeId> asked_;
  std::set<Ends> pairs_;
};

void look_at_times(const HeteroGraph& graph, const Subgraph& subgraph, Time bound,
                   Audit::Finding& finding) {
  for (uint32_t row = 0; row < subgraph.num_rows(); ++row) {
    const NodeType type = subgraph.type_of(row);
    const Time own = graph.time(type, subgraph.nodes[row]);
    if (own > bound || subgraph.times[row] > bound) {
      ++finding.late_nodes;
      if (finding.first.empty()) finding.first = graph.id(type, subgraph.nodes[row]);
    }
    const auto times = graph.incoming_times(type);
    if (times.empty()) continue;
    for (const uint64_t edge : subgraph.incoming(row)) {
      const EdgePosition position = subgraph.positions[edge];
      if (position != kSelfEdge && times[position] > bound) ++finding.late_edges;
    }
  }
}

std::vector<uint32_t> drawn_examples(const Task& task, Split split, uint64_t wanted,
                                     uint64_t seed) {
  const uint64_t count = task.num_examples(split);
  std::vector<uint32_t> numbers;
  Draws draws(hash(seed, kAuditStream, split));
  UniformChoice().choose(count, std::min(count, wanted), draws,
                         [&](uint64_t i) { numbers.push_back(static_cast<uint32_t>(i)); });
  return numbers;
}

Audit::Finding examine(const Task& task, const SamplingOptions& sampling, Split split,
                       uint64_t examples) {
  Audit::Finding finding{.split = split};
  const auto numbers = drawn_examples(task, split, examples, sampling.seed);
  const SamplingOptions options = task.sampling(sampling, split);
  const bool bounded =
      task.spec().split == SplitRule::time && options.time_bound != TimeBound::none;
  const Time bound =
      bounded ? task.time_split().last_time(split) : std::numeric_limits<Time>::max();
  Sampler sampler(task.graph(), options);
  Subgraph subgraph;
  for (size_t first = 0; first < numbers.size(); first += kBatch) {
    const auto some = std::span(numbers).subspan(first, std::min(kBatch, numbers.size() - first));
    const Question question = task.question(split, some, Task::kNoDraw);
    sampler.sample(question.request, hash(sampling.seed, kAuditStream, split, first), subgraph);
    Watch watch(task, question);
    for (uint32_t row = 0; row < subgraph.num_rows(); ++row) {
      for (const uint64_t edge : subgraph.incoming(row)) watch.look(subgraph, row, edge, finding);
    }
    look_at_times(task.graph(), subgraph, bound, finding);
    finding.examples += some.size();
    finding.instances += subgraph.num_rows();
    finding.edges += subgraph.num_edges();
  }
  return finding;
}

// What is known of the time of a type's features.
std::string describe_features(const Task& task, const NodeTypeSpec& type) {
  const FeatureSpec& features = *type.features;
  const std::string what = fmt::format("features of {} ({})", type.name, features.origin);
  const TimeUnit unit = task.graph().schema().time_unit;
  const Time end = task.time_split().train_end;
  if (features.until && *features.until > end) {
    return fmt::format(
        "{}: made with what was known up to {}, but training ends with {}; make "
        "them again with --until {}",
        what, format_time(*features.until, unit), format_time(end, unit), format_time(end, unit));
  }
  if (features.until) {
    return fmt::format("{}: made with nothing later than {}", what,
                       format_time(*features.until, unit));
  }
  if (type.kind == NodeKind::event) {
    return fmt::format("{}: each belongs to a node that is no later than the bound", what);
  }
  return fmt::format(
      "{}: the type has no time, so the graph cannot tell whether they know the "
      "future; make sure that nothing after training went into them",
      what);
}

}  // namespace

bool Audit::clean() const {
  return std::all_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.predicted_links + finding.hidden_links + finding.late_nodes +
               finding.late_edges ==
           0;
  });
}

Audit audit(const Task& task, const SamplingOptions& sampling, uint64_t examples) {
  Audit result;
  for (const Split split : kSplits) {
    result.findings.push_back(examine(task, sampling, split, examples));
  }
  for (const NodeTypeSpec& type : task.graph().schema().node_types()) {
    if (!type.features) continue;
    result.notes.push_back(describe_features(task, type));
  }
  return result;
}

std::string audit_text(const Audit& audit) {
  std::string text;
  for (const Audit::Finding& finding : audit.findings) {
    text += fmt::format(
        "{}: {} examples, {} instances, {} edges in reach: {} predicted links, {} links that are "
        "also hidden, {} nodes and {} edges after the bound{}\n",
        to_string(finding.split), finding.examples, finding.instances, finding.edges,
        finding.predicted_links, finding.hidden_links, finding.late_nodes, finding.late_edges,
        finding.first.empty() ? "" : "; the first: " + finding.first);
  }
  for (const std::string& note : audit.notes) text += note + '\n';
  text += audit.clean() ? "Nothing leaks.\n" : "The sub-graphs leak.\n";
  return text;
}

}  // namespace hgt
