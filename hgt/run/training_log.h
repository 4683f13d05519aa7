// What training left: a line per validation of each seed, and a summary of the whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hgt/run/run_folder.h"
#include "hgt/run/warnings.h"

namespace hgt {

using NamedMetrics = std::vector<std::pair<std::string, double>>;  // the most telling first

// A validation.
struct LogEntry {
  uint64_t step = 0;  // batches done
  double epoch = 0;
  double train_loss = 0;  // mean since the validation before
  double validation_loss = 0;
  NamedMetrics metrics = {};  // of the validation
  double learning_rate = 0;
  double seconds = 0;           // of training so far, over all sessions
  double edges_per_second = 0;  // of this session
  double waiting = 0;           // share of the time of batches, of this session

  double metric(const std::string& name, double otherwise) const;
  friend bool operator==(const LogEntry&, const LogEntry&) = default;
};

// SeedFolder::log_file(). Lines are only ever added; a line that a killed process left half-written
// is dropped when training goes on.
class TrainingLog {
 public:
  explicit TrainingLog(Path file) : file_(std::move(file)) {}

  std::vector<LogEntry> read() const;  // whole lines only; none where there is no file
  void append(const LogEntry& entry) const;
  void keep_until(uint64_t step) const;  // drops the entries of later steps, which will come again

 private:
  Path file_;
};

// How the training of one seed went.
struct SeedReport {
  uint64_t seed = 0;
  uint64_t batches = 0;
  uint64_t best_batch = 0;
  double validation_loss = 0;
  double seconds = 0;
  double seconds_per_batch = 0;  // sample, gather, step; no validation
  bool stopped_early = false;

  friend bool operator==(const SeedReport&, const SeedReport&) = default;
};

// RunFolder::training_file(): there once all seeds are trained.
struct TrainingSummary {
  uint64_t parameters = 0;
  double peak_megabytes = 0;
  std::vector<SeedReport> seeds = {};
  std::vector<Warning> warnings = {};  // why scores may mean little

  friend bool operator==(const TrainingSummary&, const TrainingSummary&) = default;
};

void write_training_summary(const RunFolder& folder, const TrainingSummary& summary);
// No value: the run is not trained to its end. Throws Error: the file is damaged.
std::optional<TrainingSummary> read_training_summary(const RunFolder& folder);

}  // namespace hgt
