// Works out the tables of attention_plan.h in six steps:
//   1. number_gaps_by_type   the (type, gap) rows
//   2. cut_targets           blocks of targets
//   3. count_pairs           per relation, at which end its pairs are fewer
//   4. place_at_sources,     the pairs; for each edge of the layer graph its two rows of the source
//      place_at_targets      table and its row of the target tables
//   5. order_edges           the plan's own order of edges: by target, then by row of its tables
//   6. list_uses, cut_uses   the same edges by row of the source table
#include "hgt/message/attention_plan.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>

#include "hgt/error.h"

namespace hgt {

namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
// A pair at a source costs as much as this many at targets: what is done for the latter is done in
// the cache, a source pair comes from memory each time.
constexpr uint32_t kSourcePairCost = 2;
constexpr uint32_t kUsesPerChunk = 512;  // a row used more often is cut
constexpr uint32_t kWorkPerBlock = 768;  // edges, counting a row as one

// Edges sorted by a key below `keys`; equal keys keep their order. (A counting sort.)
struct SortedEdges {
  std::vector<uint32_t> edges;    // [edges] of the layer graph
  std::vector<uint32_t> offsets;  // [keys + 1] bounds in `edges`
};

template <typename Key>
SortedEdges sort_edges(size_t edges, size_t keys, const Key& key) {
  SortedEdges sorted{.edges = std::vector<uint32_t>(edges),
                     .offsets = std::vector<uint32_t>(keys + 1, 0)};
  for (uint32_t edge = 0; edge < edges; ++edge) ++sorted.offsets[key(edge) + 1];
  std::partial_sum(sorted.offsets.begin(), sorted.offsets.end(), sorted.offsets.begin());
  std::vector<uint32_t> next(sorted.offsets.begin(), sorted.offsets.end() - 1);
  for (uint32_t edge = 0; edge < edges; ++edge) sorted.edges[next[key(edge)]++] = edge;
  return sorted;
}

// Numbers distinct keys in the order in which they first come. forget() takes constant time: a key
// counts as seen only if its stamp is the current one.
class FirstSeen {
 public:
  explicit FirstSeen(size_t keys) : place_(keys), stamp_(keys, 0) {}
  void forget() {
    ++current_;
    count_ = 0;
  }
  // The number of the key; `fresh` says whether it is new.
  uint32_t number(uint32_t key, bool& fresh) {
    fresh = stamp_[key] != current_;
    if (fresh) {
      stamp_[key] = current_;
      place_[key] = count_++;
    }
    return place_[key];
  }
  uint32_t count() const { return count_; }

 private:
  std::vector<uint32_t> place_;
  std::vector<uint32_t> stamp_;
  uint32_t current_ = 1;
  uint32_t count_ = 0;
};

class Planner {
 public:
  Planner(const LayerGraph& graph, const std::vector<uint32_t>& relation_sets, uint32_t num_sets,
          AttentionPlan& plan)
      : graph_(graph),
        sets_(relation_sets),
        num_sets_(num_sets),
        plan_(plan),
        edge_target_(graph.num_edges()),
        edge_group_(graph.num_edges()),
        edge_source_(graph.num_edges()),
        edge_time_(graph.num_edges()),
        source_seen_(graph.num_sources()),
        gap_seen_(graph.gap_values.size()) {
    for (uint32_t target = 0; target < graph.num_targets(); ++target) {
      for (const uint64_t edge : graph.incoming(target)) edge_target_[edge] = target;
    }
  }

  void make() {
    by_relation_ =
        sort_edges(graph_.num_edges(), num_sets_, [&](uint32_t edge) { return set(edge); });
    if (plan_.temporal) number_gaps_by_type();
    time_seen_ = FirstSeen(plan_.num_time_rows());
    cut_targets();
    std::vector<uint32_t> at_targets;
    for (uint32_t relation = 0; relation < num_sets_; ++relation) {
      const PairCounts counts = count_pairs(relation);
      if (counts.at_target > kSourcePairCost * counts.at_source) {
        place_at_sources(relation);
      } else if (counts.at_target > 0) {
        at_targets.push_back(relation);
      }
    }
    place_at_targets(at_targets);
    plan_.source_rows = plan_.first_source_pair() + plan_.num_source_pairs();
    plan_.target_rows = plan_.num_targets + plan_.num_target_pairs();
    order_edges();
    list_uses();
    cut_uses();
  }

 private:
  uint32_t set(uint32_t edge) const { return sets_[index(graph_.relations[edge])]; }

  // Rows (type, gap) for the pairs of a source's type and a gap that occur on some edge, and for
  // each edge the one that it uses. Writes time_offsets, time_gaps and edge_time_.
  void number_gaps_by_type() {
    const uint32_t types = graph_.num_types();
    std::vector<uint32_t> row_type(graph_.num_sources());
    for (uint32_t type = 0; type < types; ++type) {
      std::fill(row_type.begin() + graph_.source_offsets[type],
                row_type.begin() + graph_.source_offsets[type + 1], type);
    }
    const SortedEdges by_type = sort_edges(
        graph_.num_edges(), types, [&](uint32_t edge) { return row_type[graph_.sources[edge]]; });
    plan_.time_offsets.push_back(0);
    for (uint32_t type = 0; type < types; ++type) {
      gap_seen_.forget();
      for (uint32_t i = by_type.offsets[type]; i < by_type.offsets[type + 1]; ++i) {
        const uint32_t edge = by_type.edges[i];
        bool fresh = false;
        const uint32_t number = gap_seen_.number(graph_.gaps[edge], fresh);
        if (fresh) plan_.time_gaps.push_back(graph_.gaps[edge]);
        edge_time_[edge] = plan_.num_sources + plan_.time_offsets[type] + number;
      }
      plan_.time_offsets.push_back(plan_.num_time_rows());
    }
  }

  struct PairCounts {
    uint32_t at_target = 0;
    uint32_t at_source = 0;
  };

  // The pairs that each end would need. by_relation_ is sorted by target within a relation, so that
  // a new target is one that differs from the last. (Sources of one meta relation have one type, so
  // that its (g, r) pairs are its distinct gaps. Where relations share a set, types may mix; then
  // this is an estimate, and only the choice depends on it.)
  PairCounts count_pairs(uint32_t relation) {
    PairCounts counts;
    uint32_t last_target = kNone;
    source_seen_.forget();
    gap_seen_.forget();
    for (uint32_t i = by_relation_.offsets[relation]; i < by_relation_.offsets[relation + 1]; ++i) {
      const uint32_t edge = by_relation_.edges[i];
      counts.at_target += edge_target_[edge] != last_target ? 1 : 0;
      last_target = edge_target_[edge];
      bool fresh = false;
      source_seen_.number(graph_.sources[edge], fresh);
      if (plan_.temporal) gap_seen_.number(graph_.gaps[edge], fresh);
    }
    counts.at_source = source_seen_.count() + gap_seen_.count();
    return counts;
  }

  // Runs of targets of one type and about equal work, in edges and targets.
  void cut_targets() {
    plan_.target_blocks.push_back(0);
    uint64_t work = 0;
    const auto cut = [&](uint32_t end) {
      if (plan_.target_blocks.back() != end) plan_.target_blocks.push_back(end);
      work = 0;
    };
    for (uint32_t type = 0; type < graph_.num_types(); ++type) {
      for (uint32_t target = graph_.target_offsets[type]; target < graph_.target_offsets[type + 1];
           ++target) {
        work += 1 + graph_.incoming(target).size();
        if (work >= kWorkPerBlock) cut(target + 1);
      }
      cut(graph_.target_offsets[type + 1]);
    }
  }

  // Pairs (t, r) of these relations, block by block.
  void place_at_targets(const std::vector<uint32_t>& relations) {
    std::vector<uint32_t> next(by_relation_.offsets);  // per relation, the edge to go on with
    plan_.block_runs.push_back(0);
    for (uint32_t block = 0; block < plan_.num_blocks(); ++block) {
      for (const uint32_t relation : relations) {
        place_run(relation, plan_.target_blocks[block + 1], next[relation]);
      }
      plan_.block_runs.push_back(static_cast<uint32_t>(plan_.target_runs.size()));
    }
  }

  // The pairs of a relation with targets below `end`, from its edge `next` on, as one run. Their
  // edges read the target table at the pair, and inputs and (type, gap) rows as they are.
  void place_run(uint32_t relation, uint32_t end, uint32_t& next) {
    const uint32_t first = plan_.num_target_pairs();
    uint32_t last_target = kNone;
    for (; next < by_relation_.offsets[relation + size_t{1}]; ++next) {
      const uint32_t edge = by_relation_.edges[next];
      if (edge_target_[edge] >= end) break;
      if (edge_target_[edge] != last_target) {
        last_target = edge_target_[edge];
        plan_.target_pairs.push_back(last_target);
      }
      edge_group_[edge] = plan_.num_targets + plan_.num_target_pairs() - 1;
      edge_source_[edge] = graph_.sources[edge];
    }
    if (plan_.num_target_pairs() > first) {
      plan_.target_runs.push_back(
          {.relation = relation, .first = first, .last = plan_.num_target_pairs()});
    }
  }

  // Pairs (s, r), then pairs (g, r), as one run. Their edges read the target table at the target
  // itself, and of the source table rows of pairs: edge_time_, until now a (type, gap) row, moves
  // on to that row's pair.
  void place_at_sources(uint32_t relation) {
    const uint32_t first = by_relation_.offsets[relation];
    const uint32_t last = by_relation_.offsets[relation + 1];
    std::vector<uint32_t>& pairs = plan_.source_pairs;
    const uint32_t first_pair = plan_.num_source_pairs();
    // A pair for each distinct key, which comes from row_of(edge); rows[edge] becomes the pair's
    // row.
    const auto place = [&](FirstSeen& seen, auto key_of, auto row_of, std::vector<uint32_t>& rows) {
      const uint32_t first_row = plan_.first_source_pair() + plan_.num_source_pairs();
      seen.forget();
      for (uint32_t i = first; i < last; ++i) {
        const uint32_t edge = by_relation_.edges[i];
        bool fresh = false;
        const uint32_t number = seen.number(key_of(edge), fresh);
        if (fresh) pairs.push_back(row_of(edge));
        rows[edge] = first_row + number;
      }
    };
    for (uint32_t i = first; i < last; ++i) {
      edge_group_[by_relation_.edges[i]] = edge_target_[by_relation_.edges[i]];
    }
    const auto source = [&](uint32_t edge) { return graph_.sources[edge]; };
    place(source_seen_, source, source, edge_source_);
    if (plan_.temporal) {
      // A (type, gap) row stands for the gap: types may mix where relations share a set.
      const auto time_row = [&](uint32_t edge) { return edge_time_[edge]; };
      const auto time_key = [&](uint32_t edge) { return edge_time_[edge] - plan_.num_sources; };
      place(time_seen_, time_key, time_row, edge_time_);
    }
    plan_.source_runs.push_back(
        {.relation = relation, .first = first_pair, .last = plan_.num_source_pairs()});
  }

  // By target, within it by row of the target tables: outputs come before pairs there.
  void order_edges() {
    const size_t edges = graph_.num_edges();
    plan_.groups.reserve(plan_.num_targets + plan_.num_target_pairs() + size_t{1});
    plan_.edge_source.reserve(edges);
    plan_.edge_origin.reserve(edges);
    if (plan_.temporal) plan_.edge_time.reserve(edges);
    std::vector<uint32_t> own;
    plan_.target_groups.push_back(0);
    for (uint32_t target = 0; target < plan_.num_targets; ++target) {
      own.clear();
      for (const uint64_t edge : graph_.incoming(target)) own.push_back(uint32_t(edge));
      std::sort(own.begin(), own.end(), [&](uint32_t a, uint32_t b) {
        return std::pair(edge_group_[a], a) < std::pair(edge_group_[b], b);
      });
      append_edges(own);
      plan_.target_groups.push_back(static_cast<uint32_t>(plan_.groups.size()));
    }
    plan_.groups.push_back({.target_row = kNone, .first_edge = plan_.num_edges()});
  }

  // The edges of one target, sorted; a group begins where the row changes.
  void append_edges(const std::vector<uint32_t>& edges) {
    uint32_t last_group = kNone;
    for (const uint32_t edge : edges) {
      if (edge_group_[edge] != last_group) {
        last_group = edge_group_[edge];
        plan_.groups.push_back({.target_row = last_group, .first_edge = plan_.num_edges()});
      }
      plan_.edge_source.push_back(edge_source_[edge]);
      if (plan_.temporal) plan_.edge_time.push_back(edge_time_[edge]);
      plan_.edge_origin.push_back(edge);
    }
  }

  // A counting sort of (row of the source table, edge), over edge_source and edge_time together.
  void list_uses() {
    std::vector<uint32_t>& offsets = use_offsets_;
    offsets.assign(plan_.source_rows + size_t{1}, 0);
    for (const uint32_t row : plan_.edge_source) ++offsets[row + 1];
    for (const uint32_t row : plan_.edge_time) ++offsets[row + 1];
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    plan_.uses.resize(offsets.back());
    std::vector<uint32_t> next(offsets.begin(), offsets.end() - 1);
    for (size_t group = 0; group + 1 < plan_.groups.size(); ++group) {
      const uint32_t target_row = plan_.groups[group].target_row;
      for (uint32_t edge = plan_.groups[group].first_edge;
           edge < plan_.groups[group + 1].first_edge; ++edge) {
        const EdgeUse use{.edge = edge, .target_row = target_row};
        plan_.uses[next[plan_.edge_source[edge]]++] = use;
        if (plan_.temporal) plan_.uses[next[plan_.edge_time[edge]]++] = use;
      }
    }
  }

  // Chunks for every row, and bounds of runs of chunks that a thread takes at once.
  void cut_uses() {
    plan_.chunk_blocks.push_back(0);
    uint32_t work = 0;
    for (uint32_t row = 0; row < plan_.source_rows; ++row) {
      work += 1 + use_offsets_[row + size_t{1}] - use_offsets_[row];
      append_chunks(row);
      if (work < kWorkPerBlock && row + 1 < plan_.source_rows) continue;
      plan_.chunk_blocks.push_back(static_cast<uint32_t>(plan_.chunks.size()));
      work = 0;
    }
  }

  // One chunk for a row of up to kUsesPerChunk uses (none at all included), else several.
  void append_chunks(uint32_t row) {
    uint32_t first = use_offsets_[row];
    const uint32_t last = use_offsets_[row + size_t{1}];
    const bool whole = last - first <= kUsesPerChunk;
    do {
      const uint32_t end = std::min(last, first + kUsesPerChunk);
      const uint32_t partial = whole ? kWhole : plan_.num_partials++;
      plan_.chunks.push_back({.row = row, .first = first, .last = end, .partial = partial});
      // A long row keeps several threads busy.
      if (!whole) plan_.chunk_blocks.push_back(static_cast<uint32_t>(plan_.chunks.size()));
      first = end;
    } while (first < last);
  }

  const LayerGraph& graph_;
  const std::vector<uint32_t>& sets_;
  uint32_t num_sets_;
  AttentionPlan& plan_;
  // Of the edges of the layer graph, in its order.
  std::vector<uint32_t> edge_target_;
  std::vector<uint32_t> edge_group_;   // row of the target tables
  std::vector<uint32_t> edge_source_;  // row of the source table
  std::vector<uint32_t> edge_time_;    // row of the source table
  SortedEdges by_relation_;            // then by target
  FirstSeen source_seen_;
  FirstSeen gap_seen_;
  FirstSeen time_seen_{0};
  std::vector<uint32_t> use_offsets_;  // [source rows + 1]
};

}  // namespace

Numbers<uint32_t> AttentionPlan::pairs_of(uint32_t block) const {
  const uint32_t first = block_runs[block];
  const uint32_t last = block_runs[block + size_t{1}];
  if (first == last) return {.first = 0, .last = 0};
  return {.first = target_runs[first].first, .last = target_runs[last - 1].last};
}

AttentionPlan::AttentionPlan(const LayerGraph& graph, const std::vector<uint32_t>& relation_sets,
                             uint32_t num_sets, bool with_time)
    : num_relations(num_sets),
      num_sources(graph.num_sources()),
      num_targets(graph.num_targets()),
      temporal(with_time) {
  check_edges(graph, relation_sets.size());
  assert(std::all_of(relation_sets.begin(), relation_sets.end(),
                     [&](uint32_t set) { return set < num_sets; }));
  if (graph.num_edges() >= kNone / 2) {
    throw Error("a layer has more than two billion edges; sample smaller sub-graphs");
  }
  if (!temporal) time_offsets.assign(graph.num_types() + size_t{1}, 0);
  Planner(graph, relation_sets, num_sets, *this).make();
}

}  // namespace hgt
