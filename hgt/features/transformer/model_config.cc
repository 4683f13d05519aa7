#include "hgt/features/transformer/model_config.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "hgt/disk/json_text.h"
#include "hgt/disk/whole_file.h"
#include "hgt/error.h"

namespace hgt {

namespace {

using Json = nlohmann::json;

constexpr uint64_t kLargestSize = uint64_t{1} << 24U;  // no product of two overflows

}  // namespace

Json read_model_json(const Path& file, bool array) {
  Json json = parse_json<Json>(read_text(file), /*allow_exceptions=*/false);
  if (array ? json.is_array() : json.is_object()) return json;
  throw Error(fmt::format("{}: is not a JSON {}; download the file again", file.string(),
                          array ? "array" : "object"));
}

ModelConfig::ModelConfig(Path file, const std::string& model) : file_(std::move(file)) {
  if (!std::filesystem::is_regular_file(file_)) {
    throw Error(
        fmt::format("{}: cannot be read; it comes with the weights of {}", file_.string(), model));
  }
  json_ = read_model_json(file_);
}

void ModelConfig::fail(const std::string& field, const std::string& due) const {
  const std::string found =
      has(field) ? json_.at(field).dump(-1, ' ', false, Json::error_handler_t::replace) : "missing";
  throw Error(fmt::format("{}: {} is {}; it must be {}", file_.string(), field, found, due));
}

uint64_t ModelConfig::size(const std::string& field) const {
  const Json found = value(field, Json());
  if (!found.is_number_unsigned() || found == 0 || found > kLargestSize) {
    fail(field, fmt::format("a number from 1 to {}", kLargestSize));
  }
  return found.get<uint64_t>();
}

FeedActivation ModelConfig::activation(const std::string& field) const {
  const Json name = value(field, Json("gelu"));
  if (name == "gelu") return FeedActivation::gelu;
  if (name == "gelu_new") return FeedActivation::gelu_new;
  if (name == "relu") return FeedActivation::relu;
  fail(field, R"("gelu", "gelu_new" or "relu")");
}

double ModelConfig::layer_norm_eps() const {
  const Json found = value("layer_norm_eps", Json(1e-12));
  const bool good = found.is_number() && found.get<double>() >= 0 && found.get<double>() < 1;
  if (!good) fail("layer_norm_eps", "a number from 0 to below 1");
  return found.get<double>();
}

}  // namespace hgt
