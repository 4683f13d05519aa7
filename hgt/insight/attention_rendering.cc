#include "hgt/insight/attention_rendering.h"

#include <fmt/format.h>

#include <algorithm>

#include "hgt/sampling/subgraph.h"

namespace hgt {

namespace {

using Branches = std::vector<AttentionBranch>;

// The largest first; equal ones by relation.
std::vector<const AttentionBranch*> by_attention(const Branches& branches) {
  std::vector<const AttentionBranch*> order;
  for (const AttentionBranch& branch : branches) order.push_back(&branch);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->attention > b->attention; });
  return order;
}

// What the branches that are not shown have to say together: shares add up, means do not.
double with_others(AttentionForm form, double others, double attention) {
  return form == AttentionForm::shares ? others + attention : std::max(others, attention);
}

struct Shown {
  const Schema& schema;
  AttentionForm form;
  uint64_t top;
};

void show_children(const Branches& branches, const Shown& how, ShownBranch& parent) {
  for (const AttentionBranch* branch : by_attention(branches)) {
    if (parent.children.size() == how.top) {
      ++parent.left_out;
      parent.others = with_others(how.form, parent.others, branch->attention);
      continue;
    }
    auto [edge, source] = relation_names(how.schema, branch->relation);
    parent.children.push_back(
        {.relation = std::move(edge), .type = std::move(source), .attention = branch->attention});
    show_children(branch->children, how, parent.children.back());
  }
}

// --- paths ---

struct RelationPath {
  std::vector<Relation> steps;
  double attention = 1;
};

// Those that end where the tree does; `above`: the path to their parent.
void collect_paths(const Branches& branches, AttentionForm form, const RelationPath& above,
                   std::vector<RelationPath>& paths) {
  for (const AttentionBranch& branch : branches) {
    RelationPath path = above;
    path.steps.push_back(branch.relation);
    path.attention =
        form == AttentionForm::shares ? branch.attention : path.attention * branch.attention;
    if (branch.children.empty()) paths.push_back(path);
    collect_paths(branch.children, form, path, paths);
  }
}

// --- text ---

struct TextLine {
  std::string label;
  std::string number;
};

size_t shown_width(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;  // UTF-8: one per character
  }));
}

void append_lines(const ShownBranch& branch, AttentionForm form, const std::string& indent,
                  std::vector<TextLine>& lines) {
  for (size_t i = 0; i < branch.children.size(); ++i) {
    const ShownBranch& child = branch.children[i];
    const bool last = i + 1 == branch.children.size() && branch.left_out == 0;
    lines.push_back(
        {fmt::format("{}{}─ {} via {}", indent, last ? "└" : "├", child.type, child.relation),
         attention_text(form, child.attention)});
    append_lines(child, form, indent + (last ? "   " : "│  "), lines);
  }
  if (branch.left_out == 0) return;
  lines.push_back({fmt::format("{}└─ {}", indent, others_words(form, branch)),
                   attention_text(form, branch.others)});
}

}  // namespace

std::string attention_text(AttentionForm form, double attention) {
  return form == AttentionForm::shares ? fmt::format("{:.1f} %", 100 * attention)
                                       : fmt::format("{:.4f}", attention);
}

std::string others_words(AttentionForm form, const ShownBranch& branch) {
  return fmt::format("{} {}{}", branch.left_out, branch.left_out == 1 ? "other" : "others",
                     form == AttentionForm::shares ? "" : ", at most");
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
  ShownTree shown{.form = tree.form,
                  .layers = tree.layers,
                  .from_layer = tree.from_layer,
                  .examples = tree.examples};
  shown.root.type = schema.at(tree.target).name;
  shown.root.attention = 1;
  show_children(tree.children, {.schema = schema, .form = tree.form, .top = top}, shown.root);
  return shown;
}

std::vector<AttentionPath> top_paths(const AttentionTree& tree, const Schema& schema,
                                     uint64_t top) {
  std::vector<RelationPath> all;
  collect_paths(tree.children, tree.form, {}, all);
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.attention > b.attention; });
  all.resize(std::min<uint64_t>(top, all.size()));
  std::vector<AttentionPath> paths;
  for (const RelationPath& path : all) {
    paths.push_back({.attention = path.attention});
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
  // The attention that reaches the root is the whole of which branches have shares; means have no
  // whole.
  const bool whole = tree.form == AttentionForm::shares;
  std::vector<TextLine> lines = {
      {tree.root.type, whole ? attention_text(tree.form, tree.root.attention) : ""}};
  append_lines(tree.root, tree.form, "", lines);
  size_t width = 0;
  for (const TextLine& line : lines) width = std::max(width, shown_width(line.label));
  std::string text;
  for (const TextLine& line : lines) {
    const std::string gap(width - shown_width(line.label), ' ');
    text += line.number.empty() ? line.label + "\n"
                                : fmt::format("{}{}  {:>7}\n", line.label, gap, line.number);
  }
  return text;
}

}  // namespace hgt
