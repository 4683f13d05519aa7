#include "hgt/features/xlnet/xlnet_config.h"

#include "hgt/features/transformer/model_config.h"

namespace hgt {

namespace {

int64_t clamp_len(const ModelConfig& file) {
  const nlohmann::json value = file.value("clamp_len", -1);
  if (!value.is_number_integer()) file.fail("clamp_len", "a whole number; -1: no limit");
  return value.get<int64_t>();
}

}  // namespace

XlnetConfig read_xlnet_config(const Path& path) {
  const ModelConfig file(path, "XLNet");
  XlnetConfig config;
  config.vocab_size = file.size("vocab_size");
  config.d_model = file.size("d_model");
  config.n_layer = file.size("n_layer");
  config.n_head = file.size("n_head");
  config.d_head = file.has("d_head") ? file.size("d_head") : config.d_model / config.n_head;
  config.d_inner = file.size("d_inner");
  config.ff_activation = file.activation("ff_activation");
  config.layer_norm_eps = file.layer_norm_eps();
  config.clamp_len = clamp_len(file);
  if (config.n_layer < 2) {
    file.fail("n_layer", "at least 2: a title vector is taken from the layer before the last");
  }
  if (config.d_model % 2 != 0) file.fail("d_model", "an even number: half sines, half cosines");
  if (config.d_head == 0) file.fail("n_head", "at most d_model");
  if (file.value("attn_type", "bi") != "bi") file.fail("attn_type", R"("bi")");
  if (file.value("bi_data", false) != false) file.fail("bi_data", "false");
  return config;
}

}  // namespace hgt
