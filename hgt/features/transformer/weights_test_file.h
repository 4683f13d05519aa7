// For tests: tensors with random values, and files of them.
#pragma once

#include <cstring>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "hgt/disk/tensor_file.h"
#include "hgt/graph/half.h"

namespace hgt {

struct TestTensor {
  std::vector<uint64_t> shape;
  std::vector<float> values;
};

using TestTensors = std::map<std::string, TestTensor>;  // by their public names, without a prefix

inline void add_random(TestTensors& tensors, std::mt19937& random, const std::string& name,
                       const std::vector<uint64_t>& shape) {
  uint64_t count = 1;
  for (const uint64_t extent : shape) count *= extent;
  std::uniform_real_distribution<float> uniform(-0.5F, 0.5F);
  TestTensor& tensor = tensors[name];
  tensor.shape = shape;
  for (uint64_t i = 0; i < count; ++i) tensor.values.push_back(uniform(random));
}

// In F32, F16 or BF16; the halves round down in magnitude, which is as good as any for a test.
inline std::string element_bytes(float value, ElementType type) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  if (type == ElementType::bfloat16) bits >>= 16U;
  if (type == ElementType::float16) bits = to_half(value);
  return {reinterpret_cast<const char*>(&bits), element_size(type)};
}

inline void write_tensors(const TestTensors& tensors, const Path& file,
                          ElementType type = ElementType::float32, const std::string& prefix = "") {
  std::map<std::string, std::string> bytes;
  std::vector<TensorView> views;
  for (const auto& [name, tensor] : tensors) {
    std::string& data = bytes[name];
    for (const float value : tensor.values) data += element_bytes(value, type);
    views.push_back({.name = prefix + name,
                     .type = type,
                     .shape = tensor.shape,
                     .data = std::as_bytes(std::span(data))});
  }
  write_tensor_file(file, views, {});
}

}  // namespace hgt
