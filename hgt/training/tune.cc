#include "hgt/training/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <utility>

#include "hgt/disk/whole_file.h"
#include "hgt/error.h"
#include "hgt/run/tune_report.h"
#include "hgt/task/known_labels.h"
#include "hgt/training/trainer.h"

namespace hgt {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kEnoughExamples = 1000;  // a score of 0.9 on them is known to a point
constexpr uint64_t kMostDraws = 5;

// How many draws of the validation examples have nothing in common.
uint64_t separate_draws(const Task& task) {
  if (!task.draws_validation()) return 1;
  const TaskSpec& spec = task.spec();
  const double others = spec.split == SplitRule::random ? 1 - spec.test_share : 1;
  constexpr double kRounding = 1e-9;
  return static_cast<uint64_t>(others / spec.validation_share + kRounding);
}

// Fills in how many draws there are, and says why.
void settle_draws(const Task& task, TunePlan& plan) {
  const uint64_t examples = task.num_examples(Split::validation);
  const uint64_t possible = separate_draws(task);
  const uint64_t asked = plan.options.draws;
  if (asked > possible) {
    throw Error(fmt::format(
        "{} draws of the validation examples were asked for; {}, so give --draws {} or less", asked,
        task.draws_validation() ? fmt::format("no more than {} have nothing in common", possible)
                                : std::string("the split says which examples are for validation"),
        possible));
  }
  const uint64_t needed = (kEnoughExamples + examples - 1) / examples;
  plan.options.draws = asked > 0 ? asked : std::min({needed, possible, kMostDraws});
  const bool few = examples < kEnoughExamples;
  if (plan.options.draws > 1) {
    plan.draws_reason =
        fmt::format("validation, mean of {} draws of {} examples each{}", plan.options.draws,
                    examples, few ? ", too few to tell trials apart on one" : "");
  } else {
    plan.draws_reason =
        fmt::format("validation, {} examples{}", examples,
                    few && possible == 1 ? ", which are few, but the split has no others" : "");
  }
}

void settle_metric(const Task& task, TunePlan& plan) {
  std::vector<std::string> known = task.metrics();
  if (plan.options.metric.empty()) plan.options.metric = known.front();
  known.emplace_back("loss");
  if (std::find(known.begin(), known.end(), plan.options.metric) != known.end()) return;
  std::string names;
  for (const std::string& name : known) names += (names.empty() ? "" : ", ") + name;
  throw Error(fmt::format("there is no metric '{}'; the metrics of task {} are {}",
                          plan.options.metric, task.spec().name, names));
}

TunePlan settled_plan(const Task& task, const TuneOptions& how) {
  check(how);
  TunePlan plan{.options = how};
  plan.options.space.clear();  // the folder has a copy
  settle_draws(task, plan);
  settle_metric(task, plan);
  return plan;
}

SearchSpace settled_space(const Run& base, const TuneOptions& how,
                          const std::vector<std::string>& fixed) {
  if (how.space.empty()) {
    SearchSpace space = default_space(base.options(), base.task().num_examples(Split::train));
    if (base.task().num_classes() > kMostKnownClasses) space = without(space, {"label-inputs"});
    return without(space, fixed);
  }
  SearchSpace space = read_space(how.space);
  for (const std::string& key : fixed) {
    if (space.find(key) == nullptr) continue;
    throw Error(fmt::format("{}: '{}' is searched, but also given as --{}; leave one of them out",
                            how.space, key, key));
  }
  return space;
}

// What cannot be drawn should be known before the first hour of training.
void check_space(const SearchSpace& space, const Run& base) {
  if (space.dimensions.empty()) {
    throw Error(
        "every option of the default space is given; leave one out, so that it is searched");
  }
  constexpr uint64_t kTried = 200;
  const RunOptions& options = base.options();
  for (uint64_t trial = 0; trial < kTried; ++trial) {
    draw_trial(space, options, base.task().graph().schema(), options.training.seed, trial);
  }
}

// The first time it is made; later it is there.
Run made_run(const RunFolder& folder, const RunOptions& options, const ProgressSink& progress) {
  if (folder.holds_run()) return Run::open(folder.path(), progress);
  return Run::create(folder.path(), options, progress);
}

Lock lock_search(const TuneFolder& folder) {
  return {folder.lock_file(),
          fmt::format("{}: another process is searching here", folder.path().string())};
}

}  // namespace

// Tells how far the search is, and stops it when the time is up.
class Tune::Watch {
 public:
  Watch(const Tune& tune, const ProgressSink& sink)
      : tune_(tune),
        sink_(sink),
        halving_(halving_of(tune.plan_.options)),
        budget_(budget_seconds(tune.plan_.options)),
        spent_before_(seconds_spent(tune.log_.read())) {}

  bool is_time_up() const { return spent() >= budget_; }

  // What is trained from here on, in whole trainings.
  void begin(const RungOfTrial& job, uint64_t draw) {
    job_ = job;
    draw_ = draw;
    part_ = work_of_draw(halving_, job.rung, draw);
    leader_ = leader_text();
  }
  void end() {
    done_ += part_;
    batches_ += batches_of_part_;
    batches_of_part_ = 0;
  }
  void skip(const RungOfTrial& job, uint64_t draw) {
    begin(job, draw);
    end();
  }

  // For the training of a part, which is `from` to `until` batches.
  ProgressSink sink(uint64_t from, uint64_t until) {
    return [this, from, until](const Progress& progress) {
      const bool trains = progress.unit == "batches";
      if (trains) batches_of_part_ = progress.count - std::min(progress.count, from);
      const double length =
          static_cast<double>(std::max<uint64_t>(1, until - std::min(from, until)));
      show(static_cast<double>(batches_of_part_) / length);
      if (is_time_up()) throw Interrupted();
    };
  }

  void finish() const { show(0, true); }

 private:
  double spent() const {
    return spent_before_ + std::chrono::duration<double>(Clock::now() - start_).count();
  }

  double fraction(double share) const {
    const double timed = std::isinf(budget_) ? 0 : spent() / budget_;
    const double counted =
        halving_.endless ? 0 : (done_ + share * part_) / work_of_bracket(halving_);
    return std::min(1.0, std::max(timed, counted));
  }

  void show(double share, bool finished = false) const {
    sink_({.stage = "tuning",
           .unit = "batches",
           .count = batches_ + batches_of_part_,
           .fraction = finished ? 1 : fraction(share),
           .finished = finished,
           .detail = fmt::format("trial {}{}, rung {} of {}, draw {} of {}{}", job_.trial,
                                 halving_.endless ? "" : fmt::format(" of {}", halving_.trials),
                                 job_.rung + 1, halving_.rungs, draw_ + 1,
                                 draws_of_rung(halving_, job_.rung), leader_)});
  }

  std::string leader_text() const {
    const RungScores scores = mean_scores(tune_.log_.read(), halving_);
    const auto best = leader(scores);
    if (!best) return "";
    return fmt::format("; best {} {:.4f} (trial {})", tune_.plan_.options.metric, *scores.at(*best),
                       best->trial);
  }

  const Tune& tune_;
  const ProgressSink& sink_;
  Halving halving_;
  double budget_;
  double spent_before_;
  Clock::time_point start_ = Clock::now();
  RungOfTrial job_;
  uint64_t draw_ = 0;
  double part_ = 0;
  double done_ = 0;
  uint64_t batches_ = 0;
  uint64_t batches_of_part_ = 0;
  std::string leader_;
};

Tune::Tune(TuneFolder folder, Run base)
    : folder_(std::move(folder)),
      base_(std::move(base)),
      plan_(read_plan(folder_)),
      space_(read_space(folder_.space_file())),
      log_(folder_.log_file()),
      lock_(lock_search(folder_)) {
  log_.drop_half_line();
}

void Tune::begin(const TuneFolder& folder, const Run& base, const TuneOptions& how,
                 const std::vector<std::string>& fixed) {
  const TunePlan plan = settled_plan(base.task(), how);
  const SearchSpace space = settled_space(base, how, fixed);
  check_space(space, base);
  write_text(folder.space_file(), to_toml(space));
  write_plan(folder, plan);
}

Tune Tune::create(const TuneFolder& folder, const RunOptions& options, const TuneOptions& how,
                  const std::vector<std::string>& fixed, const ProgressSink& progress) {
  check(how);
  const bool known = holds_plan(folder);
  Run base = made_run(folder.base(), options, progress);
  if (!known) begin(folder, base, how, fixed);
  Tune tune(folder, std::move(base));
  tune.refuse_other(options, how, fixed);
  tune.set_budget(how.budget);
  return tune;
}

Tune Tune::open(const TuneFolder& folder, const ProgressSink& progress) {
  read_plan(folder);  // throws: there is none
  return {folder, Run::open(folder.base().path(), progress)};
}

void Tune::refuse_other(const RunOptions& options, const TuneOptions& how,
                        const std::vector<std::string>& fixed) const {
  TunePlan plan = settled_plan(base_.task(), how);
  plan.options.budget = plan_.options.budget;
  const bool same = base_.is_made_of(options) && plan == plan_ &&
                    to_toml(settled_space(base_, how, fixed)) == to_toml(space_);
  if (same) return;
  throw Error(
      fmt::format("{}: there is already a search with other options; give the same options as "
                  "before (only --budget may change), or choose another folder",
                  folder_.path().string()));
}

void Tune::set_budget(const std::string& budget) {
  if (budget == plan_.options.budget) return;
  TunePlan changed = plan_;
  changed.options.budget = budget;
  check(changed.options);
  plan_ = changed;
  write_plan(folder_, plan_);
}

// How long it is trained and how often it is scored follows from the base's examples, so that it is
// the same on all draws.
RunOptions Tune::options_of(uint64_t trial) const {
  const RunOptions& base = base_.options();
  RunOptions options =
      draw_trial(space_, base, base_.task().graph().schema(), base.training.seed, trial).options;
  TrainOptions& training = options.training;
  const uint64_t examples = base_.task().num_examples(Split::train);
  const uint64_t epoch = (examples + training.batch_size - 1) / training.batch_size;
  if (training.batches == 0) training.batches = training.epochs * epoch;
  const uint64_t asked = training.validate_every > 0 ? training.validate_every : epoch;
  training.validate_every = validation_interval(halving_of(plan_.options), training.batches, asked);
  return options;
}

// A training of its own: other validation examples, other weights to begin with.
Run Tune::open_trial(uint64_t trial, uint64_t draw) const {
  RunOptions options = options_of(trial);
  options.repeats = 1;
  options.training.seed += draw;
  options.task.validation_draw += static_cast<uint32_t>(draw);
  Run run = made_run(folder_.trial(trial, draw), options, no_progress);
  run.set_pipeline(base_.options().training.pipeline);
  return run;
}

TuneScore Tune::trained(const RungOfTrial& job, uint64_t draw, const ProgressSink& progress) const {
  Run run = open_trial(job.trial, draw);
  const TrainOptions& training = run.options().training;
  TuneScore score{.trial = job.trial, .rung = job.rung, .draw = draw};
  score.drawn = draw_trial(space_, base_.options(), base_.task().graph().schema(),
                           base_.options().training.seed, job.trial)
                    .drawn;
  const uint64_t until =
      end_of_rung(halving_of(plan_.options), job.rung, training.batches, training.validate_every);
  const TrainingLog log(run.files().seed(training.seed).log_file());
  try {
    const SeedReport report = run.train_until(until, progress).front();
    score.batches = report.batches;
    score.seconds = report.seconds;
    score.score = kept_score(log.read(), plan_.options.metric, until);
  } catch (const Diverged& error) {
    score.failure = error.what();
  }
  return score;
}

bool Tune::score(const RungOfTrial& job, Watch& watch) {
  const std::vector<TuneScore> known = log_.read();
  for (uint64_t draw = 0; draw < draws_of_rung(halving_of(plan_.options), job.rung); ++draw) {
    watch.begin(job, draw);
    const bool scored = std::any_of(known.begin(), known.end(), [&](const TuneScore& each) {
      return each.trial == job.trial && each.rung == job.rung && each.draw == draw;
    });
    if (!scored && (watch.is_time_up() || !score_draw(job, draw, watch))) return false;
    if (!log_.read().back().score) return true;  // the other draws would not help
    watch.end();
  }
  return true;
}

bool Tune::score_draw(const RungOfTrial& job, uint64_t draw, Watch& watch) const {
  const Halving halving = halving_of(plan_.options);
  const TrainOptions training = options_of(job.trial).training;
  const auto end = [&](uint64_t rung) {
    return end_of_rung(halving, rung, training.batches, training.validate_every);
  };
  const bool begun = job.rung > 0 && draw < draws_of_rung(halving, job.rung - 1);
  const uint64_t from = begun ? end(job.rung - 1) : 0;
  try {
    log_.append(trained(job, draw, watch.sink(from, end(job.rung))));
    return true;
  } catch (const Interrupted&) {
    if (watch.is_time_up()) return false;
    throw Interrupted(stopped_text());
  }
}

std::string Tune::stopped_text() const {
  return fmt::format("stopped and saved; continue with: hgt tune --run {} --resume",
                     folder_.path().string());
}

void Tune::search(const ProgressSink& progress) {
  if (has_read_test(log_.read())) return;  // what would be found now could not be tested
  const Halving halving = halving_of(plan_.options);
  const auto scores = [&] { return mean_scores(log_.read(), halving_of(plan_.options)); };
  Watch watch(*this, progress);
  for (const auto& [job, score] : scores()) {
    for (uint64_t draw = 0; draw < draws_of_rung(halving, job.rung); ++draw) watch.skip(job, draw);
  }
  while (const auto job = next_job(halving, scores())) {
    if (!score(*job, watch)) break;
    remove_retired();
    write_report();
  }
  watch.finish();
  write_report();
}

// Its weights are not needed any more; its logs stay.
void Tune::remove_weights(uint64_t trial) const {
  for (uint64_t draw = 0; draw < plan_.options.draws; ++draw) {
    for (const SeedFolder& seed : folder_.trial(trial, draw).seeds()) {
      fs::remove(seed.checkpoint_file());
      fs::remove(seed.best_file());
    }
  }
}

void Tune::remove_retired() const {
  const RungScores scores = mean_scores(log_.read(), halving_of(plan_.options));
  const auto best = leader(scores);
  for (const uint64_t trial : retired(halving_of(plan_.options), scores)) {
    if (!best || trial != best->trial) remove_weights(trial);
  }
}

void Tune::write_report() const {
  const TuneReport report = read_tune(folder_);
  write_text(folder_.markdown_file(), to_markdown(report));
  write_text(folder_.picture_file(), to_svg(report));
  const RungScores scores = mean_scores(log_.read(), halving_of(plan_.options));
  const auto best = leader(scores);
  if (!best) return;
  RunOptions options = options_of(best->trial);
  write_text(
      folder_.best_file(),
      fmt::format("# Trial {} of hgt tune on task {}: {} {:.4f} on {}.\n", best->trial,
                  options.task.name, plan_.options.metric, *scores.at(*best), plan_.draws_reason) +
          training_table(options).to_toml());
}

RunOptions Tune::winner() const {
  const std::vector<TuneScore> log = log_.read();
  const auto best = leader(mean_scores(log, halving_of(plan_.options)));
  if (best) return options_of(best->trial);
  const auto failed = std::find_if(log.begin(), log.end(),
                                   [](const TuneScore& score) { return !score.failure.empty(); });
  throw Error(fmt::format("{}: no trial has a score, so there is no winner; {}",
                          folder_.path().string(),
                          failed == log.end() ? "raise --budget" : failed->failure));
}

// The trial's first draw was trained as the winner's first seed is.
void Tune::adopt_weights(uint64_t trial) const {
  const uint64_t seed = base_.options().training.seed;
  const SeedFolder from = folder_.trial(trial, 0).seed(seed);
  const SeedFolder to = folder_.winner().seed(seed);
  if (!fs::exists(from.checkpoint_file()) || fs::exists(to.checkpoint_file())) return;
  fs::create_directories(to.path());
  // The checkpoint is last: without it nothing counts.
  for (const auto& file :
       {&SeedFolder::log_file, &SeedFolder::best_file, &SeedFolder::checkpoint_file}) {
    write_text((to.*file)(), read_text((from.*file)()));
  }
}

RunResult Tune::score_winner(const ProgressSink& progress) {
  const RunOptions options = winner();
  const RungOfTrial best = *leader(mean_scores(log_.read(), halving_of(plan_.options)));
  Run run = made_run(folder_.winner(), options, progress);
  run.set_pipeline(base_.options().training.pipeline);
  const EvaluationOptions how = run.scoring();
  try {
    if (!run.is_scored(Split::test, how)) {
      adopt_weights(best.trial);
      run.train(progress);
      run.evaluate(Split::test, how, progress);
    }
  } catch (const Interrupted&) {
    throw Interrupted(stopped_text());
  }
  RunResult result = read_result(run.files(), Split::test).value();
  if (!has_read_test(log_.read())) {
    TuneScore score{.trial = best.trial, .rung = best.rung, .split = Split::test};
    score.batches = options.training.batches;
    for (const auto& [name, value] : result.metrics) score.metrics.emplace_back(name, value.mean);
    log_.append(score);
  }
  write_report();
  return result;
}

}  // namespace hgt
