#include "cli/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

namespace hgt::cli {

namespace {

// Characters that a terminal shows, counting UTF-8 continuation bytes as nothing.
size_t display_width(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
  }));
}

}  // namespace

TextTable::TextTable(std::vector<std::string> titles) : titles_(std::move(titles)) {
  for (std::string& title : titles_) {
    right_.push_back(title.starts_with('>'));
    if (right_.back()) title.erase(0, 1);
  }
}

void TextTable::add(std::vector<std::string> row) {
  assert(row.size() == titles_.size());
  rows_.push_back(std::move(row));
}

std::string TextTable::text() const {
  std::vector<size_t> widths;
  for (const std::string& title : titles_) widths.push_back(display_width(title));
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  std::string result;
  const auto append = [&](const std::vector<std::string>& row) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - display_width(row[i]), ' ');
      if (i > 0) line.append(2, ' ');
      line += right_[i] ? padding : row[i];
      line += right_[i] ? row[i] : padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + '\n';
  };
  append(titles_);
  for (const auto& row : rows_) append(row);
  return result;
}

std::string with_commas(uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text.push_back(',');
    text.push_back(digits[i]);
  }
  return text;
}

std::string short_bytes(uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (value >= 1e9) return fmt::format("{:.2f} GB", value / 1e9);
  if (value >= 1e6) return fmt::format("{:.1f} MB", value / 1e6);
  if (value >= 1e3) return fmt::format("{:.1f} kB", value / 1e3);
  return fmt::format("{} bytes", bytes);
}

std::string short_duration(double seconds) {
  if (seconds < 60) return fmt::format("{:.0f} s", seconds);
  if (seconds < 3600)
    return fmt::format("{:.0f} min {:02.0f} s", seconds / 60 - 0.5, std::fmod(seconds, 60));
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace hgt::cli
