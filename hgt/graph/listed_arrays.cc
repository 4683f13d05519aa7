#include "hgt/graph/listed_arrays.h"

#include <fmt/format.h>

#include <algorithm>

#include "hgt/error.h"

namespace hgt {

void ListArrays::expect(Access access) const {
  for (const MappedArray* array : {&starts, &lengths, &longs, &offsets}) array->expect(access);
}

ListedArrays::ListedArrays(const Path& folder, const Schema& schema) : folder_(folder) {
  for (const ArrayRecord& array : schema.arrays) records_.emplace(array.file, &array);
}

void ListedArrays::map(MappedArray& into, const std::string& file, std::string_view dtype,
                       const std::vector<uint64_t>& shape) const {
  const auto found = records_.find(file);
  if (found == records_.end()) {
    throw Error(fmt::format("{}: does not list the array {} that its types require",
                            (folder_ / "schema.json").string(), file));
  }
  const ArrayRecord& record = *found->second;
  const bool fits = std::equal(
      record.shape.begin(), record.shape.end(), shape.begin(), shape.end(),
      [](uint64_t extent, uint64_t wanted) { return wanted == kAny || extent == wanted; });
  if (!fits || record.dtype != dtype) {
    throw Error(
        fmt::format("{}: the shape or dtype of {} does not match the number of nodes and "
                    "edges",
                    (folder_ / "schema.json").string(), file));
  }
  into = MappedArray(folder_, record);
}

void ListedArrays::map_lists(ListArrays& into, const std::string& prefix, uint64_t lists,
                             uint64_t items) const {
  into.prefix = (folder_ / prefix).string();
  if (records_.contains(prefix + "_offsets.npy")) {
    map(into.offsets, prefix + "_offsets.npy", dtype_of<int64_t>(), {lists + 1});
    into.lists = ListIndex(into.offsets.as<int64_t>(), items, into.prefix);
    return;
  }
  const uint64_t blocks = (lists + ListIndex::kBlock - 1) / ListIndex::kBlock;
  map(into.starts, prefix + "_starts.npy", dtype_of<int64_t>(), {blocks + 1});
  map(into.lengths, prefix + "_lengths.npy", dtype_of<uint8_t>(), {lists});
  map(into.longs, prefix + "_long.npy", dtype_of<int64_t>(), {kAny, 2});
  into.lists = ListIndex({.starts = into.starts.as<int64_t>(),
                          .lengths = into.lengths.as<uint8_t>(),
                          .longs = into.longs.as<int64_t>()},
                         items, into.prefix);
}

}  // namespace hgt
