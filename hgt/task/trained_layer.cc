#include "hgt/task/trained_layer.h"

#include <algorithm>
#include <vector>

namespace hgt {

namespace {

bool is_among(const Schema& schema, Relation relation, const std::vector<Relation>& some) {
  return std::any_of(some.begin(), some.end(), [&](Relation one) {
    return one == relation || schema.reverse(one) == relation;
  });
}

}  // namespace

uint32_t trained_layer(const Task& task, uint32_t layers, NodeType type) {
  const Schema& schema = task.graph().schema();
  const HiddenEdges hidden = task.sampling({}, Split::train).hidden;
  std::vector<bool> seeds(schema.node_types().size(), false);
  seeds[index(task.node_type())] = true;
  if (task.num_classes() == 0) seeds[index(task.other_type())] = true;
  std::vector<bool> others(seeds.size(), false);  // types of which nodes that are no seeds are read
  for (uint32_t layer = layers; layer > 0; --layer) {
    if (seeds[index(type)] || others[index(type)]) return layer;
    std::vector<bool> read = others;
    for (size_t i = 0; i < schema.relations().size(); ++i) {
      if (is_among(schema, Relation(i), hidden.everywhere)) continue;
      const RelationSpec& relation = schema.relations()[i];
      const bool hidden_from_seeds = is_among(schema, Relation(i), hidden.at_seeds);
      if ((seeds[index(relation.target)] && !hidden_from_seeds) || others[index(relation.target)]) {
        read[index(relation.source)] = true;
      }
    }
    others = read;
  }
  return 0;
}

}  // namespace hgt
