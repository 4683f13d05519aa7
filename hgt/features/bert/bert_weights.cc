#include "hgt/features/bert/bert_weights.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "hgt/features/transformer/weight_file.h"

namespace hgt {

namespace {

class BertReader {
 public:
  BertReader(const Path& path, const BertConfig& config)
      : config_(config),
        file_(path, {.first = "embeddings.word_embeddings.weight",
                     .prefix = "bert.",
                     .layers = "encoder.layer.",
                     .depth = "num_hidden_layers",
                     .name = "a BERT",
                     .num_layers = config.num_hidden_layers}) {}

  BertWeights read() const {
    const uint64_t width = config_.hidden_size;
    const std::string name = "embeddings.";
    BertWeights weights;
    weights.word_embedding =
        file_.tensor(name + "word_embeddings.weight", {config_.vocab_size, width});
    const at::Tensor segments =
        file_.tensor(name + "token_type_embeddings.weight", {config_.type_vocab_size, width});
    weights.position_embedding = file_.tensor(name + "position_embeddings.weight",
                                              {config_.max_position_embeddings, width}) +
                                 segments[0];
    weights.embedding_weight = norm(name, "weight", "gamma");
    weights.embedding_shift = norm(name, "bias", "beta");
    for (uint64_t i = 0; i < config_.num_hidden_layers; ++i) weights.layers.push_back(layer(i));
    return weights;
  }

 private:
  at::Tensor norm(const std::string& part, const char* name, const char* older_name) const {
    const std::string older = part + "LayerNorm." + older_name;
    return file_.tensor(file_.has(older) ? older : part + "LayerNorm." + name,
                        {config_.hidden_size});
  }

  // Stored as [outputs, inputs].
  at::Tensor matrix(const std::string& part, uint64_t inputs, uint64_t outputs) const {
    return file_.tensor(part + "weight", {outputs, inputs}).t();
  }
  at::Tensor bias(const std::string& part, uint64_t outputs) const {
    return file_.tensor(part + "bias", {outputs});
  }

  TransformerLayer layer(uint64_t number) const {
    const std::string name = fmt::format("encoder.layer.{}.", number);
    const std::string self = name + "attention.self.";
    const std::string output = name + "attention.output.";
    const uint64_t width = config_.hidden_size;
    const uint64_t inner = config_.intermediate_size;
    const uint64_t head_width = width / config_.num_attention_heads;
    const double scale = 1 / std::sqrt(static_cast<double>(head_width));
    TransformerLayer read;
    read.projection =
        at::cat({matrix(self + "query.", width, width) * scale, matrix(self + "key.", width, width),
                 matrix(self + "value.", width, width)},
                1);
    read.projection_bias = at::cat({bias(self + "query.", width) * scale,
                                    bias(self + "key.", width), bias(self + "value.", width)});
    read.output = matrix(output + "dense.", width, width);
    read.output_bias = bias(output + "dense.", width);
    read.attention_weight = norm(output, "weight", "gamma");
    read.attention_shift = norm(output, "bias", "beta");
    read.feed_in = matrix(name + "intermediate.dense.", width, inner);
    read.feed_in_bias = bias(name + "intermediate.dense.", inner);
    read.feed_out = matrix(name + "output.dense.", inner, width);
    read.feed_out_bias = bias(name + "output.dense.", width);
    read.feed_weight = norm(name + "output.", "weight", "gamma");
    read.feed_shift = norm(name + "output.", "bias", "beta");
    return read;
  }

  const BertConfig& config_;
  WeightFile file_;
};

}  // namespace

BertWeights read_bert_weights(const Path& file, const BertConfig& config) {
  const torch::NoGradGuard no_gradient;
  return BertReader(file, config).read();
}

}  // namespace hgt
