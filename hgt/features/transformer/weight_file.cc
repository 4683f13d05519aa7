#include "hgt/features/transformer/weight_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "hgt/error.h"

namespace hgt {

namespace {

std::string shape_text(const std::vector<uint64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

}  // namespace

WeightFile::WeightFile(Path path, Model model)
    : path_(std::move(path)), model_(std::move(model)), file_(TensorFile::open(path_)) {
  if (!has(model_.first)) prefix_ = model_.prefix;
  check_layers();
}

// A file of more layers than the config says would give vectors, but wrong ones.
void WeightFile::check_layers() const {
  uint64_t layers = 0;
  const std::string start = prefix_ + model_.layers;
  for (const TensorView& view : file_.tensors()) {
    if (!view.name.starts_with(start)) continue;
    uint64_t number = 0;
    const char* const end = view.name.data() + view.name.size();
    const auto parsed = std::from_chars(view.name.data() + start.size(), end, number);
    if (parsed.ec == std::errc()) layers = std::max(layers, number + 1);
  }
  if (layers == 0 || layers == model_.num_layers) return;  // 0: a missing tensor will be named
  throw Error(fmt::format(
      "{}: holds {} layers, but config.json beside it says {} = {}; use the config.json "
      "that belongs to the weights",
      path_.string(), layers, model_.depth, model_.num_layers));
}

at::ScalarType WeightFile::scalar_type(const TensorView& view) const {
  switch (view.type) {
    case ElementType::float32:
      return at::kFloat;
    case ElementType::float16:
      return at::kHalf;
    case ElementType::bfloat16:
      return at::kBFloat16;
    default:
      throw Error(fmt::format("{}: tensor {} is {}; convert it to F32, F16 or BF16", path_.string(),
                              view.name, to_string(view.type)));
  }
}

at::Tensor WeightFile::tensor(const std::string& name, const std::vector<uint64_t>& shape) const {
  const TensorView* const view = file_.find(prefix_ + name);
  if (view == nullptr) {
    throw Error(fmt::format(
        "{}: has no tensor {} (with or without \"{}\" before it); use the weights of {} with {} = "
        "{}",
        path_.string(), name, model_.prefix, model_.name, model_.depth, model_.num_layers));
  }
  if (view->shape != shape) {
    throw Error(
        fmt::format("{}: tensor {} has the shape {}, but config.json beside it requires {}; use "
                    "the config.json that belongs to the weights",
                    path_.string(), view->name, shape_text(view->shape), shape_text(shape)));
  }
  const std::vector<int64_t> sizes(shape.begin(), shape.end());
  const at::Tensor stored = at::empty(sizes, scalar_type(*view));
  std::memcpy(stored.data_ptr(), view->data.data(), view->data.size());
  at::Tensor values = stored.to(at::kFloat);
  if (!at::isfinite(values.sum()).item<bool>() && !at::isfinite(values).all().item<bool>()) {
    throw Error(fmt::format("{}: tensor {} contains infinities or NaN; download the file again",
                            path_.string(), view->name));
  }
  return values;
}

}  // namespace hgt
