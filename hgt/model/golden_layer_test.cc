// The layer against values worked out elsewhere in double precision (tests/golden): outputs, and
// the gradients of every weight and of the input, on both paths.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "hgt/model/hgt_layer.h"
#include "hgt/model/torch.h"

namespace hgt {
namespace {

using Json = nlohmann::json;

constexpr double kOutputTolerance = 1e-9;
constexpr double kGradientTolerance = 1e-7;

Json read_golden(const std::string& name) {
  std::ifstream in(std::string(HGT_SOURCE_DIR) + "/tests/golden/" + name + ".json");
  return Json::parse(in);
}

// Nested lists of numbers, as deep as they are.
at::Tensor to_tensor(const Json& json) {
  std::vector<int64_t> sizes;
  for (const Json* level = &json; level->is_array(); level = &level->at(0)) {
    sizes.push_back(static_cast<int64_t>(level->size()));
  }
  std::vector<double> values;
  const std::function<void(const Json&)> walk = [&](const Json& level) {
    if (!level.is_array()) {
      values.push_back(level.get<double>());
      return;
    }
    for (const Json& item : level) walk(item);
  };
  walk(json);
  return at::tensor(values, at::kDouble).view(sizes);
}

ModelSchema read_schema(const Json& golden) {
  ModelSchema schema;
  const auto width = golden.at("hidden").get<uint64_t>();
  for (size_t type = 0; type < golden.at("node_type_counts").size(); ++type) {
    schema.node_types.push_back({"type_" + std::to_string(type), width});
  }
  for (const Json& relation : golden.at("meta_relations")) {
    const std::string edge = relation.at("edge_type");
    auto found = std::find(schema.edge_types.begin(), schema.edge_types.end(), edge);
    if (golden.contains("edge_types") && schema.edge_types.empty()) {
      schema.edge_types = golden.at("edge_types").get<std::vector<std::string>>();
      found = std::find(schema.edge_types.begin(), schema.edge_types.end(), edge);
    }
    if (found == schema.edge_types.end()) found = schema.edge_types.insert(found, edge);
    schema.relations.push_back({relation.at("source"),
                                static_cast<uint32_t>(found - schema.edge_types.begin()),
                                relation.at("target")});
  }
  return schema;
}

LayerGraph read_graph(const Json& golden) {
  LayerGraph graph;
  graph.source_offsets = {0};
  for (const Json& count : golden.at("node_type_counts")) {
    graph.source_offsets.push_back(graph.source_offsets.back() + count.get<uint32_t>());
  }
  graph.target_offsets = graph.source_offsets;
  graph.edge_offsets.assign(graph.num_targets() + size_t{1}, 0);
  const bool timed = golden.contains("node_times");
  uint32_t last_target = 0;
  for (const Json& edge : golden.at("edges")) {
    const auto source = edge.at("source").get<uint32_t>();
    const auto target = edge.at("target").get<uint32_t>();
    EXPECT_GE(target, last_target) << "edges must be grouped by target";
    last_target = target;
    ++graph.edge_offsets[target + 1];
    graph.sources.push_back(source);
    graph.relations.push_back(Relation(edge.at("meta_relation").get<uint16_t>()));
    graph.gaps.push_back(static_cast<uint32_t>(graph.gap_values.size()));
    graph.gap_values.push_back(timed ? golden.at("node_times").at(target).get<double>() -
                                           golden.at("node_times").at(source).get<double>()
                                     : 0.0);
    graph.edge_ids.push_back(graph.edge_ids.size());
  }
  std::partial_sum(graph.edge_offsets.begin(), graph.edge_offsets.end(),
                   graph.edge_offsets.begin());
  return graph;
}

// A golden file's names for weights (or gradients), brought to the layer's tensors.
using Weights = std::map<std::string, at::Tensor>;

Weights paper_weights(const Json& json) {
  const auto stack = [&](const std::string& suffix) {
    return at::cat({to_tensor(json.at("key" + suffix)), to_tensor(json.at("message" + suffix)),
                    to_tensor(json.at("query" + suffix))},
                   1);
  };
  Weights weights = {{"projection_weight", stack("")},
                     {"projection_bias", stack("_bias")},
                     {"output_weight", to_tensor(json.at("output"))},
                     {"output_bias", to_tensor(json.at("output_bias"))},
                     {"attention_weight", to_tensor(json.at("attention"))},
                     {"message_weight", to_tensor(json.at("message_relation"))},
                     {"relation_prior", to_tensor(json.at("prior"))}};
  if (json.contains("time_weight")) {
    weights["temporal_encoding.weight"] = to_tensor(json.at("time_weight"));
    weights["temporal_encoding.bias"] = to_tensor(json.at("time_bias"));
  }
  return weights;
}

Weights release_weights(const Json& json) {
  const auto by_type = [&](const std::string& name, const std::string& part) {
    std::vector<at::Tensor> types;
    for (int type = 0; type < 3; ++type) {
      types.push_back(to_tensor(json.at(name + "." + std::to_string(type) + "." + part)));
    }
    return at::stack(types);
  };
  const auto stack = [&](const std::string& part) {
    return at::cat(
        {by_type("k_linears", part), by_type("v_linears", part), by_type("q_linears", part)}, 1);
  };
  Weights weights = {{"projection_weight", stack("weight")},
                     {"projection_bias", stack("bias")},
                     {"output_weight", by_type("a_linears", "weight")},
                     {"output_bias", by_type("a_linears", "bias")},
                     {"attention_weight", to_tensor(json.at("relation_att"))},
                     {"message_weight", to_tensor(json.at("relation_msg"))},
                     {"relation_prior", to_tensor(json.at("relation_pri"))},
                     {"skip", to_tensor(json.at("skip"))}};
  if (json.contains("norms.0.weight")) {
    weights["norm_weight"] = by_type("norms", "weight");
    weights["norm_bias"] = by_type("norms", "bias");
  }
  return weights;
}

struct GoldenCase {
  std::string file;
  LayerPath path;
};

ModelOptions options_for(const Json& golden, LayerPath path) {
  const bool release = !golden.contains("attention_divisor");
  ModelOptions options = release ? release_preset() : paper_preset();
  options.hidden = golden.at("hidden");
  options.heads = golden.at("heads");
  options.dropout = 0;
  options.path = path;
  if (release) {
    options.norm = golden.at("norm");
    options.rte = false;
  } else {
    options.rte = golden.at("temporal");
    options.matrix_per_head = golden.at("relation_matrices_per_head");
    options.divide_by_head_width = golden.at("attention_divisor") == "sqrt(4)";
  }
  return options;
}

class GoldenLayer : public testing::TestWithParam<GoldenCase> {};

TEST_P(GoldenLayer, HasTheOutputsAndGradientsOfTheFile) {
  const Json golden = read_golden(GetParam().file);
  const ModelOptions options = options_for(golden, GetParam().path);
  const auto read = golden.contains("attention_divisor") ? paper_weights : release_weights;
  HgtLayer layer(options, read_schema(golden));
  layer->to(at::kDouble);
  auto parameters = layer->named_parameters();
  Weights weights = read(golden.at("weights"));
  if (!options.rte) {
    weights.erase("temporal_encoding.weight");
    weights.erase("temporal_encoding.bias");
  }
  ASSERT_EQ(parameters.size(), weights.size());
  {
    const torch::NoGradGuard no_gradient;
    for (const auto& [name, value] : weights) parameters[name].copy_(value);
  }
  const at::Tensor input = to_tensor(golden.at("input")).requires_grad_();
  const at::Tensor output = layer->forward(input, read_graph(golden));
  EXPECT_LT((output - to_tensor(golden.at("output"))).abs().max().item<double>(), kOutputTolerance);

  output.backward(to_tensor(golden.at("cotangent")));
  const Json& gradients = golden.at("gradients");
  for (const auto& [name, expected] : read(gradients)) {
    const double difference = (parameters[name].grad() - expected).abs().max().item<double>();
    EXPECT_LT(difference, kGradientTolerance) << name;
  }
  EXPECT_LT((input.grad() - to_tensor(gradients.at("input"))).abs().max().item<double>(),
            kGradientTolerance);
}

std::vector<GoldenCase> all_cases() {
  std::vector<GoldenCase> cases;
  for (const char* file : {"paper_layer_static", "paper_layer_temporal", "per_head_layer_temporal",
                           "release_layer_plain", "release_layer_norm"}) {
    cases.push_back({file, LayerPath::reference});
    cases.push_back({file, LayerPath::fused});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenLayer, testing::ValuesIn(all_cases()), [](const auto& test) {
  return test.param.file + (test.param.path == LayerPath::fused ? "_fused" : "_reference");
});

}  // namespace
}  // namespace hgt
