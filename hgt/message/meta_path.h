// Meta paths: walks through the schema that begin and end at one type, and the sub-graph that they
// make of a sampled one. Written as types with hyphens between them, from a node back to itself,
//   paper-author-paper            by any relation between the two types
//   paper-(cites)-paper           by this edge type only, in either direction
//   paper-(writes)-author-(affiliated)-institute-author-paper
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hgt/message/model_schema.h"
#include "hgt/sampling/subgraph.h"

namespace hgt {

struct MetaPath {
  std::string name;
  uint32_t type = 0;                     // where it begins and ends
  std::vector<std::vector<bool>> steps;  // [steps][relations] which may be taken, as seen from its
                                         // target: the first step leads to neighbors of `type`
};

// Throws Error: names the path, the word that is neither a node type nor an edge type, and the
// known ones.
std::vector<MetaPath> meta_paths(const std::vector<std::string>& names, const ModelSchema& schema);

// For every type: a path by each of its neighboring types and back, and one to its own kind where
// there are such edges.
std::vector<std::string> propose_meta_paths(const ModelSchema& schema);

// The same instances, joined by paths: an edge s -> t of relation p where path p leads from t to s,
// once however many ways there are, but not from t to itself; then one `self` for each instance,
// relation (number of paths + type). Of more than 50 neighbors at any step of a path, 50 that are
// evenly spread over the list count. The edges have no positions.
Subgraph follow(const std::vector<MetaPath>& paths, const Subgraph& subgraph);

}  // namespace hgt
