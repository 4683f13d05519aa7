// What a search for options found, as a table and a picture: made of its log alone.
//
//   const TuneReport report = read_tune(TuneFolder("venue.tune"));
//   fmt::print("{}", to_markdown(report));
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hgt/run/run_folder.h"
#include "hgt/run/tune_log.h"

namespace hgt {

struct TuneRow {
  uint64_t trial = 0;
  uint64_t batches = 0;                            // of one draw
  double seconds = 0;                              // of all draws
  std::vector<std::optional<double>> scores = {};  // by rung, as far as it came; none: it failed
  std::vector<std::pair<std::string, std::string>> drawn = {};

  std::optional<double> last_score() const { return scores.empty() ? std::nullopt : scores.back(); }
};

struct TuneReport {
  std::string task = {};
  TunePlan plan = {};
  std::vector<std::string> keys = {};  // of what was drawn, in the order of the space
  std::vector<TuneRow> rows = {};      // who came furthest first, then by score
  NamedMetrics test = {};              // of the winner, once it was scored: means over the seeds
};

// Throws Error: no search was begun there.
TuneReport read_tune(const TuneFolder& folder);

std::string to_markdown(const TuneReport& report);
// Scores from rung to rung, and for each option the scores on the first rung by its values.
std::string to_svg(const TuneReport& report);

}  // namespace hgt
