#include "hgt/disk/checksum.h"

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace hgt {

uint64_t checksum(std::span<const std::byte> data) { return XXH3_64bits(data.data(), data.size()); }

std::string text_checksum(std::string_view text) {
  return fmt::format("{:016x}", checksum(std::as_bytes(std::span(text))));
}

struct Checksum::State {
  XXH3_state_t digest;
};

Checksum::Checksum() : state_(std::make_unique<State>()) { XXH3_64bits_reset(&state_->digest); }

Checksum::Checksum(Checksum&&) noexcept = default;

Checksum& Checksum::operator=(Checksum&&) noexcept = default;

Checksum::~Checksum() = default;

void Checksum::add(std::span<const std::byte> data) {
  XXH3_64bits_update(&state_->digest, data.data(), data.size());
}

uint64_t Checksum::value() const { return XXH3_64bits_digest(&state_->digest); }

}  // namespace hgt
