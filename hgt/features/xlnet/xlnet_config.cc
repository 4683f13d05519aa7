#include "hgt/features/xlnet/xlnet_config.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "hgt/disk/json_text.h"
#include "hgt/disk/whole_file.h"
#include "hgt/error.h"

namespace hgt {

namespace {

using Json = nlohmann::json;

constexpr uint64_t kLargestSize = uint64_t{1} << 24U;  // no product of three overflows

class ConfigReader {
 public:
  ConfigReader(const Path& file, const Json& json) : file_(file), json_(json) {}

  XlnetConfig read() const {
    XlnetConfig config;
    config.vocab_size = size("vocab_size");
    config.d_model = size("d_model");
    config.n_layer = size("n_layer");
    config.n_head = size("n_head");
    config.d_head = json_.contains("d_head") ? size("d_head") : config.d_model / config.n_head;
    config.d_inner = size("d_inner");
    config.ff_activation = activation();
    config.layer_norm_eps = layer_norm_eps();
    config.clamp_len = clamp_len();
    if (config.n_layer < 2) {
      fail("n_layer", "at least 2: a title vector is taken from the layer before the last");
    }
    if (config.d_model % 2 != 0) fail("d_model", "an even number: half sines, half cosines");
    if (config.d_head == 0) fail("n_head", "at most d_model");
    if (json_.value("attn_type", Json("bi")) != "bi") fail("attn_type", R"("bi")");
    if (json_.value("bi_data", Json(false)) != false) fail("bi_data", "false");
    return config;
  }

 private:
  [[noreturn]] void fail(const std::string& field, const std::string& due) const {
    const std::string found =
        json_.contains(field) ? json_.at(field).dump(-1, ' ', false, Json::error_handler_t::replace)
                              : "missing";
    throw Error(fmt::format("{}: {} is {}; it must be {}", file_.string(), field, found, due));
  }

  uint64_t size(const std::string& field) const {
    const Json value = json_.value(field, Json());
    if (!value.is_number_unsigned() || value == 0 || value > kLargestSize) {
      fail(field, fmt::format("a number from 1 to {}", kLargestSize));
    }
    return value.get<uint64_t>();
  }

  XlnetActivation activation() const {
    const Json name = json_.value("ff_activation", Json("gelu"));
    if (name == "gelu") return XlnetActivation::gelu;
    if (name == "gelu_new") return XlnetActivation::gelu_new;
    if (name == "relu") return XlnetActivation::relu;
    fail("ff_activation", R"("gelu", "gelu_new" or "relu")");
  }

  double layer_norm_eps() const {
    const Json value = json_.value("layer_norm_eps", Json(1e-12));
    const bool good = value.is_number() && value.get<double>() >= 0 && value.get<double>() < 1;
    if (!good) fail("layer_norm_eps", "a number from 0 to below 1");
    return value.get<double>();
  }

  int64_t clamp_len() const {
    const Json value = json_.value("clamp_len", Json(-1));
    if (!value.is_number_integer()) fail("clamp_len", "a whole number; -1: no limit");
    return value.get<int64_t>();
  }

  const Path& file_;
  const Json& json_;
};

}  // namespace

XlnetConfig read_xlnet_config(const Path& file) {
  if (!std::filesystem::is_regular_file(file)) {
    throw Error(
        fmt::format("{}: cannot be read; it comes with the weights of XLNet", file.string()));
  }
  const Json json = parse_json<Json>(read_text(file), /*allow_exceptions=*/false);
  if (!json.is_object()) {
    throw Error(fmt::format("{}: is not a JSON object; download the file again", file.string()));
  }
  return ConfigReader(file, json).read();
}

}  // namespace hgt
