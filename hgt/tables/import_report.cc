#include "hgt/tables/import_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "hgt/error.h"

namespace hgt {

namespace {

constexpr uint64_t kExamplesPerKind = 3;
constexpr size_t kMaxReasons = 32;   // of one table; further ones count with their kind
constexpr size_t kShownReasons = 6;  // of one table, the most frequent

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

double TableReport::lost_share() const {
  const uint64_t lost = dropped();
  return lost == 0 ? 0 : static_cast<double>(lost) / static_cast<double>(kept + lost);
}

std::string describe_losses(const TableReport& table) {
  std::string text =
      fmt::format("{}: {} would lose {} of {} rows ({:.1f}%)", table.place, table.title,
                  table.dropped(), table.kept + table.dropped(), 100 * table.lost_share());
  std::vector<LostRows> losses = table.losses;
  std::stable_sort(losses.begin(), losses.end(),
                   [](const LostRows& a, const LostRows& b) { return a.rows > b.rows; });
  for (size_t i = 0; i < std::min(losses.size(), kShownReasons); ++i) {
    text += fmt::format("\n  {} {}, such as {}", losses[i].rows, to_string(losses[i].defect),
                        losses[i].example);
    if (!losses[i].remedy.empty()) text += fmt::format("\n    remedy: {}", losses[i].remedy);
  }
  return text;
}

LostRows& DefectLog::loss(Defect defect, const std::string& remedy) {
  auto& losses = report_.losses;
  const auto same = [&](const LostRows& loss) {
    return loss.defect == defect && loss.remedy == remedy;
  };
  const auto of_kind = [&](const LostRows& loss) { return loss.defect == defect; };
  auto found = std::find_if(losses.begin(), losses.end(), same);
  if (found == losses.end() && losses.size() >= kMaxReasons) {
    found = std::find_if(losses.begin(), losses.end(), of_kind);
  }
  if (found != losses.end()) return *found;
  return losses.emplace_back(LostRows{.defect = defect, .remedy = remedy});
}

void DefectLog::add(Defect defect, const RowPosition& position, const std::string& what,
                    const std::string& remedy) {
  const std::string text = fmt::format("{}: {}", to_string(position), what);
  if (strict_) {
    throw Error(fmt::format("{}; {}{}correct it, or import without --strict to drop such rows",
                            text, remedy, remedy.empty() ? "" : "; "));
  }
  LostRows& reason = loss(defect, remedy);
  if (reason.rows++ == 0) reason.example = text;
  uint64_t& count = report_.defects[static_cast<size_t>(defect)];
  if (count++ < kExamplesPerKind) report_.examples.push_back(text);
}

void RecordedLog::tell(RowLog& log, uint64_t line) const {
  for (uint64_t i = 0; i < ignored_; ++i) log.ignore();
  for (const auto& [defect, position, what, remedy] : defects_) {
    log.add(defect, {position.before_number, position.number + line - 1}, what, remedy);
  }
}

void RecordedLog::clear() {
  ignored_ = 0;
  defects_.clear();
}

}  // namespace hgt
