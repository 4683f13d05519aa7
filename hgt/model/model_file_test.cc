// Models on disk, and what is written there: options and schema.
#include "hgt/model/model_file.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "hgt/academic/tiny_graph.h"
#include "hgt/disk/tensor_file.h"
#include "hgt/graph/graph_test_folder.h"
#include "hgt/graph/hetero_graph.h"
#include "hgt/model/encoder.h"
#include "hgt/model/random_batch_test.h"
#include "hgt/model/torch.h"

namespace hgt {
namespace {

const ModelSchema kSchema = {
    .node_types = {{"paper", 4}, {"author", 0}, {"venue", 2}},
    .edge_types = {"writes", "rev_writes", "in", "rev_in", "self"},
    .relations = {{1, 0, 0}, {2, 3, 0}, {0, 1, 1}, {0, 2, 2}, {0, 4, 0}, {1, 4, 1}, {2, 4, 2}}};

ModelOptions small_options(ModelOptions options) {
  options.hidden = 8;
  options.heads = 2;
  options.layers = 2;
  return options;
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_TRUE(contains(text, part)) << "'" << text << "' does not say '" << part << "'";
}

class ModelFile : public testing::Test {
 protected:
  ModelFile() { save_encoder(file_, *encoder_); }

  // A file like the saved one but for a change; valid as a tensor file.
  struct Contents {
    std::vector<TensorView> tensors;
    std::map<std::string, std::string> metadata;
  };
  Path changed(const std::function<void(Contents&)>& change) const {
    const TensorFile saved = TensorFile::open(file_);
    Contents contents{.tensors = {saved.tensors().begin(), saved.tensors().end()},
                      .metadata = saved.metadata()};
    change(contents);
    write_tensor_file(folder_ / "changed.safetensors", contents.tensors, contents.metadata);
    return folder_ / "changed.safetensors";
  }
  // The refusal names the file and says `part`.
  void expect_refusal(const Path& file, const std::string& part) const {
    const std::string text = error_of([&] { load_encoder(file); });
    expect_contains(text, file.string());
    expect_contains(text, part);
  }
  void expect_options_refused(const std::string& from, const std::string& to,
                              const std::string& part) const {
    const Path file = changed([&](Contents& contents) {
      std::string& options = contents.metadata.at("options");
      const size_t place = options.find(from);
      ASSERT_NE(place, std::string::npos) << options;
      options.replace(place, from.size(), to);
    });
    expect_refusal(file, part);
  }
  std::string misfit(const std::function<void(ModelSchema&)>& change) const {
    ModelSchema other = kSchema;
    change(other);
    const std::string text = error_of([&] { load_encoder(file_, other); });
    expect_contains(text, file_.string());
    return text;
  }

  TestFolder folder_;
  const Path file_ = folder_ / "model.safetensors";
  Encoder encoder_{small_options(release_preset()), kSchema};
};

// --- there and back ---

TEST_F(ModelFile, GivesTheSameOutputsBitForBit) {
  Draws draws(1);
  const Subgraph subgraph = random_subgraph(kSchema, draws, 4);
  std::vector<at::Tensor> features;
  for (uint32_t type = 0; type < 3; ++type) {
    const auto width = static_cast<int64_t>(kSchema.node_types[type].features);
    const int64_t rows = subgraph.num_rows(NodeType(type));
    features.push_back(width > 0 ? at::full({rows, width}, 0.25F) : at::Tensor());
  }
  const GraphBatch batch = batch_with_features(subgraph, features, 2);
  for (const ModelOptions& options : {paper_preset(), release_preset()}) {
    for (const at::ScalarType precision : {at::kFloat, at::kDouble}) {
      Encoder saved(small_options(options), kSchema);
      saved->to(precision);
      saved->eval();
      save_encoder(file_, *saved);  // in the place of the one before
      Encoder loaded = load_encoder(file_, kSchema);
      loaded->eval();
      EXPECT_EQ(loaded->options(), saved->options());
      EXPECT_EQ(loaded->schema(), kSchema);
      const at::Tensor output = loaded->forward(batch);
      EXPECT_EQ(output.scalar_type(), precision);
      EXPECT_TRUE(output.requires_grad()) << "it can be trained on";
      EXPECT_TRUE(at::equal(output, saved->forward(batch)));
    }
  }
}

TEST_F(ModelFile, KeepsEveryWeightUnderItsName) {
  const Encoder loaded = load_encoder(file_);
  const auto weights = loaded->named_parameters();
  ASSERT_EQ(weights.size(), encoder_->named_parameters().size());
  for (const auto& saved : encoder_->named_parameters()) {
    EXPECT_TRUE(at::equal(weights[saved.key()], saved.value())) << saved.key();
  }
  EXPECT_NE(TensorFile::open(file_).find("layer_1.temporal_encoding.weight"), nullptr);
  EXPECT_NE(TensorFile::open(file_).find("adaptation_author_bias"), nullptr);
}

TEST_F(ModelFile, CannotHoldHalfPrecision) {
  encoder_->to(at::kHalf);
  expect_contains(error_of([&] { save_encoder(folder_ / "half", *encoder_); }), "Half");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "half"));
}

// --- another graph ---

TEST_F(ModelFile, NamesTheTypeThatDoesNotFit) {
  using Schema = ModelSchema;
  expect_contains(misfit([](Schema& graph) {
                    graph.relations = {{1, 0, 0}};
                    graph.node_types.pop_back();
                  }),
                  "made for a node type 'venue' that the graph does not have");
  expect_contains(misfit([](Schema& graph) {
                    graph.node_types.push_back({"field", 1});
                  }),
                  "has a node type 'field' that the model does not know");
  expect_contains(misfit([](Schema& graph) { graph.node_types[1].name = "writer"; }),
                  "has a node type 'writer' that the model does not know");
  expect_contains(
      misfit([](Schema& graph) { std::swap(graph.node_types[0], graph.node_types[1]); }),
      "node type 0 is 'paper' in the model and 'author' in the graph");
  expect_contains(misfit([](Schema& graph) { graph.node_types[2].features = 5; }),
                  "reads 2 features of node type 'venue', but the graph has 5");
  expect_contains(misfit([](Schema& graph) { graph.node_types[2].features = 0; }),
                  "reads 2 features of node type 'venue', but the graph has 0");
}

TEST_F(ModelFile, NamesTheRelationThatDoesNotFit) {
  using Schema = ModelSchema;
  expect_contains(misfit([](Schema& graph) { graph.relations.erase(graph.relations.begin()); }),
                  "made for a relation author -writes-> paper that the graph does not have");
  expect_contains(misfit([](Schema& graph) {
                    graph.relations.push_back({1, 2, 2});
                  }),
                  "has a relation author -in-> venue that the model does not know");
  expect_contains(misfit([](Schema& graph) { graph.edge_types[0] = "edits"; }),
                  "has a relation author -edits-> paper that the model does not know");
  expect_contains(
      misfit([](Schema& graph) { std::swap(graph.relations[1], graph.relations[2]); }),
      "relation 1 is venue -rev_in-> paper in the model and paper -rev_writes-> author");
}

TEST_F(ModelFile, FitsAGraphThatOnlyNumbersItsEdgeTypesOtherwise) {
  ModelSchema graph = kSchema;
  std::swap(graph.edge_types[0], graph.edge_types[2]);
  for (auto& relation : graph.relations) {
    if (relation.edge == 0 || relation.edge == 2) relation.edge = 2 - relation.edge;
  }
  EXPECT_EQ(load_encoder(file_, graph)->schema(), kSchema);
}

// --- no model, a damaged one ---

TEST_F(ModelFile, RefusesTensorsThatAreNoModel) {
  const Path file = folder_ / "other.safetensors";
  write_tensor_file(file, {}, {});
  expect_refusal(file, "not a model that hgt saved");
  expect_refusal(changed([](Contents& contents) { contents.metadata["format"] = "hgt encoder 2"; }),
                 "its format is 'hgt encoder 2', but this version of hgt reads 'hgt encoder 1'");
  for (const std::string entry : {"format", "options", "schema"}) {
    expect_refusal(changed([&](Contents& contents) { contents.metadata.erase(entry); }),
                   "no '" + entry + "' in its metadata");
  }
  expect_refusal(folder_ / "missing.safetensors", "missing.safetensors");
}

TEST_F(ModelFile, RefusesEveryTruncation) {
  const std::string bytes = read_bytes(file_);
  const Path file = folder_ / "cut.safetensors";
  for (const size_t size :
       {size_t{0}, size_t{7}, size_t{100}, bytes.size() / 2, bytes.size() - 1}) {
    write_bytes(file, std::string_view(bytes).substr(0, size));
    expect_refusal(file, "");
  }
}

TEST_F(ModelFile, RefusesOptionsThatMakeNoSense) {
  expect_options_refused("\"heads\":2", "\"heads\":3", "hidden must be a multiple of heads");
  expect_options_refused("\"heads\":2", "\"heads\":\"two\"", "cannot read the options");
  expect_options_refused("\"norm\":true,", "", "norm");
  expect_options_refused("edge_type_and_head", "by_night", "unknown prior 'by_night'");
  expect_options_refused("{", "", "cannot read the options");
  expect_options_refused("\"norm\":true", "\"norm\":false", "weights, but");
  expect_options_refused("\"hidden\":8", "\"hidden\":16", "its options and schema require");
}

TEST_F(ModelFile, RefusesASchemaThatMakesNoSense) {
  const auto with_schema = [&](const std::string& text) {
    return changed([&](Contents& contents) { contents.metadata["schema"] = text; });
  };
  expect_refusal(with_schema("no JSON"), "cannot read the schema");
  expect_refusal(with_schema("{}"), "cannot read the schema");
  expect_refusal(with_schema(R"({"node_types":[{"name":"a","features":1}],"edge_types":["e"],
                                 "relations":[[0,0,1]]})"),
                 "names a type that it does not list");
}

TEST_F(ModelFile, RefusesWeightsThatAreMissingTooManyOrOfOtherShape) {
  const auto named = [](Contents& contents, const std::string& name) {
    return std::find_if(contents.tensors.begin(), contents.tensors.end(),
                        [&](const TensorView& view) { return view.name == name; });
  };
  expect_refusal(
      changed([&](Contents& contents) { contents.tensors.erase(named(contents, "layer_0.skip")); }),
      "the weight 'layer_0.skip' is missing");
  expect_refusal(changed([&](Contents& contents) {
                   contents.tensors.push_back(*named(contents, "layer_0.skip"));
                   contents.tensors.back().name = "layer_2.skip";
                 }),
                 "weights, but its options and schema require");
  expect_refusal(
      changed([&](Contents& contents) {
        named(contents, "layer_1.skip")->shape = {3, 1};
      }),
      "the weight 'layer_1.skip' is F32 [3, 1], but its options and schema require F32 [3]");
  const std::vector<double> doubles(3);
  expect_refusal(changed([&](Contents& contents) {
                   named(contents, "layer_1.skip")->type = ElementType::float64;
                   named(contents, "layer_1.skip")->data = std::as_bytes(std::span(doubles));
                 }),
                 "F64 [3]");
}

// --- options ---

TEST(ModelOptions, AreCheckedWithValueAndRemedy) {
  const auto refusal = [](const std::function<void(ModelOptions&)>& change) {
    ModelOptions options;
    change(options);
    return error_of([&] { check(options); });
  };
  EXPECT_EQ(refusal([](ModelOptions&) {}), "");
  EXPECT_EQ(refusal([](ModelOptions& options) { options.heads = 256; }), "");
  EXPECT_EQ(refusal([](ModelOptions& options) { options.hidden = 0; }),
            "hidden is 0; it must be at least 1");
  EXPECT_EQ(refusal([](ModelOptions& options) { options.heads = -2; }),
            "heads is -2; it must be at least 1");
  EXPECT_EQ(refusal([](ModelOptions& options) { options.layers = 0; }),
            "layers is 0; it must be at least 1");
  EXPECT_EQ(refusal([](ModelOptions& options) { options.hidden = options.heads = 257; }),
            "heads is 257; it must be at most 256");
  EXPECT_EQ(refusal([](ModelOptions& options) { options.heads = 6; }),
            "hidden is 256 and heads is 6; hidden must be a multiple of heads, such as 258");
  for (const double dropout : {1.0, -0.1, std::numeric_limits<double>::quiet_NaN()}) {
    expect_contains(refusal([&](ModelOptions& options) { options.dropout = dropout; }),
                    "it must be at least 0 and less than 1");
  }
}

TEST(ModelOptions, HavePresetsByName) {
  EXPECT_EQ(preset("paper"), paper_preset());
  EXPECT_EQ(preset("release"), release_preset());
  EXPECT_NE(paper_preset(), release_preset());
  expect_contains(error_of([] { preset("Paper"); }), "unknown preset 'Paper'");
  EXPECT_FALSE(paper_preset().gated_skip || paper_preset().norm || paper_preset().matrix_per_head);
  EXPECT_EQ(paper_preset().prior, Prior::meta_relation);
  EXPECT_EQ(release_preset().prior, Prior::edge_type_and_head);
}

TEST(ModelOptions, ComeBackFromJsonButForThePath) {
  const ModelOptions other{.hidden = 60,
                           .heads = 5,
                           .layers = 7,
                           .dropout = 0.1,
                           .tanh_adaptation = true,
                           .heter = false,
                           .rte = false,
                           .norm = true,
                           .gated_skip = true,
                           .matrix_per_head = true,
                           .matrix_per_relation = true,
                           .divide_by_head_width = true,
                           .scaled_sinusoids = true,
                           .paired_sinusoids = true,
                           .prior = Prior::meta_relation_and_head};
  const ModelOptions han{.kind = ModelKind::han, .meta_paths = {"paper-author-paper"}};
  const ModelOptions gcn{.kind = ModelKind::gcn, .degree_weights = DegreeWeights::symmetric};
  for (const ModelOptions& options : {paper_preset(), release_preset(), other, han, gcn}) {
    EXPECT_EQ(options_from_json(to_json(options), "here"), options);
    ModelOptions fused = options;
    fused.path = LayerPath::fused;
    EXPECT_EQ(options_from_json(to_json(fused), "here"), options);
  }
}

// Files of before these options existed.
TEST(ModelOptions, OfAnOldFileHaveTheMeanAndDecomposedMatrices) {
  ModelOptions options{.kind = ModelKind::gcn, .degree_weights = DegreeWeights::symmetric};
  options.matrix_per_relation = true;
  auto json = nlohmann::json::parse(to_json(options));
  EXPECT_EQ(json.erase("degree_weights") + json.erase("matrix_per_relation"), 2U);
  const ModelOptions read = options_from_json(json.dump(), "here");
  EXPECT_EQ(read.degree_weights, DegreeWeights::mean);
  EXPECT_FALSE(read.matrix_per_relation);
}

TEST(ModelOptions, OfModelsFromBeforeTheChoiceHaveTheSinusoidsOfThePaper) {
  const ModelOptions expected = release_preset();
  ModelOptions later = expected;
  later.scaled_sinusoids = true;
  later.paired_sinusoids = true;
  std::string text = to_json(later);
  for (const std::string member : {R"("scaled_sinusoids":true,)", R"("paired_sinusoids":true,)"}) {
    const size_t at = text.find(member);
    ASSERT_NE(at, std::string::npos) << text;
    text.erase(at, member.size());
  }
  EXPECT_EQ(options_from_json(text, "here"), expected);
}

// --- schema ---

TEST(ModelSchema, HasTheRelationsOfAGraphAndSelfAsSubgraphsNumberThem) {
  const TestFolder folder;
  write_tiny_graph(folder / "tiny", {});
  const HeteroGraph graph = HeteroGraph::open(folder / "tiny");
  const Schema& schema = graph.schema();
  const ModelSchema model = model_schema(schema);
  ASSERT_EQ(model.node_types.size(), schema.node_types().size());
  ASSERT_EQ(model.relations.size(), schema.relations().size() + model.node_types.size());
  for (uint32_t relation = 0; relation < schema.relations().size(); ++relation) {
    EXPECT_EQ(model.describe(relation), schema.describe(Relation(relation)));
  }
  for (uint32_t type = 0; type < model.node_types.size(); ++type) {
    const std::string& name = model.node_types[type].name;
    EXPECT_EQ(name, schema.at(NodeType(type)).name);
    EXPECT_EQ(model.node_types[type].features, name == "paper" ? 64U : 0U);
    EXPECT_EQ(model.describe(index(self_relation(schema, NodeType(type)))),
              name + " -self-> " + name);
  }
  const std::set<std::string> edges(model.edge_types.begin(), model.edge_types.end());
  EXPECT_EQ(edges.size(), model.edge_types.size()) << "an edge type is listed twice";
  EXPECT_EQ(model.edge_types.back(), "self");
}

TEST(ModelSchema, ComesBackFromJson) {
  EXPECT_EQ(schema_from_json(to_json(kSchema), "here"), kSchema);
  expect_contains(error_of([] { schema_from_json("[]", "here"); }), "here: ");
}

}  // namespace
}  // namespace hgt
