// Aligned columns for people.
#pragma once

#include <string>
#include <vector>

namespace hgt::cli {

class TextTable {
 public:
  // Columns whose title starts with '>' are aligned to the right.
  explicit TextTable(std::vector<std::string> titles);
  void add(std::vector<std::string> row);
  std::string text() const;

 private:
  std::vector<std::string> titles_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

std::string with_commas(uint64_t number);    // 1,234,567
std::string short_bytes(uint64_t bytes);     // 1.5 GB
std::string short_duration(double seconds);  // 40 s, 2 min 05 s, 1.5 h

}  // namespace hgt::cli
