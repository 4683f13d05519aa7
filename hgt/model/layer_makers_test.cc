#include "hgt/model/layer_makers.h"

#include <gtest/gtest.h>

#include <set>
#include <typeindex>

namespace hgt {
namespace {

TEST(LayerMakers, MakeALayerOfItsOwnForEveryModel) {
  const ModelSchema schema{.node_types = {{"a"}, {"b"}},
                           .edge_types = {"e", "self"},
                           .relations = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {1, 1, 1}}};
  std::set<std::type_index> types;
  for (const ModelRow& row : kModels) {
    for (const Place place : {Place::inner, Place::last}) {
      const std::shared_ptr<Layer> layer =
          make_layer({.options = {.kind = row.kind, .hidden = 8, .heads = 2},
                      .schema = schema,
                      .paths = {{.name = "a-b-a", .type = 0, .steps = {}}},
                      .place = place});
      ASSERT_NE(layer, nullptr) << row.name;
      const Layer& made = *layer;
      types.insert(typeid(made));
      EXPECT_EQ(layer->parameters().empty(), !row.reads_features) << row.name;
    }
  }
  EXPECT_EQ(types.size(), kModels.size());
}

}  // namespace
}  // namespace hgt
