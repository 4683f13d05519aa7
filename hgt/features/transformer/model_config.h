// The config.json beside the weights of a published text encoder, field by field. Knows no torch.
// For sources: nlohmann is not installed.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "hgt/disk/file.h"
#include "hgt/features/transformer/feed_activation.h"

namespace hgt {

class ModelConfig {
 public:
  // Throws Error: no JSON object; `model` is named as the one that the file comes with.
  ModelConfig(Path file, const std::string& model);

  // All throw Error with the file, the field, its value and what it must be.
  uint64_t size(const std::string& field) const;              // from 1 to 2^24
  FeedActivation activation(const std::string& field) const;  // left out: gelu
  double layer_norm_eps() const;                              // left out: 1e-12
  [[noreturn]] void fail(const std::string& field, const std::string& due) const;

  bool has(const std::string& field) const { return json_.contains(field); }
  nlohmann::json value(const std::string& field, const nlohmann::json& otherwise) const {
    return json_.value(field, otherwise);
  }

 private:
  Path file_;
  nlohmann::json json_;
};

// Of a file that holds an object or, for `array`, an array. Throws Error: it does not.
nlohmann::json read_model_json(const Path& file, bool array = false);

}  // namespace hgt
