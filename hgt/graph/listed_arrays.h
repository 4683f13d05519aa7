// The arrays that schema.json lists, mapped each with the dtype and shape that the types call for.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hgt/graph/array_file.h"
#include "hgt/graph/list_index.h"
#include "hgt/graph/schema.h"

namespace hgt {

// The files of a list index, and the view of them. Stays where it is: the view refers to `prefix`.
struct ListArrays {
  std::string prefix = {};
  MappedArray starts = {};
  MappedArray lengths = {};
  MappedArray longs = {};
  MappedArray offsets = {};  // then the others stay unmapped
  ListIndex lists = {};

  void expect(Access access) const;
};

class ListedArrays {
 public:
  static constexpr uint64_t kAny = std::numeric_limits<uint64_t>::max();  // extent

  // Both must outlive it. What is stored of lists, three arrays or offsets, is what is listed.
  ListedArrays(const Path& folder, const Schema& schema);

  // Throws Error: it is not listed, or not so, or the file is damaged.
  void map(MappedArray& into, const std::string& file, std::string_view dtype,
           const std::vector<uint64_t>& shape = {kAny}) const;
  void map_lists(ListArrays& into, const std::string& prefix, uint64_t lists, uint64_t items) const;

 private:
  const Path& folder_;
  std::map<std::string, const ArrayRecord*> records_;
};

}  // namespace hgt
