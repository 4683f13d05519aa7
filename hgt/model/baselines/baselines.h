// The models that HGT is compared with (paper, section 5.2), layer by layer, on the graphs that
// HGT's layers read: each target has an edge `self`, edges have meta relations, rows lie by type.
// Every file states its formula, its source, and what was adapted to sampled sub-graphs.
//
// None of the layers sees times. The last layer of an encoder has no activation: what the task puts
// on top reads it.
#pragma once

#include <memory>
#include <vector>

#include "hgt/message/meta_path.h"
#include "hgt/message/model_schema.h"
#include "hgt/model/layer.h"
#include "hgt/run/model_options.h"

namespace hgt {

enum class Place { inner, last };  // of a layer in its encoder

std::shared_ptr<Layer> make_gcn_layer(const ModelOptions& options, Place place);
std::shared_ptr<Layer> make_gat_layer(const ModelOptions& options, Place place);
std::shared_ptr<Layer> make_rgcn_layer(const ModelOptions& options, const ModelSchema& schema,
                                       Place place);
std::shared_ptr<Layer> make_hetgnn_layer(const ModelOptions& options, const ModelSchema& schema);
// Reads graphs of meta paths (meta_path.h).
std::shared_ptr<Layer> make_han_layer(const ModelOptions& options, const ModelSchema& schema,
                                      const std::vector<MetaPath>& paths);
// Features only: reads no neighbor.
std::shared_ptr<Layer> make_mlp_layer(const ModelOptions& options, Place place);
// Reads nothing at all: every vector is zero, so a classifier learns how frequent classes are.
std::shared_ptr<Layer> make_majority_layer();

}  // namespace hgt
