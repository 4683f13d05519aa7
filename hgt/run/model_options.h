// What a model is made of: HGT, or one of those that it is compared with.
//
//   ModelOptions options = paper_preset();      // the printed equations
//   options.layers = 4;
//   ModelOptions without_time = release_preset();  // what the authors' code does
//   without_time.rte = false;                      // -RTE
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hgt/enum_words.h"
#include "hgt/run/model_kinds.h"

namespace hgt {

enum class Prior {         // mu
  meta_relation,           // one number per <tau(s), phi(e), tau(t)>, as printed
  meta_relation_and_head,  // one per meta relation and head
  edge_type_and_head,      // one per phi(e) and head, as in the authors' release
};
constexpr auto words_of(Prior) {
  return enum_words<Prior>("prior", {{Prior::meta_relation, "meta_relation"},
                                     {Prior::meta_relation_and_head, "meta_relation_and_head"},
                                     {Prior::edge_type_and_head, "edge_type_and_head"}});
}

// What a neighbor counts in an average, with the numbers of edges into both ends in the sub-graph.
enum class DegreeWeights {
  mean,       // 1 / degree(t)
  symmetric,  // 1 / sqrt(degree(s) degree(t)), as Kipf and Welling have it
};
constexpr auto words_of(DegreeWeights) {
  return enum_words<DegreeWeights>(
      "degree weights", {{DegreeWeights::mean, "mean"}, {DegreeWeights::symmetric, "symmetric"}});
}

enum class LayerPath {
  automatic,  // fused where it can be, reference elsewhere
  reference,  // plain tensor operations: any device, any precision; the oracle of the other
  fused,      // on the CPU, in single or double precision
};

struct ModelOptions {
  ModelKind kind = ModelKind::hgt;
  // --- of all kinds ---
  int64_t hidden = 256;          // d; a multiple of heads
  int64_t heads = 8;             // h of those that pay attention; at most 256
  int64_t layers = 3;            // L
  double dropout = 0;            // after A-Linear and after the adaptation layer
  bool tanh_adaptation = false;  // after the adaptation layer
  // --- of gcn ---
  DegreeWeights degree_weights = DegreeWeights::mean;
  // --- of han: meta_path.h ---
  std::vector<std::string> meta_paths = {};
  // --- of hgt ---
  bool heter = true;             // false: -Heter, one set of weights for all types and relations
  bool rte = true;               // false: -RTE
  bool norm = false;             // layer norm per node type at the end of a layer
  bool gated_skip = false;       // sigmoid(skip) mixes new and old; otherwise they are added
  bool matrix_per_head = false;  // W_ATT and W_MSG for each head; otherwise shared by heads
  // One full matrix each for the keys and the messages of a meta relation, which stand for
  // K-Linear, W_ATT and mu, and for M-Linear and W_MSG.
  bool matrix_per_relation = false;
  bool divide_by_head_width = false;  // scores over sqrt(d / h); otherwise over sqrt(d)
  bool scaled_sinusoids = false;      // those of RTE divided by sqrt(d); otherwise as they are
  bool paired_sinusoids = false;      // exponents 2i/d, 2i/d of a pair; otherwise 2i/d, (2i + 1)/d
  double time_scale = 1;  // gaps are divided by it before they are encoded: 86400 turns s into days
  Prior prior = Prior::meta_relation;
  LayerPath path = LayerPath::automatic;  // how, not what: no part of a saved model

  friend bool operator==(const ModelOptions&, const ModelOptions&) = default;
};

ModelOptions paper_preset();
ModelOptions release_preset();
ModelOptions preset(const std::string& name);  // "paper" or "release"; throws Error otherwise

void check(
    const ModelOptions& options);  // throws Error: names the option, its value and the remedy

// All but `path`, as JSON, and back; `where` is named in errors.
std::string to_json(const ModelOptions& options);
ModelOptions options_from_json(const std::string& text, const std::string& where);

}  // namespace hgt
