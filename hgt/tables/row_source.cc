#include "hgt/tables/row_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hgt/error.h"
#include "hgt/tables/remedies.h"

namespace hgt {

namespace {

constexpr size_t kListedColumnBytes = 2000;  // of column names in an error text

std::string listed(std::span<const std::string> columns) {
  std::string text = fmt::format("{}", fmt::join(columns, ", "));
  if (text.size() > kListedColumnBytes) text.replace(kListedColumnBytes, std::string::npos, "...");
  return text;
}

}  // namespace

std::string quoted_cell(std::string_view cell) {
  return is_null(cell) ? "null" : fmt::format("'{}'", cell);
}

std::string to_string(const RowPosition& position) {
  return fmt::format("{}{}", position.before_number, position.number);
}

size_t RowSource::column(std::string_view column_name) const {
  const auto all = columns();
  const auto found = std::find(all.begin(), all.end(), column_name);
  if (found == all.end()) {
    const std::string hint = all.size() == 1 ? delimiter_remedy(all[0], 0) : "";
    throw Error(fmt::format("{}: has no column '{}'; its columns are: {}{}{}", name(), column_name,
                            listed(all), hint.empty() ? "" : "; ", hint));
  }
  return static_cast<size_t>(found - all.begin());
}

}  // namespace hgt
