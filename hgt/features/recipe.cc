#include "hgt/features/recipe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "hgt/error.h"
#include "hgt/features/bert/bert.h"
#include "hgt/features/walk_vectors.h"
#include "hgt/features/xlnet/xlnet.h"
#include "hgt/graph/time_text.h"

namespace hgt {

namespace fs = std::filesystem;

namespace {

bool joins(const Schema& schema, const Reach& reach, NodeType source, NodeType target) {
  const auto incoming = schema.incoming(target);
  return std::any_of(incoming.begin(), incoming.end(), [&](Relation relation) {
    return schema.at(relation).source == source && !reach.hidden[index(relation)];
  });
}

// Relations that are hidden by batch, whose means leave out what a batch hides.
bool joins_by_batch(const Schema& schema, const Reach& reach, NodeType source, NodeType target) {
  const auto incoming = schema.incoming(target);
  return std::any_of(incoming.begin(), incoming.end(), [&](Relation relation) {
    return schema.at(relation).source == source && reach.hidden_by_batch[index(relation)];
  });
}

// The types that usable relations lead from.
std::vector<NodeType> sources_of(const Schema& schema, const Reach& reach, NodeType target) {
  std::vector<NodeType> sources;
  for (size_t i = 0; i < schema.node_types().size(); ++i) {
    if (joins(schema, reach, NodeType(i), target)) sources.push_back(NodeType(i));
  }
  return sources;
}

// From a type to its neighbor, maybe on to one of the neighbor's, and back.
std::vector<std::string> paths_by(const Schema& schema, const Reach& reach, NodeType from,
                                  NodeType by) {
  const std::string& type = schema.at(from).name;
  const std::string& name = schema.at(by).name;
  if (by == from) return {fmt::format("{0}-{0}", type)};
  std::vector<std::string> paths = {fmt::format("{0}-{1}-{0}", type, name)};
  for (const NodeType beyond : sources_of(schema, reach, by)) {
    if (beyond == from) continue;
    const std::string turn = beyond == by ? "" : schema.at(beyond).name + "-";
    paths.push_back(fmt::format("{0}-{1}-{2}{1}-{0}", type, name, turn));
  }
  return paths;
}

}  // namespace

std::vector<std::string> propose_walks(const std::vector<std::string>& types, const Schema& schema,
                                       const Reach& reach) {
  std::vector<std::string> paths;
  for (const std::string& type : types) {
    const NodeType from = schema.node_type(type);
    for (const NodeType by : sources_of(schema, reach, from)) {
      const std::vector<std::string> some = paths_by(schema, reach, from, by);
      paths.insert(paths.end(), some.begin(), some.end());
    }
  }
  return paths;
}

namespace {

// Event types with names, whose names are encoded.
std::vector<NodeType> titled_types(const Schema& schema) {
  std::vector<NodeType> titled;
  for (size_t i = 0; i < schema.node_types().size(); ++i) {
    const NodeTypeSpec& type = schema.node_types()[i];
    if (type.kind == NodeKind::event && type.names) titled.push_back(NodeType(i));
  }
  return titled;
}

// What the features of a plain type are the mean of. Means over what the task does not ask about
// come first.
std::optional<NodeType> source_of_mean(const Schema& schema, const Reach& reach, NodeType target,
                                       const std::vector<NodeType>& titled) {
  if (schema.at(target).kind != NodeKind::plain) return std::nullopt;
  for (const auto& join : {joins, joins_by_batch}) {
    const auto found = std::find_if(titled.begin(), titled.end(), [&](NodeType source) {
      return join(schema, reach, source, target);
    });
    if (found != titled.end()) return *found;
  }
  return std::nullopt;
}

}  // namespace

std::vector<FeatureStep> default_recipe(const HeteroGraph& graph, const FeatureStep& step) {
  const Schema& schema = graph.schema();
  const Reach reach = reach_of(step, graph);
  const std::vector<NodeType> titled = titled_types(schema);
  std::vector<FeatureStep> steps;
  for (const NodeType type : titled) {
    steps.push_back(step);
    steps.back().types = {schema.at(type).name};
  }
  FeatureStep walks = step;
  walks.metapath2vec = {"auto"};
  for (size_t i = 0; i < schema.node_types().size(); ++i) {
    if (std::find(titled.begin(), titled.end(), NodeType(i)) != titled.end()) continue;
    const std::string& type = schema.node_types()[i].name;
    if (const auto source = source_of_mean(schema, reach, NodeType(i), titled)) {
      steps.push_back(step);
      steps.back().types = {type};
      steps.back().mean_of = schema.at(*source).name;
    } else if (!propose_walks({type}, schema, reach).empty()) {
      walks.types.push_back(type);
    }
  }
  if (!walks.types.empty()) steps.push_back(walks);
  if (steps.empty()) throw Error("no type of this graph has names or edges to make features from");
  return steps;
}

// --- on a graph ---

namespace {

void replace_auto(PlannedStep& plan, const Schema& schema) {
  std::vector<std::string>& paths = plan.step.metapath2vec;
  const auto found = std::find(paths.begin(), paths.end(), "auto");
  if (found == paths.end()) return;
  std::vector<std::string> met;
  for (const std::string& type : plan.step.types) {
    const bool has_paths = !propose_walks({type}, schema, plan.reach).empty();
    (has_paths ? met : plan.unmet).push_back(type);
  }
  if (met.empty()) {
    throw Error(fmt::format("no edges that may be used lead to {}, so no walk reaches it",
                            fmt::join(plan.step.types, " or ")));
  }
  const std::vector<std::string> proposed = propose_walks(met, schema, plan.reach);
  paths.insert(paths.erase(found), proposed.begin(), proposed.end());
  plan.step.types = met;
}

void check_encoder_files(const FeatureStep& step) {
  if (step.encoder == TextEncoder::xlnet) check_xlnet_folder(step.xlnet);
  if (step.encoder == TextEncoder::bert) check_bert_folder(step.bert);
  if (step.encoder != TextEncoder::vectors || fs::exists(step.vectors)) return;
  throw Error(fmt::format("{}: there is no such file of word vectors; give one with --vectors",
                          step.vectors));
}

}  // namespace

PlannedStep plan_step(const FeatureStep& step, const HeteroGraph& graph) {
  const Schema& schema = graph.schema();
  check_step(step, schema);
  PlannedStep plan{.step = step, .reach = reach_of(step, graph)};
  switch (step.kind()) {
    case StepKind::walks:
      replace_auto(plan, schema);
      check_walks(plan.step, schema, plan.reach);
      break;
    case StepKind::mean:
      for (const std::string& type : step.types) {
        static_cast<void>(relations_used(plan, type, schema));
      }
      break;
    case StepKind::text:
      check_encoder_files(step);
      break;
  }
  return plan;
}

namespace {

// has_features: [types] before the step; after it.
PlannedStep plan_next_step(const FeatureStep& step, const HeteroGraph& graph,
                           std::vector<bool>& has_features) {
  const Schema& schema = graph.schema();
  PlannedStep plan = plan_step(step, graph);
  const bool is_mean = step.kind() == StepKind::mean;
  if (is_mean && !has_features[index(schema.node_type(step.mean_of))]) {
    throw Error(
        fmt::format("nodes of type {} have no features to take the mean of; make them in an "
                    "earlier step, or build on a set that has them with --base",
                    step.mean_of));
  }
  for (const std::string& type : plan.step.types)
    has_features[index(schema.node_type(type))] = true;
  return plan;
}

}  // namespace

std::vector<PlannedStep> plan_steps(const std::vector<FeatureStep>& steps,
                                    const HeteroGraph& graph) {
  std::vector<bool> has_features;
  for (const NodeTypeSpec& type : graph.schema().node_types()) {
    has_features.push_back(type.features.has_value());
  }
  std::vector<PlannedStep> plans;
  for (size_t i = 0; i < steps.size(); ++i) {
    try {
      plans.push_back(plan_next_step(steps[i], graph, has_features));
    } catch (const Error& error) {
      if (steps.size() == 1) throw;
      throw Error(fmt::format("step {} of {}: {}", i + 1, steps.size(), error.what()));
    }
  }
  return plans;
}

namespace {

std::string folder_name(const Path& folder) {  // "xlnet/" too
  return (folder.has_filename() ? folder : folder.parent_path()).filename().string();
}

}  // namespace

std::string describe(const PlannedStep& plan, const Schema& schema) {
  const FeatureStep& step = plan.step;
  const Reach& reach = plan.reach;
  const std::string until =
      reach.bounded() ? " up to " + format_time(reach.until, schema.time_unit) : "";
  if (step.kind() == StepKind::walks) {
    const size_t others = step.metapath2vec.size() - 1;
    return fmt::format("metapath2vec along {}{}{}", step.metapath2vec.front(),
                       others > 0 ? fmt::format(" and {} more", others) : "", until);
  }
  if (step.kind() == StepKind::mean) {
    const bool by_batch =
        std::any_of(step.types.begin(), step.types.end(),
                    [&](const std::string& type) { return is_left_out_of(plan, type, schema); });
    return fmt::format("mean of {}{}{}", step.mean_of, until,
                       by_batch ? ", without what a batch hides" : "");
  }
  switch (step.encoder) {
    case TextEncoder::fasttext:
      return "fasttext of names, trained on those" + until;
    case TextEncoder::vectors:
      return fmt::format("word vectors {} of names, weighted by those{}",
                         Path(step.vectors).filename().string(), until);
    case TextEncoder::xlnet:
      return fmt::format("xlnet {} of names", folder_name(step.xlnet));
    case TextEncoder::bert:
      return fmt::format("bert {} of names", folder_name(step.bert));
    default:
      return "hashed words of names";
  }
}

bool is_left_out_of(const PlannedStep& plan, const std::string& type, const Schema& schema) {
  if (plan.step.kind() != StepKind::mean) return false;
  const std::vector<Relation> relations = relations_used(plan, type, schema);
  return std::any_of(relations.begin(), relations.end(),
                     [&](Relation relation) { return plan.reach.hidden[index(relation)]; });
}

std::vector<Relation> relations_used(const PlannedStep& plan, const std::string& type,
                                     const Schema& schema) {
  if (plan.step.kind() == StepKind::text) return {};
  if (plan.step.kind() == StepKind::mean) {
    FeatureStep one = plan.step;
    one.types = {type};
    return usable_relations(one, schema, plan.reach);
  }
  std::vector<Relation> relations;
  for (const WalkPath& path : walk_paths(plan.step.metapath2vec, schema, plan.reach)) {
    for (const auto& step : path.steps) relations.insert(relations.end(), step.begin(), step.end());
  }
  return relations;
}

}  // namespace hgt
