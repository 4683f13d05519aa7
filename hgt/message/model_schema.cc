#include "hgt/message/model_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "hgt/disk/json_text.h"
#include "hgt/error.h"

namespace hgt {

namespace {

using OrderedJson = nlohmann::ordered_json;

bool has_type(const ModelSchema& schema, const std::string& name) {
  return std::any_of(schema.node_types.begin(), schema.node_types.end(),
                     [&](const auto& type) { return type.name == name; });
}

bool has_relation(const ModelSchema& schema, const std::string& description) {
  for (size_t relation = 0; relation < schema.relations.size(); ++relation) {
    if (schema.describe(relation) == description) return true;
  }
  return false;
}

void check_types(const ModelSchema& model, const ModelSchema& graph, const std::string& where) {
  for (const auto& type : graph.node_types) {
    if (!has_type(model, type.name)) {
      throw Error(fmt::format("{}: the graph has a node type '{}' that the model does not know",
                              where, type.name));
    }
  }
  for (size_t i = 0; i < model.node_types.size(); ++i) {
    const auto& [name, features, vectors] = model.node_types[i];
    if (!has_type(graph, name) || i >= graph.node_types.size()) {
      throw Error(fmt::format(
          "{}: the model was made for a node type '{}' that the graph does not have", where, name));
    }
    if (graph.node_types[i].name != name) {
      throw Error(
          fmt::format("{}: node type {} is '{}' in the model and '{}' in the graph; declare "
                      "the types in the order of the model's graph",
                      where, i, name, graph.node_types[i].name));
    }
    if (graph.node_types[i].features != features) {
      throw Error(
          fmt::format("{}: the model reads {} features of node type '{}', but the graph has {}",
                      where, features, name, graph.node_types[i].features));
    }
    if (graph.node_types[i].vectors != vectors) {
      throw Error(
          fmt::format("{}: the model has learned vectors for {} nodes of type '{}', but the graph "
                      "has {} such nodes",
                      where, vectors, name, graph.node_types[i].vectors));
    }
  }
}

}  // namespace

std::string ModelSchema::describe(size_t relation) const {
  const MetaRelation& meta = relations[relation];
  return fmt::format("{} -{}-> {}", node_types[meta.source].name, edge_types[meta.edge],
                     node_types[meta.target].name);
}

ModelSchema model_schema(const Schema& schema, uint64_t node_vectors) {
  ModelSchema model;
  for (const NodeTypeSpec& type : schema.node_types()) {
    const bool learned = !type.features && type.nodes <= node_vectors;
    model.node_types.push_back(
        {type.name, type.features ? type.features->width : 0, learned ? type.nodes : 0});
  }
  for (const EdgeTypeSpec& edge : schema.edge_types()) model.edge_types.push_back(edge.name);
  const auto edge_type = [&](const std::string& name) {
    const auto found = std::find(model.edge_types.begin(), model.edge_types.end(), name);
    if (found != model.edge_types.end()) {
      return static_cast<uint32_t>(found - model.edge_types.begin());
    }
    model.edge_types.push_back(name);
    return static_cast<uint32_t>(model.edge_types.size() - 1);
  };
  for (const RelationSpec& relation : schema.relations()) {
    model.relations.push_back(
        {index(relation.source), edge_type(relation.edge), index(relation.target)});
  }
  const uint32_t self = edge_type("self");
  for (uint32_t type = 0; type < model.node_types.size(); ++type) {
    model.relations.push_back({type, self, type});
  }
  return model;
}

void check_fits(const ModelSchema& model, const ModelSchema& graph, const std::string& where) {
  if (model == graph) return;
  check_types(model, graph, where);
  for (size_t i = 0; i < graph.relations.size(); ++i) {
    if (has_relation(model, graph.describe(i))) continue;
    throw Error(fmt::format("{}: the graph has a relation {} that the model does not know", where,
                            graph.describe(i)));
  }
  for (size_t i = 0; i < model.relations.size(); ++i) {
    if (has_relation(graph, model.describe(i))) continue;
    throw Error(fmt::format("{}: the model was made for a relation {} that the graph does not have",
                            where, model.describe(i)));
  }
  if (model.relations.size() != graph.relations.size()) {
    throw Error(fmt::format("{}: the model has {} relations, but the graph has {}", where,
                            model.relations.size(), graph.relations.size()));
  }
  for (size_t i = 0; i < model.relations.size(); ++i) {
    if (model.describe(i) == graph.describe(i)) continue;
    throw Error(fmt::format("{}: relation {} is {} in the model and {} in the graph", where, i,
                            model.describe(i), graph.describe(i)));
  }
}

std::string to_json(const ModelSchema& schema) {
  OrderedJson json;
  json["node_types"] = OrderedJson::array();
  for (const auto& [name, features, vectors] : schema.node_types) {
    json["node_types"].push_back({{"name", name}, {"features", features}, {"vectors", vectors}});
  }
  json["edge_types"] = schema.edge_types;
  json["relations"] = OrderedJson::array();
  for (const auto& relation : schema.relations) {
    json["relations"].push_back({relation.source, relation.edge, relation.target});
  }
  return json.dump();
}

ModelSchema schema_from_json(const std::string& text, const std::string& where) {
  ModelSchema schema;
  try {
    const auto json = parse_json(text);
    for (const auto& type : json.at("node_types")) {
      schema.node_types.push_back(
          {type.at("name"), type.at("features"), type.value("vectors", uint64_t{0})});
    }
    schema.edge_types = json.at("edge_types").get<std::vector<std::string>>();
    for (const auto& relation : json.at("relations")) {
      schema.relations.push_back({relation.at(0), relation.at(1), relation.at(2)});
    }
  } catch (const nlohmann::json::exception& error) {
    throw Error(fmt::format("{}: cannot read the schema of the model: {}", where, error.what()));
  }
  for (const auto& [source, edge, target] : schema.relations) {
    if (source >= schema.node_types.size() || target >= schema.node_types.size() ||
        edge >= schema.edge_types.size()) {
      throw Error(
          fmt::format("{}: a relation of the model names a type that it does not list", where));
    }
  }
  return schema;
}

}  // namespace hgt
