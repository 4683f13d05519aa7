// Sorting records by numbers in them, a byte at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace hgt {

// Copies the records to `to`, ordered by one byte of a word; equal ones keep their order.
template <typename Record>
void order_by_byte(std::span<const Record> from, std::span<Record> to, size_t word,
                   unsigned shift) {
  const auto byte = [&](const Record& record) { return record.word(word) >> shift & 0xffU; };
  std::array<size_t, 256> starts{};
  for (const Record& record : from) ++starts[byte(record)];
  size_t next = 0;
  for (size_t& start : starts) next += std::exchange(start, next);
  for (const Record& record : from) to[starts[byte(record)]++] = record;
}

// Sorts by record.word(kWords - 1), then by word(kWords - 2) and so on: from the least significant
// byte to the most significant one, leaving out bytes in which all records agree. Equal records
// keep their order. Takes as much memory again as the records do.
template <typename Record>
void radix_sort(std::span<Record> records) {
  if (records.size() < 2) return;
  const auto scratch = std::make_unique_for_overwrite<Record[]>(records.size());
  std::span<Record> from = records;
  std::span<Record> to(scratch.get(), records.size());
  for (size_t word = 0; word < Record::kWords; ++word) {
    uint64_t different = 0;
    for (const Record& record : from) different |= record.word(word) ^ from.front().word(word);
    for (unsigned shift = 0; shift < 64; shift += 8) {
      if ((different >> shift & 0xffU) == 0) continue;
      order_by_byte<Record>(from, to, word, shift);
      std::swap(from, to);
    }
  }
  if (from.data() != records.data()) std::copy(from.begin(), from.end(), records.begin());
}

}  // namespace hgt
