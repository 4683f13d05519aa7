// Tensors of a published text encoder: a .safetensors file with the public names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hgt/disk/tensor_file.h"
#include "hgt/model/torch.h"

namespace hgt {

class WeightFile {
 public:
  struct Model {
    std::string first;   // a tensor that every such model has, by its public name
    std::string prefix;  // may stand before all names
    std::string layers;  // what names of layers begin with, such as "layer."
    std::string depth;   // the field of config.json that gives the number of layers
    std::string name;    // in errors, such as "an XLNet"
    uint64_t num_layers = 0;
  };

  // Throws Error: no such file, or one with another number of layers.
  WeightFile(Path path, Model model);

  bool has(const std::string& name) const { return file_.find(prefix_ + name) != nullptr; }

  // In float, from F32, F16 or BF16. Throws Error when there is none, or one of another shape or
  // type, or one that holds infinities or NaN.
  at::Tensor tensor(const std::string& name, const std::vector<uint64_t>& shape) const;

 private:
  void check_layers() const;
  at::ScalarType scalar_type(const TensorView& view) const;

  Path path_;
  Model model_;
  TensorFile file_;
  std::string prefix_;  // that the names of this file have
};

}  // namespace hgt
