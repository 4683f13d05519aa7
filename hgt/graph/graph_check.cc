#include "hgt/graph/graph_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "hgt/error.h"
#include "hgt/graph/array_file.h"
#include "hgt/graph/feature_sets.h"
#include "hgt/graph/incoming_writer.h"
#include "hgt/graph/stored_features.h"
#include "hgt/graph/verified_arrays.h"
#include "hgt/random.h"

namespace hgt {

namespace {

constexpr uint64_t kCheckedBetweenReports = 1U << 14U;

class Checker {
 public:
  Checker(const HeteroGraph& graph, const ProgressSink& progress)
      : graph_(graph),
        schema_(graph.schema()),
        stored_(read_schema(graph.folder())),
        progress_(progress) {}

  void check() {
    verify_arrays_again(graph_.folder(), stored_.arrays, progress_);  // of all feature sets
    fingerprints_.resize(schema_.relations().size());
    for (size_t type = 0; type < schema_.node_types().size(); ++type) {
      graph_.check_lists(NodeType(type));
      check_edges(NodeType(type));
      check_nodes(NodeType(type));
      check_labels(NodeType(type));
    }
    check_reverses();
    for (const FeatureSet& set : all_feature_sets(stored_)) check_features(set.name);
  }

 private:
  [[noreturn]] void fail(const std::string& file, const std::string& what) const {
    const bool made = Path(file).filename().string().starts_with("features_");
    throw Error(fmt::format(
        "{}: {}; the file is damaged, make the {} again", (graph_.folder() / file).string(), what,
        made ? "feature sets that have it ('hgt inspect' lists them)" : "graph"));
  }
  [[noreturn]] void fail(NodeType type, const std::string& file, const std::string& what) const {
    fail(schema_.at(type).name + "/" + file, what);
  }

  // --- edges ---

  void check_edges(NodeType type) {
    const auto relations = schema_.incoming(type);
    std::vector<DegreeCounter> degrees(relations.size());
    Progress report{.stage = "edges into " + schema_.at(type).name, .unit = "edges"};
    for (uint64_t node = 0; node < graph_.num_nodes(type); ++node) {
      const auto target = static_cast<NodeId>(node);
      for (uint32_t slot = 0; slot < relations.size(); ++slot) {
        const Neighbors neighbors = graph_.incoming(relations[slot], target);
        check_list(relations[slot], target, neighbors);
        degrees[slot].add(neighbors.size());
        report.count += neighbors.size();
      }
      if (node % kCheckedBetweenReports != 0) continue;
      report.fraction = static_cast<double>(node) / static_cast<double>(graph_.num_nodes(type));
      progress_(report);
    }
    for (uint32_t slot = 0; slot < relations.size(); ++slot) {
      check_degrees(relations[slot], degrees[slot]);
    }
  }

  void check_list(Relation relation, NodeId target, const Neighbors& neighbors) {
    const RelationSpec& spec = schema_.at(relation);
    Edge last{.time = kNoTime, .weight = -std::numeric_limits<float>::infinity()};
    for (size_t i = 0; i < neighbors.size(); ++i) {
      const Edge edge{.source = neighbors.sources[i],
                      .target = target,
                      .time = neighbors.times.empty() ? kNoTime : neighbors.times[i],
                      .weight = neighbors.weights.empty() ? 1.0F : neighbors.weights[i]};
      const EdgePosition position = neighbors.first + i;
      if (!std::isfinite(edge.weight)) {
        fail(spec.target, "incoming_weights.npy", fmt::format("entry {} is not finite", position));
      }
      if (std::tie(edge.source, edge.time, edge.weight) <
          std::tie(last.source, last.time, last.weight)) {
        fail(spec.target, "incoming_sources.npy",
             fmt::format("entry {} ({} of node {}) is out of order", position, spec.edge, target));
      }
      add_fingerprint(relation, edge);
      last = edge;
    }
  }

  void check_degrees(Relation relation, const DegreeCounter& counter) const {
    const DegreeSummary found = counter.summary();
    const DegreeSummary& stated = schema_.at(relation).degrees;
    if (counter.edges() == schema_.at(relation).edges && found.mean == stated.mean &&
        found.median == stated.median && found.maximum == stated.maximum &&
        found.without == stated.without) {
      return;
    }
    fail("schema.json", fmt::format("the number and degrees of {} do not match the lists",
                                    schema_.describe(relation)));
  }

  // A sum of hashes does not depend on the order: both directions must give the same one.
  void add_fingerprint(Relation relation, const Edge& edge) {
    const auto relation_hash = [&](NodeId source, NodeId target) {
      return hash(source, target, static_cast<uint32_t>(edge.time),
                  std::bit_cast<uint32_t>(edge.weight));
    };
    fingerprints_[index(relation)].forward += relation_hash(edge.source, edge.target);
    fingerprints_[index(relation)].backward += relation_hash(edge.target, edge.source);
  }

  void check_reverses() const {
    for (size_t i = 0; i < fingerprints_.size(); ++i) {
      const Relation reverse = schema_.reverse(Relation(i));
      if (fingerprints_[i].forward != fingerprints_[index(reverse)].backward) {
        fail("schema.json", fmt::format("{} and {} do not contain the same edges",
                                        schema_.describe(Relation(i)), schema_.describe(reverse)));
      }
    }
  }

  // --- nodes ---

  void check_nodes(NodeType type) const {
    const NodeTypeSpec& spec = schema_.at(type);
    for (uint64_t n = 0; n < spec.nodes; ++n) {
      const auto node = static_cast<NodeId>(n);
      static_cast<void>(graph_.time(type, node));  // checks its range
      static_cast<void>(graph_.name(type, node));  // checks its offsets
      if (!spec.first_id && graph_.find(type, graph_.id(type, node)) != node) {
        fail(type, "id_index.npy", fmt::format("node {} is not found under its id", n));
      }
    }
  }

  void check_features(const std::string& set) {
    const HeteroGraph graph = HeteroGraph::open(graph_.folder(), set);  // checks shapes
    for (size_t i = 0; i < schema_.node_types().size(); ++i) {
      const auto& spec = graph.schema().at(NodeType(i)).features;
      if (!spec || !checked_.insert(schema_.at(NodeType(i)).name + "/" + spec->file).second)
        continue;
      if (!are_stored_rows(graph.features(NodeType(i)), spec->type)) {
        fail(NodeType(i), spec->file, "it holds numbers that are not finite or out of range");
      }
    }
  }

  static bool are_stored_rows(const Features& features, FeatureType type) {
    const auto bytes = type == FeatureType::float32   ? std::as_bytes(features.floats)
                       : type == FeatureType::float16 ? std::as_bytes(features.halves)
                                                      : std::as_bytes(features.bytes);
    const uint64_t row_bytes = stored_row_bytes(type, features.width);
    for (uint64_t at = 0; at < bytes.size(); at += row_bytes) {
      if (!is_stored_row(&bytes[at], type, features.width)) return false;
    }
    return true;
  }

  void check_labels(NodeType type) const {
    for (uint32_t label = 0; label < schema_.at(type).labels.size(); ++label) {
      for (uint64_t n = 0; n < graph_.num_nodes(type); ++n) {
        const auto node = static_cast<NodeId>(n);
        static_cast<void>(graph_.label_classes(type, label, node));  // both check their ranges
        static_cast<void>(graph_.split(type, label, node));
      }
    }
  }

  struct Fingerprint {
    uint64_t forward = 0;
    uint64_t backward = 0;
  };

  const HeteroGraph& graph_;
  const Schema& schema_;
  const Schema stored_;  // with all feature sets
  const ProgressSink& progress_;
  std::vector<Fingerprint> fingerprints_;
  std::set<std::string> checked_;  // files of features: sets share some
};

}  // namespace

void verify(const HeteroGraph& graph, const ProgressSink& progress) {
  Checker(graph, progress).check();
}

}  // namespace hgt
