// For tests: small XLNets with random weights, and folders that hold them.
#pragma once

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "hgt/disk/temporary_test_folder.h"
#include "hgt/features/transformer/weights_test_file.h"
#include "hgt/features/xlnet/xlnet_config.h"

namespace hgt {

struct TestXlnet {
  XlnetConfig config;
  TestTensors tensors;
};

// All that a published file has, the last layer and what is never read included.
inline TestXlnet random_xlnet(const XlnetConfig& config, unsigned seed = 1) {
  std::mt19937 random(seed);
  TestXlnet xlnet{.config = config, .tensors = {}};
  const std::vector<uint64_t> heads = {config.d_model, config.n_head, config.d_head};
  add_random(xlnet.tensors, random, "mask_emb", {1, 1, config.d_model});
  add_random(xlnet.tensors, random, "word_embedding.weight", {config.vocab_size, config.d_model});
  for (uint64_t layer = 0; layer < config.n_layer; ++layer) {
    const std::string name = "layer." + std::to_string(layer) + ".";
    const auto add = [&](const std::string& part, const std::vector<uint64_t>& shape) {
      add_random(xlnet.tensors, random, name + part, shape);
    };
    for (const char* matrix : {"q", "k", "v", "o", "r"})
      add("rel_attn." + std::string(matrix), heads);
    for (const char* bias : {"r_r_bias", "r_s_bias", "r_w_bias"}) {
      add("rel_attn." + std::string(bias), {config.n_head, config.d_head});
    }
    add("rel_attn.seg_embed", {2, config.n_head, config.d_head});
    for (const char* part : {"rel_attn", "ff"}) {
      add(part + std::string(".layer_norm.weight"), {config.d_model});
      add(part + std::string(".layer_norm.bias"), {config.d_model});
    }
    add("ff.layer_1.weight", {config.d_inner, config.d_model});
    add("ff.layer_1.bias", {config.d_inner});
    add("ff.layer_2.weight", {config.d_model, config.d_inner});
    add("ff.layer_2.bias", {config.d_model});
  }
  return xlnet;
}

inline nlohmann::json config_json(const XlnetConfig& config) {
  const std::map<FeedActivation, std::string> activations = {{FeedActivation::gelu, "gelu"},
                                                             {FeedActivation::gelu_new, "gelu_new"},
                                                             {FeedActivation::relu, "relu"}};
  return {{"vocab_size", config.vocab_size},
          {"d_model", config.d_model},
          {"n_layer", config.n_layer},
          {"n_head", config.n_head},
          {"d_head", config.d_head},
          {"d_inner", config.d_inner},
          {"ff_activation", activations.at(config.ff_activation)},
          {"layer_norm_eps", config.layer_norm_eps},
          {"untie_r", true},
          {"attn_type", "bi"},
          {"bi_data", false},
          {"clamp_len", config.clamp_len},
          {"same_length", false}};
}

inline void write_weights(const TestXlnet& xlnet, const Path& file,
                          ElementType type = ElementType::float32, const std::string& prefix = "") {
  write_tensors(xlnet.tensors, file, type, prefix);
}

inline void write_xlnet(const TestXlnet& xlnet, const Path& folder) {
  write_bytes(folder / "config.json", config_json(xlnet.config).dump());
  write_weights(xlnet, folder / "model.safetensors");
}

// A SentencePiece model: <unk>, <cls>, <sep>, a space, and the letters of the alphabet.
inline std::string spiece_bytes() {
  std::vector<std::string> pieces = {"<unk>", "<cls>", "<sep>", "\u2581"};
  for (char letter = 'a'; letter <= 'z'; ++letter) pieces.emplace_back(1, letter);
  std::string model;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const float score = -1 - 0.125F * static_cast<float>(i);
    const char type = i == 0 ? '\x02' : (i < 3 ? '\x03' : '\x01');  // unknown, control, normal
    std::string piece = std::string("\x0a") + static_cast<char>(pieces[i].size()) + pieces[i];
    piece += '\x15' + element_bytes(score, ElementType::float32) + '\x18' + type;
    model += std::string("\x0a") + static_cast<char>(piece.size()) + piece;
  }
  return model;
}

}  // namespace hgt
