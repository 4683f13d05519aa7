// What is explained, as JSON objects for the report, the viewer and programs.
#pragma once

#include <nlohmann/json.hpp>

#include "hgt/insight/attention_rendering.h"
#include "hgt/insight/explain.h"

namespace hgt {

using OrderedJson = nlohmann::ordered_json;

// As text. Names may hold any bytes; those that are not UTF-8 become U+FFFD. `indent` -1: one line.
std::string json_text(const OrderedJson& json, int indent = -1);

// {"form", "target", "layers", "from_layer", "examples", "children": [{"relation", "type",
// "attention", "children", "others"}]}; `others` where something is left out, the root's too. With
// `svg` as one more member that holds to_svg().
enum class WithSvg { no, yes };
OrderedJson to_json(const ShownTree& tree, WithSvg svg = WithSvg::no);

// {"shares": a tree, "means": a tree}, each node with at most `top` branches.
OrderedJson to_json(const AttentionTrees& trees, const Schema& schema, uint64_t top,
                    WithSvg svg = WithSvg::no);

// {"node", "prediction", "no_prediction", "truth", "self", "neighbors", "without_all",
// "attention"}; null where there is none. `top`: branches per node of the tree.
OrderedJson to_json(const NodeExplanation& explanation, const Schema& schema, uint64_t top,
                    WithSvg svg = WithSvg::no);

}  // namespace hgt
