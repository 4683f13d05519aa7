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

// Types of nodes that are seeds, and of other nodes that they or each other read.
struct Readers {
  std::vector<bool> seeds;
  std::vector<bool> others;

  bool read_along(const RelationSpec& relation, bool hidden_from_seeds) const {
    return (seeds[index(relation.target)] && !hidden_from_seeds) || others[index(relation.target)];
  }
};

// What all of them read, one layer down.
std::vector<bool> types_read(const Schema& schema, const HiddenEdges& hidden,
                             const Readers& readers) {
  std::vector<bool> read = readers.others;
  for (size_t i = 0; i < schema.relations().size(); ++i) {
    if (is_among(schema, Relation(i), hidden.everywhere)) continue;
    const RelationSpec& relation = schema.relations()[i];
    if (readers.read_along(relation, is_among(schema, Relation(i), hidden.at_seeds))) {
      read[index(relation.source)] = true;
    }
  }
  return read;
}

}  // namespace

uint32_t trained_layer(const Task& task, uint32_t layers, NodeType type) {
  const Schema& schema = task.graph().schema();
  const HiddenEdges hidden = task.sampling({}, Split::train).hidden;
  const std::vector<bool> none(schema.node_types().size(), false);
  Readers readers{.seeds = none, .others = none};
  readers.seeds[index(task.node_type())] = true;
  if (task.answers() == Answers::pairs) readers.seeds[index(task.other_type())] = true;
  for (uint32_t layer = layers; layer > 0; --layer) {
    if (readers.seeds[index(type)] || readers.others[index(type)]) return layer;
    readers.others = types_read(schema, hidden, readers);
  }
  return 0;
}

}  // namespace hgt
