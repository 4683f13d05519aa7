#include "hgt/disk/staged_folder.h"

#include <gtest/gtest.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "hgt/error.h"
#include "hgt/graph/graph_test_folder.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

TEST(StagedFolder, AppearsWholeAtCommitAndNotBefore) {
  const TestFolder place;
  StagedFolder staged(place / "out", false);
  staged.write_text("a.txt", "first");
  fs::create_directory(staged.path() / "inner");
  write_bytes(staged.path() / "inner" / "b", "second");
  EXPECT_FALSE(fs::exists(place / "out"));
  staged.commit();
  EXPECT_EQ(names_in(place.path()), Names{"out"});
  EXPECT_EQ(folder_bytes(place / "out"),
            (std::map<std::string, std::string>{{"a.txt", "first"}, {"inner/b", "second"}}));
}

TEST(StagedFolder, LeavesNothingWithoutCommit) {
  const TestFolder place;
  {
    const StagedFolder staged(place / "out", false);
    staged.write_text("a.txt", "first");
    EXPECT_EQ(names_in(place.path()), Names{"out.partial"});
  }
  EXPECT_TRUE(fs::is_empty(place.path()));
}

TEST(StagedFolder, RefusesAFolderThatExistsAndLeavesItAlone) {
  const TestFolder place;
  fs::create_directory(place / "out");
  write_bytes(place / "out" / "mine", "keep");
  const std::string error = error_of([&] { StagedFolder(place / "out", false); });
  EXPECT_TRUE(contains(error, (place / "out").string()) && contains(error, "exists")) << error;
  EXPECT_EQ(names_in(place.path()), Names{"out"});
  EXPECT_EQ(read_bytes(place / "out" / "mine"), "keep");
}

TEST(StagedFolder, RefusesAFolderInAMissingOne) {
  const TestFolder place;
  const std::string error = error_of([&] { StagedFolder(place / "none" / "out", false); });
  EXPECT_TRUE(contains(error, (place / "none").string())) << error;
}

TEST(StagedFolder, ReplacesOnlyAtCommit) {
  const TestFolder place;
  fs::create_directory(place / "out");
  write_bytes(place / "out" / "old", "old");
  {
    const StagedFolder abandoned(place / "out", true);
    abandoned.write_text("new", "never");
  }
  EXPECT_EQ(names_in(place / "out"), Names{"old"});
  StagedFolder staged(place / "out", true);
  staged.write_text("new", "new");
  EXPECT_EQ(names_in(place / "out"), Names{"old"});
  staged.commit();
  EXPECT_EQ(names_in(place.path()), Names{"out"});
  EXPECT_EQ(names_in(place / "out"), Names{"new"});
}

TEST(StagedFolder, MayReplaceNothing) {
  const TestFolder place;
  StagedFolder staged(place / "out", true);
  staged.write_text("new", "new");
  staged.commit();
  EXPECT_EQ(names_in(place / "out"), Names{"new"});
}

// "cs.graph.old" is what a careful user calls a backup.
TEST(StagedFolder, LeavesAFolderThatHappensToBeCalledOldAlone) {
  const TestFolder place;
  fs::create_directory(place / "out.old");
  write_bytes(place / "out.old" / "backup", "keep");
  StagedFolder staged(place / "out", false);
  staged.commit();
  EXPECT_EQ(read_bytes(place / "out.old" / "backup"), "keep");
}

TEST(StagedFolder, ReplacesWithoutTouchingAFolderThatHappensToBeCalledOld) {
  const TestFolder place;
  fs::create_directory(place / "out");
  fs::create_directory(place / "out.old");
  write_bytes(place / "out.old" / "backup", "keep");
  StagedFolder staged(place / "out", true);
  staged.write_text("new", "new");
  staged.commit();
  EXPECT_EQ(read_bytes(place / "out.old" / "backup"), "keep");
  EXPECT_EQ(names_in(place / "out"), Names{"new"});
}

TEST(StagedFolder, TakesAPathWithATrailingSlash) {
  const TestFolder place;
  StagedFolder staged(place / "out/", false);
  EXPECT_EQ(staged.path(), place / "out.partial");
  staged.commit();
  EXPECT_EQ(names_in(place.path()), Names{"out"});
}

TEST(StagedFolder, RemovesWhatADeadProcessLeftBehind) {
  const TestFolder place;
  fs::create_directories(place / "out.partial" / "inner");
  write_bytes(place / "out.partial" / ".lock", "");
  write_bytes(place / "out.partial" / "inner" / "junk", "junk");
  StagedFolder staged(place / "out", false);
  EXPECT_FALSE(fs::exists(staged.path() / "inner"));
  staged.commit();
  EXPECT_TRUE(fs::is_empty(place / "out"));
}

TEST(StagedFolder, RefusesASecondWriterInTheSameProcess) {
  const TestFolder place;
  StagedFolder staged(place / "out", false);
  staged.write_text("a", "a");
  for (const bool replace : {false, true}) {
    const std::string error = error_of([&] { StagedFolder(place / "out", replace); });
    EXPECT_TRUE(contains(error, "being written")) << error;
  }
  EXPECT_EQ(read_bytes(staged.path() / "a"), "a");
  staged.commit();
  EXPECT_EQ(names_in(place / "out"), Names{"a"});
}

// A process that writes the folder until it is killed.
class Writer {
 public:
  explicit Writer(const Path& folder) {
    std::array<int, 2> pipe_ends{};
    if (::pipe(pipe_ends.data()) != 0) throw Error("no pipe");
    child_ = ::fork();
    if (child_ == 0) {
      const StagedFolder staged(folder, false);
      staged.write_text("from_child", "x");
      const bool told = ::write(pipe_ends[1], "r", 1) == 1;
      while (told) ::pause();
      ::_exit(1);
    }
    ::close(pipe_ends[1]);
    char ready = 0;
    is_ready_ = ::read(pipe_ends[0], &ready, 1) == 1;
    ::close(pipe_ends[0]);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { kill(); }

  bool is_ready() const { return is_ready_; }
  void kill() {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
    child_ = -1;
  }

 private:
  pid_t child_ = -1;
  bool is_ready_ = false;
};

TEST(StagedFolder, RefusesWhileAnotherProcessWritesAndCleansUpAfterItsDeath) {
  const TestFolder place;
  Writer writer(place / "out");
  ASSERT_TRUE(writer.is_ready());
  const std::string error = error_of([&] { StagedFolder(place / "out", false); });
  EXPECT_TRUE(contains(error, "being written")) << error;
  EXPECT_EQ(read_bytes(place / "out.partial" / "from_child"), "x");
  writer.kill();
  EXPECT_TRUE(fs::exists(place / "out.partial")) << "kill -9 leaves the partial folder";
  StagedFolder staged(place / "out", false);
  EXPECT_FALSE(fs::exists(staged.path() / "from_child"));
  staged.commit();
  EXPECT_TRUE(fs::is_empty(place / "out"));
}

TEST(StagedFolder, IsWholeWhateverSeveralWritersDoAtOnce) {
  const TestFolder place;
  std::atomic<int> commits = 0;
  const auto write_often = [&](const std::string& text) {
    for (int i = 0; i < 30; ++i) {
      const std::string error = error_of([&] {
        StagedFolder staged(place / "out", true);
        staged.write_text("a", text);
        staged.write_text("b", text);
        if (i % 3 == 0) return;  // not committed
        staged.commit();
        ++commits;
      });
      EXPECT_TRUE(error.empty() || contains(error, "being written")) << error;
    }
  };
  std::vector<std::thread> writers;
  for (const char* text : {"1", "2", "3"}) writers.emplace_back(write_often, text);
  for (std::thread& writer : writers) writer.join();
  EXPECT_GT(commits, 0);
  EXPECT_EQ(names_in(place.path()), Names{"out"});
  EXPECT_EQ(names_in(place / "out"), (Names{"a", "b"}));
  EXPECT_EQ(read_bytes(place / "out" / "a"), read_bytes(place / "out" / "b"));
}

TEST(StagedFolder, NamesTheFileThatExistsAlready) {
  const TestFolder place;
  const StagedFolder staged(place / "out", false);
  staged.write_text("a", "a");
  EXPECT_TRUE(
      contains(error_of([&] { staged.write_text("a", "b"); }), (staged.path() / "a").string()));
}

}  // namespace
}  // namespace hgt
