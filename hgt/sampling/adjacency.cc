#include "hgt/sampling/adjacency.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "hgt/graph/sorted_search.h"

namespace hgt {

namespace {

// Lists longer than this are searched instead of read. Reading an entry costs about a nanosecond,
// a search about a hundred per edge that is found.
constexpr uint64_t kHeavy = 512;
constexpr uint64_t kSearchCost = 32;  // of one search, in entries read
constexpr uint64_t kFilterBits = uint64_t{1} << 16U;
constexpr uint32_t kAhead = 8;  // sites whose lists are asked for before they are read

constexpr uint64_t filter_bit(NodeId node) {
  return (node * 0x9e3779b97f4a7c15U) >> 48U;  // 16 bits
}

}  // namespace

// --- sites ---

bool Adjacency::SiteIndex::may_contain(NodeId node) const {
  const uint64_t bit = filter_bit(node);
  return ((filter[bit / 64] >> (bit % 64)) & 1U) != 0;
}

uint32_t Adjacency::SiteIndex::find(NodeId node) const {
  if (!may_contain(node)) return kAbsent;
  const uint32_t number = sites.find(node);
  return number == kAbsent ? kAbsent : sites[number].value;
}

uint32_t Adjacency::SiteIndex::insert(NodeId node, uint32_t new_site) {
  const uint64_t bit = filter_bit(node);
  filter[bit / 64] |= uint64_t{1} << (bit % 64);
  const uint32_t before = sites.size();
  const uint32_t number = sites.insert(node);
  if (number == before) sites[number].value = new_site;
  return sites[number].value;
}

void Adjacency::SiteIndex::clear() {
  sites.clear();
  filter.assign(kFilterBits / 64, 0);
}

Adjacency::Adjacency(const HeteroGraph& graph, const Visibility& visibility, PageRequests& pages,
                     bool same_time)
    : graph_(graph),
      visibility_(visibility),
      pages_(pages),
      same_time_(same_time),
      index_(graph.schema().node_types().size()),
      heavy_lists_(graph.schema().relations().size()) {
  for (size_t type = 0; type < index_.size(); ++type) {
    max_slots_ = std::max(max_slots_, graph.schema().incoming(NodeType(type)).size());
  }
}

void Adjacency::clear() {
  sites_.clear();
  rows_.clear();
  heavy_.clear();
  links_.clear();
  heavy_links_.clear();
}

void Adjacency::make_sites(const Subgraph& subgraph, std::span<const uint32_t> rows) {
  for (SiteIndex& sites : index_) sites.clear();
  const size_t first_site = sites_.size();
  site_of_row_.clear();
  uint32_t type = 0;
  for (const uint32_t row : rows) {
    while (row >= subgraph.type_offsets[type + 1]) ++type;
    const NodeId node = subgraph.nodes[row];
    const uint32_t site = index_[type].insert(node, static_cast<uint32_t>(sites_.size()));
    if (site == sites_.size()) sites_.push_back({.type = NodeType(type), .node = node});
    ++sites_[site].last;  // a count, until the places are known
    site_of_row_.push_back(site);
  }
  auto place = static_cast<uint32_t>(rows_.size());
  for (size_t site = first_site; site < sites_.size(); ++site) {
    sites_[site].first = place;
    place += std::exchange(sites_[site].last, place);
  }
  rows_.resize(place);
  for (size_t i = 0; i < rows.size(); ++i) rows_[sites_[site_of_row_[i]].last++] = rows[i];
}

// --- finding the edges ---

Relation Adjacency::relation_of(uint32_t site, uint32_t slot) const {
  return graph_.schema().incoming(sites_[site].type)[slot];
}

// The times of the list's entries; empty: none of them can be too late.
EdgeTimes Adjacency::bounded_times(const List& list) const {
  const Relation relation = relation_of(list.site, list.slot);
  if (!graph_.schema().at(relation).times || !visibility_.has_bound()) return {};
  return graph_.unchecked_incoming(relation, sites_[list.site].node).times;
}

bool Adjacency::edge_too_late(const EdgeTimes& times, size_t entry) const {
  return !times.empty() && visibility_.too_late(times[entry]);
}

void Adjacency::connect(const Subgraph& subgraph, std::span<const uint32_t> rows) {
  const auto first = static_cast<uint32_t>(sites_.size());
  make_sites(subgraph, rows);
  heavy_.resize(sites_.size() * max_slots_);
  lists_.clear();
  sought_.clear();
  for (std::vector<List>& lists : heavy_lists_) lists.clear();
  if (pages_.are_wanted()) ask_for_offsets(first);
  for (uint32_t site = first; site < sites_.size(); ++site) {
    if (site + kAhead < sites_.size()) {
      graph_.prefetch_offsets(sites_[site + kAhead].type, sites_[site + kAhead].node);
    }
    find_lists(site);
  }
  if (pages_.are_wanted()) ask_for_lists();
  for (size_t i = 0; i < lists_.size(); ++i) {
    if (i + kAhead < lists_.size()) {
      const List& later = lists_[i + kAhead];
      __builtin_prefetch(&graph_.incoming_sources(sites_[later.site].type)[later.begin]);
    }
    read_list(lists_[i]);
  }
  if (pages_.are_wanted()) ask_for_searches();
  search_heavy_lists();
  join_heavy_lists();
}

void Adjacency::ask_for_offsets(uint32_t first_site) {
  for (uint32_t site = first_site; site < sites_.size(); ++site) {
    graph_.append_offset_memory(sites_[site].type, sites_[site].node, pages_.ranges());
  }
  pages_.send();
}

// Hubs are searched: of their lists only the ends are sure to be read.
void Adjacency::ask_for_lists() {
  const auto ask = [&](const List& list, EdgePosition begin, EdgePosition end) {
    graph_.append_entry_memory(relation_of(list.site, list.slot), sites_[list.site].node,
                               {begin, end}, pages_.ranges());
  };
  for (const List& list : lists_) ask(list, list.begin, list.end);
  for (const std::vector<List>& lists : heavy_lists_) {
    for (const List& list : lists) {
      ask(list, list.begin, list.begin + 1);
      ask(list, list.end - 1, list.end);
    }
  }
  pages_.send();
}

void Adjacency::find_lists(uint32_t site) {
  const auto offsets = graph_.incoming_offsets(sites_[site].type, sites_[site].node, offsets_);
  for (uint32_t slot = 0; slot + 1 < offsets.size(); ++slot) {
    const List list{.site = site, .slot = slot, .begin = offsets[slot], .end = offsets[slot + 1]};
    const Relation relation = relation_of(site, slot);
    if (list.begin == list.end || visibility_.hides_all(relation)) continue;
    const bool heavy = list.end - list.begin > kHeavy;
    heavy_[site * max_slots_ + slot] = heavy;
    (heavy ? heavy_lists_[index(relation)] : lists_).push_back(list);
  }
}

void Adjacency::read_list(const List& list) {
  const Relation relation = relation_of(list.site, list.slot);
  const RelationSpec& spec = graph_.schema().at(relation);
  const uint32_t reverse_slot = graph_.schema().at(graph_.schema().reverse(relation)).slot;
  const SiteIndex& sites = index_[index(spec.source)];
  const auto sources = graph_.incoming_sources(spec.target);
  const auto times = bounded_times(list);
  const bool may_hide = visibility_.may_hide(relation);
  uint32_t last_source = kAbsent;
  for (EdgePosition position = list.begin; position < list.end; ++position) {
    const NodeId node = sources[position];
    const uint32_t source = sites.find(node);
    if (source == kAbsent) continue;
    if (may_hide && visibility_.hides(relation, node, sites_[list.site].node)) continue;
    if (source != last_source && is_heavy(source, reverse_slot)) {
      sought_.push_back(
          {.target = source, .slot = reverse_slot, .position = 0, .source = list.site});
    }
    last_source = source;
    if (edge_too_late(times, position - list.begin)) continue;
    links_.push_back(
        {.target = list.site, .slot = list.slot, .position = position, .source = source});
  }
}

namespace {

// Where the node should be among the sorted sources from `from` on, over which node numbers are
// spread. Requires that it is behind the first of them and not behind the last.
size_t likely_place(std::span<const NodeId> sources, size_t from, NodeId node) {
  const double share = static_cast<double>(node - sources[from]) /
                       static_cast<double>(sources.back() - sources[from]);
  const auto room = static_cast<double>(sources.size() - 1 - from);
  return std::min(from + static_cast<size_t>(share * room), sources.size() - 1);
}

// The first of the sorted sources that is not below the node; `from` is known not to be behind it.
// The search begins where the node should be and widens from there: it touches few cache lines.
size_t search(std::span<const NodeId> sources, size_t from, NodeId node) {
  if (from == sources.size() || sources[from] >= node) return from;
  if (sources.back() < node) return sources.size();
  const size_t guess = likely_place(sources, from, node);
  return from + first_not_below(sources.size() - from, guess - from,
                                [&](size_t at) { return sources[from + at] < node; });
}

}  // namespace

// The page where the search for a node in a hub's list will begin.
void Adjacency::ask_for_search(uint32_t hub, uint32_t slot, NodeId node) {
  const Relation relation = relation_of(hub, slot);
  const Neighbors list = graph_.unchecked_incoming(relation, sites_[hub].node);
  if (list.sources.front() >= node || list.sources.back() < node) return;
  const EdgePosition place = list.first + likely_place(list.sources, 0, node);
  graph_.append_entry_memory(relation, sites_[hub].node, {place, place + 1}, pages_.ranges());
}

void Adjacency::ask_for_searches() {
  for (const Link& link : sought_) {
    ask_for_search(link.target, link.slot, sites_[link.source].node);
  }
  for (const std::vector<List>& lists : heavy_lists_) {
    for (const List& list : lists) ask_for_join(list);
  }
  pages_.send();
}

void Adjacency::ask_for_join(const List& heavy) {
  const Relation relation = relation_of(heavy.site, heavy.slot);
  const auto& hubs = heavy_lists_[index(graph_.schema().reverse(relation))];
  if (is_read_whole(heavy, hubs.size())) {
    graph_.append_entry_memory(relation, sites_[heavy.site].node, {heavy.begin, heavy.end},
                               pages_.ranges());
    return;
  }
  for (const List& hub : hubs) ask_for_search(heavy.site, heavy.slot, sites_[hub.site].node);
}

bool Adjacency::is_read_whole(const List& heavy, size_t hubs) {
  return hubs > 0 && hubs * kSearchCost >= heavy.end - heavy.begin;
}

// The edges into hubs that were met in the lists of their sources.
void Adjacency::search_heavy_lists() {
  std::sort(sought_.begin(), sought_.end(), [&](const Link& a, const Link& b) {
    return std::tuple(a.target, a.slot, sites_[a.source].node) <
           std::tuple(b.target, b.slot, sites_[b.source].node);
  });
  size_t at = 0;
  for (size_t i = 0; i < sought_.size(); ++i) {
    const Link& link = sought_[i];
    const bool same =
        i > 0 && sought_[i - 1].target == link.target && sought_[i - 1].slot == link.slot;
    if (!same) at = 0;
    const Neighbors hub =
        graph_.unchecked_incoming(relation_of(link.target, link.slot), sites_[link.target].node);
    at = search(hub.sources, at, sites_[link.source].node);
    add_copies(
        {.site = link.target, .slot = link.slot, .begin = hub.first, .end = hub.first + hub.size()},
        hub.first + at, link.source);
  }
}

// Edges between two hubs, which no list that was read has shown.
void Adjacency::join_heavy_lists() {
  for (const std::vector<List>& lists : heavy_lists_) {
    for (const List& list : lists) join_heavy(list);
  }
}

void Adjacency::join_heavy(const List& list) {
  const Relation relation = relation_of(list.site, list.slot);
  const Relation reverse = graph_.schema().reverse(relation);
  const std::vector<List>& hubs = heavy_lists_[index(reverse)];
  const NodeId target = sites_[list.site].node;
  const bool may_hide = visibility_.may_hide(relation);
  const auto hidden = [&](NodeId node) {
    return may_hide && visibility_.hides(relation, node, target);
  };
  const auto sources = graph_.unchecked_incoming(relation, target).sources;
  if (!is_read_whole(list, hubs.size())) {
    for (const List& hub : hubs) {
      const NodeId node = sites_[hub.site].node;
      if (!hidden(node)) add_copies(list, list.begin + search(sources, 0, node), hub.site);
    }
    return;
  }
  const SiteIndex& sites = index_[index(graph_.schema().at(relation).source)];
  const uint32_t reverse_slot = graph_.schema().at(reverse).slot;
  for (size_t at = 0; at < sources.size(); ++at) {
    if (at > 0 && sources[at] == sources[at - 1]) continue;
    const uint32_t source = sites.find(sources[at]);
    if (source == kAbsent || !is_heavy(source, reverse_slot) || hidden(sources[at])) continue;
    add_copies(list, list.begin + at, source);
  }
}

// All edges from `source`: those at `first` and behind it, if there are any.
void Adjacency::add_copies(const List& list, EdgePosition first, uint32_t source) {
  const RelationSpec& spec = graph_.schema().at(relation_of(list.site, list.slot));
  const auto sources = graph_.incoming_sources(spec.target);
  const auto times = bounded_times(list);
  for (EdgePosition position = first;
       position < list.end && sources[position] == sites_[source].node; ++position) {
    if (edge_too_late(times, position - list.begin)) continue;
    heavy_links_.push_back(
        {.target = list.site, .slot = list.slot, .position = position, .source = source});
  }
}

// --- writing them ---

namespace {

// Where the links of each site begin. Requires links sorted by target.
template <typename Link>
void find_offsets(const std::vector<Link>& links, size_t sites, std::vector<uint64_t>& offsets) {
  offsets.assign(sites + 1, 0);
  for (const Link& link : links) ++offsets[link.target + 1];
  for (size_t site = 0; site < sites; ++site) offsets[site + 1] += offsets[site];
}

}  // namespace

void Adjacency::write(Subgraph& subgraph) {
  const auto order = [](const Link& a, const Link& b) {
    return std::tuple(a.target, a.slot, a.position) < std::tuple(b.target, b.slot, b.position);
  };
  std::sort(heavy_links_.begin(), heavy_links_.end(), order);
  find_offsets(links_, sites_.size(), link_offsets_);
  find_offsets(heavy_links_, sites_.size(), heavy_offsets_);

  subgraph.edge_offsets.assign(subgraph.num_rows() + size_t{1}, 0);
  for (uint32_t site = 0; site < sites_.size(); ++site) {
    uint64_t edges = 0;  // the same number into every instance, unless times have to agree
    for (uint32_t i = sites_[site].first; i < sites_[site].last; ++i) {
      const bool first = i == sites_[site].first;
      if (first || same_time_) edges = num_edges_into(subgraph, site, rows_[i]) + 1;  // and `self`
      subgraph.edge_offsets[rows_[i] + size_t{1}] = edges;
    }
  }
  for (size_t row = 0; row < subgraph.num_rows(); ++row) {
    subgraph.edge_offsets[row + 1] += subgraph.edge_offsets[row];
  }
  const uint64_t edges = subgraph.edge_offsets.back();
  subgraph.sources.resize(edges);
  subgraph.relations.resize(edges);
  subgraph.gaps.resize(edges);
  subgraph.positions.resize(edges);
  for (uint32_t site = 0; site < sites_.size(); ++site) {
    merge_links(site);
    write_site(sites_[site], subgraph);
  }
}

template <typename Use>
void Adjacency::for_each_source(const Subgraph& subgraph, const Link& link, uint32_t target_row,
                                const Use& use) const {
  const Site& site = sites_[link.source];
  if (!same_time_ || graph_.time(site.type, site.node) != kNoTime) {
    for (uint32_t i = site.first; i < site.last; ++i) use(rows_[i]);
    return;
  }
  for (uint32_t i = site.first; i < site.last; ++i) {
    const uint32_t row = rows_[i];
    if (time_gap(subgraph.times[target_row], subgraph.times[row]) == 0) use(row);
  }
}

uint64_t Adjacency::num_edges_into(const Subgraph& subgraph, uint32_t site, uint32_t row) const {
  uint64_t edges = 0;
  const auto count = [&](const std::vector<Link>& links, uint64_t first, uint64_t last) {
    const auto add = [&](uint32_t) { ++edges; };
    for (uint64_t i = first; i < last; ++i) for_each_source(subgraph, links[i], row, add);
  };
  count(links_, link_offsets_[site], link_offsets_[site + 1]);
  count(heavy_links_, heavy_offsets_[site], heavy_offsets_[site + 1]);
  return edges;
}

// A list is heavy or it is not: the two kinds of links never share a slot.
void Adjacency::merge_links(uint32_t site) {
  const auto at = [](const std::vector<Link>& links, uint64_t i) {
    return links.begin() + static_cast<ptrdiff_t>(i);
  };
  merged_.clear();
  std::merge(at(links_, link_offsets_[site]), at(links_, link_offsets_[site + 1]),
             at(heavy_links_, heavy_offsets_[site]), at(heavy_links_, heavy_offsets_[site + 1]),
             std::back_inserter(merged_),
             [](const Link& a, const Link& b) { return a.slot < b.slot; });
}

void Adjacency::write_row(NodeType type, uint32_t row, Subgraph& subgraph) const {
  const auto relations = graph_.schema().incoming(type);
  uint64_t edge = subgraph.edge_offsets[row];
  const auto write = [&](uint32_t source, Relation relation, EdgePosition position) {
    subgraph.sources[edge] = source;
    subgraph.relations[edge] = relation;
    subgraph.gaps[edge] = time_gap(subgraph.times[row], subgraph.times[source]);
    subgraph.positions[edge++] = position;
  };
  for (const Link& link : merged_) {
    const Relation relation = relations[link.slot];
    const auto read = [&](uint32_t source) { write(source, relation, link.position); };
    for_each_source(subgraph, link, row, read);
  }
  write(row, self_relation(graph_.schema(), type), kSelfEdge);
}

void Adjacency::write_site(const Site& site, Subgraph& subgraph) const {
  for (uint32_t i = site.first; i < site.last; ++i) write_row(site.type, rows_[i], subgraph);
}

}  // namespace hgt
