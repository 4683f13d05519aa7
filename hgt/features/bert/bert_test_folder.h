// For tests: small BERTs with random weights, and folders that hold them.
#pragma once

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "hgt/disk/temporary_test_folder.h"
#include "hgt/features/bert/bert_config.h"
#include "hgt/features/transformer/weights_test_file.h"

namespace hgt {

struct TestBert {
  BertConfig config;
  TestTensors tensors;
};

// [PAD], [UNK], [CLS], [SEP], the alphabet, and the alphabet inside words: 56 pieces.
inline std::string letter_vocabulary() {
  std::string text = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n";
  for (char letter = 'a'; letter <= 'z'; ++letter) text += std::string(1, letter) + "\n";
  for (char letter = 'a'; letter <= 'z'; ++letter) text += "##" + std::string(1, letter) + "\n";
  return text;
}

inline BertConfig small_bert() {
  BertConfig config;
  config.vocab_size = 56;
  config.hidden_size = 12;
  config.num_hidden_layers = 2;
  config.num_attention_heads = 3;
  config.intermediate_size = 10;
  config.max_position_embeddings = 100;
  config.max_seq_length = 100;
  return config;
}

inline TestBert random_bert(const BertConfig& config, unsigned seed = 1) {
  std::mt19937 random(seed);
  TestBert bert{.config = config, .tensors = {}};
  const uint64_t width = config.hidden_size;
  const auto add = [&](const std::string& name, const std::vector<uint64_t>& shape) {
    add_random(bert.tensors, random, name, shape);
  };
  const auto add_linear = [&](const std::string& name, uint64_t inputs, uint64_t outputs) {
    add(name + ".weight", {outputs, inputs});
    add(name + ".bias", {outputs});
  };
  const auto add_norm = [&](const std::string& name) {
    add(name + ".LayerNorm.weight", {width});
    add(name + ".LayerNorm.bias", {width});
  };
  add("embeddings.word_embeddings.weight", {config.vocab_size, width});
  add("embeddings.position_embeddings.weight", {config.max_position_embeddings, width});
  add("embeddings.token_type_embeddings.weight", {config.type_vocab_size, width});
  add_norm("embeddings");
  for (uint64_t i = 0; i < config.num_hidden_layers; ++i) {
    const std::string layer = "encoder.layer." + std::to_string(i) + ".";
    for (const char* part : {"query", "key", "value"}) {
      add_linear(layer + "attention.self." + part, width, width);
    }
    add_linear(layer + "attention.output.dense", width, width);
    add_norm(layer + "attention.output");
    add_linear(layer + "intermediate.dense", width, config.intermediate_size);
    add_linear(layer + "output.dense", config.intermediate_size, width);
    add_norm(layer + "output");
  }
  add_linear("pooler.dense", width, width);  // never read
  return bert;
}

inline nlohmann::json config_json(const BertConfig& config) {
  const char* activation = config.hidden_act == FeedActivation::relu       ? "relu"
                           : config.hidden_act == FeedActivation::gelu_new ? "gelu_new"
                                                                           : "gelu";
  return {{"model_type", "bert"},
          {"vocab_size", config.vocab_size},
          {"hidden_size", config.hidden_size},
          {"num_hidden_layers", config.num_hidden_layers},
          {"num_attention_heads", config.num_attention_heads},
          {"intermediate_size", config.intermediate_size},
          {"max_position_embeddings", config.max_position_embeddings},
          {"type_vocab_size", config.type_vocab_size},
          {"hidden_act", activation},
          {"layer_norm_eps", config.layer_norm_eps}};
}

inline void write_bert(const TestBert& bert, const Path& folder) {
  using Json = nlohmann::json;
  std::filesystem::create_directories(folder / "1_Pooling");
  write_bytes(folder / "config.json", config_json(bert.config).dump());
  write_bytes(folder / "vocab.txt", letter_vocabulary());
  write_bytes(folder / "tokenizer_config.json", R"({"do_lower_case": true})");
  write_bytes(folder / "sentence_bert_config.json",
              Json{{"max_seq_length", bert.config.max_seq_length}}.dump());
  const bool mean = bert.config.pooling == BertPooling::mean;
  write_bytes(folder / "1_Pooling/config.json",
              Json{{"pooling_mode_mean_tokens", mean}, {"pooling_mode_cls_token", !mean}}.dump());
  Json modules = Json::array();
  const std::string models = "sentence_transformers.models.";
  modules.push_back({{"path", ""}, {"type", models + "Transformer"}});
  modules.push_back({{"path", "1_Pooling"}, {"type", models + "Pooling"}});
  if (bert.config.normalize) modules.push_back({{"type", models + "Normalize"}});
  write_bytes(folder / "modules.json", modules.dump());
  write_tensors(bert.tensors, folder / "model.safetensors");
}

}  // namespace hgt
