// Every verb where its surroundings fail it: output that nobody takes, signals, too little memory
// or disk, another process at the same time.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "hgt/graph/graph_test_folder.h"
#include "tests/run_program.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Words = std::vector<std::string>;

// False: it did not come about within half a minute.
bool comes_about(const std::function<bool()>& condition) {
  for (int i = 0; i < 6000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += word + ' ';
  return text;
}

// One graph with a run for all tests.
class Surroundings : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared = new TestFolder;
    const Words generate = {"generate",   "--preset", "small", "--papers", "300",
                            "--features", "8",        "--out", graph()};
    ASSERT_EQ(run_program(shared->path(), generate).exit_code, 0);
    ASSERT_EQ(run_program(shared->path(), {"export", graph(), "--out", of_all("tables")}).exit_code,
              0);
    const Outcome outcome = run_program(shared->path(), train(of_all("run"), "3"));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  static void TearDownTestSuite() { delete shared; }

  static std::string of_all(const std::string& name) { return (*shared / name).string(); }
  static std::string graph() { return of_all("graph"); }
  static Words model() {
    return {"--hidden", "8",       "--heads", "2",         "--layers", "2",      "--width",
            "6",        "--depth", "2",       "--threads", "1",        "--quiet"};
  }
  static Words train(const std::string& run, const std::string& batches) {
    Words words = {"train", graph(), "--task", "paper-venue", "--run", run, "--batches", batches};
    for (const std::string& word : model()) words.push_back(word);
    return words;
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  // Every verb, with words that lead to success, and what is printed without one.
  std::vector<Words> every_verb() const {
    const std::string run = of_all("run");
    Words compare = train(path("all"), "1");
    compare[0] = "compare";
    compare.insert(compare.end(), {"--models", "mlp"});
    return {{},
            {"--help"},
            {"--version"},
            {"--help-all"},
            {"inspect", "--help"},
            {"train", "--help"},
            {"generate", "--preset", "tiny", "--out", path("tiny")},
            {"import", of_all("tables/manifest.toml"), "--out", path("imported"), "--quiet"},
            {"export", graph(), "--out", path("exported"), "--quiet"},
            {"inspect", graph()},
            {"inspect", graph(), "--json"},
            {"sample", graph(), "--random", "paper:4", "--width", "4", "--depth", "2"},
            {"doctor", "--threads", "1"},
            {"features", path("graph"), "--type", "author", "--mean-of", "paper", "--quiet"},
            train(path("run"), "1"),
            compare,
            {"evaluate", run, "--quiet"},
            {"evaluate", run, "--json", "--quiet"},
            {"predict", run, "--all", "--out", path("all.tsv"), "--quiet"},
            {"embed", run, "--type", "paper", "--out", path("vectors"), "--quiet"},
            {"explain", run, "--quiet"},
            {"similar", run, "--node", "paper:0", "--quiet"},
            {"report", run, "--out", path("report.html"), "--quiet"},
            {"view", run, "--port", "0"}};
  }

  TestFolder folder_;
  static TestFolder* shared;
};

TestFolder* Surroundings::shared = nullptr;

// --- output ---

// hgt view would serve forever if it did not fail.
void stop_at_last(pid_t program) {
  for (int i = 0; i < 3000; ++i) {
    siginfo_t ended{};
    ::waitid(P_PID, static_cast<id_t>(program), &ended, WEXITED | WNOHANG | WNOWAIT);
    if (ended.si_pid != 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ::kill(program, SIGKILL);
}

TEST_F(Surroundings, OutputThatCannotBeWrittenIsAnErrorOfEveryVerb) {
  fs::copy(graph(), folder_ / "graph", fs::copy_options::recursive);
  for (const Words& words : every_verb()) {
    const Outcome outcome = run_program(folder_.path(), words, stop_at_last, 0, [] {
      ::dup2(::open("/dev/full", O_WRONLY), STDOUT_FILENO);
    });
    EXPECT_EQ(outcome.exit_code, 1) << joined(words) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "standard output")) << joined(words) << outcome.err;
  }
}

TEST_F(Surroundings, AReaderThatIsGoneIsAnErrorToo) {
  for (const Words& words : {Words{"inspect", graph()}, Words{"evaluate", of_all("run"), "--quiet"},
                             Words{"train", "--help"}}) {
    const Outcome outcome = run_program(folder_.path(), words, {}, 0, [] {
      std::array<int, 2> ends{};
      if (::pipe(ends.data()) != 0) ::_exit(9);
      ::close(ends[0]);
      ::dup2(ends[1], STDOUT_FILENO);
    });
    EXPECT_EQ(outcome.exit_code, 1) << joined(words) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "standard output")) << joined(words) << outcome.err;
  }
}

// What is not open must not become the number of a file of the graph.
TEST_F(Surroundings, ClosedStreamsDoNotEndUpInFiles) {
  const auto generate = [&](const std::string& name, const std::function<void()>& before) {
    return run_program(folder_.path(), {"generate", "--preset", "tiny", "--out", path(name)}, {}, 0,
                       before);
  };
  ASSERT_EQ(generate("usual", {}).exit_code, 0);
  const Outcome outcome = generate("closed", [] {
    for (const int stream : {0, 1, 2}) ::close(stream);
  });
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(folder_bytes(folder_ / "closed"), folder_bytes(folder_ / "usual"));
}

TEST_F(Surroundings, ProgressThatNobodyReadsStopsNothing) {
  Words words = train(path("run"), "2");
  words.pop_back();  // --quiet
  const Outcome outcome = run_program(folder_.path(), words, {}, 0,
                                      [] { ::dup2(::open("/dev/full", O_WRONLY), STDERR_FILENO); });
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(contains(outcome.out, "score it with")) << outcome.out;
}

// --- signals ---

TEST_F(Surroundings, TerminationAndHangupActAsControlC) {
  for (const int signal : {SIGTERM, SIGHUP}) {
    const std::string run = path("run" + std::to_string(signal));
    const Outcome trained = run_program(folder_.path(), train(run, "1000000"), [&](pid_t program) {
      EXPECT_TRUE(comes_about([&] { return fs::exists(run + "/seed-1/log.jsonl"); }));
      ::kill(program, signal);
    });
    EXPECT_EQ(trained.exit_code, 130) << trained.err;
    EXPECT_TRUE(contains(trained.err, "stopped and saved; continue with")) << trained.err;
    EXPECT_TRUE(fs::exists(run + "/seed-1/checkpoint.safetensors"));

    const Outcome made = run_program(
        folder_.path(),
        {"generate", "--preset", "cs", "--papers", "1000000", "--out", path("big"), "--quiet"},
        [&](pid_t program) {
          EXPECT_TRUE(comes_about([&] { return fs::exists(folder_ / "big.partial"); }));
          ::kill(program, signal);
        });
    EXPECT_EQ(made.exit_code, 130) << made.err;
    EXPECT_FALSE(holds_partial(folder_.path()));
  }
}

// The training of a comparison is a process of its own, which the signal does not reach by itself.
TEST_F(Surroundings, TerminationOfAComparisonStopsItsTraining) {
  Words words = train(path("all"), "1000000");
  words[0] = "compare";
  words.insert(words.end(), {"--models", "gcn"});
  const Outcome outcome = run_program(folder_.path(), words, [&](pid_t program) {
    EXPECT_TRUE(comes_about([&] { return fs::exists(folder_ / "all/gcn/seed-1/log.jsonl"); }));
    ::kill(program, SIGTERM);
  });
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "continue with: hgt compare --run")) << outcome.err;
  EXPECT_TRUE(fs::exists(folder_ / "all/gcn/seed-1/checkpoint.safetensors"));
}

TEST_F(Surroundings, UnderNohupAHangupIsIgnored) {
  const std::string run = path("run");
  const auto ignore = [] { std::signal(SIGHUP, SIG_IGN); };
  const Outcome outcome = run_program(
      folder_.path(), train(run, "1000000"),
      [&](pid_t program) {
        EXPECT_TRUE(comes_about([&] { return fs::exists(run + "/seed-1/log.jsonl"); }));
        ::kill(program, SIGHUP);
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        EXPECT_EQ(::waitpid(program, nullptr, WNOHANG), 0) << "it goes on";
        ::kill(program, SIGTERM);
      },
      0, ignore);
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
}

// --- disk ---

TEST_F(Surroundings, NothingIsLeftOfWhatDidNotFitOnTheDisk) {
  fs::copy(graph(), folder_ / "graph", fs::copy_options::recursive);
  const std::vector<Words> cases = {
      {"generate", "--preset", "small", "--papers", "3000", "--out", path("g"), "--quiet"},
      {"import", of_all("tables/manifest.toml"), "--out", path("g"), "--quiet"},
      {"export", graph(), "--out", path("t"), "--quiet"},
      {"embed", of_all("run"), "--type", "author", "--out", path("v"), "--quiet"},
      {"predict", of_all("run"), "--all", "--out", path("p.tsv"), "--quiet"},
      {"report", of_all("run"), "--out", path("r.html"), "--quiet"}};
  for (const Words& words : cases) {
    const Outcome outcome = run_program(folder_.path(), words, {}, 2000);
    EXPECT_EQ(outcome.exit_code, 1) << joined(words) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, folder_.path().string())) << joined(words) << outcome.err;
    EXPECT_EQ(names_in(folder_.path()), (Words{"graph", "stderr", "stdout"})) << joined(words);
  }
  // Features that did not fit are taken up where there is room again.
  const Words features = {"features",  path("graph"), "--type", "author",
                          "--mean-of", "paper",       "--quiet"};
  EXPECT_EQ(run_program(folder_.path(), features, {}, 2000).exit_code, 1);
  const Outcome again = run_program(folder_.path(), features);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_FALSE(holds_partial(folder_ / "graph/author"));
}

// --- memory ---

// Whatever the limit, it ends soon, with success or a reason; the largest is enough for success.
TEST_F(Surroundings, TooLittleMemoryIsAnErrorWithinSeconds) {
  const uint64_t threads = std::max(1U, std::thread::hardware_concurrency());
  const uint64_t enough = (1200 + 300 * threads) << 20U;
  int failures = 0;
  for (int tenth = 1; tenth <= 10; ++tenth) {
    const uint64_t bytes = enough * static_cast<uint64_t>(tenth) / 10;
    Words words = train(path("run" + std::to_string(tenth)), "3");
    *std::find(words.begin(), words.end(), "1") = std::to_string(threads);  // --threads
    const auto start = Clock::now();
    const Outcome outcome = run_program(folder_.path(), words, stop_at_last, 0, [&] {
      const rlimit limit{.rlim_cur = bytes, .rlim_max = bytes};
      ::setrlimit(RLIMIT_AS, &limit);
    });
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(30)) << (bytes >> 20U) << " MB";
    if (outcome.exit_code == 0) continue;
    ++failures;
    EXPECT_EQ(outcome.exit_code, 1) << (bytes >> 20U) << " MB: " << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "memory ran out") || contains(outcome.err, "start a thread"))
        << (bytes >> 20U) << " MB: " << outcome.err;
    EXPECT_LT(tenth, 10) << outcome.err;
  }
  EXPECT_GT(failures, 3);
}

// --- two at a time ---

// A control group with a limit, of version 1; made and removed by root.
class LimitedGroup {
 public:
  explicit LimitedGroup(uint64_t bytes)
      : folder_("/sys/fs/cgroup/memory/hgt_test_" + std::to_string(::getpid())) {
    std::error_code failure;
    made_ = fs::exists("/sys/fs/cgroup/memory/memory.limit_in_bytes") &&
            fs::create_directory(folder_, failure);
    if (made_) std::ofstream(folder_ / "memory.limit_in_bytes") << bytes << std::flush;
  }
  ~LimitedGroup() {
    if (made_) ::rmdir(folder_.c_str());
  }
  LimitedGroup(const LimitedGroup&) = delete;
  LimitedGroup& operator=(const LimitedGroup&) = delete;

  bool made() const { return made_; }
  void enter() const { std::ofstream(folder_ / "cgroup.procs") << ::getpid() << std::flush; }

 private:
  fs::path folder_;
  bool made_ = false;
};

TEST_F(Surroundings, TheLimitOfAControlGroupIsAnErrorAndNotTheEnd) {
  int failures = 0;
  for (const uint64_t megabytes : {120, 160, 200, 1200}) {
    const LimitedGroup group(megabytes << 20U);
    if (!group.made()) GTEST_SKIP() << "no control group can be made here (needs root, version 1)";
    const std::string name = "run" + std::to_string(megabytes);
    const Outcome outcome = run_program(folder_.path(), train(path(name), "3"), stop_at_last, 0,
                                        [&] { group.enter(); });
    if (outcome.exit_code == 0) continue;
    ++failures;
    EXPECT_EQ(outcome.exit_code, 1) << megabytes << " MB: " << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "memory ran out") || contains(outcome.err, "start a thread"))
        << megabytes << " MB: " << outcome.err;
    EXPECT_LT(megabytes, 1200) << outcome.err;
  }
  EXPECT_GT(failures, 0);
}

TEST_F(Surroundings, TwoEvaluationsOfOneRunBothSucceed) {
  for (int pair = 0; pair < 20; ++pair) {
    std::array<Outcome, 2> outcomes;
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < outcomes.size(); ++i) {
      const Path scratch = folder_ / std::to_string(i);
      fs::create_directories(scratch);
      threads.emplace_back([&outcomes, i, scratch] {
        outcomes[i] = run_program(scratch, {"evaluate", of_all("run"), "--threads", "1"});
      });
    }
    threads.clear();
    for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcomes[0].out, outcomes[1].out);
  }
  EXPECT_FALSE(holds_partial(of_all("run/seed-1")));
}

}  // namespace
}  // namespace hgt
