// What a search for options did: its plan, a line for every score with the split that it was
// measured on, and what that amounts to.
//
//   const TuneLog log(TuneFolder("venue.tune").log_file());
//   for (const TuneScore& score : log.read()) ...   // the last one alone may be of the test split
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hgt/run/halving.h"
#include "hgt/run/run_folder.h"
#include "hgt/run/training_log.h"
#include "hgt/run/tune_options.h"
#include "hgt/task/metrics.h"

namespace hgt {

// TuneFolder::plan_file(): written last, so that a folder with it has everything.
struct TunePlan {
  TuneOptions options = {};  // with draws and metric as they were settled
  std::string draws_reason = {};

  friend bool operator==(const TunePlan&, const TunePlan&) = default;
};
void write_plan(const TuneFolder& folder, const TunePlan& plan);
TunePlan read_plan(const TuneFolder& folder);  // throws Error: there is none, or it is damaged
bool holds_plan(const TuneFolder& folder);

// An evaluation: of a trial on one draw of the validation examples at the end of a rung, or of the
// winner on the test examples.
struct TuneScore {
  uint64_t trial = 0;
  uint64_t rung = 0;
  uint64_t draw = 0;
  Split split = Split::validation;
  uint64_t batches = 0;              // trained so far
  std::optional<double> score = {};  // the higher the better; none: training failed
  double seconds = 0;                // of training this trial on this draw so far
  NamedMetrics metrics = {};         // test only: means over the seeds
  // What was drawn for the trial, by option (search_space.h).
  std::vector<std::pair<std::string, std::string>> drawn = {};
  std::string failure = {};  // why there is no score

  friend bool operator==(const TuneScore&, const TuneScore&) = default;
};

// TuneFolder::log_file(). Lines are only ever added; one that a killed process left half-written is
// dropped when the search goes on.
class TuneLog {
 public:
  explicit TuneLog(Path file) : file_(std::move(file)) {}

  std::vector<TuneScore> read() const;  // whole lines only; none where there is no file
  void append(const TuneScore& score) const;
  void drop_half_line() const;

 private:
  Path file_;
};

// The value of a metric, or -loss, where the validation loss was lowest up to a batch: what the
// weights that a run keeps are worth. No value: there was no validation yet.
std::optional<double> kept_score(const std::vector<LogEntry>& entries, const std::string& metric,
                                 uint64_t until);

// Means over the draws, of rungs that were scored on all of theirs. A failure on one is a failure.
RungScores mean_scores(const std::vector<TuneScore>& log, const Halving& halving);
// Seconds of training trials.
double seconds_spent(const std::vector<TuneScore>& log);
bool has_read_test(const std::vector<TuneScore>& log);

}  // namespace hgt
