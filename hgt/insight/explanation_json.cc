// The answer about one node, for programs.
#include <nlohmann/json.hpp>

#include "hgt/insight/explain.h"

namespace hgt {

namespace {

using Json = nlohmann::ordered_json;

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

}  // namespace

std::string to_json(const NodeExplanation& explanation, const Schema& schema, uint64_t top,
                    WithSvg svg) {
  Json json = {{"node", words_json(explanation.node)},
               {"prediction", chances_json(explanation.prediction)},
               {"no_prediction", explanation.no_prediction},
               {"truth", explanation.truth},
               {"self", explanation.own_share},
               {"neighbors", Json::array()}};
  if (explanation.no_prediction.empty()) json["no_prediction"] = nullptr;
  if (!explanation.tree) json["self"] = nullptr;
  for (const NeighborExplanation& neighbor : explanation.neighbors) {
    json["neighbors"].push_back({{"node", words_json(neighbor.node)},
                                 {"relations", neighbor.relations},
                                 {"share", neighbor.share},
                                 {"without", chances_json(neighbor.without)}});
  }
  json["without_all"] = chances_json(explanation.without_all);
  json["attention"] = explanation.tree
                          ? Json::parse(to_json(shown_tree(*explanation.tree, schema, top), svg))
                          : Json();
  // Names may hold bytes that are no UTF-8; they become U+FFFD.
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace hgt
