#include "hgt/viewer/node_search.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <tuple>

#include "hgt/graph/words.h"

namespace hgt {

namespace {

using Deadline = std::chrono::steady_clock::time_point;

constexpr NodeId kNamesPerLook = 4096;  // at the clock

enum Rank : uint8_t { whole, beginning, word, inside, no_match };

// A text with upper and lower case made the same. The memory is used again by the next text.
class FoldedText {
 public:
  std::string_view fold(std::string_view text) {
    // Whole blocks, zeros behind the text: a loop without branches that works on a block at a time.
    const size_t padded = text.size() / kBlock * kBlock + kBlock;
    if (bytes_.size() < padded) bytes_.resize(padded);
    char* bytes = bytes_.data();
    std::memset(bytes + padded - kBlock, 0, kBlock);
    text.copy(bytes, text.size());
    unsigned char all = 0;
    for (size_t i = 0; i < padded; ++i) {
      const auto byte = static_cast<unsigned char>(bytes[i]);
      const bool upper = static_cast<unsigned char>(byte - 'A') < 26;
      all |= byte;
      bytes[i] = static_cast<char>(byte + (upper ? 'a' - 'A' : 0));
    }
    return all < 0x80 ? std::string_view(bytes, text.size()) : fold_unicode(text);
  }

 private:
  std::string_view fold_unicode(std::string_view text);

  static constexpr size_t kBlock = 32;
  std::vector<char> bytes_;
  std::string unicode_;
};

// Bytes that are no UTF-8 stay as they are.
std::string_view FoldedText::fold_unicode(std::string_view text) {
  unicode_.clear();
  for (size_t i = 0; i < text.size();) {
    const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + i;
    utf8proc_int32_t code = -1;
    std::array<utf8proc_int32_t, 8> folded{};
    int boundary = 0;
    const auto left = static_cast<utf8proc_ssize_t>(text.size() - i);
    const utf8proc_ssize_t length = bytes[0] < 0x80 ? 1 : utf8proc_iterate(bytes, left, &code);
    const utf8proc_ssize_t count = bytes[0] < 0x80 || length <= 0
                                       ? 0
                                       : utf8proc_decompose_char(code, folded.data(), folded.size(),
                                                                 UTF8PROC_CASEFOLD, &boundary);
    if (count <= 0 || count > static_cast<utf8proc_ssize_t>(folded.size())) {
      unicode_ += bytes_[i++];
      continue;
    }
    for (utf8proc_ssize_t k = 0; k < count; ++k) {
      std::array<utf8proc_uint8_t, 4> encoded{};
      const utf8proc_ssize_t size = utf8proc_encode_char(folded[k], encoded.data());
      unicode_.append(reinterpret_cast<const char*>(encoded.data()), static_cast<size_t>(size));
    }
    i += static_cast<size_t>(length);
  }
  return unicode_;
}

// The byte that the fewest names should have; any would do.
char rarest_byte(std::string_view text) {
  constexpr std::string_view kOftenFirst = " etaoinsrhldcumfpgwybvkxjqz";
  return *std::ranges::max_element(text, {}, [&](char c) { return kOftenFirst.find(c); });
}

// What is searched, folded. Not empty.
class SoughtText {
 public:
  explicit SoughtText(std::string folded) : text_(std::move(folded)), rarest_(rarest_byte(text_)) {}

  Rank rank_in(std::string_view folded_name) const {
    const void* rare = std::memchr(folded_name.data(), rarest_, folded_name.size());
    return rare == nullptr ? no_match : rank_of_candidate(folded_name);
  }

 private:
  Rank rank_of_candidate(std::string_view name) const;

  std::string text_;
  char rarest_;
};

Rank SoughtText::rank_of_candidate(std::string_view name) const {
  const void* found = ::memmem(name.data(), name.size(), text_.data(), text_.size());
  if (found == nullptr) return no_match;
  auto at = static_cast<size_t>(static_cast<const char*>(found) - name.data());
  if (at == 0) return name.size() == text_.size() ? whole : beginning;
  for (; at != std::string_view::npos; at = name.find(text_, at + 1)) {
    if (word_byte(name[at - 1]) == '\0') return word;
  }
  return inside;
}

struct RankedNode {
  Rank rank = no_match;
  FoundNode found;
};

bool is_better(const RankedNode& a, const RankedNode& b) {
  return std::tuple(a.rank, a.found.node, index(a.found.type)) <
         std::tuple(b.rank, b.found.node, index(b.found.type));
}

// One search in one type after another.
class NameScan {
 public:
  NameScan(const HeteroGraph& graph, std::string_view text, size_t limit, Deadline deadline)
      : graph_(graph), text_(text), limit_(limit), deadline_(deadline) {}

  void scan(NodeType type);
  FoundNodes result();

 private:
  void scan_names(NodeType type, std::optional<NodeId> except);

  const HeteroGraph& graph_;
  std::string_view text_;
  size_t limit_;
  Deadline deadline_;
  std::vector<RankedNode> matches_;
  bool late_ = false;
};

void NameScan::scan(NodeType type) {
  const uint64_t nodes = graph_.num_nodes(type);
  if (text_.empty()) {
    for (NodeId node = 0; node < std::min<uint64_t>(limit_, nodes); ++node) {
      matches_.push_back({whole, {type, node}});
    }
    return;
  }
  const std::optional<NodeId> same_id = graph_.find(type, text_);
  if (same_id) matches_.push_back({whole, {type, *same_id}});
  if (graph_.schema().at(type).names) scan_names(type, same_id);
}

void NameScan::scan_names(NodeType type, std::optional<NodeId> except) {
  FoldedText folded;
  const SoughtText sought{std::string(folded.fold(text_))};
  const auto nodes = static_cast<NodeId>(graph_.num_nodes(type));
  std::array<size_t, no_match> counts{};
  for (NodeId node = 0; node < nodes && !late_; ++node) {
    if (node % kNamesPerLook == 0) late_ = std::chrono::steady_clock::now() >= deadline_;
    const Rank rank = sought.rank_in(folded.fold(graph_.name(type, node)));
    if (rank == no_match || node == except || counts[rank] >= limit_) continue;
    ++counts[rank];
    matches_.push_back({rank, {type, node}});
  }
}

FoundNodes NameScan::result() {
  std::ranges::sort(matches_, is_better);
  FoundNodes found{.nodes = {}, .stopped_early = late_};
  for (size_t i = 0; i < std::min(limit_, matches_.size()); ++i) {
    found.nodes.push_back(matches_[i].found);
  }
  return found;
}

}  // namespace

FoundNodes NodeSearch::find(std::optional<NodeType> type, std::string_view text, size_t limit,
                            Deadline deadline) const {
  NameScan scan(graph_, text, limit, deadline);
  const size_t types = graph_.schema().node_types().size();
  for (size_t i = 0; i < types; ++i) {
    const auto each = static_cast<NodeType>(i);
    if (!type || *type == each) scan.scan(each);
  }
  return scan.result();
}

}  // namespace hgt
