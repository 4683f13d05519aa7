#include "hgt/sampling/adjacency.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

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

Adjacency::Adjacency(const HeteroGraph& graph, const Visibility& visibility)
    : graph_(graph),
      visibility_(visibility),
      index_(graph.schema().node_types().size()),
      heavy_lists_(graph.schema().relations().size()) {}

void Adjacency::clear() {
  sites_.clear();
  rows_.clear();
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

bool Adjacency::is_heavy(uint32_t site, uint32_t slot) const {
  const auto offsets = graph_.incoming_offsets(sites_[site].type, sites_[site].node);
  return static_cast<uint64_t>(offsets[slot + 1] - offsets[slot]) > kHeavy;
}

bool Adjacency::edge_too_late(const RelationSpec& spec, EdgePosition position) const {
  return spec.times && visibility_.has_bound() &&
         visibility_.too_late(graph_.incoming_times(spec.target)[position]);
}

void Adjacency::connect(const Subgraph& subgraph, std::span<const uint32_t> rows) {
  const auto first = static_cast<uint32_t>(sites_.size());
  make_sites(subgraph, rows);
  sought_.clear();
  for (std::vector<HeavyList>& lists : heavy_lists_) lists.clear();
  for (uint32_t site = first; site < sites_.size(); ++site) {
    if (site % kAhead == 0 || site == first) ask_for_lists(site);
    read_lists(site);
  }
  search_heavy_lists();
  join_heavy_lists();
}

// Asks for the memory of the lists of this site and those after it, so that reading them does not
// wait for one cache line after the other.
void Adjacency::ask_for_lists(uint32_t site) const {
  const size_t last = std::min<size_t>(sites_.size(), site + 2 * kAhead);
  for (size_t next = site + kAhead; next < last; ++next) {
    graph_.prefetch_offsets(sites_[next].type, sites_[next].node);
  }
  const size_t middle = std::min<size_t>(sites_.size(), site + kAhead);
  for (size_t next = site; next < middle; ++next) {
    const NodeType type = sites_[next].type;
    const auto offsets = graph_.incoming_offsets(type, sites_[next].node);
    const auto sources = graph_.incoming_sources(type);
    if (offsets.front() < offsets.back()) __builtin_prefetch(&sources[offsets.front()]);
  }
}

void Adjacency::read_lists(uint32_t site) {
  const auto offsets = graph_.incoming_offsets(sites_[site].type, sites_[site].node);
  for (uint32_t slot = 0; slot + 1 < offsets.size(); ++slot) {
    const auto length = static_cast<uint64_t>(offsets[slot + 1] - offsets[slot]);
    const Relation relation = relation_of(site, slot);
    if (length == 0 || visibility_.hides_all(relation)) continue;
    if (length > kHeavy) {
      heavy_lists_[index(relation)].push_back({.site = site, .slot = slot});
    } else {
      read_list(site, slot, static_cast<EdgePosition>(offsets[slot]),
                static_cast<EdgePosition>(offsets[slot + 1]));
    }
  }
}

void Adjacency::read_list(uint32_t site, uint32_t slot, EdgePosition begin, EdgePosition end) {
  const Relation relation = relation_of(site, slot);
  const RelationSpec& spec = graph_.schema().at(relation);
  const uint32_t reverse_slot = graph_.schema().at(graph_.schema().reverse(relation)).slot;
  const SiteIndex& sites = index_[index(spec.source)];
  const auto sources = graph_.incoming_sources(spec.target);
  const bool may_hide = visibility_.may_hide(relation);
  uint32_t last_source = kAbsent;
  for (EdgePosition position = begin; position < end; ++position) {
    const NodeId node = sources[position];
    const uint32_t source = sites.find(node);
    if (source == kAbsent) continue;
    if (may_hide && visibility_.hides(relation, node, sites_[site].node)) continue;
    if (source != last_source && is_heavy(source, reverse_slot)) {
      sought_.push_back({.target = source, .slot = reverse_slot, .position = 0, .source = site});
    }
    last_source = source;
    if (edge_too_late(spec, position)) continue;
    links_.push_back({.target = site, .slot = slot, .position = position, .source = source});
  }
}

// The edges into hubs that were met in the lists of their sources.
void Adjacency::search_heavy_lists() {
  std::sort(sought_.begin(), sought_.end(), [&](const Link& a, const Link& b) {
    return std::tuple(a.target, a.slot, sites_[a.source].node) <
           std::tuple(b.target, b.slot, sites_[b.source].node);
  });
  for (size_t i = 0; i < sought_.size();) {
    const HeavyList list{.site = sought_[i].target, .slot = sought_[i].slot};
    const Neighbors neighbors =
        graph_.incoming(relation_of(list.site, list.slot), sites_[list.site].node);
    size_t at = 0;
    for (; i < sought_.size() && sought_[i].target == list.site && sought_[i].slot == list.slot;
         ++i) {
      const auto rest = neighbors.sources.subspan(at);
      const NodeId node = sites_[sought_[i].source].node;
      at += static_cast<size_t>(std::lower_bound(rest.begin(), rest.end(), node) - rest.begin());
      add_copies(list, neighbors.sources.subspan(at), neighbors.first + at, sought_[i].source);
    }
  }
}

// Edges between two hubs, which no list that was read has shown.
void Adjacency::join_heavy_lists() {
  for (const std::vector<HeavyList>& lists : heavy_lists_) {
    for (const HeavyList& list : lists) join_heavy(list);
  }
}

void Adjacency::join_heavy(const HeavyList& list) {
  const Relation relation = relation_of(list.site, list.slot);
  const Relation reverse = graph_.schema().reverse(relation);
  const std::vector<HeavyList>& hubs = heavy_lists_[index(reverse)];
  const NodeId target = sites_[list.site].node;
  const bool may_hide = visibility_.may_hide(relation);
  const auto hidden = [&](NodeId node) {
    return may_hide && visibility_.hides(relation, node, target);
  };
  const Neighbors neighbors = graph_.incoming(relation, target);
  const auto sources = neighbors.sources;
  if (hubs.size() * kSearchCost < sources.size()) {
    for (const HeavyList& hub : hubs) {
      const NodeId node = sites_[hub.site].node;
      const auto found = std::lower_bound(sources.begin(), sources.end(), node);
      const auto at = static_cast<size_t>(found - sources.begin());
      if (!hidden(node)) add_copies(list, sources.subspan(at), neighbors.first + at, hub.site);
    }
    return;
  }
  const SiteIndex& sites = index_[index(graph_.schema().at(relation).source)];
  const uint32_t reverse_slot = graph_.schema().at(reverse).slot;
  for (size_t at = 0; at < sources.size(); ++at) {
    if (at > 0 && sources[at] == sources[at - 1]) continue;
    const uint32_t source = sites.find(sources[at]);
    if (source == kAbsent || !is_heavy(source, reverse_slot) || hidden(sources[at])) continue;
    add_copies(list, sources.subspan(at), neighbors.first + at, source);
  }
}

// All edges from `source`: `sources` begins where they begin, if there are any.
void Adjacency::add_copies(const HeavyList& list, std::span<const NodeId> sources,
                           EdgePosition first, uint32_t source) {
  const RelationSpec& spec = graph_.schema().at(relation_of(list.site, list.slot));
  for (size_t i = 0; i < sources.size() && sources[i] == sites_[source].node; ++i) {
    if (edge_too_late(spec, first + i)) continue;
    heavy_links_.push_back(
        {.target = list.site, .slot = list.slot, .position = first + i, .source = source});
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
    const uint64_t edges = num_edges_into(site) + 1;  // and `self`
    for (uint32_t i = sites_[site].first; i < sites_[site].last; ++i) {
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

uint64_t Adjacency::num_edges_into(uint32_t site) const {
  uint64_t edges = 0;
  const auto count = [&](const std::vector<Link>& links, uint64_t first, uint64_t last) {
    for (uint64_t i = first; i < last; ++i) {
      edges += sites_[links[i].source].last - sites_[links[i].source].first;
    }
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

void Adjacency::write_site(const Site& site, Subgraph& subgraph) const {
  const auto relations = graph_.schema().incoming(site.type);
  for (uint32_t i = site.first; i < site.last; ++i) {
    const uint32_t row = rows_[i];
    const Time time = subgraph.times[row];
    uint64_t edge = subgraph.edge_offsets[row];
    const auto write = [&](uint32_t source, Relation relation, EdgePosition position) {
      subgraph.sources[edge] = source;
      subgraph.relations[edge] = relation;
      subgraph.gaps[edge] = time_gap(time, subgraph.times[source]);
      subgraph.positions[edge++] = position;
    };
    for (const Link& link : merged_) {
      const Site& source = sites_[link.source];
      for (uint32_t j = source.first; j < source.last; ++j) {
        write(rows_[j], relations[link.slot], link.position);
      }
    }
    write(row, self_relation(graph_.schema(), site.type), kSelfEdge);
  }
}

}  // namespace hgt
