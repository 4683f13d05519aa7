// Titles through a pre-trained text encoder: hgt/features/xlnet, hgt/features/bert.
#pragma once

#include <memory>
#include <utility>

#include "hgt/features/bert/bert.h"
#include "hgt/features/feature_source.h"
#include "hgt/features/feature_step.h"
#include "hgt/features/xlnet/xlnet.h"
#include "hgt/graph/hetero_graph.h"

namespace hgt {

template <typename Model>
class PretrainedTitles : public FeatureSource {
 public:
  static constexpr uint64_t kRowsAtOnce = 256;

  PretrainedTitles(HeteroGraph graph, NodeType type, const Path& folder)
      : graph_(std::move(graph)), type_(type), model_(Model::open(folder)) {}

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
  Model model_;
};

// Of the step's encoder, xlnet or bert; nullptr: it is another.
inline std::unique_ptr<FeatureSource> open_pretrained(const FeatureStep& step,
                                                      const HeteroGraph& graph, NodeType type) {
  if (step.encoder == TextEncoder::xlnet) {
    return std::make_unique<PretrainedTitles<Xlnet>>(graph, type, step.xlnet);
  }
  if (step.encoder == TextEncoder::bert) {
    return std::make_unique<PretrainedTitles<Bert>>(graph, type, step.bert);
  }
  return nullptr;
}

}  // namespace hgt
