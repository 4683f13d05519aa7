// Titles through XLNet: hgt/features/xlnet.
#pragma once

#include <utility>

#include "hgt/features/feature_source.h"
#include "hgt/features/xlnet/xlnet.h"
#include "hgt/graph/hetero_graph.h"

namespace hgt {

class XlnetTitles : public FeatureSource {
 public:
  static constexpr uint64_t kRowsAtOnce = 256;

  XlnetTitles(HeteroGraph graph, NodeType type, const Path& folder)
      : graph_(std::move(graph)), type_(type), model_(Xlnet::open(folder)) {}

  uint64_t width() const override { return model_.width(); }
  uint64_t rows_at_once() const override { return kRowsAtOnce; }
  void read(NodeId first, std::span<float> rows, std::vector<bool>& missing) override {
    std::vector<std::string_view> titles;
    for (size_t i = 0; i < missing.size(); ++i) {
      titles.push_back(graph_.name(type_, first + static_cast<NodeId>(i)));
    }
    for (const size_t i : model_.encode(titles, rows)) missing[i] = true;
  }

 private:
  HeteroGraph graph_;
  NodeType type_;
  Xlnet model_;
};

}  // namespace hgt
