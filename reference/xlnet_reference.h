// XLNet token by token in double precision, from the formulas of the papers (Dai et al., ACL 2019,
// section 3.3; Yang et al., NeurIPS 2019): slow and obvious, the oracle of the tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "hgt/features/xlnet/xlnet_test_folder.h"

namespace hgt {

using Doubles = std::vector<double>;

class ReferenceXlnet {
 public:
  explicit ReferenceXlnet(const TestXlnet& xlnet) : xlnet_(xlnet), config_(xlnet.config) {}

  struct Result {
    std::vector<std::vector<Doubles>> hidden_states;  // [n_layer][tokens][d_model]
    Doubles token_weight;
    Doubles title_vector;
  };

  Result run(const std::vector<int32_t>& ids) const {
    Result result;
    std::vector<Doubles> tokens;
    for (const int32_t id : ids) {
      Doubles& token = tokens.emplace_back();
      for (uint64_t d = 0; d < config_.d_model; ++d) {
        token.push_back(
            at("word_embedding.weight", static_cast<uint64_t>(id) * config_.d_model + d));
      }
    }
    result.hidden_states.push_back(tokens);
    for (uint64_t layer = 0; layer + 1 < config_.n_layer; ++layer) {
      result.token_weight.assign(ids.size(), 0);
      tokens = layer_of("layer." + std::to_string(layer) + ".", tokens, result.token_weight);
      result.hidden_states.push_back(tokens);
    }
    result.title_vector.assign(config_.d_model, 0);
    for (size_t j = 0; j < ids.size(); ++j) {
      for (uint64_t d = 0; d < config_.d_model; ++d) {
        result.title_vector[d] += result.token_weight[j] * tokens[j][d];
      }
    }
    return result;
  }

 private:
  double at(const std::string& name, uint64_t i) const {
    return xlnet_.tensors.at(name).values.at(i);
  }

  // x W[:, head, :] of a matrix [d_model, n_head, d_head].
  Doubles projected(const std::string& name, const Doubles& x, uint64_t head) const {
    Doubles result(config_.d_head, 0);
    for (uint64_t i = 0; i < config_.d_model; ++i) {
      for (uint64_t d = 0; d < config_.d_head; ++d) {
        result[d] += x[i] * at(name, (i * config_.n_head + head) * config_.d_head + d);
      }
    }
    return result;
  }

  // The sinusoid of a distance.
  Doubles encoded(double distance) const {
    const auto furthest = static_cast<double>(config_.clamp_len);
    if (furthest > 0) distance = std::min(std::max(distance, -furthest), furthest);
    Doubles sines;
    Doubles cosines;
    for (uint64_t i = 0; i < config_.d_model; i += 2) {
      const double power = static_cast<double>(i) / static_cast<double>(config_.d_model);
      sines.push_back(std::sin(distance / std::pow(10000.0, power)));
      cosines.push_back(std::cos(distance / std::pow(10000.0, power)));
    }
    sines.insert(sines.end(), cosines.begin(), cosines.end());
    return sines;
  }

  // What one head makes of the tokens and of the distances between them.
  struct Head {
    std::vector<Doubles> queries;
    std::vector<Doubles> keys;
    std::vector<Doubles> values;
    std::map<int, Doubles> positions;  // by i - j
  };

  Head head_of(const std::string& name, const std::vector<Doubles>& x, uint64_t head) const {
    Head made;
    for (const Doubles& token : x) {
      made.queries.push_back(projected(name + "q", token, head));
      made.keys.push_back(projected(name + "k", token, head));
      made.values.push_back(projected(name + "v", token, head));
    }
    const auto tokens = static_cast<int>(x.size());
    for (int distance = 1 - tokens; distance < tokens; ++distance) {
      made.positions[distance] = projected(name + "r", encoded(distance), head);
    }
    return made;
  }

  // The attention of token i.
  Doubles softmax_row(const std::string& name, const Head& head, uint64_t number, size_t i) const {
    Doubles row;
    double total = 0;
    for (size_t j = 0; j < head.keys.size(); ++j) {
      const Doubles& position = head.positions.at(static_cast<int>(i) - static_cast<int>(j));
      double sum = 0;
      for (uint64_t d = 0; d < config_.d_head; ++d) {
        const uint64_t at_bias = number * config_.d_head + d;
        sum += (head.queries[i][d] + at(name + "r_w_bias", at_bias)) * head.keys[j][d];
        sum += (head.queries[i][d] + at(name + "r_r_bias", at_bias)) * position[d];
      }
      row.push_back(std::exp(sum / std::sqrt(static_cast<double>(config_.d_head))));
      total += row.back();
    }
    for (double& weight : row) weight /= total;
    return row;
  }

  Doubles normed(const std::string& name, const Doubles& x) const {
    const auto width = static_cast<double>(x.size());
    double mean = 0;
    for (const double value : x) mean += value / width;
    double variance = 0;
    for (const double value : x) variance += (value - mean) * (value - mean) / width;
    Doubles result;
    for (uint64_t d = 0; d < x.size(); ++d) {
      result.push_back((x[d] - mean) / std::sqrt(variance + config_.layer_norm_eps) *
                           at(name + "weight", d) +
                       at(name + "bias", d));
    }
    return result;
  }

  double activated(double x) const {
    if (config_.ff_activation == FeedActivation::relu) return std::max(x, 0.0);
    if (config_.ff_activation == FeedActivation::gelu)
      return x * (1 + std::erf(x / std::sqrt(2.0))) / 2;
    return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
  }

  Doubles linear(const std::string& name, const Doubles& x, uint64_t outputs) const {
    Doubles result;
    for (uint64_t o = 0; o < outputs; ++o) {
      result.push_back(at(name + "bias", o));
      for (uint64_t i = 0; i < x.size(); ++i)
        result[o] += at(name + "weight", o * x.size() + i) * x[i];
    }
    return result;
  }

  Doubles fed(const std::string& name, const Doubles& x) const {
    Doubles inner = linear(name + "layer_1.", x, config_.d_inner);
    for (double& value : inner) value = activated(value);
    Doubles sum = linear(name + "layer_2.", inner, config_.d_model);
    for (uint64_t d = 0; d < x.size(); ++d) sum[d] += x[d];
    return normed(name + "layer_norm.", sum);
  }

  std::vector<Doubles> layer_of(const std::string& name, const std::vector<Doubles>& x,
                                Doubles& token_weight) const {
    const std::string part = name + "rel_attn.";
    std::vector<Doubles> sums = x;
    for (uint64_t number = 0; number < config_.n_head; ++number) {
      const Head head = head_of(part, x, number);
      for (size_t i = 0; i < x.size(); ++i) {
        const Doubles weights = softmax_row(part, head, number, i);
        Doubles context(config_.d_head, 0);
        for (size_t j = 0; j < x.size(); ++j) {
          token_weight[j] += weights[j] / static_cast<double>(config_.n_head * x.size());
          for (uint64_t d = 0; d < config_.d_head; ++d)
            context[d] += weights[j] * head.values[j][d];
        }
        add_output(part, context, number, sums[i]);
      }
    }
    std::vector<Doubles> result;
    for (const Doubles& sum : sums)
      result.push_back(fed(name + "ff.", normed(part + "layer_norm.", sum)));
    return result;
  }

  void add_output(const std::string& name, const Doubles& context, uint64_t head,
                  Doubles& sum) const {
    for (uint64_t i = 0; i < config_.d_model; ++i) {
      for (uint64_t d = 0; d < config_.d_head; ++d) {
        sum[i] += context[d] * at(name + "o", (i * config_.n_head + head) * config_.d_head + d);
      }
    }
  }

  const TestXlnet& xlnet_;
  const XlnetConfig& config_;
};

}  // namespace hgt
