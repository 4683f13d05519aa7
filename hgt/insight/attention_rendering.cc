#include "hgt/insight/attention_rendering.h"

#include <fmt/format.h>

#include <algorithm>

#include "hgt/sampling/subgraph.h"

namespace hgt {

namespace {

using Branches = std::vector<AttentionBranch>;

// The largest first; equal ones by relation.
std::vector<const AttentionBranch*> by_share(const Branches& branches) {
  std::vector<const AttentionBranch*> order;
  for (const AttentionBranch& branch : branches) order.push_back(&branch);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->share > b->share; });
  return order;
}

void show_children(const Branches& branches, const Schema& schema, uint64_t top,
                   ShownBranch& parent) {
  for (const AttentionBranch* branch : by_share(branches)) {
    if (parent.children.size() == top) {
      ++parent.left_out;
      parent.others += branch->share;
      continue;
    }
    auto [edge, source] = relation_names(schema, branch->relation);
    parent.children.push_back(
        {.relation = std::move(edge), .type = std::move(source), .share = branch->share});
    show_children(branch->children, schema, top, parent.children.back());
  }
}

// --- paths ---

struct RelationPath {
  std::vector<Relation> steps;
  double share = 0;
};

// Those that end where the tree does.
void collect_paths(const Branches& branches, std::vector<Relation>& steps,
                   std::vector<RelationPath>& paths) {
  for (const AttentionBranch& branch : branches) {
    steps.push_back(branch.relation);
    if (branch.children.empty()) paths.push_back({steps, branch.share});
    collect_paths(branch.children, steps, paths);
    steps.pop_back();
  }
}

// --- text ---

struct TextLine {
  std::string label;
  double share = 0;
};

size_t shown_width(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;  // UTF-8: one per character
  }));
}

void append_lines(const ShownBranch& branch, const std::string& indent,
                  std::vector<TextLine>& lines) {
  for (size_t i = 0; i < branch.children.size(); ++i) {
    const ShownBranch& child = branch.children[i];
    const bool last = i + 1 == branch.children.size() && branch.left_out == 0;
    lines.push_back(
        {fmt::format("{}{}─ {} via {}", indent, last ? "└" : "├", child.type, child.relation),
         child.share});
    append_lines(child, indent + (last ? "   " : "│  "), lines);
  }
  if (branch.left_out == 0) return;
  lines.push_back({fmt::format("{}└─ {}", indent, branch.others_words()), branch.others});
}

}  // namespace

std::string ShownBranch::others_words() const {
  return fmt::format("{} {}", left_out, left_out == 1 ? "other" : "others");
}

RelationNames relation_names(const Schema& schema, Relation relation) {
  const size_t relations = schema.relations().size();
  if (index(relation) >= relations) {
    return {.edge = "self", .source = schema.at(NodeType(index(relation) - relations)).name};
  }
  const RelationSpec& spec = schema.at(relation);
  return {.edge = spec.edge, .source = schema.at(spec.source).name};
}

ShownTree shown_tree(const AttentionTree& tree, const Schema& schema, uint64_t top) {
  ShownTree shown{.layers = tree.layers, .examples = tree.examples};
  shown.root.type = schema.at(tree.target).name;
  shown.root.share = 1;
  show_children(tree.children, schema, top, shown.root);
  return shown;
}

std::vector<AttentionPath> top_paths(const AttentionTree& tree, const Schema& schema,
                                     uint64_t top) {
  std::vector<RelationPath> all;
  std::vector<Relation> steps;
  collect_paths(tree.children, steps, all);
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.share > b.share; });
  all.resize(std::min<uint64_t>(top, all.size()));
  std::vector<AttentionPath> paths;
  for (const RelationPath& path : all) {
    paths.push_back({.share = path.share});
    for (const Relation step : path.steps) {
      paths.back().steps.push_back(relation_names(schema, step));
    }
  }
  return paths;
}

std::string to_text(const AttentionPath& path, const std::string& target) {
  std::string text = target;
  for (const RelationNames& step : path.steps) text += " <- " + step.source;
  return text;
}

std::string to_text(const ShownTree& tree) {
  std::vector<TextLine> lines = {{tree.root.type, tree.root.share}};
  append_lines(tree.root, "", lines);
  size_t width = 0;
  for (const TextLine& line : lines) width = std::max(width, shown_width(line.label));
  std::string text;
  for (const TextLine& line : lines) {
    text += fmt::format("{}{}  {:5.1f} %\n", line.label,
                        std::string(width - shown_width(line.label), ' '), 100 * line.share);
  }
  return text;
}

}  // namespace hgt
