// The plan of layers that read edges by target, whatever their relation.
#pragma once

#include <memory>
#include <utility>

#include "hgt/error.h"
#include "hgt/message/edge_lists.h"
#include "hgt/message/layer_graph.h"
#include "hgt/model/edge_operations.h"
#include "hgt/model/layer.h"

namespace hgt {

struct EdgePlan : LayerPlan {
  explicit EdgePlan(const LayerGraph& graph)
      : lists(std::make_shared<EdgeLists>(graph.edge_offsets, graph.sources, graph.num_sources())) {
    source_rows = graph.num_sources();
  }
  SharedLists lists;
};

// The plan that was made ahead, or a new one.
template <typename Plan, typename OwnLayer>
std::shared_ptr<const Plan> plan_of(const OwnLayer& layer, const LayerGraph& graph,
                                    SharedPlan ready) {
  if (!ready) ready = layer.plan(graph);
  auto own = std::dynamic_pointer_cast<const Plan>(std::move(ready));
  if (!own) throw Error("the plan was made by another kind of layer");
  return own;
}

}  // namespace hgt
