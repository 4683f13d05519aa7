#include "hgt/tables/feature_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hgt/graph/stored_features.h"
#include "hgt/graph/text_features.h"
#include "hgt/tables/number_text.h"
#include "hgt/tables/remedies.h"

namespace hgt {

namespace {

bool read_real(std::string_view text, float& number) {
  const auto real = parse_real(text);
  if (real) number = *real;
  return real.has_value();
}

// Calls `use` for every part between separators, empty ones left out, until it says false.
template <typename Use>
bool each_part(std::string_view text, std::string_view separator, const Use& use) {
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0 && !use(text.substr(0, end))) return false;
    text.remove_prefix(std::min(text.size(), end + separator.size()));
  }
  return true;
}

}  // namespace

FeatureParser::FeatureParser(const FeatureColumns& spec, const RowSource& table,
                             uint64_t declared_width)
    : spec_(spec), width_(spec.width == 0 ? declared_width : spec.width) {
  for (const std::string& name : spec.columns) columns_.push_back(table.column(name));
}

bool FeatureParser::reject(std::string what, std::string remedy) {
  defect_ = std::move(what);
  remedy_ = std::move(remedy);
  return false;
}

bool FeatureParser::parse(const Row& row) {
  values_.assign(width_, 0.0F);
  if (!parse_form(row)) return false;
  if (!features_fit(values_, spec_.type))
    return reject("a feature is outside the range of float16");
  return true;
}

bool FeatureParser::parse_form(const Row& row) {
  switch (spec_.form) {
    case FeatureColumns::Form::columns:
      return parse_columns(row);
    case FeatureColumns::Form::list:
      return parse_list(row.cell(columns_[0]));
    case FeatureColumns::Form::sparse:
      return parse_sparse(row.cell(columns_[0]));
    default:
      hashed_words(row.cell(columns_[0]), values_);
      return true;
  }
}

bool FeatureParser::parse_columns(const Row& row) {
  for (size_t i = 0; i < columns_.size(); ++i) {
    const std::string_view cell = row.cell(columns_[i]);
    const bool missing = cell.empty() && spec_.missing.policy != MissingNumber::Policy::drop;
    if (missing) {
      values_[i] = spec_.missing.number;
      if (spec_.missing.policy == MissingNumber::Policy::flag) values_[columns_.size() + i] = 1;
    } else if (!read_real(cell, values_[i])) {
      return reject(fmt::format("{} in column {} is not a finite number", quoted_cell(cell),
                                spec_.columns[i]),
                    number_remedy(cell, "missing = 0 or missing = \"flag\" in its features"));
    }
  }
  return true;
}

bool FeatureParser::parse_list(std::string_view cell) {
  if (cell.empty() && spec_.missing.policy == MissingNumber::Policy::fill) {
    std::fill(values_.begin(), values_.end(), spec_.missing.number);
    return true;
  }
  values_.clear();
  std::string_view bad;
  const bool good = each_part(cell, spec_.separator, [&](std::string_view part) {
    bad = part;
    return read_real(part, values_.emplace_back());
  });
  if (!good) {
    return reject(fmt::format("feature '{}' is not a finite number", bad),
                  fmt::format("check the 'separator' of the list, now '{}'", spec_.separator));
  }
  if (width_ == 0) width_ = values_.size();  // the first row tells
  if (values_.size() == width_ && width_ > 0) return true;
  return reject(fmt::format("the row has {} features instead of {}", values_.size(),
                            width_ == 0 ? "some" : std::to_string(width_)),
                cell.empty() ? "missing = 0 with a 'width' in its features keeps empty lists"
                             : "check the 'width' and the 'separator' of the list");
}

bool FeatureParser::parse_sparse(std::string_view cell) {
  std::string_view bad;
  const bool good = each_part(cell, spec_.separator, [&](std::string_view part) {
    bad = part;
    const size_t colon = part.find(':');
    if (colon == std::string_view::npos) return false;
    const auto column = parse_whole(part.substr(0, colon));
    if (!column || *column < 0 || static_cast<uint64_t>(*column) >= spec_.width) return false;
    return read_real(part.substr(colon + 1), values_[static_cast<size_t>(*column)]);
  });
  return good ||
         reject(fmt::format("feature '{}' is not index:value with an index below the width {}", bad,
                            spec_.width));
}

std::string describe(const FeatureColumns& spec) {
  switch (spec.form) {
    case FeatureColumns::Form::hashed_words:
      return fmt::format("hashed words of {}", spec.columns[0]);
    case FeatureColumns::Form::npy:
      return fmt::format("rows of {}", spec.columns[0]);
    case FeatureColumns::Form::columns:
      if (spec.columns.size() > 5) return fmt::format("{} columns", spec.columns.size());
      return fmt::format(
          "columns {}{}", fmt::join(spec.columns, ", "),
          spec.missing.policy == MissingNumber::Policy::flag ? ", missing ones flagged" : "");
    default:
      return fmt::format("column {}", spec.columns[0]);
  }
}

}  // namespace hgt
