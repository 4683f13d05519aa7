#include "hgt/graph/string_column.h"

#include <fmt/format.h>

#include "hgt/error.h"

namespace hgt {

std::string_view StringColumn::at(uint64_t row) const {
  if (row >= size()) {
    throw Error(fmt::format("{}: has no row {}, only {} rows", strings.prefix(), row, size()));
  }
  const ListRange range = strings.range(row, row + 1);
  return {bytes.data() + range.begin, range.size()};
}

StringColumnStream::StringColumnStream(const Path& folder, const std::string& prefix)
    : strings_(folder, prefix), bytes_(folder, prefix + "_bytes.npy", dtype_of<char>()) {}

void StringColumnStream::append(std::string_view text) {
  bytes_.append(std::span(text.data(), text.size()));
  strings_.append(text.size());
}

void StringColumnStream::close(std::vector<ArrayRecord>& records) {
  strings_.close(records);
  records.push_back(bytes_.close());
}

}  // namespace hgt
