// Which word was meant by one that is misspelled.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hgt::cli {

// How many letters must be inserted, removed, replaced or swapped with the next one to make one
// word the other (optimal string alignment).
size_t edit_distance(std::string_view a, std::string_view b);

// The nearest of the words; empty: none is near enough to have been meant.
std::string nearest_word(std::string_view text, const std::vector<std::string>& words);

}  // namespace hgt::cli
