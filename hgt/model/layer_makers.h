// How the layers of every model are made: HGT's, and those of the models that it is compared with
// (paper, section 5.2), on the graphs that HGT's layers read: each target has an edge `self`, edges
// have meta relations, rows lie by type. Every file of baselines/ states its formula, its source,
// and what was adapted to sampled sub-graphs. None of the baselines sees times. The last layer of
// an encoder has no activation: what the task puts on top reads it.
//
// A new model needs no edit here: its name in HGT_MODELS (hgt/run/model_kinds.h) declares its
// maker.
#pragma once

#include <array>
#include <memory>
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

// make_NAME_layer for every model. Those of models that follow meta paths read graphs of them
// (meta_path.h).
#define HGT_DECLARE_MAKER(name) \
  std::shared_ptr<Layer> make_##name##_layer(const LayerSetting& setting);
HGT_MODELS(HGT_DECLARE_MAKER)
#undef HGT_DECLARE_MAKER

// A layer of the kind that the options name.
inline std::shared_ptr<Layer> make_layer(const LayerSetting& setting) {
#define HGT_MAKER(name) make_##name##_layer,
  constexpr auto kMakers = std::to_array({HGT_MODELS(HGT_MAKER)});
#undef HGT_MAKER
  return kMakers.at(static_cast<size_t>(setting.options.kind))(setting);
}

}  // namespace hgt
