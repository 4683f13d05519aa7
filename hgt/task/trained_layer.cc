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
  std::vector<bool> useful(schema.node_types().size(), false);
  useful[index(task.node_type())] = true;
  if (task.num_classes() == 0) useful[index(task.other_type())] = true;
  for (uint32_t layer = layers; layer > 0; --layer) {
    if (useful[index(type)]) return layer;
    std::vector<bool> read = useful;
    for (size_t i = 0; i < schema.relations().size(); ++i) {
      const bool at_seeds = layer == layers && is_among(schema, Relation(i), hidden.at_seeds);
      if (at_seeds || is_among(schema, Relation(i), hidden.everywhere)) continue;
      const RelationSpec& relation = schema.relations()[i];
      if (useful[index(relation.target)]) read[index(relation.source)] = true;
    }
    useful = read;
  }
  return 0;
}

}  // namespace hgt
