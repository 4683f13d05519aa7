// A model on disk: weights, options and schema in one .safetensors file, which other tools read
// too.
//
//   save_encoder("venue.safetensors", *encoder);
//   Encoder again = load_encoder("venue.safetensors", model_schema(graph.schema()));
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hgt/disk/tensor_file.h"
#include "hgt/graph/types.h"
#include "hgt/message/model_schema.h"
#include "hgt/model/encoder.h"

namespace hgt {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;
NamedTensors named_parameters(const torch::nn::Module& module);

// Tensors of any device, in float, double or int64. Written beside and renamed at the end.
void save_tensors(const Path& file, const NamedTensors& tensors,
                  const std::map<std::string, std::string>& metadata);
// Copies a tensor of the file. Throws Error unless it is there with the type and shape of `into`;
// the error names `where` the file is.
void read_tensor(const TensorFile& file, const std::string& where, const std::string& name,
                 at::Tensor& into);
// An entry of the metadata. Throws Error when it is missing.
std::string metadata_entry(const TensorFile& file, const std::string& where,
                           const std::string& name);

// Written beside and renamed at the end: a file that is there is whole.
void save_encoder(const Path& file, const EncoderImpl& encoder);

// Throws Error when the file is damaged, no model of ours, or made for another schema; then it says
// which type or relation does not fit.
Encoder load_encoder(const Path& file, const ModelSchema& graph);
Encoder load_encoder(const Path& file);  // whatever it was made for

}  // namespace hgt
