#include "hgt/task/name_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string_view>
#include <tuple>

#include "hgt/error.h"
#include "hgt/random.h"
#include "hgt/sampling/uniform_choice.h"
#include "hgt/task/name_parts.h"
#include "hgt/task/table_cell.h"

namespace hgt {

namespace {
constexpr uint32_t kAlone = std::numeric_limits<uint32_t>::max();
constexpr std::string_view kEnding = "-disambiguation";
constexpr uint64_t kCandidateStream = 0xca4d;  // tells these draws from those of splits
}  // namespace

std::optional<TaskSpec> NameTask::find(const Schema& schema, const std::string& name) {
  if (!name.ends_with(kEnding)) return std::nullopt;
  const auto other = find_type(schema, name.substr(0, name.size() - kEnding.size()));
  if (!other || !schema.at(*other).names) return std::nullopt;
  std::optional<TaskSpec> found;
  for (size_t i = 0; i < schema.node_types().size(); ++i) {
    if (schema.node_types()[i].kind != NodeKind::event || i == index(*other)) continue;
    const auto edges = edges_between(schema, NodeType(i), *other, "");
    if (edges.empty() || (found && found->edges.size() >= edges.size())) continue;
    found = TaskSpec{.name = name,
                     .kind = TaskKind::name,
                     .node = schema.node_types()[i].name,
                     .other = schema.at(*other).name,
                     .edges = edges};
  }
  return found;
}

void NameTask::append_names(const Schema& schema, std::vector<std::string>& names) {
  for (const NodeTypeSpec& type : schema.node_types()) {
    const std::string name = type.name + std::string(kEnding);
    if (find(schema, name)) names.push_back(name);
  }
}

NameTask::NameTask(const HeteroGraph& graph, const TaskSpec& spec) : Task(graph, spec) {
  if (spec_.loss == Loss::binary) {
    throw Error("loss is binary, but exactly one candidate of a name is right; choose softmax");
  }
  spec_.loss = Loss::softmax;
  if (!graph.schema().at(other_).names) {
    throw Error(fmt::format(
        "task {}: nodes of type {} have no names; give them names in the manifest (name = ...)",
        spec_.name, spec_.other));
  }
  if (spec_.split == SplitRule::given)
    throw Error("mentions have no given split: choose --split time or random");
  if (spec_.max_candidates == 1)
    throw Error("max-candidates is 1, which leaves nothing to compare with; give 2 or more");
  group_names();
  const std::vector<Mention> shared = mentions_of_shared_names();
  std::vector<Time> times;
  for (const Mention& mention : shared) times.push_back(graph_.time(node_, mention.node));
  settle_dates(times);
  count_links();
  for (const Mention& mention : shared) add_if_answerable(mention);
  check_examples(times);
}

void NameTask::group_names() {
  const auto count = static_cast<NodeId>(graph_.num_nodes(other_));
  const auto name = [&](NodeId node) { return graph_.name(other_, node); };
  // Sorted by a hash first: names are compared only where their hashes agree.
  std::vector<std::pair<size_t, NodeId>> sorted;
  for (NodeId node = 0; node < count; ++node) {
    if (!name(node).empty()) sorted.emplace_back(std::hash<std::string_view>()(name(node)), node);
  }
  std::sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    return std::tuple(name(a.second), a.second) < std::tuple(name(b.second), b.second);
  });
  group_of_.assign(count, kAlone);
  group_offsets_ = {0};
  for (size_t first = 0; first < sorted.size();) {
    size_t last = first + 1;
    while (last < sorted.size() && sorted[last].first == sorted[first].first &&
           name(sorted[last].second) == name(sorted[first].second)) {
      ++last;
    }
    const bool alone = last - first == 1;
    for (; first < last; ++first) {
      if (alone) continue;
      group_of_[sorted[first].second] = static_cast<uint32_t>(group_offsets_.size()) - 1;
      members_.push_back(sorted[first].second);
    }
    if (!alone) group_offsets_.push_back(static_cast<uint32_t>(members_.size()));
  }
}

std::span<const NodeId> NameTask::namesakes(NodeId other) const {
  const uint32_t group = group_of_[other];
  if (group == kAlone) return {};
  return std::span(members_).subspan(group_offsets_[group],
                                     group_offsets_[group + 1] - group_offsets_[group]);
}

void NameTask::count_links() {
  const auto is_for_training = [&](NodeId node) {
    return split_of(graph_.time(node_, node), node) == Split::train;
  };
  links_.assign(graph_.num_nodes(other_), 0);
  for (const NodeId other : members_) {
    for (const Relation relation : predicted_) {
      const auto nodes = graph_.incoming(graph_.schema().reverse(relation), other).sources;
      links_[other] +=
          static_cast<uint32_t>(std::count_if(nodes.begin(), nodes.end(), is_for_training));
    }
  }
}

// The mention's own link does not count: a candidate that has nothing else would give itself away.
bool NameTask::is_candidate(NodeId node, NodeId other) const {
  const Split split = split_of(graph_.time(node_, node), node);
  const bool by_time = spec_.split == SplitRule::time;
  if (by_time && graph_.time(other_, other) > time_split_.last_time(split)) return false;
  if (spec_.min_links == 0) return true;
  uint32_t links = links_[other];
  if (split == Split::train) {
    for (const Relation relation : predicted_) {
      const auto sources = graph_.unchecked_incoming(relation, node).sources;
      const auto [first, last] = std::equal_range(sources.begin(), sources.end(), other);
      links -= static_cast<uint32_t>(last - first);
    }
  }
  return links >= spec_.min_links;
}

std::vector<NodeId> NameTask::candidates(NodeId node, NodeId namesake) const {
  std::vector<NodeId> found;
  for (const NodeId other : namesakes(namesake)) {
    if (is_candidate(node, other)) found.push_back(other);
  }
  return found;
}

std::vector<NameTask::Mention> NameTask::mentions_of_shared_names() const {
  std::vector<Mention> shared;
  const auto count = static_cast<NodeId>(graph_.num_nodes(node_));
  std::vector<NodeId> mentioned;
  for (NodeId node = 0; node < count; ++node) {
    mentioned.clear();
    for (const Relation relation : predicted_) {
      const auto sources = graph_.incoming(relation, node).sources;
      mentioned.insert(mentioned.end(), sources.begin(), sources.end());
    }
    std::sort(mentioned.begin(), mentioned.end());
    mentioned.erase(std::unique(mentioned.begin(), mentioned.end()), mentioned.end());
    for (const NodeId truth : mentioned) {
      if (group_of_[truth] != kAlone) shared.push_back({node, truth});
    }
  }
  if (!shared.empty()) return shared;
  throw Error(
      fmt::format("task {}: no two nodes of type {} share a name", spec_.name, spec_.other));
}

void NameTask::add_if_answerable(const Mention& mention) {
  if (!is_candidate(mention.node, mention.truth)) return;
  if (candidates(mention.node, mention.truth).size() < 2) return;
  const Split split = split_of(graph_.time(node_, mention.node), mention.node);
  mentions_[static_cast<size_t>(split)].push_back(mention);
}

bool NameTask::is_capped(size_t candidates) const {
  return spec_.max_candidates > 0 && candidates > spec_.max_candidates;
}

std::vector<NodeId> NameTask::compared(const Mention& mention) const {
  std::vector<NodeId> found = candidates(mention.node, mention.truth);
  if (!is_capped(found.size())) return found;
  found.erase(std::find(found.begin(), found.end(), mention.truth));
  std::vector<NodeId> kept = {mention.truth};
  Draws draws(hash(spec_.split_seed, kCandidateStream, mention.node, mention.truth));
  UniformChoice().choose(found.size(), spec_.max_candidates - 1, draws,
                         [&](uint64_t place) { kept.push_back(found[place]); });
  std::sort(kept.begin(), kept.end());
  return kept;
}

uint64_t NameTask::num_capped(Split split) const {
  if (spec_.max_candidates == 0) return 0;
  const auto all = mentions(split);
  return static_cast<uint64_t>(std::count_if(all.begin(), all.end(), [&](const Mention& mention) {
    return is_capped(candidates(mention.node, mention.truth).size());
  }));
}

void NameTask::append_mention(const Mention& mention, Question& question) const {
  std::vector<Seed>& seeds = question.request.seeds;
  const auto left = static_cast<uint32_t>(seeds.size());
  seeds.push_back(seed_at(node_, mention.node, kNoTime));
  const Time time = graph_.time(node_, mention.node);
  for (const NodeId other : compared(mention)) {
    question.left.push_back(left);
    question.right.push_back(static_cast<uint32_t>(seeds.size()));
    question.relevant.push_back(other == mention.truth ? 1 : 0);
    seeds.push_back(seed_at(other_, other, time));
    if (!spec_.guard) continue;
    for (const Relation relation : hidden_relations_) {
      question.request.hidden.push_back(
          {.relation = relation, .source = other, .target = mention.node});
    }
  }
  question.pair_offsets.push_back(static_cast<uint32_t>(question.left.size()));
}

Question NameTask::question(Split split, std::span<const uint32_t> examples,
                            uint64_t /*random_seed*/) const {
  Question question;
  question.pair_offsets.push_back(0);
  for (const uint32_t example : examples) append_mention(mentions(split)[example], question);
  return question;
}

std::vector<std::string> NameTask::metrics() const {
  return {"ndcg", "mrr", "accuracy", "hits@3", "hits@10", "ndcg_release"};
}

std::string NameTask::answer_columns() const {
  return fmt::format("{}\ttruth\trank\tcandidate\tprobability", spec_.node);
}

std::string NameTask::describe_example(Split split, uint32_t example) const {
  const Mention& mention = mentions(split)[example];
  return fmt::format("{}\t{}", table_cell(graph_.id(node_, mention.node)),
                     table_cell(graph_.id(other_, mention.truth)));
}

void NameTask::append_links(Split split, std::vector<HiddenEdge>& links) const {
  for (const Mention& mention : mentions(split)) {
    for (const Relation relation : hidden_relations_) {
      links.push_back({.relation = relation, .source = mention.truth, .target = mention.node});
    }
  }
}

}  // namespace hgt
