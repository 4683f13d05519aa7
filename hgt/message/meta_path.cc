#include "hgt/message/meta_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "hgt/error.h"
#include "hgt/message/edge_lists.h"

namespace hgt {

namespace {

constexpr size_t kMostNeighbors = 50;

std::string type_list(const ModelSchema& schema) {
  std::string list;
  for (const auto& type : schema.node_types) list += (list.empty() ? "" : ", ") + type.name;
  return list;
}

// Reads one path from left to right. Names of types may have hyphens: the longest one that fits
// counts.
class PathReader {
 public:
  PathReader(std::string name, const ModelSchema& schema)
      : name_(std::move(name)), schema_(schema) {}

  MetaPath read() {
    MetaPath path{.name = name_, .type = next_type(), .steps = {}};
    uint32_t at = path.type;
    while (place_ < name_.size()) {
      ++place_;  // the hyphen
      const std::string edge = next_edge();
      const uint32_t to = next_type();
      path.steps.push_back(step(at, edge, to));
      at = to;
    }
    if (path.steps.empty() || at != path.type) {
      fail("it must begin and end at the same node type, such as paper-author-paper");
    }
    return path;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(fmt::format("meta path '{}': {}", name_, why));
  }

  // "(edge)" and the hyphen behind it; empty: there is none.
  std::string next_edge() {
    if (place_ >= name_.size() || name_[place_] != '(') return "";
    const size_t end = name_.find(")-", place_);
    if (end == std::string::npos) fail("an edge type must be followed by ')-' and a node type");
    const std::string edge = name_.substr(place_, end + 1 - place_);
    place_ = end + 2;
    return edge;
  }

  uint32_t next_type() {
    const std::string_view rest = std::string_view(name_).substr(place_);
    std::optional<uint32_t> found;
    size_t length = 0;
    for (uint32_t type = 0; type < schema_.node_types.size(); ++type) {
      const std::string& name = schema_.node_types[type].name;
      const bool fits =
          rest.starts_with(name) && (rest.size() == name.size() || rest[name.size()] == '-');
      if (!fits || (found && name.size() < length)) continue;
      found = type;
      length = name.size();
    }
    if (!found) {
      fail(fmt::format("'{}' is not a node type; the node types are {}",
                       rest.substr(0, rest.find('-')), type_list(schema_)));
    }
    place_ += length;
    return *found;
  }

  // Is the relation called so, in this direction or the other?
  bool is_called(const ModelSchema::MetaRelation& relation, const std::string& edge) const {
    const std::string wanted = edge.substr(1, edge.size() - 2);
    const std::string& own = schema_.edge_types[relation.edge];
    return own == wanted || own == "rev_" + wanted;
  }

  std::vector<bool> step(uint32_t target, const std::string& edge, uint32_t source) const {
    const size_t count = schema_.relations.size() - schema_.node_types.size();  // without `self`
    std::vector<bool> allowed(schema_.relations.size(), false);
    bool any = false;
    for (size_t i = 0; i < count; ++i) {
      const auto& relation = schema_.relations[i];
      if (relation.target != target || relation.source != source) continue;
      if (!edge.empty() && !is_called(relation, edge)) continue;
      allowed[i] = any = true;
    }
    if (!any) {
      fail(fmt::format("no edges{} lead from {} to {}", edge.empty() ? "" : " " + edge,
                       schema_.node_types[source].name, schema_.node_types[target].name));
    }
    return allowed;
  }

  std::string name_;
  const ModelSchema& schema_;
  size_t place_ = 0;  // in the name
};

// Walks along paths in one sub-graph.
class Walker {
 public:
  explicit Walker(const Subgraph& subgraph) : subgraph_(subgraph), met_(subgraph.num_rows(), 0) {}

  // Where the path leads from a row, ascending; without the row itself.
  std::vector<uint32_t> ends(const MetaPath& path, uint32_t row) {
    std::vector<uint32_t> rows = {row};
    for (const auto& allowed : path.steps) rows = neighbors(rows, allowed);
    rows.erase(std::remove(rows.begin(), rows.end(), row), rows.end());
    return rows;
  }

 private:
  std::vector<uint32_t> neighbors(const std::vector<uint32_t>& rows,
                                  const std::vector<bool>& allowed) {
    ++walk_;
    std::vector<uint32_t> found;
    for (const uint32_t row : rows) {
      for (const uint64_t edge : subgraph_.incoming(row)) {
        const uint32_t source = subgraph_.sources[edge];
        if (!allowed[index(subgraph_.relations[edge])] || met_[source] == walk_) continue;
        met_[source] = walk_;
        found.push_back(source);
      }
    }
    std::sort(found.begin(), found.end());
    return spread_out<uint32_t>(found, kMostNeighbors);
  }

  const Subgraph& subgraph_;
  std::vector<uint64_t> met_;  // [rows] the walk that met it last
  uint64_t walk_ = 0;
};

}  // namespace

std::vector<MetaPath> meta_paths(const std::vector<std::string>& names, const ModelSchema& schema) {
  std::vector<MetaPath> paths;
  for (const std::string& name : names) paths.push_back(PathReader(name, schema).read());
  return paths;
}

std::vector<std::string> propose_meta_paths(const ModelSchema& schema) {
  std::vector<std::string> names;
  const size_t count = schema.relations.size() - schema.node_types.size();
  const auto is_joined = [&](uint32_t source, uint32_t target) {
    return std::any_of(schema.relations.begin(),
                       schema.relations.begin() + static_cast<ptrdiff_t>(count),
                       [&](const auto& relation) {
                         return relation.source == source && relation.target == target;
                       });
  };
  const auto types = static_cast<uint32_t>(schema.node_types.size());
  for (uint32_t type = 0; type < types; ++type) {
    const std::string& name = schema.node_types[type].name;
    if (is_joined(type, type)) names.push_back(fmt::format("{0}-{0}", name));
    for (uint32_t other = 0; other < types; ++other) {
      if (other == type || !is_joined(other, type) || !is_joined(type, other)) continue;
      names.push_back(fmt::format("{0}-{1}-{0}", name, schema.node_types[other].name));
    }
  }
  return names;
}

Subgraph follow(const std::vector<MetaPath>& paths, const Subgraph& subgraph) {
  Subgraph result;
  result.type_offsets = subgraph.type_offsets;
  result.nodes = subgraph.nodes;
  result.times = subgraph.times;
  result.hops = subgraph.hops;
  result.components = subgraph.components;
  result.seed_rows = subgraph.seed_rows;
  result.hidden_from_means = subgraph.hidden_from_means;
  result.edge_offsets = {0};
  Walker walker(subgraph);
  const auto add = [&](uint32_t source, uint32_t target, size_t relation) {
    result.sources.push_back(source);
    result.relations.push_back(Relation(relation));
    result.gaps.push_back(time_gap(subgraph.times[target], subgraph.times[source]));
    result.positions.push_back(kSelfEdge);
  };
  for (uint32_t row = 0; row < subgraph.num_rows(); ++row) {
    const size_t type = index(subgraph.type_of(row));
    for (size_t path = 0; path < paths.size(); ++path) {
      if (paths[path].type != type) continue;
      for (const uint32_t end : walker.ends(paths[path], row)) add(end, row, path);
    }
    add(row, row, paths.size() + type);
    result.edge_offsets.push_back(result.sources.size());
  }
  return result;
}

}  // namespace hgt
