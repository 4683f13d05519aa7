#include "hgt/tables/import_report.h"

#include <fmt/format.h>

#include <numeric>

#include "hgt/error.h"

namespace hgt {

namespace {

constexpr uint64_t kExamplesPerKind = 3;

constexpr std::array<std::string_view, kNumDefects> kTexts = {
    "malformed rows",
    "rows without an id",
    "rows with a repeated id",
    "edges from unknown nodes",
    "edges to unknown nodes",
    "rows for unknown nodes",
    "rows whose time cannot be read",
    "rows without a time",
    "rows whose number cannot be read",
    "rows whose features cannot be read",
    "rows whose value has no edge type",
};

}  // namespace

std::string_view to_string(Defect defect) { return kTexts[static_cast<size_t>(defect)]; }

uint64_t TableReport::dropped() const {
  return std::accumulate(defects.begin(), defects.end(), uint64_t{0});
}

uint64_t ImportReport::dropped() const {
  uint64_t total = 0;
  for (const TableReport& table : tables) total += table.dropped();
  return total;
}

void DefectLog::add(Defect defect, const RowPosition& position, const std::string& what) {
  const std::string text = fmt::format("{}: {}", to_string(position), what);
  if (strict_) {
    throw Error(fmt::format("{}; correct it, or import without --strict to drop such rows", text));
  }
  uint64_t& count = report_.defects[static_cast<size_t>(defect)];
  if (count++ < kExamplesPerKind) report_.examples.push_back(text);
}

}  // namespace hgt
