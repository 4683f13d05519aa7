// The models that can be trained, a row each: what the rest of the program asks before it treats
// one of them differently. A new model is a name and a row here, and a file in hgt/model/baselines
// with the function make_NAME_layer, without which nothing links.
//
//   if (!row_of(options.kind).reads_neighbors) ...
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "hgt/enum_words.h"

namespace hgt {

// Every model once: the enumerators, and the makers of layers in hgt/model/layer_makers.h.
#define HGT_MODELS(MODEL) \
  MODEL(hgt)              \
  MODEL(gcn)              \
  MODEL(gat)              \
  MODEL(rgcn)             \
  MODEL(hetgnn)           \
  MODEL(han)              \
  MODEL(mlp)              \
  MODEL(majority)

#define HGT_ENUMERATOR(name) name,
enum class ModelKind { HGT_MODELS(HGT_ENUMERATOR) };
#undef HGT_ENUMERATOR

struct ModelRow {
  ModelKind kind;
  std::string_view name;
  std::string_view description;  // a few words
  std::string_view paper;        // that has its formula; empty: there is none
  // --- what it can do ---
  bool reads_features = true;       // or learned vectors; otherwise every vector is zero
  bool reads_neighbors = true;      // otherwise only a node's own vector
  bool pays_attention = false;      // along the edges of the graph, so that it can be traced
  bool follows_meta_paths = false;  // instead of edges; cannot be computed layer by layer
  bool has_variants = false;        // -Heter, -RTE, and the options `of hgt` of ModelOptions
  bool weighs_by_degree = false;    // its neighbors: ModelOptions::degree_weights
  // --- what it asks of ModelOptions::hidden ---
  int64_t hidden_multiple = 1;
  std::string_view hidden_rule = "";  // why, as the end of an error
};

inline constexpr auto kModels = std::to_array<ModelRow>(
    {{.kind = ModelKind::hgt,
      .name = "hgt",
      .description = "Heterogeneous Graph Transformer",
      .paper = "Hu et al., WWW 2020",
      .pays_attention = true,
      .has_variants = true},
     {.kind = ModelKind::gcn,
      .name = "gcn",
      .description = "average of the neighbors, one weight for all types",
      .paper = "Kipf and Welling, ICLR 2017",
      .weighs_by_degree = true},
     {.kind = ModelKind::gat,
      .name = "gat",
      .description = "attention to the neighbors, one weight for all types",
      .paper = "Velickovic et al., ICLR 2018",
      .pays_attention = true},
     {.kind = ModelKind::rgcn,
      .name = "rgcn",
      .description = "mean of the neighbors, a weight for each meta relation",
      .paper = "Schlichtkrull et al., ESWC 2018"},
     {.kind = ModelKind::hetgnn,
      .name = "hetgnn",
      .description = "a Bi-LSTM reads the neighbors of each type",
      .paper = "Zhang et al., KDD 2019",
      .hidden_multiple = 2,
      .hidden_rule =
          "it must be even, because hetgnn reads in two directions, each with half of it"},
     {.kind = ModelKind::han,
      .name = "han",
      .description = "attention along meta paths",
      .paper = "Wang et al., WWW 2019",
      .follows_meta_paths = true},
     {.kind = ModelKind::mlp,
      .name = "mlp",
      .description = "a node's own features only",
      .paper = "",
      .reads_neighbors = false},
     {.kind = ModelKind::majority,
      .name = "majority",
      .description = "only how frequent the answers are",
      .paper = "",
      .reads_features = false,
      .reads_neighbors = false}});

// A row for each name, in the order of HGT_MODELS, so that a kind finds its own.
constexpr bool have_their_rows(std::initializer_list<std::string_view> names) {
  if (names.size() != kModels.size()) return false;
  for (size_t i = 0; i < kModels.size(); ++i) {
    if (static_cast<size_t>(kModels[i].kind) != i || kModels[i].name != names.begin()[i]) {
      return false;
    }
  }
  return true;
}
#define HGT_QUOTED(name) #name,
static_assert(have_their_rows({HGT_MODELS(HGT_QUOTED)}),
              "a name of HGT_MODELS lacks its row in kModels, or their order differs");
#undef HGT_QUOTED

constexpr const ModelRow& row_of(ModelKind kind) { return kModels.at(static_cast<size_t>(kind)); }

constexpr auto words_of(ModelKind) {
  EnumWords<ModelKind, kModels.size()> words{.name = "model", .words = {}, .otherwise = ""};
  for (size_t i = 0; i < kModels.size(); ++i) words.words[i] = {kModels[i].kind, kModels[i].name};
  return words;
}

// Those that can do it: model_names(&ModelRow::pays_attention).
std::vector<std::string> model_names(bool ModelRow::*capability);
std::string model_descriptions();  // for --help: "hgt: ...; gcn: ...; ..."

// A model as it takes part in a comparison.
struct Contestant {
  std::string name;
  ModelKind kind;
  bool heter = true;
  bool rte = true;
};
// The less a model reads the earlier it comes: the floors, then the baselines in the order of the
// rows, then the variants of the model that has some, with all of its parts last.
std::vector<Contestant> contestants();

}  // namespace hgt
