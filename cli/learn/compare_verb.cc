// compare: several models on one task, and the table that compares them.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/learn/run_flags.h"
#include "cli/learn/show_warnings.h"
#include "cli/progress_bar.h"
#include "cli/streams.h"
#include "cli/verbs.h"
#include "hgt/disk/whole_file.h"
#include "hgt/error.h"
#include "hgt/model/machine.h"
#include "hgt/task/split_dates.h"
#include "hgt/training/comparison.h"
#include "hgt/training/run.h"
#include "hgt/training/tune.h"

namespace hgt::cli {

namespace {

struct CompareFlags {
  explicit CompareFlags(CLI::App& verb) : run(verb, {"model", "heter", "rte"}, tune_table(how)) {}

  TuneOptions how;
  RunFlags run;
  bool tune = false;
  std::vector<std::string> models = {"all"};
  bool json = false;
  bool quiet = false;
};

// Waits for the process, and stops it if this one is stopped. Returns its exit code.
int wait_for(pid_t child) {
  int status = 0;
  bool told = false;
  while (true) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended < 0) throw Error(fmt::format("lost a process: {}", std::strerror(errno)));
    if (ended > 0) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (was_interrupted() && !std::exchange(told, true)) ::kill(child, SIGTERM);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

// Starts this program again, its output thrown away, and waits for it. Returns its exit code.
int run_self(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw Error(fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // if this process is killed, that one stops and saves
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) ::dup2(nowhere, STDOUT_FILENO);
    ::execv("/proc/self/exe", arguments.data());
    ::_exit(127);
  }
  return wait_for(child);
}

// Trains one model in a process of its own: its peak memory is then its own, too.
void train_model(const Path& run, const CompareFlags& flags, const PipelineOptions& pipeline) {
  std::vector<std::string> words = {"hgt",
                                    "train",
                                    "--run",
                                    run.string(),
                                    "--resume",
                                    "--threads",
                                    std::to_string(pipeline.threads),
                                    "--workers",
                                    std::to_string(pipeline.workers)};
  if (flags.quiet) words.emplace_back("--quiet");
  const int code = run_self(std::move(words));
  constexpr int kStopped = 128 + SIGINT;
  if (code == kStopped) {
    throw Interrupted(fmt::format("stopped and saved; continue with: hgt compare --run {} --resume",
                                  run.parent_path().string()));
  }
  if (code == 128 + SIGKILL) {
    throw Error(fmt::format(
        "{}: training was killed; if memory ran out, lower --threads or the sizes of the model and "
        "continue with: hgt compare --run {} --resume",
        run.string(), run.parent_path().string()));
  }
  if (code != 0) {
    throw Error(
        fmt::format("{}: training failed (exit code {}); correct what it reports above and "
                    "continue with: hgt compare --run {} --resume",
                    run.string(), code, run.parent_path().string()));
  }
}

void refuse_to_search_models(const std::string& file) {
  const SearchSpace space = file.empty() ? SearchSpace{} : read_space(file);
  for (const char* key : {"model", "heter", "rte"}) {
    if (space.find(key) == nullptr) continue;
    throw Error(
        fmt::format("{}: '{}' is searched, but the comparison sets it; leave it out", file, key));
  }
}

// Each model gets options of its own, found with the same budget.
void tune_models(const ComparisonFolder& folder, const CompareFlags& flags,
                 std::vector<ComparedModel>& models, const ProgressSink& progress) {
  refuse_to_search_models(flags.how.space);
  for (ComparedModel& model : models) {
    if (!flags.quiet) tell(fmt::format("tuning {}\n", model.name));
    try {
      Tune tune = Tune::create(folder.tuning(model.name), model.options, flags.how,
                               flags.run.given(), progress);
      tune.search(progress);
      model.options = tune.winner();
    } catch (const Interrupted&) {
      throw Interrupted("stopped and saved; continue with the same command");
    }
  }
}

void begin_comparison(const ComparisonFolder& folder, CompareFlags& flags,
                      const ProgressSink& progress) {
  const std::vector<std::string> models = chosen_models(flags.models);
  const std::vector<std::string> readers = model_names(&ModelRow::follows_meta_paths);
  const bool some = std::find_first_of(models.begin(), models.end(), readers.begin(),
                                       readers.end()) != models.end();
  if (!some && flags.run.names_meta_paths()) {
    throw CLI::ValidationError("--meta-paths",
                               fmt::format("{} is not compared", fmt::join(readers, ", ")));
  }
  std::vector<ComparedModel> compared = with_options(models, flags.run.effective());
  if (!flags.tune && flags.how != TuneOptions{}) {
    throw CLI::ValidationError("--tune",
                               "without it, nothing is searched: give it, or leave out "
                               "--space, --trials, --budget, --rungs, --draws, --metric");
  }
  if (flags.tune && !std::filesystem::exists(folder.models_file())) {
    tune_models(folder, flags, compared, progress);
  }
  create_comparison(folder, compared, progress);
}

void run_compare(CompareFlags& flags) {
  keep_tensor_memory();
  ProgressBar bar(flags.quiet);
  const ComparisonFolder folder{Path(flags.run.folder())};
  if (!flags.run.resumes()) begin_comparison(folder, flags, bar.sink());
  bool told_split = flags.quiet;
  std::vector<Warning> shown;
  for (const std::string& model : read_compared_models(folder)) {
    const Path path = folder.run(model).path();
    Run run = Run::open(path, bar.sink());
    PipelineOptions pipeline = run.options().training.pipeline;
    if (flags.run.resumes()) pipeline = flags.run.resumed(run.options()).training.pipeline;
    const EvaluationOptions how = run.scoring();
    if (run.is_scored(Split::test, how)) continue;
    if (!std::exchange(told_split, true) && run.task().spec().split == SplitRule::time) {
      tell(fmt::format("split {}\n", describe_split(run.task())));
    }
    if (!flags.quiet) tell(model + "\n");
    train_model(path, flags, pipeline);
    run.set_pipeline(pipeline);
    for (const Warning& warning : run.evaluate(Split::test, how, bar.sink()).warnings) {
      if (std::find(shown.begin(), shown.end(), warning) != shown.end()) continue;
      show_warnings({warning});
      shown.push_back(warning);
    }
  }
  const ComparisonTable table = read_comparison(folder);
  const std::string markdown = to_markdown(table);
  const std::string json = to_json(table);
  write_text(folder.markdown_file(), markdown);
  write_text(folder.json_file(), json);
  write_text(folder.picture_file(), to_svg(table));
  fmt::print("{}", flags.json ? json : markdown);
  if (!flags.json) {
    fmt::print("\nalso in {}: comparison.md, results.json, comparison.svg\n",
               folder.path().string());
  }
}

}  // namespace

void add_compare(CLI::App& verb) {
  auto flags = std::make_shared<CompareFlags>(verb);
  CLI::Option* models =
      verb.add_option("--models", flags->models,
                      fmt::format("Models to compare: all, or some of {}, separated by commas",
                                  fmt::join(compared_models(), ", ")))
          ->delimiter(',')
          ->default_str("all")
          ->type_name("NAME,...");
  CLI::Option* tune =
      verb.add_flag("--tune", flags->tune,
                    "First search for good options of each model, with the same --budget or "
                    "--trials for each (docs/tuning.md)");
  for (CLI::Option* other : {models, tune}) verb.get_option("--resume")->excludes(other);
  verb.add_flag("--json", flags->json, "Print JSON instead of text");
  verb.add_flag("--quiet", flags->quiet, "Do not show progress");
  verb.callback([flags] { run_compare(*flags); });
}

}  // namespace hgt::cli
