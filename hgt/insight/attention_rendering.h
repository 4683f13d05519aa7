// The attention tree in either form for people and programs: as text and SVG (as JSON:
// insight_json.h).
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
  double attention = 0;                    // as in AttentionBranch
  std::vector<ShownBranch> children = {};  // by attention, the largest first
  uint64_t left_out = 0;                   // children that are not shown
  double others = 0;                       // their shares together, or the largest of their means
  friend bool operator==(const ShownBranch&, const ShownBranch&) = default;
};

// A tree with names, of which every node shows its largest branches. The root's relation is empty,
// its attention 1.
struct ShownTree {
  AttentionForm form = AttentionForm::shares;
  ShownBranch root = {};
  uint32_t layers = 0;
  uint32_t from_layer = 0;
  uint64_t examples = 0;
  friend bool operator==(const ShownTree&, const ShownTree&) = default;
};

// `top`: branches per node, at most.
ShownTree shown_tree(const AttentionTree& tree, const Schema& schema, uint64_t top);

// "29.2 %", or "0.0731", as a tree of this form has it.
std::string attention_text(AttentionForm form, double attention);
// "3 others", or "3 others, at most" before the largest of their means.
std::string others_words(AttentionForm form, const ShownBranch& branch);

// The whole paths with the most attention, of all and not only of those shown: the largest shares,
// or the largest products of the means along the path.
struct AttentionPath {
  std::vector<RelationNames> steps = {};  // from the target on
  double attention = 0;
};
std::vector<AttentionPath> top_paths(const AttentionTree& tree, const Schema& schema, uint64_t top);
std::string to_text(const AttentionPath& path, const std::string& target);  // "a <- b <- c"

// Indented by depth, with numbers in a column.
std::string to_text(const ShownTree& tree);

// One <svg> element that needs nothing else; colors can be set from outside by CSS variables:
// --attention-box, --attention-ink, --attention-others, --attention-link.
std::string to_svg(const ShownTree& tree);

}  // namespace hgt
