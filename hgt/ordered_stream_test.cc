#include "hgt/ordered_stream.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <stdexcept>
#include <thread>

#include "hgt/graph/graph_test_folder.h"
#include "hgt/limited_threads_test.h"

namespace hgt {
namespace {

struct Made {
  uint64_t number = 0;
  unsigned worker = 0;
  std::thread::id thread;
};

void note(unsigned worker, uint64_t i, Made& made) {
  made = {.number = i, .worker = worker, .thread = std::this_thread::get_id()};
}

TEST(OrderedStream, WithoutWorkersMakesSeveralAtOnceAndHandsThemOutInOrder) {
  std::atomic<int> made = 0;
  OrderedStream<Made> stream({.first = 5, .count = 7, .workers = 0, .together = 3},
                             [&](unsigned worker, uint64_t i, Made& item) {
                               ++made;
                               note(worker, i, item);
                             });
  const std::vector<int> made_by_then = {3, 3, 3, 6, 6, 6, 7};
  std::set<std::thread::id> threads;
  Made item;
  for (uint64_t i = 0; i < 7; ++i) {
    ASSERT_TRUE(stream.next(item));
    EXPECT_EQ(item.number, 5 + i);
    EXPECT_EQ(item.worker, i % 3);
    EXPECT_EQ(made, made_by_then[i]);
    if (i < 3) threads.insert(item.thread);
  }
  EXPECT_EQ(threads.size(), 3U);
  EXPECT_FALSE(stream.next(item));
  EXPECT_EQ(made, 7);
}

// Items are large: there are never more of them than are made at once.
TEST(OrderedStream, WithoutWorkersKeepsAsManyItemsAsItMakesAtOnce) {
  std::atomic<int> taken = 0;  // times that an item came without storage to reuse
  OrderedStream<std::vector<int>> stream({.count = 20, .workers = 0, .together = 2},
                                         [&](unsigned, uint64_t i, std::vector<int>& item) {
                                           if (item.capacity() == 0) ++taken;
                                           item.assign(100, static_cast<int>(i));
                                         });
  int number = 0;
  for (std::vector<int> item; stream.next(item); ++number) EXPECT_EQ(item.at(99), number);
  EXPECT_EQ(number, 20);
  EXPECT_EQ(taken, 2);
}

TEST(OrderedStream, MakesOneAtATimeWhereOneIsAskedFor) {
  for (const unsigned together : {0U, 1U}) {
    OrderedStream<Made> stream({.count = 3, .workers = 0, .together = together}, note);
    for (Made item; stream.next(item);) {
      EXPECT_EQ(item.worker, 0U);
      EXPECT_EQ(item.thread, std::this_thread::get_id());
    }
  }
}

TEST(OrderedStream, AnErrorComesInItsPlaceAlsoFromAnotherThread) {
  OrderedStream<Made> stream({.count = 8, .workers = 0, .together = 4},
                             [](unsigned worker, uint64_t i, Made& item) {
                               if (i == 2) throw std::runtime_error("the third");
                               note(worker, i, item);
                             });
  Made item;
  EXPECT_TRUE(stream.next(item));
  EXPECT_TRUE(stream.next(item));
  EXPECT_EQ(item.number, 1U);
  EXPECT_THROW(stream.next(item), std::runtime_error);
  EXPECT_FALSE(stream.next(item));
}

TEST(OrderedStream, WorkersThatCannotBeStartedAreAnError) {
  if (!kThreadsCanBeLimited) GTEST_SKIP() << "under the thread sanitizer";
  const ThreadLimit limit(2);
  const auto make = [] { OrderedStream<Made>({.count = 8, .workers = 4}, note); };
  EXPECT_TRUE(contains(error_of(make), "cannot start a thread"));
}

TEST(OrderedStream, ThreadsThatCannotBeStartedBetweenStepsAreAnError) {
  if (!kThreadsCanBeLimited) GTEST_SKIP() << "under the thread sanitizer";
  OrderedStream<Made> stream({.count = 8, .workers = 0, .together = 4}, note);
  Made item;
  {
    const ThreadLimit limit(2);
    EXPECT_TRUE(contains(error_of([&] { stream.next(item); }), "cannot start a thread"));
  }
  EXPECT_FALSE(stream.next(item)) << "it has ended";
}

TEST(OrderedStream, ManyMakersMayOutnumberTheQueue) {
  OrderedStream<Made> stream({.count = 20, .workers = 0, .queue = 2, .together = 6}, note);
  uint64_t next = 0;
  for (Made item; stream.next(item);) EXPECT_EQ(item.number, next++);
  EXPECT_EQ(next, 20U);
  EXPECT_GT(stream.seconds_waited(), 0);
}

}  // namespace
}  // namespace hgt
