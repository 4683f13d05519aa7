#include "hgt/graph/string_column.h"

#include <fmt/format.h>

#include "hgt/error.h"

namespace hgt {

std::string_view StringColumn::at(uint64_t row) const {
  if (row >= size()) {
    throw Error(fmt::format("{}: has no row {}, only {} rows", file, row, size()));
  }
  const int64_t begin = offsets[row];
  const int64_t end = offsets[row + 1];
  if (begin < 0 || end < begin || static_cast<uint64_t>(end) > bytes.size()) {
    throw Error(fmt::format(
        "{}: row {} has the bytes {} to {} of {}; the file is damaged, restore it or make the "
        "graph again",
        file, row, begin, end, bytes.size()));
  }
  return {bytes.data() + begin, static_cast<size_t>(end - begin)};
}

StringColumnStream::StringColumnStream(const Path& folder, const std::string& prefix)
    : offsets_(folder, prefix + "_offsets.npy", dtype_of<int64_t>()),
      bytes_(folder, prefix + "_bytes.npy", dtype_of<char>()) {
  offsets_.append(int64_t{0});
}

void StringColumnStream::append(std::string_view text) {
  bytes_.append(std::span(text.data(), text.size()));
  offsets_.append(static_cast<int64_t>(bytes_.items()));
}

void StringColumnStream::close(std::vector<ArrayRecord>& records) {
  records.push_back(offsets_.close());
  records.push_back(bytes_.close());
}

}  // namespace hgt
