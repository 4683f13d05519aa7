#include "hgt/insight/insight_json.h"

namespace hgt {

namespace {

using Json = OrderedJson;

Json words_json(const InstanceWords& words) {
  return {{"type", words.type}, {"id", words.id}, {"name", words.name}, {"time", words.time}};
}

Json chances_json(const ClassChances& chances) {
  if (chances.empty()) return nullptr;
  Json list = Json::array();
  for (const ClassChance& chance : chances) {
    list.push_back(
        {{"class", chance.id}, {"name", chance.name}, {"probability", chance.probability}});
  }
  return list;
}

void put_children(const ShownBranch& branch, Json& json) {
  json["children"] = Json::array();
  for (const ShownBranch& child : branch.children) {
    Json entry = {
        {"relation", child.relation}, {"type", child.type}, {"attention", child.attention}};
    put_children(child, entry);
    json["children"].push_back(std::move(entry));
  }
  if (branch.left_out > 0) json["others"] = branch.others;
}

}  // namespace

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json to_json(const ShownTree& tree, WithSvg svg) {
  Json json = {{"form", to_string(tree.form)},
               {"target", tree.root.type},
               {"layers", tree.layers},
               {"from_layer", tree.from_layer},
               {"examples", tree.examples}};
  if (svg == WithSvg::yes) json["svg"] = to_svg(tree);
  put_children(tree.root, json);
  return json;
}

Json to_json(const AttentionTrees& trees, const Schema& schema, uint64_t top, WithSvg svg) {
  Json json;
  for (const AttentionForm form : {AttentionForm::shares, AttentionForm::means}) {
    json[std::string(to_string(form))] = to_json(shown_tree(trees.of(form), schema, top), svg);
  }
  return json;
}

Json to_json(const NodeExplanation& explanation, const Schema& schema, uint64_t top, WithSvg svg) {
  Json json = {{"node", words_json(explanation.node)},
               {"prediction", chances_json(explanation.prediction)},
               {"no_prediction", explanation.no_prediction},
               {"truth", explanation.truth},
               {"self", explanation.own_share},
               {"neighbors", Json::array()}};
  if (explanation.no_prediction.empty()) json["no_prediction"] = nullptr;
  if (!explanation.trees) json["self"] = nullptr;
  for (const NeighborExplanation& neighbor : explanation.neighbors) {
    json["neighbors"].push_back({{"node", words_json(neighbor.node)},
                                 {"relations", neighbor.relations},
                                 {"share", neighbor.share},
                                 {"without", chances_json(neighbor.without)}});
  }
  json["without_all"] = chances_json(explanation.without_all);
  json["attention"] = explanation.trees ? to_json(*explanation.trees, schema, top, svg) : Json();
  return json;
}

}  // namespace hgt
