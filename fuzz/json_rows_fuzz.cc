// Any bytes are a table of JSON lines or an hgt::Error. The first byte says whether columns are
// named.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "fuzz/fuzz_input.h"
#include "hgt/tables/row_format.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const hgt::fuzz::MemoryFile file(std::span(data, size).subspan(1));
  hgt::fuzz::read_or_refuse([&] {
    hgt::RowOptions options;
    if (data[0] % 2 == 1) options.columns = {"id", "year"};
    const auto rows = hgt::open_rows(file.path(), options, "jsonl");
    hgt::Row row;
    while (rows->next(row)) {
      hgt::fuzz::use(row.defect.size());
      if (!row.well_formed()) continue;
      for (const std::string_view cell : row.cells) hgt::fuzz::use(cell.size());
    }
  });
  return 0;
}
