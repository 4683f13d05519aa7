// A SentencePiece model's rules for text before it is cut: forms of characters, and spaces.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hgt {

// Bytes of the UTF-8 character that the text begins with; 0: there is none.
size_t character_bytes(std::string_view text);

class SentencepieceNormalizer {
 public:
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;
  bool escape_whitespaces = true;
  std::vector<std::string> kept;  // texts that no rule changes; the longest first

  // Rules for characters as the model has them: a trie of what is replaced, as a double array, and
  // the texts that replace it. False: the bytes are damaged.
  bool read_rules(std::string_view precompiled);

  std::string normalize(std::string_view text) const;

 private:
  // What the longest rule for the beginning of the text gives, and how much of it is used up.
  std::pair<std::string_view, size_t> replaced(std::string_view text) const;
  std::pair<std::string_view, size_t> longest_rule(std::string_view text) const;

  std::vector<uint32_t> trie_;
  std::string replacements_;  // each ends in a zero
};

}  // namespace hgt
