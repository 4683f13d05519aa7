// What a model has to know of a graph: its node types with the widths of their features, its edge
// types, and its meta relations, `self` included.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hgt/graph/schema.h"

namespace hgt {

struct ModelSchema {
  struct NodeInput {
    std::string name;
    uint64_t features = 0;  // width; 0: the type has none
    uint64_t vectors = 0;   // nodes, each with a learned vector of its own; 0: none has
    friend bool operator==(const NodeInput&, const NodeInput&) = default;
  };
  struct MetaRelation {  // <tau(s), phi(e), tau(t)>
    uint32_t source = 0;
    uint32_t edge = 0;  // place in edge_types
    uint32_t target = 0;
    friend bool operator==(const MetaRelation&, const MetaRelation&) = default;
  };
  std::vector<NodeInput> node_types;
  std::vector<std::string> edge_types;
  std::vector<MetaRelation> relations;  // numbered as in sub-graphs

  std::string describe(size_t relation) const;  // "author -writes-> paper"
  friend bool operator==(const ModelSchema&, const ModelSchema&) = default;
};

// The relations of the graph, then <type, self, type> for each type. A type without features and of
// at most `node_vectors` nodes gets a learned vector for each of them.
ModelSchema model_schema(const Schema& schema, uint64_t node_vectors = 0);

// Throws Error unless a model made for `model` can read sub-graphs of `graph`; names the first type
// or relation that does not fit, and `where` the model came from.
void check_fits(const ModelSchema& model, const ModelSchema& graph, const std::string& where);

std::string to_json(const ModelSchema& schema);
ModelSchema schema_from_json(const std::string& text, const std::string& where);

}  // namespace hgt
