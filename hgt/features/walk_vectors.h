// metapath2vec as a step: trained in files beside the graph, so that tables need not fit in memory
// and training can stop and continue later.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hgt/features/feature_source.h"
#include "hgt/features/feature_step.h"
#include "hgt/features/metapath2vec/walks.h"
#include "hgt/graph/hetero_graph.h"
#include "hgt/progress.h"

namespace hgt {

// Meta paths as hgt/message/meta_path.h reads them, or as initials of types: VPAPV. Throws Error: a
// path that the schema does not have, or that cannot be walked without a hidden relation.
std::vector<WalkPath> walk_paths(const std::vector<std::string>& names, const Schema& schema,
                                 const Reach& reach);

// Throws Error: as walk_paths(); a type of the step that no path passes through; options out of
// range.
void check_walks(const FeatureStep& step, const Schema& schema, const Reach& reach);

// How many walks the step is trained with. Throws: as WalkTraining.
uint64_t num_walks(const HeteroGraph& graph, const FeatureStep& step, const Reach& reach);

class WalkTraining {
 public:
  // Files of the name `kept` and an ending; those of an earlier training are taken up. Throws
  // Error: what check_walks() finds; NoFeatures: no node can start a walk.
  WalkTraining(const HeteroGraph& graph, const FeatureStep& step, const Reach& reach, Path kept,
               const ProgressSink& progress);
  WalkTraining(const WalkTraining&) = delete;
  WalkTraining& operator=(const WalkTraining&) = delete;
  ~WalkTraining();

  // To the end. What `progress` throws leaves a training that continues exactly where it stopped;
  // one that is killed repeats its last seconds.
  void train(const ProgressSink& progress);
  void remove_files();

  uint64_t width() const;
  std::span<const float> vector(WalkNode node) const;
  bool occurs(WalkNode node) const;  // in a walk

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Missing: nodes that no walk met.
class WalkVectors : public FeatureSource {
 public:
  WalkVectors(const WalkTraining& training, NodeType type) : training_(training), type_(type) {}

  uint64_t width() const override { return training_.width(); }
  void read(NodeId first, std::span<float> rows, std::vector<bool>& missing) override;

 private:
  const WalkTraining& training_;
  NodeType type_;
};

}  // namespace hgt
