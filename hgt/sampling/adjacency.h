// The last line of Algorithm 1: every edge of the graph among the sampled instances.
//
// Work is done per site, a sampled node with all its instances: they have the same neighbors. A
// list of usual length is read and each entry looked up among the sites. A hub's list (heavy) is
// not read: its edges are met again in the lists of its sources under the reverse relation, and
// their positions are then found by search, because lists are sorted. Two hubs are joined from the
// cheaper of their sides. So the cost does not grow with the size of the graph. Which of a site's
// instances are joined is decided last, when the edges are written.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hgt/graph/hetero_graph.h"
#include "hgt/sampling/key_table.h"
#include "hgt/sampling/page_requests.h"
#include "hgt/sampling/subgraph.h"
#include "hgt/sampling/visibility.h"

namespace hgt {

class Adjacency {
 public:
  // `visibility` and `pages` must outlive it. `same_time`: SamplingOptions.
  Adjacency(const HeteroGraph& graph, const Visibility& visibility, PageRequests& pages,
            bool same_time);

  void clear();  // keeps the memory

  // Finds the edges among the given rows, ascending: those of one component. Call for each
  // component once, while its time bound is set. The instance arrays are there already.
  void connect(const Subgraph& subgraph, std::span<const uint32_t> rows);

  // Writes the edge arrays.
  void write(Subgraph& subgraph);

 private:
  struct Site {
    NodeType type{};
    NodeId node = 0;
    uint32_t first = 0;  // its instances: rows_[first .. last)
    uint32_t last = 0;
  };
  // An edge between sites.
  struct Link {
    uint32_t target = 0;
    uint32_t slot = 0;  // of the relation among those that enter the target's type
    EdgePosition position = 0;
    uint32_t source = 0;
  };
  struct List {
    uint32_t site = 0;
    uint32_t slot = 0;
    EdgePosition begin = 0;
    EdgePosition end = 0;
  };
  // The sites of one type in the component at hand.
  struct SiteIndex {
    KeyTable<uint32_t> sites;      // by node
    std::vector<uint64_t> filter;  // a bit per hashed node: rules out most nodes that are not sites

    bool may_contain(NodeId node) const;
    uint32_t find(NodeId node) const;  // kAbsent: not a site
    uint32_t insert(NodeId node, uint32_t new_site);
    void clear();
  };
  static constexpr uint32_t kAbsent = KeyTable<>::kAbsent;

  void make_sites(const Subgraph& subgraph, std::span<const uint32_t> rows);
  void ask_for_offsets(uint32_t first_site);
  void ask_for_lists();
  void find_lists(uint32_t site);
  void read_list(const List& list);
  void ask_for_search(uint32_t hub, uint32_t slot, NodeId node);
  void ask_for_searches();
  void ask_for_join(const List& heavy);
  static bool is_read_whole(const List& heavy, size_t hubs);  // instead of searched for all hubs
  void search_heavy_lists();
  void join_heavy_lists();
  void join_heavy(const List& list);
  void add_copies(const List& list, EdgePosition first, uint32_t source);
  bool is_heavy(uint32_t site, uint32_t slot) const { return heavy_[site * max_slots_ + slot]; }
  EdgeTimes bounded_times(const List& list) const;
  bool edge_too_late(const EdgeTimes& times, size_t entry) const;
  Relation relation_of(uint32_t site, uint32_t slot) const;

  // Calls `use` with the instances of the link's source that this instance of its target reads.
  template <typename Use>
  void for_each_source(const Subgraph& subgraph, const Link& link, uint32_t target_row,
                       const Use& use) const;
  uint64_t num_edges_into(const Subgraph& subgraph, uint32_t site, uint32_t row) const;
  void merge_links(uint32_t site);
  void write_row(NodeType type, uint32_t row, Subgraph& subgraph) const;  // of the links merged
  void write_site(const Site& site, Subgraph& subgraph) const;

  const HeteroGraph graph_;
  const Visibility& visibility_;
  PageRequests& pages_;
  const bool same_time_;
  size_t max_slots_ = 0;          // relations that enter a type, at most
  std::vector<SiteIndex> index_;  // by type
  std::vector<Site> sites_;
  std::vector<uint32_t> rows_;
  std::vector<bool> heavy_;        // [sites * max_slots]
  std::vector<Link> links_;        // found by reading, in order
  std::vector<Link> heavy_links_;  // found by search

  // --- of the component at hand ---
  std::vector<uint32_t> site_of_row_;
  std::vector<List> lists_;                     // to be read
  std::vector<std::vector<List>> heavy_lists_;  // by relation
  std::vector<Link> sought_;                    // edges into heavy lists, position unknown
  std::vector<EdgePosition> offsets_;           // of the site at hand

  // --- scratch of write() ---
  std::vector<uint64_t> link_offsets_;   // [sites + 1] into links_
  std::vector<uint64_t> heavy_offsets_;  // [sites + 1] into heavy_links_
  std::vector<Link> merged_;
};

}  // namespace hgt
