#include "hgt/graph/background_jobs.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <vector>

#include "hgt/error.h"

namespace hgt {
namespace {

class JobGroups : public testing::TestWithParam<unsigned> {};

TEST_P(JobGroups, WaitReturnsWhenAllJobsOfTheGroupAreDone) {
  JobThreads threads(GetParam());
  JobGroup group(threads);
  std::atomic<int> done = 0;
  for (int round = 1; round <= 20; ++round) {
    for (int i = 0; i < 50; ++i) group.submit([&] { ++done; });
    group.wait();
    EXPECT_EQ(done, 50 * round);
  }
}

TEST_P(JobGroups, EndOfAGroupWaitsForItsJobs) {
  JobThreads threads(GetParam());
  std::vector<int> done(100, 0);
  {
    JobGroup group(threads);
    for (int& item : done) group.submit([&item] { item = 1; });
  }
  EXPECT_EQ(done, std::vector<int>(100, 1));
}

TEST_P(JobGroups, FailureOfAJobReachesWhoWaits) {
  JobThreads threads(GetParam());
  JobGroup group(threads);
  const auto work = [&] {
    group.submit([] { throw Error("a full disk"); });
    group.wait();
  };
  EXPECT_THROW(work(), Error);
}

INSTANTIATE_TEST_SUITE_P(Threads, JobGroups, testing::Values(0, 1, 2, 5));

TEST(JobGroup, DoesNotWaitForTheJobsOfAnotherGroup) {
  JobThreads threads(2);
  std::latch may_end(1);
  JobGroup slow(threads);
  JobGroup quick(threads);
  slow.submit([&] { may_end.wait(); });
  bool done = false;
  quick.submit([&] { done = true; });
  quick.wait();
  EXPECT_TRUE(done);
  may_end.count_down();
  slow.wait();
}

TEST(JobGroup, FailureInOneGroupEndsTheOthers) {
  JobThreads threads(1);
  JobGroup failing(threads);
  JobGroup other(threads);
  failing.submit([] { throw Error("a full disk"); });
  bool done = false;
  other.submit([&] { done = true; });
  EXPECT_THROW(other.wait(), Error);
  EXPECT_FALSE(done);
}

}  // namespace
}  // namespace hgt
