#include "hgt/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "hgt/graph/graph_test_folder.h"
#include "hgt/limited_threads_test.h"

namespace hgt {
namespace {

TEST(FirstFailure, IsThatOfAnyThread) {
  FirstFailure failure;
  std::atomic<int> done = 0;
#pragma omp parallel for num_threads(4)
  for (int i = 0; i < 1000; ++i) {
    failure.watch([&] {
      if (i == 500) throw std::bad_alloc();
      ++done;
    });
  }
  EXPECT_TRUE(failure.any());
  EXPECT_LT(done, 1000);
  EXPECT_THROW(failure.rethrow(), std::bad_alloc);
}

TEST(FirstFailure, IsTheFirst) {
  FirstFailure failure;
  failure.rethrow();
  failure.watch([] { throw std::runtime_error("first"); });
  bool called = false;
  failure.watch([&] { called = true; });
  EXPECT_FALSE(called);
  try {
    failure.rethrow();
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "first");
  }
}

TEST(Threads, ThatCannotBeStartedAreAnError) {
  if (!kThreadsCanBeLimited) GTEST_SKIP() << "under the thread sanitizer";
  const ThreadLimit limit(3);
  EXPECT_EQ(error_of([] { require_threads(3); }), "");
  const std::string error = error_of([] { require_threads(1); });
  EXPECT_TRUE(contains(error, "cannot start a thread (Resource temporarily unavailable); lower "))
      << error;
  EXPECT_TRUE(contains(error_of([] { start_thread([] {}); }), "cannot start a thread"));
}

TEST(Threads, ThatWereStartedEndWhenOthersCannotBe) {
  if (!kThreadsCanBeLimited) GTEST_SKIP() << "under the thread sanitizer";
  const ThreadLimit limit(3);
  EXPECT_TRUE(contains(error_of([] { require_threads(8); }), "cannot start a thread"));
}

}  // namespace
}  // namespace hgt
