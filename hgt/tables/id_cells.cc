#include "hgt/tables/id_cells.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hgt {

IdCells::IdCells(std::span<const std::string> columns, const RowSource& table)
    : names_(columns.begin(), columns.end()) {
  for (const std::string& name : names_) columns_.push_back(table.column(name));
}

std::string_view IdCells::read(const Row& row) {
  if (columns_.size() == 1) return row.cell(columns_[0]);
  joined_.clear();
  for (size_t i = 0; i < columns_.size(); ++i) {
    const std::string_view part = row.cell(columns_[i]);
    if (part.empty()) return part;
    if (i > 0) joined_.push_back('+');
    for (const char c : part) {
      if (c == '+' || c == '\\') joined_.push_back('\\');
      joined_.push_back(c);
    }
  }
  return joined_;
}

std::string IdCells::complaint(const Row& row) const {
  for (size_t i = 0; i < columns_.size(); ++i) {
    const std::string_view part = row.cell(columns_[i]);
    if (part.empty()) {
      return fmt::format("column {} is {}", names_[i], is_null(part) ? "null" : "empty");
    }
  }
  return "";
}

std::string IdCells::names() const { return fmt::format("{}", fmt::join(names_, " + ")); }

}  // namespace hgt
