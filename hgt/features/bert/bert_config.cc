#include "hgt/features/bert/bert_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "hgt/error.h"
#include "hgt/features/transformer/model_config.h"

namespace hgt {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

void read_shape(const ModelConfig& file, BertConfig& config) {
  if (file.value("model_type", "bert") != "bert") {
    file.fail("model_type", R"("bert"; of other models, only XLNet can be read, with --xlnet)");
  }
  config.vocab_size = file.size("vocab_size");
  config.hidden_size = file.size("hidden_size");
  config.num_hidden_layers = file.size("num_hidden_layers");
  config.num_attention_heads = file.size("num_attention_heads");
  config.intermediate_size = file.size("intermediate_size");
  config.max_position_embeddings = file.size("max_position_embeddings");
  if (file.has("type_vocab_size")) config.type_vocab_size = file.size("type_vocab_size");
  config.hidden_act = file.activation("hidden_act");
  config.layer_norm_eps = file.layer_norm_eps();
  if (config.hidden_size % config.num_attention_heads != 0) {
    file.fail("num_attention_heads", "a divisor of hidden_size");
  }
  if (config.max_position_embeddings < 2) file.fail("max_position_embeddings", "at least 2");
  if (file.value("position_embedding_type", "absolute") != "absolute") {
    file.fail("position_embedding_type", R"("absolute")");
  }
  if (file.value("is_decoder", false) != false) file.fail("is_decoder", "false");
}

void read_length(const Path& path, BertConfig& config) {
  config.max_seq_length = config.max_position_embeddings;
  if (!fs::exists(path)) return;
  const ModelConfig file(path, "BERT");
  if (file.value("max_seq_length", nullptr).is_null()) return;
  const uint64_t length = file.size("max_seq_length");
  if (length < 2) file.fail("max_seq_length", "at least 2");
  config.max_seq_length = std::min(config.max_seq_length, length);
}

bool is_on(const Json& value) { return value.is_boolean() && value.get<bool>(); }

// Each kind of pooling is a field, true or false; newer files name it.
void read_pooling(const Path& path, BertConfig& config) {
  if (!fs::exists(path)) return;
  const Json json = read_model_json(path);
  std::string chosen;
  for (const auto& [field, value] : json.items()) {
    const bool named = field == "pooling_mode" && value.is_string();
    if (!named && (!field.starts_with("pooling_mode_") || !is_on(value))) continue;
    if (!chosen.empty()) chosen += " and ";
    chosen += named ? value.get<std::string>() : field.substr(std::string("pooling_mode_").size());
  }
  if (chosen == "mean_tokens" || chosen == "mean") {
    config.pooling = BertPooling::mean;
  } else if (chosen == "cls_token" || chosen == "cls") {
    config.pooling = BertPooling::cls;
  } else {
    throw Error(
        fmt::format("{}: the pooling is {}; take a model whose pooling is mean_tokens or "
                    "cls_token",
                    path.string(), chosen.empty() ? "not given" : chosen));
  }
}

// A type such as "sentence_transformers.models.Pooling".
std::string last_name(const Json& type) {
  const std::string name = type.is_string() ? type.get<std::string>() : "";
  return name.substr(name.rfind('.') + 1);
}

// The Transformer module's files may be in the model's folder itself.
void check_transformer(const Path& path, const Json& entry) {
  const Json folder = entry.value("path", Json(""));
  if (folder.is_string() && folder.get<std::string>().empty()) return;
  throw Error(
      fmt::format("{}: the files of the Transformer are in a folder of their own; move "
                  "them here and make its path \"\"",
                  path.string()));
}

void read_modules(const Path& path, BertConfig& config) {
  if (!fs::exists(path)) return;
  for (const Json& entry : read_model_json(path, /*array=*/true)) {
    const std::string name = last_name(entry.is_object() ? entry.value("type", Json()) : Json());
    if (name == "Normalize") {
      config.normalize = true;
    } else if (name == "Transformer") {
      check_transformer(path, entry);
    } else if (name != "Pooling") {
      throw Error(
          fmt::format("{}: has a module '{}'; take a model of Transformer, Pooling and, "
                      "maybe, Normalize",
                      path.string(), name));
    }
  }
}

}  // namespace

BertConfig read_bert_config(const Path& folder) {
  BertConfig config;
  read_shape(ModelConfig(folder / "config.json", "BERT"), config);
  read_length(folder / "sentence_bert_config.json", config);
  read_pooling(folder / "1_Pooling" / "config.json", config);
  read_modules(folder / "modules.json", config);
  return config;
}

}  // namespace hgt
