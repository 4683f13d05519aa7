// A search for good options by successive halving (hgt/run/halving.h), by validation scores only.
// hgt/run/tune_report.h reads what comes of it.
//
//   Tune tune = Tune::create(TuneFolder("venue.tune"), options, {.trials = 27});
//   tune.search(progress);
//   const RunResult result = tune.score_winner(progress);  // the one time that test is read
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hgt/disk/lock.h"
#include "hgt/progress.h"
#include "hgt/run/results.h"
#include "hgt/run/run_options.h"
#include "hgt/run/search_space.h"
#include "hgt/run/tune_log.h"
#include "hgt/training/run.h"

namespace hgt {

class Tune {
 public:
  // Begins a search, or goes on with the one in the folder if it is of the same options; the budget
  // may have changed. What `fixed` names is given and not searched. Throws Error: another search is
  // there; the space, the draws or the metric do not fit.
  static Tune create(const TuneFolder& folder, const RunOptions& options, const TuneOptions& how,
                     const std::vector<std::string>& fixed = {},
                     const ProgressSink& progress = no_progress);
  static Tune open(const TuneFolder& folder, const ProgressSink& progress = no_progress);

  const TuneFolder& folder() const { return folder_; }
  const TunePlan& plan() const { return plan_; }
  const SearchSpace& space() const { return space_; }
  const Run& base() const { return base_; }  // options that trials have in common; not trained

  void set_budget(const std::string& budget);
  void set_pipeline(const PipelineOptions& pipeline) { base_.set_pipeline(pipeline); }

  // Trains trials until none is left to train or the time is up. After an interruption, a search
  // that is limited by trials alone ends as if it had not been interrupted. Throws Interrupted.
  void search(const ProgressSink& progress = no_progress);

  // Of the leader: with all that was settled, ready to be trained. Throws Error: no trial has a
  // score.
  RunOptions winner() const;

  // Trains the winner to the end, with all seeds of the options, and scores it on the test
  // examples, unless that was done before. The search is then over.
  RunResult score_winner(const ProgressSink& progress = no_progress);

 private:
  class Watch;
  Tune(TuneFolder folder, Run base);

  static void begin(const TuneFolder& folder, const Run& base, const TuneOptions& how,
                    const std::vector<std::string>& fixed);
  void refuse_other(const RunOptions& options, const TuneOptions& how,
                    const std::vector<std::string>& fixed) const;

  RunOptions options_of(uint64_t trial) const;
  Run open_trial(uint64_t trial, uint64_t draw) const;
  // False: the time is up.
  bool score(const RungOfTrial& job, Watch& watch);
  bool score_draw(const RungOfTrial& job, uint64_t draw, Watch& watch) const;
  std::string stopped_text() const;
  TuneScore trained(const RungOfTrial& job, uint64_t draw, const ProgressSink& progress) const;
  void remove_weights(uint64_t trial) const;
  void remove_retired() const;
  void write_report() const;
  void adopt_weights(uint64_t trial) const;

  TuneFolder folder_;
  Run base_;
  TunePlan plan_;
  SearchSpace space_;
  TuneLog log_;
  Lock lock_;
};

}  // namespace hgt
