// BERT token by token in double precision, from the formulas of the papers (Vaswani et al., NeurIPS
// 2017; Devlin et al., NAACL 2019), and the poolings of Sentence-BERT: slow and obvious, the oracle
// of the tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "hgt/features/bert/bert_test_folder.h"

namespace hgt {

class ReferenceBert {
 public:
  using Doubles = std::vector<double>;

  explicit ReferenceBert(const TestBert& bert) : bert_(bert), config_(bert.config) {}

  Doubles run(const std::vector<int32_t>& ids) const {
    const uint64_t width = config_.hidden_size;
    std::vector<Doubles> tokens;
    for (size_t i = 0; i < ids.size(); ++i) {
      Doubles sum;
      for (uint64_t d = 0; d < width; ++d) {
        sum.push_back(
            at("embeddings.word_embeddings.weight", static_cast<uint64_t>(ids[i]) * width + d) +
            at("embeddings.position_embeddings.weight", i * width + d) +
            at("embeddings.token_type_embeddings.weight", d));
      }
      tokens.push_back(normed("embeddings", sum));
    }
    for (uint64_t i = 0; i < config_.num_hidden_layers; ++i) {
      tokens = layer("encoder.layer." + std::to_string(i) + ".", tokens);
    }
    return pooled(tokens);
  }

 private:
  double at(const std::string& name, uint64_t i) const {
    return bert_.tensors.at(name).values.at(i);
  }

  Doubles linear(const std::string& name, const Doubles& x) const {
    Doubles y;
    for (uint64_t o = 0; o < bert_.tensors.at(name + ".bias").values.size(); ++o) {
      y.push_back(at(name + ".bias", o));
      for (uint64_t i = 0; i < x.size(); ++i) y[o] += at(name + ".weight", o * x.size() + i) * x[i];
    }
    return y;
  }

  Doubles normed(const std::string& name, const Doubles& x) const {
    const auto width = static_cast<double>(x.size());
    double mean = 0;
    for (const double value : x) mean += value / width;
    double variance = 0;
    for (const double value : x) variance += (value - mean) * (value - mean) / width;
    Doubles y;
    for (uint64_t d = 0; d < x.size(); ++d) {
      y.push_back((x[d] - mean) / std::sqrt(variance + config_.layer_norm_eps) *
                      at(name + ".LayerNorm.weight", d) +
                  at(name + ".LayerNorm.bias", d));
    }
    return y;
  }

  double activated(double x) const {
    if (config_.hidden_act == FeedActivation::relu) return std::max(x, 0.0);
    if (config_.hidden_act == FeedActivation::gelu)
      return x * (1 + std::erf(x / std::sqrt(2.0))) / 2;
    return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
  }

  // What token i of one head takes from all tokens.
  Doubles attended(const std::vector<Doubles>& queries, const std::vector<Doubles>& keys,
                   const std::vector<Doubles>& values, size_t i) const {
    const uint64_t head_width = config_.hidden_size / config_.num_attention_heads;
    Doubles context(config_.hidden_size, 0);
    for (uint64_t from = 0; from < config_.hidden_size; from += head_width) {
      Doubles weights;
      double total = 0;
      for (const Doubles& key : keys) {
        double score = 0;
        for (uint64_t d = from; d < from + head_width; ++d) score += queries[i][d] * key[d];
        weights.push_back(std::exp(score / std::sqrt(static_cast<double>(head_width))));
        total += weights.back();
      }
      for (size_t j = 0; j < keys.size(); ++j) {
        for (uint64_t d = from; d < from + head_width; ++d) {
          context[d] += weights[j] / total * values[j][d];
        }
      }
    }
    return context;
  }

  static Doubles sum(const Doubles& a, const Doubles& b) {
    Doubles total = a;
    for (size_t d = 0; d < a.size(); ++d) total[d] += b[d];
    return total;
  }

  std::vector<Doubles> layer(const std::string& name, const std::vector<Doubles>& x) const {
    std::vector<Doubles> queries;
    std::vector<Doubles> keys;
    std::vector<Doubles> values;
    for (const Doubles& token : x) {
      queries.push_back(linear(name + "attention.self.query", token));
      keys.push_back(linear(name + "attention.self.key", token));
      values.push_back(linear(name + "attention.self.value", token));
    }
    std::vector<Doubles> result;
    for (size_t i = 0; i < x.size(); ++i) {
      const Doubles context = attended(queries, keys, values, i);
      const Doubles mixed = normed(name + "attention.output",
                                   sum(x[i], linear(name + "attention.output.dense", context)));
      Doubles inner = linear(name + "intermediate.dense", mixed);
      for (double& value : inner) value = activated(value);
      result.push_back(normed(name + "output", sum(mixed, linear(name + "output.dense", inner))));
    }
    return result;
  }

  Doubles pooled(const std::vector<Doubles>& tokens) const {
    Doubles vector(config_.hidden_size, 0);
    const size_t used = config_.pooling == BertPooling::cls ? 1 : tokens.size();
    for (size_t i = 0; i < used; ++i) vector = sum(vector, tokens[i]);
    double square = 0;
    for (double& value : vector) {
      value /= static_cast<double>(used);
      square += value * value;
    }
    if (!config_.normalize) return vector;
    for (double& value : vector) value /= std::sqrt(square);
    return vector;
  }

  const TestBert& bert_;
  const BertConfig& config_;
};

}  // namespace hgt
