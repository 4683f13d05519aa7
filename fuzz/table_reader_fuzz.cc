// Any bytes are a table or an hgt::Error: never a crash, a bad view or a line number that goes
// back. The first byte chooses the format; the rest are the bytes of the file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "fuzz/fuzz_input.h"
#include "hgt/tables/table_reader.h"

namespace {

hgt::TableFormat chosen_format(uint8_t choice) {
  constexpr char kDelimiters[] = {'\t', ',', ' ', '\0'};
  hgt::TableFormat format;
  format.delimiter = kDelimiters[choice & 3U];
  if ((choice & 4U) != 0) format.quote = '"';
  if ((choice & 8U) != 0) format.quote = '\'';
  if ((choice & 16U) != 0) format.columns = {"a", "b"};
  if ((choice & 32U) != 0) format.skip_lines = 1 + (choice >> 6U);
  return format;
}

uint64_t sum_of_bytes(const hgt::TableReader& table) {
  uint64_t sum = 0;
  for (const std::string_view cell : table.cells()) {
    for (const char byte : cell) sum += static_cast<uint8_t>(byte);
  }
  return sum;
}

void read_all(hgt::TableReader& table) {
  uint64_t previous_line = 0;
  volatile uint64_t sum = 0;
  while (table.next()) {
    if (table.line() < previous_line) std::abort();
    previous_line = table.line();
    sum = sum + sum_of_bytes(table);
    if (!table.well_formed()) {
      sum = sum + table.defect().size();
    } else if (table.cells().size() != table.columns().size()) {
      std::abort();
    }
  }
  const hgt::ReadSoFar bytes = table.read_so_far();
  if (bytes.done != bytes.total) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const hgt::fuzz::MemoryFile file(std::span(data, size).subspan(1));
  hgt::fuzz::read_or_refuse([&] {
    hgt::TableReader table(file.path(), chosen_format(data[0]));
    read_all(table);
  });
  return 0;
}
