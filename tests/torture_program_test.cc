// Kills at random moments and damage at random places, the same ones every time.
//   HGT_TRIALS=N   how many of each; scripts/torture.sh takes 1,000
//   HGT_SEED=N     other ones
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/disturbed_job.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;

uint64_t number_of(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

class TortureProgram : public testing::Test {
 protected:
  // What needs LibTorch takes its time: less often.
  Job draw_job() {
    const uint64_t draw = draws_.below(8);
    if (draw == 0) return workshop_.training();
    if (draw == 1) return draws_.chance(0.5) ? workshop_.evaluating() : workshop_.tuning();
    return draw == 2 ? workshop_.featuring() : workshop_.importing();
  }

  const Workshop workshop_;
  const uint64_t trials_ = number_of("HGT_TRIALS", 100);
  Draws draws_{number_of("HGT_SEED", 1)};
};

TEST_F(TortureProgram, AKilledJobIsDoneAgain) {
  using Clock = std::chrono::steady_clock;
  std::map<std::string, std::pair<std::string, double>> undisturbed_jobs;  // result and seconds
  for (const Job& job : workshop_.jobs()) {
    const auto start = Clock::now();
    const std::string good = undisturbed(job);
    undisturbed_jobs[job.name] = {good,
                                  std::chrono::duration<double>(Clock::now() - start).count()};
  }
  uint64_t killed = 0;
  for (uint64_t i = 0; i < trials_; ++i) {
    const Job job = draw_job();
    SCOPED_TRACE(job.name + ", trial " + std::to_string(i));
    const auto& [good, seconds] = undisturbed_jobs.at(job.name);
    const double moment = draws_.unit() * seconds;
    const Trial trial(job);
    const Outcome outcome = trial.run({}, [moment](pid_t child) {
      std::this_thread::sleep_for(std::chrono::duration<double>(moment));
      ::kill(child, SIGKILL);
    });
    EXPECT_TRUE(outcome.exit_code == 0 || outcome.exit_code == 128 + SIGKILL) << outcome.err;
    killed += outcome.exit_code == 0 ? 0 : 1;
    trial.expect_recovery(good);
  }
  EXPECT_GT(killed, trials_ / 3);
}

// Flips a bit, zeroes or overwrites some bytes, cuts the file or makes it longer.
std::string damaged(std::string bytes, Draws& draws) {
  const uint64_t kind = draws.below(5);
  const size_t at = bytes.empty() ? 0 : draws.below(bytes.size());
  const size_t count = std::min<size_t>(bytes.size() - at, 1 + draws.below(64));
  if (kind == 0 && !bytes.empty()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << draws.below(8)));
  if (kind == 1) std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(at), count, '\0');
  if (kind == 2) {
    for (size_t i = 0; i < count; ++i) bytes[at + i] = static_cast<char>(draws.bits());
  }
  if (kind == 3) bytes.resize(at);
  if (kind == 4) bytes.insert(at, count, 'x');
  return bytes;
}

// The files that an evaluation or a sample reads.
std::vector<Path> files_below(const Path& folder) {
  std::vector<Path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.file_size() > 0) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST_F(TortureProgram, DamageIsAnErrorOrChangesNothing) {
  const Job job = workshop_.evaluating();
  const std::string score = undisturbed(job);
  const TestFolder scratch;
  const auto sample = [&] {
    return run_program(scratch.path(),
                       {"sample", workshop_.graph().string(), "--random", "paper:50", "--width",
                        "100", "--time-bound", "none", "--json"});
  };
  const auto sampled = nlohmann::json::parse(sample().out).at("instances");
  uint64_t noticed = 0;
  for (uint64_t i = 0; i < trials_; ++i) {
    const bool evaluates = draws_.below(3) == 0;
    const Trial trial(job);
    const std::vector<Path> files =
        files_below(evaluates && draws_.below(2) == 0 ? trial.place() : workshop_.graph());
    const Path file = files[draws_.below(files.size())];
    SCOPED_TRACE(file.string() + ", trial " + std::to_string(i));
    const std::string good = read_bytes(file);
    write_bytes(file, damaged(good, draws_));
    const Outcome outcome = evaluates ? trial.run() : sample();
    EXPECT_TRUE(outcome.exit_code == 0 || outcome.exit_code == 1) << outcome.err;
    noticed += outcome.exit_code == 1 ? 1 : 0;
    if (outcome.exit_code == 0 && evaluates) {
      EXPECT_EQ(trial.result(), score);
    }
    if (outcome.exit_code == 0 && !evaluates) {
      EXPECT_EQ(nlohmann::json::parse(outcome.out).at("instances"), sampled);
    }
    write_bytes(file, good);
  }
  EXPECT_GT(noticed, trials_ / 2);
}

}  // namespace
}  // namespace hgt
