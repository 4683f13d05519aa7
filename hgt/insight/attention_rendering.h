// The attention tree for people and programs: as text and SVG (as JSON: insight_json.h).
//
//   const ShownTree shown = shown_tree(tree, graph.schema(), 5);
//   fmt::print("{}", to_text(shown));
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hgt/graph/schema.h"
#include "hgt/insight/attention_tree.h"

namespace hgt {

// The names of the edge type and of the source type of a relation; `self` has them too.
struct RelationNames {
  std::string edge;
  std::string source;
};
RelationNames relation_names(const Schema& schema, Relation relation);

struct ShownBranch {
  std::string relation = {};
  std::string type = {};
  double share = 0;
  std::vector<ShownBranch> children = {};  // by share, the largest first
  uint64_t left_out = 0;                   // children that are not shown
  double others = 0;                       // their shares together

  std::string others_words() const;  // "3 others"
  friend bool operator==(const ShownBranch&, const ShownBranch&) = default;
};

// A tree with names, of which every node shows its largest branches. The root's relation is empty,
// its share 1.
struct ShownTree {
  ShownBranch root = {};
  uint32_t layers = 0;
  uint64_t examples = 0;
  friend bool operator==(const ShownTree&, const ShownTree&) = default;
};

// `top`: branches per node, at most.
ShownTree shown_tree(const AttentionTree& tree, const Schema& schema, uint64_t top);

// The whole paths with the largest shares, of all and not only of those shown.
struct AttentionPath {
  std::vector<RelationNames> steps = {};  // from the target on
  double share = 0;
};
std::vector<AttentionPath> top_paths(const AttentionTree& tree, const Schema& schema, uint64_t top);
std::string to_text(const AttentionPath& path, const std::string& target);  // "a <- b <- c"

// Indented by depth, with percentages in a column.
std::string to_text(const ShownTree& tree);

// One <svg> element that needs nothing else; colors can be set from outside by CSS variables:
// --attention-box, --attention-ink, --attention-others, --attention-link.
std::string to_svg(const ShownTree& tree);

}  // namespace hgt
