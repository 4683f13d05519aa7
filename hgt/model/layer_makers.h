// How the layers of every model are made: HGT's, and those of the models that it is compared with
// (paper, section 5.2), on the graphs that HGT's layers read: each target has an edge `self`, edges
// have meta relations, rows lie by type. Every file of baselines/ states its formula, its source,
// and what was adapted to sampled sub-graphs. None of the baselines sees times. The last layer of
// an encoder has no activation: what the task puts on top reads it.
//
// A new model: its maker and its row here, in the order of kModels (hgt/run/model_kinds.h).
#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "hgt/message/meta_path.h"
#include "hgt/message/model_schema.h"
#include "hgt/model/layer.h"
#include "hgt/run/model_options.h"

namespace hgt {

enum class Place { inner, last };  // of a layer in its encoder

// What a layer is made from; most of them need a part of it.
struct LayerSetting {
  ModelOptions options;
  ModelSchema schema = {};
  std::vector<MetaPath> paths = {};  // of models that follow meta paths
  Place place = Place::inner;
};

std::shared_ptr<Layer> make_hgt_layer(const LayerSetting& setting);
std::shared_ptr<Layer> make_gcn_layer(const LayerSetting& setting);
std::shared_ptr<Layer> make_gat_layer(const LayerSetting& setting);
std::shared_ptr<Layer> make_rgcn_layer(const LayerSetting& setting);
std::shared_ptr<Layer> make_hetgnn_layer(const LayerSetting& setting);
// Reads graphs of meta paths (meta_path.h).
std::shared_ptr<Layer> make_han_layer(const LayerSetting& setting);
// Features only: reads no neighbor.
std::shared_ptr<Layer> make_mlp_layer(const LayerSetting& setting);
// Reads nothing at all: every vector is zero, so a classifier learns how frequent classes are.
std::shared_ptr<Layer> make_majority_layer(const LayerSetting& setting);

struct LayerMaker {
  std::string_view model;
  std::shared_ptr<Layer> (*make)(const LayerSetting& setting);
};
inline constexpr auto kLayerMakers = std::to_array<LayerMaker>({{"hgt", make_hgt_layer},
                                                                {"gcn", make_gcn_layer},
                                                                {"gat", make_gat_layer},
                                                                {"rgcn", make_rgcn_layer},
                                                                {"hetgnn", make_hetgnn_layer},
                                                                {"han", make_han_layer},
                                                                {"mlp", make_mlp_layer},
                                                                {"majority", make_majority_layer}});

constexpr bool every_model_has_a_maker() {
  if (kLayerMakers.size() != kModels.size()) return false;
  for (size_t i = 0; i < kModels.size(); ++i) {
    if (kLayerMakers[i].model != kModels[i].name) return false;
  }
  return true;
}
static_assert(every_model_has_a_maker(),
              "a model of kModels lacks its maker, or their order differs");

// A layer of the kind that the options name.
inline std::shared_ptr<Layer> make_layer(const LayerSetting& setting) {
  return kLayerMakers.at(static_cast<size_t>(setting.options.kind)).make(setting);
}

}  // namespace hgt
