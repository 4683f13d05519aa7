// The checksum of everything on disk, XXH3-64: it tells damage, not malice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace hgt {

uint64_t checksum(std::span<const std::byte> data);

std::string text_checksum(std::string_view text);  // as it stands in files: 16 digits

// The same of data that comes in pieces: however it is cut, value() is checksum() of the whole.
class Checksum {
 public:
  Checksum();
  Checksum(Checksum&&) noexcept;
  Checksum& operator=(Checksum&&) noexcept;
  ~Checksum();

  void add(std::span<const std::byte> data);
  uint64_t value() const;  // of all that was added so far

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hgt
