// Attention and messages of HGT with a full matrix for each meta relation (paper, section 5.3),
// edge by edge in double precision and plain loops: slow and obvious, the oracle of the tests.
//
// For an edge e = (s, r, t), head i with its k = d / h columns, and H^[s] = H[s] + RTE(gap):
//   score^i_e = sum over the columns c of i of (K_r H^[s] + k_r)_c (Q_t)_c / divisor
//   a^i_e     = exp(score^i_e) / sum of exp(score^i_f) over all f into t
//   H~[t]_c   = sum over e into t of a^i_e (M_r H^[s] + m_r)_c
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace hgt {

struct FullMatrixReference {
  using Doubles = std::vector<double>;
  struct Edge {
    size_t target = 0;
    size_t relation = 0;
    Doubles source = {};  // H^[s]
  };

  size_t hidden = 0;
  size_t heads = 1;
  double divisor = 1;
  // By relation: [d * d], row after row, and [d].
  std::vector<Doubles> key_weights = {}, key_biases = {};
  std::vector<Doubles> message_weights = {}, message_biases = {};
  std::vector<Doubles> queries = {};  // by target: Q-Linear(H[t])
  std::vector<Edge> edges = {};

  // H~ by target; `weights` become those of each edge and head.
  std::vector<Doubles> run(std::vector<Doubles>& weights) const {
    const size_t width = hidden / heads;
    weights.assign(edges.size(), Doubles(heads, 0));
    std::vector<Doubles> sums(queries.size(), Doubles(heads, 0));
    for (size_t e = 0; e < edges.size(); ++e) {
      const Edge& edge = edges[e];
      const Doubles key = linear(key_weights, key_biases, edge);
      for (size_t c = 0; c < hidden; ++c) {
        weights[e][c / width] += key[c] * queries[edge.target][c] / divisor;
      }
      for (double& score : weights[e]) score = std::exp(score);
      for (size_t i = 0; i < heads; ++i) sums[edge.target][i] += weights[e][i];
    }
    std::vector<Doubles> received(queries.size(), Doubles(hidden, 0));
    for (size_t e = 0; e < edges.size(); ++e) {
      const Edge& edge = edges[e];
      for (size_t i = 0; i < heads; ++i) weights[e][i] /= sums[edge.target][i];
      const Doubles message = linear(message_weights, message_biases, edge);
      for (size_t c = 0; c < hidden; ++c) {
        received[edge.target][c] += weights[e][c / width] * message[c];
      }
    }
    return received;
  }

 private:
  Doubles linear(const std::vector<Doubles>& of, const std::vector<Doubles>& biases,
                 const Edge& edge) const {
    Doubles y = biases[edge.relation];
    for (size_t row = 0; row < hidden; ++row) {
      for (size_t column = 0; column < hidden; ++column) {
        y[row] += of[edge.relation][row * hidden + column] * edge.source[column];
      }
    }
    return y;
  }
};

}  // namespace hgt
