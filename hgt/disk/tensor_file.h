// Named tensors in a file of the public safetensors format: the weights of a model, ours or
// published ones.
//
// A file is the length of its header (8 bytes, little-endian), the header (JSON: the type, shape
// and offsets of every tensor, and metadata, text to text) and the elements of the tensors,
// little-endian, row-major, one tensor after the other without gaps.
//
//   write_tensor_file("model.safetensors",
//                     {{.name = "bias",
//                       .type = ElementType::float32,
//                       .shape = {bias.size()},
//                       .data = std::as_bytes(std::span(bias))}},
//                     {{"epoch", "3"}});
//   const TensorFile file = TensorFile::open("model.safetensors");
//   if (const TensorView* view = file.find("bias")) {
//     std::memcpy(bias.data(), view->data.data(), view->data.size());
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hgt/disk/file.h"
#include "hgt/disk/mapping.h"
#include "hgt/enum_words.h"

namespace hgt {

enum class ElementType { float16, bfloat16, float32, float64, int32, int64, uint8, boolean };

constexpr auto words_of(ElementType) {  // as in the format
  return enum_words<ElementType>("dtype", {{ElementType::float16, "F16"},
                                           {ElementType::bfloat16, "BF16"},
                                           {ElementType::float32, "F32"},
                                           {ElementType::float64, "F64"},
                                           {ElementType::int32, "I32"},
                                           {ElementType::int64, "I64"},
                                           {ElementType::uint8, "U8"},
                                           {ElementType::boolean, "BOOL"}});
}

size_t element_size(ElementType type);  // in bytes

struct TensorView {
  std::string name;
  ElementType type = ElementType::float32;
  std::vector<uint64_t> shape;      // [] is a scalar; with a 0 in it the tensor is empty
  std::span<const std::byte> data;  // may not be aligned to the elements: use memcpy
};

// An opened file. It is mapped, so views cost no memory and stay valid as long as the TensorFile or
// what it was moved to. The file must not be changed in place meanwhile; write_tensor_file never
// does.
class TensorFile {
 public:
  // Checks everything before anything is handed out: the header, that the tensors fill the file,
  // and, where write_tensor_file wrote it, the checksum. Throws Error for any mismatch.
  static TensorFile open(const Path& path);

  std::span<const TensorView> tensors() const { return tensors_; }  // in the order of their data
  const TensorView* find(std::string_view name) const;              // nullptr: not found
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

 private:
  TensorFile() = default;

  Mapping mapping_;
  std::vector<TensorView> tensors_;
  std::map<std::string, std::string> metadata_;
};

// Writes the tensors in the order given, and a checksum of all content as the metadata entry
// "hgt_checksum", which TensorFile removes when it reads. The file appears whole or not at all
// (WholeFile) and replaces what was at `path`. Throws Error for names that are empty or repeated,
// data that does not match its shape, and failing disks.
void write_tensor_file(const Path& path, const std::vector<TensorView>& tensors,
                       const std::map<std::string, std::string>& metadata);

}  // namespace hgt
