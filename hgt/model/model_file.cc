#include "hgt/model/model_file.h"

#include <fmt/format.h>

#include <cstring>

#include "hgt/disk/tensor_file.h"
#include "hgt/error.h"

namespace hgt {

namespace {

constexpr const char* kFormat = "hgt encoder 1";

ElementType element_type(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return ElementType::float32;
    case at::kDouble:
      return ElementType::float64;
    case at::kLong:
      return ElementType::int64;
    default:
      throw Error(fmt::format("a model in {} cannot be saved; convert it to float first",
                              at::toString(tensor.scalar_type())));
  }
}

std::string to_text(const std::vector<uint64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

}  // namespace

NamedTensors named_parameters(const torch::nn::Module& module) {
  NamedTensors tensors;
  for (const auto& parameter : module.named_parameters()) {
    tensors.emplace_back(parameter.key(), parameter.value());
  }
  return tensors;
}

void save_tensors(const Path& file, const NamedTensors& tensors,
                  const std::map<std::string, std::string>& metadata) {
  std::vector<at::Tensor> values;  // keeps alive what the views show
  std::vector<TensorView> views;
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor value = tensor.detach().cpu().contiguous();
    values.push_back(value);
    views.push_back({.name = name,
                     .type = element_type(value),
                     .shape = {value.sizes().begin(), value.sizes().end()},
                     .data = {static_cast<const std::byte*>(value.data_ptr()), value.nbytes()}});
  }
  write_tensor_file(file, views, metadata);
}

void read_tensor(const TensorFile& file, const std::string& where, const std::string& name,
                 at::Tensor& into) {
  const TensorView* const saved = file.find(name);
  if (saved == nullptr) throw Error(fmt::format("{}: the weight '{}' is missing", where, name));
  const std::vector<uint64_t> shape(into.sizes().begin(), into.sizes().end());
  if (saved->shape != shape || saved->type != element_type(into)) {
    throw Error(
        fmt::format("{}: the weight '{}' is {} {}, but its options and schema require {} {}", where,
                    name, to_string(saved->type), to_text(saved->shape),
                    to_string(element_type(into)), to_text(shape)));
  }
  std::memcpy(into.data_ptr(), saved->data.data(), saved->data.size());
}

std::string metadata_entry(const TensorFile& file, const std::string& where,
                           const std::string& name) {
  const auto found = file.metadata().find(name);
  if (found != file.metadata().end()) return found->second;
  throw Error(
      fmt::format("{}: no '{}' in its metadata; this is not a model that hgt saved", where, name));
}

void save_encoder(const Path& file, const EncoderImpl& encoder) {
  save_tensors(file, named_parameters(encoder),
               {{"format", kFormat},
                {"options", to_json(encoder.options())},
                {"schema", to_json(encoder.schema())}});
}

Encoder load_encoder(const Path& path) {
  const std::string where = path.string();
  const TensorFile file = TensorFile::open(path);
  const std::string format = metadata_entry(file, where, "format");
  if (format != kFormat) {
    throw Error(fmt::format("{}: its format is '{}', but this version of hgt reads '{}'", where,
                            format, kFormat));
  }
  Encoder encoder(options_from_json(metadata_entry(file, where, "options"), where),
                  schema_from_json(metadata_entry(file, where, "schema"), where));
  auto parameters = encoder->named_parameters();
  if (!file.tensors().empty() && file.tensors()[0].type == ElementType::float64) {
    encoder->to(at::kDouble);
  }
  const torch::NoGradGuard no_gradient;
  for (auto& parameter : parameters) read_tensor(file, where, parameter.key(), parameter.value());
  if (file.tensors().size() != parameters.size()) {
    throw Error(fmt::format("{}: it has {} weights, but its options and schema require {}", where,
                            file.tensors().size(), parameters.size()));
  }
  return encoder;
}

Encoder load_encoder(const Path& path, const ModelSchema& graph) {
  Encoder encoder = load_encoder(path);
  check_fits(encoder->schema(), graph, path.string());
  return encoder;
}

}  // namespace hgt
