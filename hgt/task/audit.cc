#include "hgt/task/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "hgt/error.h"
#include "hgt/graph/each_row.h"
#include "hgt/graph/mean_features.h"
#include "hgt/graph/time_text.h"
#include "hgt/random.h"
#include "hgt/sampling/sampler.h"
#include "hgt/sampling/uniform_choice.h"
#include "hgt/sampling/visible_features.h"
#include "hgt/task/time_bound.h"

namespace hgt {

namespace {

constexpr uint64_t kBatch = 64;
constexpr uint64_t kAuditStream = 0xa0d17;
constexpr double kMeanTolerance = 1e-5;  // of the largest number of what a mean is made of

using Ends = std::pair<NodeId, NodeId>;  // node, other

// The nodes, or the pairs of ends, that questions ask about.
class Asked {
 public:
  void add(const Task& task, const Question& question) {
    const auto& seeds = question.request.seeds;
    if (task.answers() == Answers::classes) {
      for (const Seed& seed : seeds) nodes_.insert(seed.node);
      return;
    }
    for (size_t i = 0; i < question.left.size(); ++i) {
      if (question.relevant[i] == 0) continue;
      pairs_.insert({seeds[question.left[i]].node, seeds[question.right[i]].node});
    }
  }

  bool contains(const Ends& ends) const {
    return nodes_.contains(ends.first) || pairs_.contains(ends);
  }

 private:
  std::set<NodeId> nodes_;
  std::set<Ends> pairs_;
};

// All examples that are not for training, of a split whose links are hidden as a whole.
Asked asked_of_splits(const Task& task, Split split) {
  Asked asked;
  if (task.spec().hide_links != Hidden::split) return asked;
  const bool by_time = task.spec().split == SplitRule::time;
  for (const Split each : kSplits) {
    // By time, later links are late; what is as old as they are must not be counted with them.
    if (each == Split::train || each < split || (by_time && each > split)) continue;
    const auto count = static_cast<uint32_t>(task.num_examples(each));
    for (uint32_t i = 0; i < count; ++i) {
      asked.add(task, task.question(each, std::span(&i, 1), Task::kNoDraw));
    }
  }
  return asked;
}

constexpr Time kNever = std::numeric_limits<Time>::max();

size_t num_components(const Subgraph& subgraph) {
  uint32_t components = 0;
  for (const uint32_t component : subgraph.components) {
    components = std::max(components, component + 1);
  }
  return components;
}

// The last time that each component may hold.
std::vector<Time> last_times(const Task& task, Split split, TimeBound bound,
                             const Subgraph& subgraph) {
  const bool by_time = task.spec().split == SplitRule::time;
  const Time end = by_time ? task.time_split().last_time(split) : kNever;
  std::vector<Time> last(num_components(subgraph), end);
  if (bound != TimeBound::seed) return last;
  for (const uint32_t row : subgraph.seed_rows) {
    if (subgraph.times[row] == kNoTime) continue;
    Time& own = last[subgraph.components[row]];
    own = std::min(own, subgraph.times[row]);
  }
  return last;
}

// The time of each component's latest seed; kNever: it has one without a time.
std::vector<Time> seed_times(const Subgraph& subgraph) {
  std::vector<Time> latest(num_components(subgraph), kNoTime);
  for (const uint32_t row : subgraph.seed_rows) {
    const Time time = subgraph.times[row];
    Time& own = latest[subgraph.components[row]];
    own = std::max(own, time == kNoTime ? kNever : time);
  }
  return latest;
}

struct LateParts {
  uint64_t nodes = 0;
  uint64_t edges = 0;
  std::string first = {};  // the id of a node
};

LateParts parts_after(const HeteroGraph& graph, const Subgraph& subgraph,
                      const std::vector<Time>& last_times) {
  LateParts late;
  for (uint32_t row = 0; row < subgraph.num_rows(); ++row) {
    const NodeType type = subgraph.type_of(row);
    const Time bound = last_times[subgraph.components[row]];
    const Time own = graph.time(type, subgraph.nodes[row]);
    if (own > bound || subgraph.times[row] > bound) {
      ++late.nodes;
      if (late.first.empty()) late.first = graph.id(type, subgraph.nodes[row]);
    }
    for (const uint64_t edge : subgraph.incoming(row)) {
      if (subgraph.positions[edge] == kSelfEdge) continue;
      const Relation relation = subgraph.relations[edge];
      const NodeId node = subgraph.nodes[row];
      if (graph.edge_time(relation, node, subgraph.positions[edge]) > bound) ++late.edges;
    }
  }
  return late;
}

// Looks for what must not be in a split's sub-graphs.
class Watch {
 public:
  Watch(const Task& task, Split split, TimeBound bound)
      : task_(task),
        schema_(task.graph().schema()),
        split_(split),
        bound_(bound),
        of_splits_(asked_of_splits(task, split)) {
    for (const Relation relation : task.predicted()) mark(predicted_, relation);
    for (const Relation relation : task.also_hidden()) mark(also_, relation);
  }

  void look(const Question& question, const Subgraph& subgraph, Audit::Finding& finding) {
    of_batch_ = {};
    of_batch_.add(task_, question);
    hidden_ = {question.request.hidden.begin(), question.request.hidden.end()};
    for (size_t type = 0; type < schema_.node_types().size(); ++type) {
      look_at_means(subgraph, NodeType(type), finding);
    }
    for (uint32_t row = 0; row < subgraph.num_rows(); ++row) {
      for (const uint64_t edge : subgraph.incoming(row)) {
        look_at_link(subgraph, row, edge, finding);
      }
    }
    const LateParts late =
        parts_after(task_.graph(), subgraph, last_times(task_, split_, bound_, subgraph));
    finding.late_nodes += late.nodes;
    finding.late_edges += late.edges;
    if (finding.first.empty()) finding.first = late.first;
  }

 private:
  void look_at_link(const Subgraph& subgraph, uint32_t target, uint64_t edge,
                    Audit::Finding& finding) const {
    const uint32_t number = index(subgraph.relations[edge]);
    if (number >= schema_.relations().size()) return;  // self
    const bool predicted = predicted_.contains(number);
    if (!predicted && !also_.contains(number)) return;
    const RelationSpec& spec = schema_.relations()[number];
    const NodeId source_node = subgraph.nodes[subgraph.sources[edge]];
    const NodeId target_node = subgraph.nodes[target];
    const bool inward = spec.target == task_.node_type() && into_node_.contains(number);
    const bool mutual = schema_.reverse(Relation(number)) == Relation(number);
    const bool offends = (inward && is_asked({target_node, source_node})) ||
                         ((!inward || mutual) && is_asked({source_node, target_node}));
    if (!offends) return;
    ++(predicted ? finding.predicted_links : finding.hidden_links);
    if (finding.first.empty()) {
      finding.first = fmt::format("{} {} {}", task_.graph().id(spec.source, source_node), spec.edge,
                                  task_.graph().id(spec.target, target_node));
    }
  }

  // Compares with means that are taken anew, over the links that are not asked for.
  void look_at_means(const Subgraph& subgraph, NodeType type, Audit::Finding& finding) const {
    const std::vector<Relation> relations = mean_relations(schema_, type);
    if (relations.empty() || !task_.spec().guard) return;
    const std::set<NodeId> nodes(subgraph.nodes_of(type).begin(), subgraph.nodes_of(type).end());
    std::vector<float> row(task_.graph().features(type).width);
    for (const NodeId node : nodes) {
      copy_visible_features(task_.graph(), subgraph, type, std::span(&node, 1), row);
      if (is_mean_of_others(relations, type, node, row)) continue;
      ++finding.leaking_means;
      if (finding.first.empty()) finding.first = task_.graph().id(type, node);
    }
  }

  bool is_mean_of_others(const std::vector<Relation>& relations, NodeType type, NodeId node,
                         std::span<const float> row) const {
    const HeteroGraph& graph = task_.graph();
    const NodeType source = schema_.at(relations.front()).source;
    const Time until = schema_.at(type).features->mean->until.value_or(kNever);
    std::vector<double> sums(row.size() - 1, 0.0);
    double count = 0;
    double largest = 0;
    const std::vector<NodeId> neighbors = neighbors_until(graph, relations, node, until);
    size_t next = 0;
    for_each_row(graph, source, neighbors, [&](std::span<const float> own) {
      const NodeId neighbor = neighbors[next++];
      const bool has_none = schema_.at(source).features->flagged && own.back() != 0;
      if (has_none) return;
      for (const float value : own) largest = std::max<double>(largest, std::abs(value));
      if (is_asked_by_all(relations, neighbor, node)) return;
      ++count;
      for (size_t j = 0; j < sums.size(); ++j) sums[j] += own[j];
    });
    if ((row.back() != 0) != (count == 0)) return false;
    for (size_t j = 0; j < sums.size(); ++j) {
      const double expected = count == 0 ? 0 : sums[j] / count;
      if (std::abs(row[j] - expected) > kMeanTolerance * largest) return false;
    }
    return true;
  }

  // Every link between the two by these relations is asked for.
  bool is_asked_by_all(const std::vector<Relation>& relations, NodeId source, NodeId target) const {
    return std::all_of(relations.begin(), relations.end(), [&](Relation relation) {
      const auto sources = task_.graph().unchecked_incoming(relation, target).sources;
      if (!std::binary_search(sources.begin(), sources.end(), source)) return true;
      return is_hidden_link(relation, source, target);
    });
  }

  bool is_hidden_link(Relation relation, NodeId source, NodeId target) const {
    const Relation reverse = schema_.reverse(relation);
    if (hidden_.contains({relation, source, target})) return true;
    if (hidden_.contains({reverse, target, source})) return true;
    const bool one_of_them =
        predicted_.contains(index(relation)) || also_.contains(index(relation));
    if (!one_of_them) return false;
    const bool inward = into_node_.contains(index(relation));
    return (inward && is_asked({target, source})) ||
           ((!inward || reverse == relation) && is_asked({source, target}));
  }

  void mark(std::set<uint32_t>& set, Relation relation) {
    set.insert(index(relation));
    set.insert(index(schema_.reverse(relation)));
    into_node_.insert(index(relation));
  }

  bool is_asked(const Ends& ends) const {
    return of_batch_.contains(ends) || of_splits_.contains(ends);
  }

  const Task& task_;
  const Schema& schema_;
  Split split_;
  TimeBound bound_;
  std::set<uint32_t> predicted_;
  std::set<uint32_t> also_;
  std::set<uint32_t> into_node_;  // relations whose target is the node that is asked about
  Asked of_splits_;
  Asked of_batch_;
  std::set<HiddenEdge> hidden_;  // single edges, for the batch
};

std::vector<uint32_t> drawn_examples(const Task& task, Split split, uint64_t wanted,
                                     uint64_t seed) {
  const uint64_t count = task.num_examples(split);
  std::vector<uint32_t> numbers;
  Draws draws(hash(seed, kAuditStream, split));
  UniformChoice().choose(count, std::min(count, wanted), draws,
                         [&](uint64_t i) { numbers.push_back(static_cast<uint32_t>(i)); });
  return numbers;
}

// What is later than the one example that the sub-graph was drawn for.
void look_after_example(const Task& task, TimeBound bound, const Question& question,
                        const Subgraph& subgraph, Audit::Finding& finding) {
  const LateParts later = parts_after(task.graph(), subgraph, seed_times(subgraph));
  finding.later_nodes += later.nodes;
  finding.later_edges += later.edges;
  const auto& seeds = question.request.seeds;
  const bool unbounded = std::any_of(seeds.begin(), seeds.end(), [&](const Seed& seed) {
    return is_unbounded(task, bound, seed);
  });
  if (unbounded) ++finding.unbounded;
}

Audit::Finding examine(const Task& task, const SamplingOptions& sampling, Split split,
                       uint64_t examples) {
  Audit::Finding finding{.split = split};
  const auto numbers = drawn_examples(task, split, examples, sampling.seed);
  const SamplingOptions options = task.sampling(sampling, split);
  Watch watch(task, split, options.time_bound);
  Sampler sampler(task.graph(), options);
  Subgraph subgraph;
  for (size_t first = 0; first < numbers.size(); first += kBatch) {
    const auto some = std::span(numbers).subspan(first, std::min(kBatch, numbers.size() - first));
    const Question question = task.question(split, some, Task::kNoDraw);
    sampler.sample(question.request, hash(sampling.seed, kAuditStream, split, first), subgraph);
    watch.look(question, subgraph, finding);
    finding.examples += some.size();
    finding.instances += subgraph.num_rows();
    finding.edges += subgraph.num_edges();
  }
  for (const uint32_t number : numbers) {
    const Question question = task.question(split, std::span(&number, 1), Task::kNoDraw);
    sampler.sample(question.request, hash(sampling.seed, kAuditStream, split, number), subgraph);
    look_after_example(task, options.time_bound, question, subgraph, finding);
  }
  return finding;
}

// The names of the edge types that the task predicts or hides, as they were declared.
std::set<std::string> hidden_edge_types(const Task& task) {
  const Schema& schema = task.graph().schema();
  std::set<std::string> names;
  for (const auto relations : {task.predicted(), task.also_hidden()}) {
    for (const Relation relation : relations) {
      const bool reverse = schema.at(relation).reverse;
      names.insert(schema.at(reverse ? schema.reverse(relation) : relation).edge);
    }
  }
  return names;
}

bool lists(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The edges of this declared type went into a mean that can leave them out, and into nothing else.
bool can_be_left_out(const Schema& schema, NodeType type, const std::string& edge) {
  const FeatureSpec& features = *schema.at(type).features;
  if (!features.mean || !has_source_of_mean(schema, type)) return false;
  const auto& source = schema.at(schema.node_type(features.mean->source)).features;
  return !lists(source->edges, edge);
}

// What is wrong with features; empty: nothing.
std::string leak_of(const Task& task, NodeType type) {
  const FeatureSpec& features = *task.graph().schema().at(type).features;
  const TimeUnit unit = task.graph().schema().time_unit;
  const Time end = task.time_split().train_end;
  const bool by_time = task.spec().split == SplitRule::time;
  if (by_time && features.until && *features.until > end) {
    return fmt::format(
        "made with data up to {}, but training ends with {}; make them again with --until {}",
        format_time(*features.until, unit), format_time(end, unit), format_time(end, unit));
  }
  const std::set<std::string> hidden = hidden_edge_types(task);
  for (const std::string& edge : features.edges) {
    if (!hidden.contains(edge)) continue;
    if (can_be_left_out(task.graph().schema(), type, edge)) continue;
    return fmt::format(
        "made along edges of type {}, which task {} hides; make them again with --task {}", edge,
        task.spec().name, task.spec().name);
  }
  return "";
}

bool leaves_out(const Task& task, const FeatureSpec& features) {
  const std::set<std::string> hidden = hidden_edge_types(task);
  return features.mean &&
         std::any_of(features.edges.begin(), features.edges.end(),
                     [&](const std::string& edge) { return hidden.contains(edge); });
}

// What is known of the time of features that do not leak.
std::string describe(const Task& task, const NodeTypeSpec& type) {
  if (type.features->until) {
    const std::string end = format_time(*type.features->until, task.graph().schema().time_unit);
    const bool by_time = task.spec().split == SplitRule::time;
    return "made with nothing later than " + end +
           (by_time ? "" : ", so they may know what comes after an earlier example");
  }
  if (type.kind == NodeKind::event) return "each belongs to a node that is no later than the bound";
  return "the type has no time, so the graph cannot show whether they depend on the future; make "
         "sure that nothing later than training went into them";
}

void look_at_features(const Task& task, Audit& audit) {
  const Schema& schema = task.graph().schema();
  for (size_t i = 0; i < schema.node_types().size(); ++i) {
    const NodeTypeSpec& type = schema.node_types()[i];
    if (!type.features) continue;
    const std::string leak = leak_of(task, NodeType(i));
    const std::string means = leaves_out(task, *type.features)
                                  ? "; the links that a sub-graph hides are left out of each mean"
                                  : "";
    (leak.empty() ? audit.notes : audit.leaking_features)
        .push_back(fmt::format("features of {} ({}): {}", type.name, type.features->origin,
                               leak.empty() ? describe(task, type) + means : leak));
  }
}

}  // namespace

bool Audit::clean() const {
  return leaking_features.empty() &&
         std::all_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.clean(); });
}

uint64_t Audit::unbounded() const {
  uint64_t sum = 0;
  for (const Finding& finding : findings) sum += finding.unbounded;
  return sum;
}

bool leaves_out_of_means(const Task& task) {
  const auto types = task.graph().schema().node_types();
  return task.spec().guard &&
         std::any_of(types.begin(), types.end(), [&](const NodeTypeSpec& type) {
           return type.features && leaves_out(task, *type.features);
         });
}

void refuse_leaking_features(const Task& task) {
  Audit audit;
  look_at_features(task, audit);
  if (audit.leaking_features.empty()) return;
  throw Error(fmt::format("{}: {} (hgt features), or choose --no-guard",
                          task.graph().folder().string(), audit.leaking_features.front()));
}

void count_offences(const Task& task, Split split, TimeBound bound, const Question& question,
                    const Subgraph& subgraph, Audit::Finding& finding) {
  Watch(task, split, bound).look(question, subgraph, finding);
}

Audit audit(const Task& task, const SamplingOptions& sampling, uint64_t examples) {
  Audit result;
  result.time_bound = describe_time_bound(task, task.time_bound(sampling.time_bound));
  look_at_features(task, result);
  for (const Split split : kSplits) {
    result.findings.push_back(examine(task, sampling, split, examples));
  }
  return result;
}

std::string audit_text(const Audit& audit) {
  std::string text = "time bound " + audit.time_bound + '\n';
  uint64_t examples = 0;
  for (const Audit::Finding& finding : audit.findings) {
    text += fmt::format(
        "{}: {} examples, {} instances, {} edges in reach: {} predicted links, {} other links to "
        "hide,{} {} nodes and {} edges after the bound{}; {} nodes and {} edges later than the "
        "example that reaches them\n",
        to_string(finding.split), finding.examples, finding.instances, finding.edges,
        finding.predicted_links, finding.hidden_links,
        finding.leaking_means > 0
            ? fmt::format(" {} means that contain such links,", finding.leaking_means)
            : "",
        finding.late_nodes, finding.late_edges,
        finding.first.empty() ? "" : " (the first: " + finding.first + ")", finding.later_nodes,
        finding.later_edges);
    examples += finding.examples;
  }
  for (const auto& notes : {audit.notes, audit.leaking_features}) {
    for (const std::string& note : notes) text += note + '\n';
  }
  if (audit.clean() && audit.unbounded() > 0) {
    return text + fmt::format(
                      "No time bounds what {} of the {} examples see, so it may be later than they "
                      "are. Apart from that, no rule is broken.\n",
                      audit.unbounded(), examples);
  }
  if (audit.clean()) return text + "Nothing leaks.\n";
  const bool features = !audit.leaking_features.empty();
  return text + (features ? "The features leak.\n" : "The sub-graphs leak.\n");
}

}  // namespace hgt
