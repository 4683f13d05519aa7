// What the system refuses: memory, bytes on disk, names, mappings, threads. Each call in turn, or
// as many of them as time allows: the program ends with an error or goes on without harm, and what
// it leaves is whole or absent.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/disturbed_job.h"

namespace hgt {
namespace {

class FaultProgram : public testing::Test {
 protected:
  static std::vector<std::string> environment(const Job& job, const std::string& more) {
    return {"LD_PRELOAD=" HGT_FAULT_INJECTION, "HGT_FAULT_FROM=" + job.opens, more};
  }

  // The calls of each kind that the undisturbed job makes.
  static std::map<std::string, uint64_t> calls(const Job& job) {
    const Trial trial(job);
    const Path counts = trial.scratch() / "counts";
    const Outcome outcome = trial.run(environment(job, "HGT_FAULT_COUNTS=" + counts.string()));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    std::istringstream in(read_bytes(counts));
    std::map<std::string, uint64_t> found;
    for (std::string kind; in >> kind;) in >> found[kind];
    return found;
  }

  // A library below LibTorch ends the program by itself when it gets no memory.
  static bool is_good_end(const Outcome& outcome, const std::string& fault) {
    return outcome.exit_code == 0 || outcome.exit_code == 1 || fault.starts_with("allocate");
  }

  static void disturb(const Job& job, const std::string& fault, const std::string& good) {
    SCOPED_TRACE(job.name + " " + fault);
    const Trial trial(job);
    const Outcome outcome = trial.run(environment(job, "HGT_FAULT=" + fault));
    EXPECT_TRUE(is_good_end(outcome, fault)) << outcome.exit_code << ": " << outcome.err;
    if (outcome.exit_code == 0) {
      EXPECT_TRUE(trial.result() == good) << "it succeeded, but not quite";
    } else {
      EXPECT_NE(outcome.err, "") << "it failed without a word";
      ++failed;
    }
    trial.expect_recovery(good);
  }

  // Up to `most` of the calls, evenly spread. Of threads, all: a library below LibTorch waits
  // forever for one that could not be started after others could. For what a disk refuses, also all
  // calls from one on.
  static void disturb_all(const Job& job, uint64_t most) {
    const std::string good = undisturbed(job);
    failed = 0;
    for (const auto& [kind, count] : calls(job)) {
      const uint64_t trials = kind == "thread" ? 0 : std::min(count, most);
      for (uint64_t i = 0; i < trials; ++i) {
        disturb(job, kind + ":" + std::to_string(1 + i * count / trials), good);
      }
      if (kind == "thread" && count > 0) disturb(job, "thread:1+", good);
      if (kind == "write" && count > 0) {
        disturb(job, "write:" + std::to_string(1 + count / 2) + "+", good);
      }
    }
    EXPECT_GT(failed, most) << "hardly anything was refused";
  }

  static inline uint64_t failed = 0;
  const Workshop workshop_;
};

TEST_F(FaultProgram, ImportEndsInAnErrorAndLeavesNothing) {
  disturb_all(workshop_.importing(), 60);
}
TEST_F(FaultProgram, FeaturesAreTheOldOrTheNew) { disturb_all(workshop_.featuring(), 3); }
TEST_F(FaultProgram, TrainingGoesOnFromWhereItWas) { disturb_all(workshop_.training(), 4); }
TEST_F(FaultProgram, ASearchGoesOnFromWhereItWas) { disturb_all(workshop_.tuning(), 2); }
TEST_F(FaultProgram, EvaluationIsWholeOrAbsent) { disturb_all(workshop_.evaluating(), 3); }

}  // namespace
}  // namespace hgt
