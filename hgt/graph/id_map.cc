#include "hgt/graph/id_map.h"

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <charconv>
#include <limits>

#include "hgt/error.h"

namespace hgt {

namespace {

uint64_t id_hash(std::string_view id) { return XXH3_64bits(id.data(), id.size()); }

// number - first, modulo 2^64: ids may lie anywhere in the range of int64_t.
uint64_t distance(int64_t first, int64_t number) {
  return static_cast<uint64_t>(number) - static_cast<uint64_t>(first);
}

// Slot of the id, or the free slot where it would go. Stops after one round, should a damaged index
// have no free slot.
template <typename IdAt>
uint64_t probe(std::span<const uint32_t> slots, std::string_view id, const IdAt& id_at) {
  const uint64_t mask = slots.size() - 1;
  uint64_t at = id_hash(id) & mask;
  for (uint64_t step = 0; step < slots.size(); ++step, at = (at + 1) & mask) {
    if (slots[at] == 0 || id_at(slots[at] - 1) == id) break;
  }
  return at;
}

}  // namespace

std::optional<NodeId> IdIndex::find(std::string_view id) const {
  if (slots.empty()) return std::nullopt;
  const uint64_t at = probe(slots, id, [this](uint64_t node) {
    if (node < ids.size()) return ids.at(node);
    throw Error(fmt::format(
        "{}: names node {}, but there are {}; the file is damaged, restore it or make the graph "
        "again",
        file, node, ids.size()));
  });
  if (slots[at] == 0) return std::nullopt;
  return ids.at(slots[at] - 1) == id ? std::optional<NodeId>(slots[at] - 1) : std::nullopt;
}

std::optional<int64_t> canonical_number(std::string_view id) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), number);
  if (error != std::errc{} || end != id.data() + id.size()) return std::nullopt;
  const std::string_view digits = id.front() == '-' ? id.substr(1) : id;
  const bool padded = digits.size() > 1 && digits.front() == '0';
  return padded || id == "-0" ? std::nullopt : std::optional(number);
}

std::optional<NodeId> sequence_node(int64_t first, uint64_t nodes, std::string_view id) {
  const auto number = canonical_number(id);
  if (!number || *number < first) return std::nullopt;
  const uint64_t node = distance(first, *number);
  return node < nodes ? std::optional(static_cast<NodeId>(node)) : std::nullopt;
}

struct IdMap::Stored {
  Stored(const Path& in, const std::string& name)
      : folder(in),
        index_file(name + "_index.npy"),
        prefix((in / name).string()),
        strings(in, name),
        bytes(in, name + "_bytes.npy", dtype_of<char>()),
        index(std::make_unique<GrowingArray>(in, index_file, dtype_of<uint32_t>())) {
    index->resize(1024);
  }

  StringColumn ids() { return {.strings = strings.view(prefix), .bytes = bytes.as<char>()}; }
  IdIndex view() {
    return {.slots = index->as<uint32_t>(), .ids = ids(), .file = index->path().native()};
  }

  // A new index of twice the slots, filled in node order: the bytes depend on the ids alone.
  void grow_index() {
    const uint64_t slots = index->items() * 2;
    index.reset();
    std::filesystem::remove(folder / index_file);
    index = std::make_unique<GrowingArray>(folder, index_file, dtype_of<uint32_t>());
    index->resize(slots);
    for (uint64_t node = 0; node < strings.size(); ++node) place(node);
  }

  void place(uint64_t node) {
    const StringColumn column = ids();
    const auto slots = index->as<uint32_t>();
    const uint64_t at =
        probe(slots, column.at(node), [&column](uint64_t other) { return column.at(other); });
    slots[at] = static_cast<uint32_t>(node + 1);
  }

  Path folder;
  std::string index_file;
  std::string prefix;  // of the files, for errors
  ListIndexWriter<GrowingArray> strings;
  GrowingArray bytes;
  std::unique_ptr<GrowingArray> index;
};

void IdMap::store(std::string_view id) {
  stored_->bytes.append(std::span(id.data(), id.size()));
  stored_->strings.append(id.size());
  if (stored_->strings.size() * 2 > stored_->index->items()) {
    stored_->grow_index();
  } else {
    stored_->place(stored_->strings.size() - 1);
  }
}

// The ids counted up until now: from here on they are kept as text.
void IdMap::store_text() {
  stored_ = std::make_shared<Stored>(folder_, prefix_);
  for (uint64_t node = 0; node < size_; ++node) {
    store(std::to_string(first_ + static_cast<int64_t>(node)));
  }
}

std::optional<NodeId> IdMap::insert(std::string_view id) {
  if (find(id)) return std::nullopt;
  if (size_ >= kMaxNodes) {
    throw Error(fmt::format("node type {} has more than {} nodes, the maximum for one type",
                            prefix_, kMaxNodes));
  }
  if (!stored_) {
    const auto number = canonical_number(id);
    if (number && size_ == 0) first_ = *number;
    if (!number || *number < first_ || distance(first_, *number) != size_) store_text();
  }
  if (stored_) store(id);
  return static_cast<NodeId>(size_++);
}

std::optional<NodeId> IdMap::insert_number() {
  const bool counts_from_zero = !stored_ && (size_ == 0 || first_ == 0);
  if (!counts_from_zero || size_ >= kMaxNodes) return insert(std::to_string(size_));
  return static_cast<NodeId>(size_++);
}

std::optional<NodeId> IdMap::find(std::string_view id) const {
  return stored_ ? stored_->view().find(id) : sequence_node(first_, size_, id);
}

void IdMap::drop_pages() {
  if (!stored_) return;
  stored_->strings.drop_pages();
  stored_->bytes.drop_pages();
  stored_->index->drop_pages();
}

std::optional<int64_t> IdMap::close(std::vector<ArrayRecord>& records) {
  if (!stored_) return first_;
  stored_->strings.close(records);
  records.push_back(stored_->bytes.close({stored_->bytes.items()}));
  records.push_back(stored_->index->close({stored_->index->items()}));
  return std::nullopt;
}

}  // namespace hgt
