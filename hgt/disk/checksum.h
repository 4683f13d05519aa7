// The checksum of everything on disk, XXH3-64: it detects damage, not tampering.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace hgt {

uint64_t checksum(std::span<const std::byte> data);

std::string text_checksum(std::string_view text);  // as written in files: 16 digits

// The same for data that comes in pieces: however it is divided, value() is the checksum() of all.
class Checksum {
 public:
  Checksum();
  Checksum(Checksum&&) noexcept;
  Checksum& operator=(Checksum&&) noexcept;
  ~Checksum();

  void add(std::span<const std::byte> data);
  uint64_t value() const;  // of everything added so far

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hgt
