#include "hgt/tables/time_cell.h"

#include <fmt/format.h>

#include "hgt/tables/remedies.h"

namespace hgt {

TimeCell::TimeCell(const std::optional<TimeColumn>& spec, TimeUnit unit, const RowSource& table)
    : spec_(spec ? &*spec : nullptr), unit_(unit) {
  if (spec_ != nullptr) column_ = table.column(spec_->column);
}

std::optional<Time> TimeCell::parse(std::string_view text, TimeUnit unit) const {
  return spec_->pattern ? spec_->pattern->parse(text, unit) : parse_time(text, spec_->format, unit);
}

std::optional<Time> TimeCell::read(const Row& row, RowLog& log) const {
  if (spec_ == nullptr) return kNoTime;
  const std::string_view text = row.cell(column_);
  if (text.empty() && spec_->keep_missing) return kNoTime;
  if (text.empty()) {
    log.add(Defect::missing_time, row.position,
            fmt::format("column {} is {} (missing_time = \"keep\" would keep the row)",
                        spec_->column, is_null(text) ? "null" : "empty"),
            time_remedy(text, *spec_, unit_));
    return std::nullopt;
  }
  const auto time = parse(text, unit_);
  // A whole number of units may be any; a date may not.
  const bool counts = !spec_->pattern && spec_->format == TimeFormat::number;
  if (time && (counts || is_plausible(*time, unit_))) return time;
  log.add(Defect::bad_time, row.position, defect(text), time_remedy(text, *spec_, unit_));
  return std::nullopt;
}

std::string TimeCell::defect(std::string_view text) const {
  const bool counts = !spec_->pattern && spec_->format == TimeFormat::number;
  const bool read = parse(text, unit_).has_value();
  const bool too_fine =
      !read && unit_ == TimeUnit::second && !counts && parse(text, TimeUnit::minute).has_value();
  std::string_view why;
  if (read) why = ": its year is not from -9999 to 9999";
  if (too_fine) why = ", which covers 1901 to 2038; choose minute or a coarser unit";
  return fmt::format("{} '{}' is not a time in the unit {}{}", spec_->column, text,
                     to_string(unit_), why);
}

}  // namespace hgt
