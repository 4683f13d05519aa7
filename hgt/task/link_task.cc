#include "hgt/task/link_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "hgt/error.h"
#include "hgt/random.h"
#include "hgt/sampling/uniform_choice.h"
#include "hgt/task/table_cell.h"

namespace hgt {

namespace {
// Tells the draws of negatives from others.
constexpr uint64_t kNegativeStream = 0x4e6a;
constexpr std::string_view kBeginning = "link:";
}  // namespace

std::optional<TaskSpec> LinkTask::find(const Schema& schema, const std::string& name) {
  if (!name.starts_with(kBeginning)) return std::nullopt;
  const std::string edge = name.substr(kBeginning.size());
  for (const RelationSpec& relation : schema.relations()) {
    if (relation.edge != edge) continue;
    return TaskSpec{.name = name,
                    .kind = TaskKind::link,
                    .node = schema.at(relation.source).name,
                    .other = schema.at(relation.target).name,
                    .edges = {edge}};
  }
  return std::nullopt;
}

void LinkTask::append_names(const Schema& schema, std::vector<std::string>& names) {
  for (const RelationSpec& relation : schema.relations()) {
    const std::string name = std::string(kBeginning) + relation.edge;
    const bool is_new = std::find(names.begin(), names.end(), name) == names.end();
    if (!relation.reverse && is_new) names.push_back(name);
  }
}

LinkTask::LinkTask(const HeteroGraph& graph, const TaskSpec& spec) : Task(graph, spec) {
  if (spec_.loss == Loss::automatic) spec_.loss = Loss::softmax;
  if (spec_.split == SplitRule::given)
    throw Error("links have no given split: choose --split time or random");
  if (spec_.negatives == 0 || spec_.test_negatives == 0) {
    throw Error("link prediction needs negatives: at least one for training and one for testing");
  }
  first_links_.resize(graph.num_nodes(other_));
  collect_links();
  for (NodeId node = 0; node < first_links_.size(); ++node) {
    if (first_links_[node]) others_.push_back(node);
  }
  std::stable_sort(others_.begin(), others_.end(),
                   [&](NodeId a, NodeId b) { return first_links_[a] < first_links_[b]; });
}

// The time of the edge; without one, that of its later end.
Time LinkTask::link_time(const Neighbors& list, size_t i, NodeId node) const {
  if (!list.times.empty()) return list.times[i];
  return std::max(graph_.time(node_, node), graph_.time(other_, list.sources[i]));
}

// When plain nodes are asked for.
Time LinkTask::time_of_split(Split split) const {
  const auto& range = graph_.schema().time_range;
  if (!range) return kNoTime;
  if (spec_.split != SplitRule::time) return range->second;
  return std::min(range->second, time_split_.last_time(split));
}

// The same for both directions: copies of a link, and the other side of a mutual one, would give it
// away in another split.
uint64_t LinkTask::pair_number(NodeId node, NodeId other) const {
  if (node_ == other_ && other < node) std::swap(node, other);
  return (uint64_t{node} << 32U) | other;
}

template <typename Visit>
void LinkTask::visit_links(NodeId node, const Visit& visit) const {
  for (const Relation relation : predicted_) {
    const Neighbors list = graph_.incoming(relation, node);
    for (size_t i = 0; i < list.size(); ++i) {
      visit(Link{relation, node, list.sources[i]}, link_time(list, i, node));
    }
  }
}

// Dates may depend on all times, so links are visited twice.
void LinkTask::collect_links() {
  std::vector<Time> times;
  const auto count = static_cast<NodeId>(graph_.num_nodes(node_));
  for (NodeId node = 0; node < count; ++node) {
    visit_links(node, [&](const Link& /*link*/, Time time) { times.push_back(time); });
  }
  if (times.empty()) {
    throw Error(fmt::format("task {}: the graph has no edges of the predicted types", spec_.name));
  }
  settle_dates(times);
  for (NodeId node = 0; node < count; ++node) {
    visit_links(node, [&](const Link& link, Time time) { add_link(link, time); });
  }
  check_examples(times);
}

void LinkTask::add_link(const Link& link, Time time) {
  const Split split = split_of(time, pair_number(link.node, link.other));
  const Time other_time = graph_.time(other_, link.other);
  std::optional<Time>& first = first_links_[link.other];
  const Time since = std::max(time, other_time);
  first = first ? std::min(*first, since) : since;
  const Time end = time_of_split(split);
  const bool later = graph_.time(node_, link.node) > end || other_time > end;
  if (split == Split::none || later) return;
  links_[static_cast<size_t>(split)].push_back(link);
}

std::vector<NodeId> LinkTask::draw_others(Split split, uint64_t random_seed) const {
  const bool training = random_seed != kNoDraw;
  const uint64_t wanted = training ? spec_.negatives : spec_.test_negatives;
  const uint64_t start = training ? random_seed : hash(spec_.split_seed, split);
  Draws draws(hash(start, kNegativeStream));
  std::vector<NodeId> drawn;
  const Time end = time_of_split(split);
  const auto later = std::partition_point(others_.begin(), others_.end(),
                                          [&](NodeId other) { return first_links_[other] <= end; });
  const auto count = static_cast<uint64_t>(later - others_.begin());
  UniformChoice().choose(count, std::min(wanted, count), draws,
                         [&](uint64_t i) { drawn.push_back(others_[i]); });
  return drawn;
}

Question LinkTask::question(Split split, std::span<const uint32_t> examples,
                            uint64_t random_seed) const {
  const Time time = time_of_split(split);
  const std::vector<NodeId> drawn = draw_others(split, random_seed);
  Question question;
  for (const NodeId other : drawn) question.request.seeds.push_back(seed_at(other_, other, time));
  question.pair_offsets.push_back(0);
  for (const uint32_t example : examples) {
    append_link(links(split)[example], drawn, time, question);
  }
  return question;
}

// Requires that the seeds begin with the drawn nodes.
void LinkTask::append_link(const Link& link, std::span<const NodeId> drawn, Time time,
                           Question& question) const {
  std::vector<uint32_t> negatives;  // their places among the seeds
  for (uint32_t i = 0; i < drawn.size(); ++i) {
    const bool itself = node_ == other_ && drawn[i] == link.node;
    if (!itself && !is_linked(link.node, drawn[i])) negatives.push_back(i);
  }
  question.pair_offsets.push_back(question.pair_offsets.back());
  if (negatives.empty()) return;
  std::vector<Seed>& seeds = question.request.seeds;
  const auto left = static_cast<uint32_t>(seeds.size());
  seeds.push_back(seed_at(node_, link.node, time));
  seeds.push_back(seed_at(other_, link.other, time));
  const auto add_pair = [&](uint32_t right, bool relevant) {
    question.left.push_back(left);
    question.right.push_back(right);
    question.relevant.push_back(relevant ? 1 : 0);
    if (!spec_.guard) return;
    // Of negatives too: to be hidden must not tell the true end from them.
    for (const Relation relation : relevant ? hidden_relations_ : also_hidden_) {
      question.request.hidden.push_back({relation, seeds[right].node, link.node});
    }
  };
  add_pair(left + 1, true);
  for (const uint32_t place : negatives) add_pair(place, false);
  question.pair_offsets.back() = static_cast<uint32_t>(question.left.size());
}

std::vector<std::string> LinkTask::metrics() const {
  return {"ndcg", "mrr", "hits@1", "hits@3", "hits@10", "auc", "ndcg_release"};
}

std::string LinkTask::answer_columns() const {
  return fmt::format("{}\trank\t{}\tname\tscore", spec_.node, spec_.other);
}

Time LinkTask::example_time(Split split, uint32_t example) const {
  const Time own = graph_.time(node_, links(split)[example].node);
  return own == kNoTime ? time_of_split(split) : own;
}

std::string LinkTask::describe_example(Split split, uint32_t example) const {
  const Link& link = links(split)[example];
  return fmt::format("{}\t{}", table_cell(graph_.id(node_, link.node)),
                     table_cell(graph_.id(other_, link.other)));
}

void LinkTask::append_links(Split split, std::vector<HiddenEdge>& hidden) const {
  for (const Link& link : links(split)) {
    hidden.push_back({.relation = link.relation, .source = link.other, .target = link.node});
    for (const Relation relation : also_hidden_) {
      hidden.push_back({.relation = relation, .source = link.other, .target = link.node});
    }
  }
}

}  // namespace hgt
