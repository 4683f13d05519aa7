// The words of an enum: one table per enum, beside its declaration, from which it is written, read
// and listed.
//
//   enum class Fruit { apple, pear };
//   constexpr auto words_of(Fruit) {
//     return enum_words<Fruit>("fruit", {{Fruit::apple, "apple"}, {Fruit::pear, "pear"}});
//   }
//   to_string(Fruit::pear);     // "pear"
//   from_word<Fruit>("plum");   // Error: unknown fruit 'plum'; choose one of apple, pear
//   all_words<Fruit>();         // {"apple", "pear"}
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hgt/error.h"

namespace hgt {

template <typename Enum>
struct EnumWord {
  Enum value;
  std::string_view word;
};

template <typename Enum, size_t N>
struct EnumWords {
  std::string_view name;  // of the enum, in errors
  std::array<EnumWord<Enum>, N> words;
  std::string_view otherwise;  // a value that cannot be chosen is written like this
};

template <typename Enum, size_t N>
constexpr EnumWords<Enum, N> enum_words(std::string_view name, const EnumWord<Enum> (&words)[N],
                                        std::string_view otherwise = "") {
  return {name, std::to_array(words), otherwise};
}

// An enum with a function words_of beside it.
template <typename Enum>
concept WordedEnum = requires(Enum value) {
  words_of(value).words;
};

template <WordedEnum Enum>
constexpr std::string_view to_string(Enum value) {
  constexpr auto kTable = words_of(Enum{});
  for (const EnumWord<Enum>& each : kTable.words) {
    if (each.value == value) return each.word;
  }
  return kTable.otherwise;
}

// No value: there is no such word.
template <WordedEnum Enum>
constexpr std::optional<Enum> find_word(std::string_view text) {
  constexpr auto kTable = words_of(Enum{});
  for (const EnumWord<Enum>& each : kTable.words) {
    if (each.word == text) return each.value;
  }
  return std::nullopt;
}

// In the order of the table.
template <WordedEnum Enum>
std::vector<std::string> all_words() {
  constexpr auto kTable = words_of(Enum{});
  std::vector<std::string> words;
  for (const EnumWord<Enum>& each : kTable.words) words.emplace_back(each.word);
  return words;
}

// Throws Error: lists the known words.
template <WordedEnum Enum>
Enum from_word(std::string_view text) {
  if (const auto found = find_word<Enum>(text)) return *found;
  std::string known;
  for (const std::string& word : all_words<Enum>()) known += (known.empty() ? "" : ", ") + word;
  throw Error("unknown " + std::string(words_of(Enum{}).name) + " '" + std::string(text) +
              "'; choose one of " + known);
}

}  // namespace hgt
