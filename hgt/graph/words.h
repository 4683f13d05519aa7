// The words of a text: longest runs of ASCII letters, digits and bytes >= 0x80 (so UTF-8 words stay
// whole), ASCII letters in lower case.
#pragma once

#include <string>
#include <string_view>

namespace hgt {

// The byte as it counts in a word; 0: it separates words.
constexpr char word_byte(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
  const bool is_word =
      static_cast<unsigned char>(c) >= 0x80 || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  return is_word ? c : '\0';
}

// Calls visit(std::string_view) for each word, in order.
template <typename Visit>
void for_each_word(std::string_view text, Visit visit) {
  std::string word;
  for (const char c : text) {
    const char byte = word_byte(c);
    if (byte != '\0') {
      word += byte;
    } else if (!word.empty()) {
      visit(std::string_view(word));
      word.clear();
    }
  }
  if (!word.empty()) visit(std::string_view(word));
}

}  // namespace hgt
