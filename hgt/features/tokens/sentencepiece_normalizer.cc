#include "hgt/features/tokens/sentencepiece_normalizer.h"

#include <utf8proc.h>

#include <cstring>

namespace hgt {

namespace {

constexpr std::string_view kEscapedSpace = "\u2581";
constexpr std::string_view kBadByte = "\ufffd";

// A unit of the double array: 8 bits of label, a leaf bit, and the way to its children.
uint32_t unit_label(uint32_t unit) { return unit & 0x800000ffU; }
bool unit_has_leaf(uint32_t unit) { return ((unit >> 8U) & 1U) != 0; }
uint32_t unit_offset(uint32_t unit) { return (unit >> 10U) << ((unit & 0x200U) >> 6U); }
uint32_t leaf_value(uint32_t unit) { return unit & 0x7fffffffU; }

void append_with_spaces(std::string_view part, std::string_view space, std::string& text) {
  for (const char byte : part) text += byte == ' ' ? space : std::string_view(&byte, 1);
}

}  // namespace

size_t character_bytes(std::string_view text) {
  utf8proc_int32_t code = 0;
  const utf8proc_ssize_t bytes =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                       static_cast<utf8proc_ssize_t>(text.size()), &code);
  return bytes > 0 ? static_cast<size_t>(bytes) : 0;
}

bool SentencepieceNormalizer::read_rules(std::string_view precompiled) {
  if (precompiled.empty()) return true;
  uint32_t trie_bytes = 0;
  if (precompiled.size() < sizeof(trie_bytes)) return false;
  std::memcpy(&trie_bytes, precompiled.data(), sizeof(trie_bytes));
  precompiled.remove_prefix(sizeof(trie_bytes));
  if (trie_bytes == 0 || trie_bytes % sizeof(uint32_t) != 0) return false;
  if (trie_bytes >= precompiled.size() || precompiled.back() != '\0') return false;
  trie_.resize(trie_bytes / sizeof(uint32_t));
  std::memcpy(trie_.data(), precompiled.data(), trie_bytes);
  replacements_ = precompiled.substr(trie_bytes);
  return true;
}

std::pair<std::string_view, size_t> SentencepieceNormalizer::longest_rule(
    std::string_view text) const {
  std::pair<std::string_view, size_t> longest = {{}, 0};
  if (trie_.empty()) return longest;
  uint32_t at = unit_offset(trie_[0]);
  for (size_t i = 0; i < text.size(); ++i) {
    const uint32_t label = static_cast<unsigned char>(text[i]);
    at ^= label;
    if (at >= trie_.size() || unit_label(trie_[at]) != label) break;
    const bool leaf = unit_has_leaf(trie_[at]);
    at ^= unit_offset(trie_[at]);
    if (at >= trie_.size()) break;
    const uint32_t start = leaf_value(trie_[at]);
    if (leaf && start < replacements_.size()) {
      longest = {std::string_view(replacements_.data() + start), i + 1};
    }
  }
  return longest;
}

std::pair<std::string_view, size_t> SentencepieceNormalizer::replaced(std::string_view text) const {
  for (const std::string& same : kept) {
    if (text.starts_with(same)) return {same, same.size()};
  }
  const auto rule = longest_rule(text);
  if (rule.second > 0) return rule;
  const size_t bytes = character_bytes(text);
  if (bytes == 0) return {kBadByte, 1};
  return {text.substr(0, bytes), bytes};
}

std::string SentencepieceNormalizer::normalize(std::string_view text) const {
  const std::string_view space = escape_whitespaces ? kEscapedSpace : std::string_view(" ");
  std::string normalized;
  bool begun = !remove_extra_whitespaces;
  bool after_space = remove_extra_whitespaces;
  while (!text.empty()) {
    auto [part, used] = replaced(text);
    text.remove_prefix(used);
    if (!begun && part == " ") continue;  // spaces at the beginning
    if (normalized.empty() && add_dummy_prefix) normalized = space;
    begun = true;
    while (after_space && part.starts_with(' ')) part.remove_prefix(1);
    if (!part.empty()) after_space = remove_extra_whitespaces && part.ends_with(' ');
    append_with_spaces(part, space, normalized);
  }
  while (remove_extra_whitespaces && normalized.ends_with(space)) {
    normalized.resize(normalized.size() - space.size());
  }
  return normalized;
}

}  // namespace hgt
