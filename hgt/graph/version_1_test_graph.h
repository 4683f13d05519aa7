// For tests: a graph folder turned into what version 1 of the format would have held, by the rules
// of docs/graph-format.md and nothing else.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "hgt/graph/array_file.h"
#include "hgt/graph/feature_sets.h"
#include "hgt/graph/schema.h"

namespace hgt {

class Version1Folder {
 public:
  explicit Version1Folder(Path folder)
      : folder_(std::move(folder)), schema_(read_schema(folder_)) {}

  void convert() {
    for (size_t type = 0; type < schema_.node_types().size(); ++type) {
      expand<Time>(NodeType(type), &RelationSpec::times, "time", kNoTime);
      expand<float>(NodeType(type), &RelationSpec::weights, "weight", 1.0F);
    }
    const std::vector<ArrayRecord> records = schema_.arrays;
    for (const ArrayRecord& record : records) {
      if (!record.file.ends_with("_lengths.npy")) continue;
      const std::string prefix = record.file.substr(0, record.file.size() - 12);
      const std::vector<int64_t> offsets = take_offsets(prefix);
      put(prefix + "_offsets.npy", offsets);
    }
    schema_.format_version = 1;
    std::ofstream(folder_ / "schema.json", std::ios::binary) << schema_.to_json();
  }

 private:
  template <typename T>
  std::vector<T> read(const std::string& file) const {
    for (const ArrayRecord& record : schema_.arrays) {
      if (record.file != file) continue;
      const MappedArray array(folder_, record);
      return {array.as<T>().begin(), array.as<T>().end()};
    }
    return {};
  }
  void remove(const std::string& file) {
    std::erase_if(schema_.arrays, [&](const ArrayRecord& record) { return record.file == file; });
    std::filesystem::remove(folder_ / file);
  }
  template <typename T>
  void put(const std::string& file, const std::vector<T>& items) {
    ArrayStream stream(folder_, file, dtype_of<T>());
    stream.append(std::span<const T>(items));
    schema_.arrays.push_back(stream.close());
  }

  // The running sum of the lengths.
  std::vector<int64_t> read_offsets(const std::string& prefix) const {
    const auto stored = read<int64_t>(prefix + "_offsets.npy");
    if (!stored.empty()) return stored;
    const auto lengths = read<uint8_t>(prefix + "_lengths.npy");
    std::vector<int64_t> sizes(lengths.begin(), lengths.end());
    const auto longs = read<int64_t>(prefix + "_long.npy");
    for (size_t row = 0; row < longs.size(); row += 2) {
      sizes[static_cast<size_t>(longs[row])] += longs[row + 1];
    }
    std::vector<int64_t> offsets = {0};
    for (const int64_t size : sizes) offsets.push_back(offsets.back() + size);
    return offsets;
  }
  std::vector<int64_t> take_offsets(const std::string& prefix) {
    std::vector<int64_t> offsets = read_offsets(prefix);
    for (const char* part : {"_starts.npy", "_lengths.npy", "_long.npy", "_offsets.npy"}) {
      remove(prefix + part);
    }
    return offsets;
  }

  template <typename T>
  std::vector<T> read_carried(const std::string& file) const {
    if (std::is_same_v<T, float> || !schema_.short_edge_times()) return read<T>(file);
    std::vector<T> times;
    for (const int16_t time : read<int16_t>(file)) {
      times.push_back(time == kNoShortTime ? static_cast<T>(kNoTime) : static_cast<T>(time));
    }
    return times;
  }

  // Version 1 had a time for every entry of a type if any relation had times; so for weights.
  template <typename T>
  void expand(NodeType type, bool RelationSpec::*by, const std::string& name, T absent) {
    const std::string prefix = schema_.at(type).name + "/incoming";
    const std::string file = prefix + "_" + name + "s.npy";
    const std::vector<T> carried = read_carried<T>(file);
    const std::string own = prefix + "_" + name;
    if (carried.empty()) return;
    take_offsets(own);  // if there are any
    const std::vector<int64_t> offsets = read_offsets(prefix);
    const auto relations = schema_.incoming(type);
    std::vector<T> expanded;
    size_t at = 0;
    for (size_t list = 0; list + 1 < offsets.size(); ++list) {
      const bool carries = schema_.at(relations[list % relations.size()]).*by;
      for (int64_t entry = offsets[list]; entry < offsets[list + 1]; ++entry) {
        expanded.push_back(carries ? carried[at++] : absent);
      }
    }
    remove(file);
    put(file, expanded);
  }

  Path folder_;
  Schema schema_;
};

inline void convert_to_version_1(const Path& folder) { Version1Folder(folder).convert(); }

}  // namespace hgt
