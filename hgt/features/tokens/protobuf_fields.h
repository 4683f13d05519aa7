// The fields of a message in protobuf's wire format, one after the other.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hgt {

struct ProtobufField {
  uint64_t number = 0;
  uint64_t value = 0;      // of a number; the bits of a float or double
  std::string_view bytes;  // of a text or a message

  float as_float() const { return std::bit_cast<float>(static_cast<uint32_t>(value)); }
};

class ProtobufFields {
 public:
  explicit ProtobufFields(std::string_view message) : rest_(message) {}

  // The next field; no value at the end, and where the bytes are not a message: then damaged().
  std::optional<ProtobufField> next() {
    if (rest_.empty() || damaged_) return {};
    const uint64_t key = varint();
    ProtobufField field{.number = key >> 3U, .value = 0, .bytes = {}};
    switch (key & 7U) {
      case 0:
        field.value = varint();
        break;
      case 1:
        field.value = fixed(8);
        break;
      case 2:
        field.bytes = take(varint());
        break;
      case 5:
        field.value = fixed(4);
        break;
      default:
        damaged_ = true;
    }
    if (field.number == 0) damaged_ = true;
    if (damaged_) return {};
    return field;
  }

  bool damaged() const { return damaged_; }

 private:
  std::string_view take(uint64_t bytes) {
    if (bytes > rest_.size()) {
      damaged_ = true;
      return {};
    }
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }

  uint64_t fixed(size_t bytes) {
    uint64_t value = 0;
    const std::string_view taken = take(bytes);
    for (size_t i = 0; i < taken.size(); ++i) {
      value |= uint64_t{static_cast<unsigned char>(taken[i])} << (8 * i);
    }
    return value;
  }

  uint64_t varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const uint64_t byte = fixed(1);
      value |= (byte & 0x7fU) << shift;
      if (byte < 0x80U) return value;
    }
    damaged_ = true;
    return value;
  }

  std::string_view rest_;
  bool damaged_ = false;
};

}  // namespace hgt
