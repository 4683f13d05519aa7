// The arrays of the incoming lists of one node type: entries, times and weights.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hgt/graph/listed_arrays.h"
#include "hgt/graph/neighbors.h"
#include "hgt/graph/schema.h"

namespace hgt {

// Stays where it is, as its list indices do.
class IncomingArrays {
 public:
  // Throws Error: arrays are missing or damaged.
  void open(const ListedArrays& arrays, const Schema& schema, NodeType type);

  const ListIndex& lists() const { return lists_.lists; }  // of all slots of all nodes
  std::span<const NodeId> sources() const { return sources_.as<NodeId>(); }
  // Of a relation that enters the type. Only where the list ends is checked.
  Neighbors neighbors(const RelationSpec& spec, NodeId target) const;
  void check() const;  // ListIndex::check of all
  void expect(Access access) const;

 private:
  // What some relations carry: times or weights.
  struct Carried {
    MappedArray values;
    bool by_all = true;            // relations into the type: then positions are those of entries
    ListArrays own;                // otherwise the lists of those that carry them
    uint32_t carriers = 0;         // how many these are
    std::vector<uint32_t> places;  // by slot: its place among them

    ListRange range(uint32_t slot, NodeId target, const ListRange& entries) const;
  };
  struct Opening {
    const ListedArrays& arrays;
    const Schema& schema;
    NodeType type;
  };
  static void open_carried(const Opening& opening, bool RelationSpec::*by,
                           const std::string& prefix, std::string_view dtype, Carried& into);

  uint32_t slots_ = 0;
  bool short_times_ = false;
  ListArrays lists_;
  MappedArray sources_;
  Carried times_, weights_;
};

}  // namespace hgt
