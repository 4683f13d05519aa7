#include "hgt/disk/lock.h"

#include <gtest/gtest.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hgt/graph/graph_test_folder.h"

namespace hgt {
namespace {

class LockTest : public testing::Test {
 protected:
  Path file() const { return folder_ / "lock"; }
  std::string error() const {
    return error_of([&] { const Lock lock(file(), "busy, wait"); });
  }
  TestFolder folder_;
};

TEST_F(LockTest, IsHeldByOneAtATime) {
  {
    const Lock lock(file(), "busy");
    EXPECT_EQ(error(), "busy, wait");
    EXPECT_FALSE(Lock::try_take(file()));
    EXPECT_TRUE(Lock::is_held(file()));
  }
  EXPECT_FALSE(Lock::is_held(file()));
  EXPECT_EQ(error(), "");
  const std::optional<Lock> taken = Lock::try_take(file());
  EXPECT_TRUE(taken);
  EXPECT_EQ(error(), "busy, wait");
}

TEST_F(LockTest, GoesWhereItIsMoved) {
  std::optional<Lock> taken = Lock::try_take(file());
  ASSERT_TRUE(taken);
  {
    const Lock moved = std::move(*taken);
    taken.reset();
    EXPECT_TRUE(Lock::is_held(file()));
  }
  EXPECT_FALSE(Lock::is_held(file()));
}

TEST_F(LockTest, IsNotHeldWhereThereIsNoFileAndMakesNone) {
  EXPECT_FALSE(Lock::is_held(file()));
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(LockTest, CanRemoveItsFileWhileOthersTryToTakeIt) {
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  const auto take_often = [&] {
    for (int i = 0; i < 500; ++i) {
      const std::optional<Lock> taken = Lock::try_take(file());
      if (!taken) continue;
      const int now = ++inside;
      if (now > most) most = now;
      std::this_thread::yield();
      --inside;
      taken->remove_file();
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(take_often);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(LockTest, LeavesAFileAloneInWhichSomebodyWrote) {
  write_bytes(file(), "keep");
  Lock(file(), "busy").remove_file();
  EXPECT_EQ(read_bytes(file()), "keep");
}

TEST_F(LockTest, NamesAFileThatCannotBeMade) {
  const Path nowhere = folder_ / "no" / "lock";
  EXPECT_TRUE(contains(error_of([&] { const Lock lock(nowhere, "busy"); }),
                       nowhere.string() + ": cannot open the file"));
}

TEST_F(LockTest, EndsWithItsProcess) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const Lock lock(file(), "busy");
    const bool told = ::write(ends[1], "r", 1) == 1;
    while (told) ::pause();
    ::_exit(1);
  }
  char ready = 0;
  ASSERT_EQ(::read(ends[0], &ready, 1), 1);
  EXPECT_EQ(error(), "busy, wait");
  EXPECT_TRUE(Lock::is_held(file()));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(error(), "");
  for (const int end : ends) ::close(end);
}

TEST_F(LockTest, OfAFolderWaitsForItsTurn) {
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 50; ++j) {
        const Lock lock = Lock::of_folder(folder_.path());
        const int now = ++inside;
        if (now > most) most = now;
        std::this_thread::yield();
        --inside;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
  EXPECT_EQ(error_of([&] { Lock::of_folder(folder_ / "none"); }), "") << "holds nothing";
}

}  // namespace
}  // namespace hgt
