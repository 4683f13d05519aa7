// The user's ids of one node type: id -> node and back.
//
// Ids that count up (7, 8, 9, ...) are recognized and need no memory at all. All others are stored
// as text with a hash index, in files that are mapped and so need not fit in memory.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hgt/graph/string_column.h"
#include "hgt/graph/types.h"

namespace hgt {

// Open addressing with linear probing. The number of slots is a power of two and at least twice the
// number of nodes; a slot holds node + 1, or 0 when free; an id starts at XXH3-64(id) mod slots.
struct IdIndex {
  std::span<const uint32_t> slots;
  StringColumn ids;
  std::string_view file = {};  // of the slots, for errors

  // Throws Error: it meets a slot that holds no node, as only a damaged file has.
  std::optional<NodeId> find(std::string_view id) const;
};

// The number of a decimal id as std::to_string would print it ("7", "-3", not "07" or "+3").
std::optional<int64_t> canonical_number(std::string_view id);

// Ids that count up from `first` over `nodes` nodes: the node with this id.
std::optional<NodeId> sequence_node(int64_t first, uint64_t nodes, std::string_view id);

class IdMap {
 public:
  // Files, if any are needed, go to "<folder>/<prefix>_bytes.npy", "_index.npy" and those of the
  // list index.
  IdMap(Path folder, std::string prefix) : folder_(std::move(folder)), prefix_(std::move(prefix)) {}

  uint64_t size() const { return size_; }
  std::optional<NodeId> insert(std::string_view id);  // no value: known already
  std::optional<NodeId> insert_number();              // the id is the node's own number
  std::optional<NodeId> find(std::string_view id) const;

  void drop_pages();
  // Closes the files; the first id if they count up, else the records of the arrays are added.
  std::optional<int64_t> close(std::vector<ArrayRecord>& records);

 private:
  struct Stored;  // the arrays, once the ids turned out not to count up
  void store_text();
  void store(std::string_view id);

  Path folder_;
  std::string prefix_;
  uint64_t size_ = 0;
  int64_t first_ = 0;
  std::shared_ptr<Stored> stored_;
};

}  // namespace hgt
