#include "hgt/disk/staged_folder.h"

#include <gtest/gtest.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "hgt/error.h"
#include "hgt/graph/graph_test_folder.h"

namespace hgt {
namespace {

// What the calls below do first, in this test program.
std::function<void()> before_sync;
std::function<void()> before_rename;

}  // namespace
}  // namespace hgt

// These take the place of the C library's in this program: a slow disk, and a look at the moment
// before the rename.
extern "C" int syncfs(int descriptor) noexcept {
  if (hgt::before_sync) hgt::before_sync();
  return static_cast<int>(::syscall(SYS_syncfs, descriptor));
}
extern "C" int renameat2(int from, const char* old_name, int to, const char* new_name,
                         unsigned flags) noexcept {
  if (hgt::before_rename) hgt::before_rename();
  return static_cast<int>(::syscall(SYS_renameat2, from, old_name, to, new_name, flags));
}

namespace hgt {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

void anything(const Path& /*folder*/) {}  // may be replaced

TEST(StagedFolder, AppearsWholeAtCommitAndNotBefore) {
  const TestFolder place;
  StagedFolder staged(place / "out");
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
    const StagedFolder staged(place / "out");
    staged.write_text("a.txt", "first");
    EXPECT_EQ(names_in(place.path()), (Names{"out.partial", "out.partial.lock"}));
  }
  EXPECT_TRUE(fs::is_empty(place.path()));
}

TEST(StagedFolder, RefusesAFolderThatExistsAndLeavesItAlone) {
  const TestFolder place;
  fs::create_directory(place / "out");
  write_bytes(place / "out" / "mine", "keep");
  const std::string error = error_of([&] { StagedFolder(place / "out"); });
  EXPECT_TRUE(contains(error, (place / "out").string()) && contains(error, "exists")) << error;
  EXPECT_EQ(names_in(place.path()), Names{"out"});
  EXPECT_EQ(read_bytes(place / "out" / "mine"), "keep");
}

TEST(StagedFolder, RefusesAFolderInAMissingOne) {
  const TestFolder place;
  const std::string error = error_of([&] { StagedFolder(place / "none" / "out"); });
  EXPECT_TRUE(contains(error, (place / "none").string())) << error;
}

TEST(StagedFolder, ReplacesOnlyAtCommit) {
  const TestFolder place;
  fs::create_directory(place / "out");
  write_bytes(place / "out" / "old", "old");
  {
    const StagedFolder abandoned(place / "out", anything);
    abandoned.write_text("new", "never");
  }
  EXPECT_EQ(names_in(place / "out"), Names{"old"});
  StagedFolder staged(place / "out", anything);
  staged.write_text("new", "new");
  EXPECT_EQ(names_in(place / "out"), Names{"old"});
  staged.commit();
  EXPECT_EQ(names_in(place.path()), Names{"out"});
  EXPECT_EQ(names_in(place / "out"), Names{"new"});
}

TEST(StagedFolder, MayReplaceNothing) {
  const TestFolder place;
  StagedFolder staged(place / "out", anything);
  staged.write_text("new", "new");
  staged.commit();
  EXPECT_EQ(names_in(place / "out"), Names{"new"});
}

// "cs.graph.old" is what a careful user calls a backup.
TEST(StagedFolder, LeavesAFolderThatHappensToBeCalledOldAlone) {
  const TestFolder place;
  fs::create_directory(place / "out.old");
  write_bytes(place / "out.old" / "backup", "keep");
  StagedFolder staged(place / "out");
  staged.commit();
  EXPECT_EQ(read_bytes(place / "out.old" / "backup"), "keep");
}

TEST(StagedFolder, ReplacesWithoutTouchingAFolderThatHappensToBeCalledOld) {
  const TestFolder place;
  fs::create_directory(place / "out");
  fs::create_directory(place / "out.old");
  write_bytes(place / "out.old" / "backup", "keep");
  StagedFolder staged(place / "out", anything);
  staged.write_text("new", "new");
  staged.commit();
  EXPECT_EQ(read_bytes(place / "out.old" / "backup"), "keep");
  EXPECT_EQ(names_in(place / "out"), Names{"new"});
}

TEST(StagedFolder, TakesAPathWithATrailingSlash) {
  const TestFolder place;
  StagedFolder staged(place / "out/");
  EXPECT_EQ(staged.path(), place / "out.partial");
  staged.commit();
  EXPECT_EQ(names_in(place.path()), Names{"out"});
}

// ".lock" is how versions before the marker had it.
TEST(StagedFolder, RemovesWhatADeadProcessLeftBehind) {
  for (const char* marker : {".hgt-partial", ".lock"}) {
    const TestFolder place;
    fs::create_directories(place / "out.partial" / "inner");
    write_bytes(place / "out.partial" / marker, "");
    write_bytes(place / "out.partial" / "inner" / "junk", "junk");
    write_bytes(place / "out.partial.lock", "");
    StagedFolder staged(place / "out");
    EXPECT_FALSE(fs::exists(staged.path() / "inner"));
    staged.commit();
    EXPECT_EQ(names_in(place.path()), Names{"out"});
    EXPECT_TRUE(fs::is_empty(place / "out"));
  }
}

TEST(StagedFolder, RemovesWhatAProcessLeftThatDiedBeforeItsFirstFile) {
  const TestFolder place;
  fs::create_directory(place / "out.partial");
  StagedFolder(place / "out").commit();
  EXPECT_EQ(names_in(place.path()), Names{"out"});
}

// Somebody else's: a folder, a file, a link, and a folder with a ".lock" that is not empty.
TEST(StagedFolder, NeverRemovesAPartialFolderThatIsNotItsOwn) {
  const std::vector<void (*)(const Path&)> makers = {
      [](const Path& path) {
        fs::create_directory(path);
        write_bytes(path / "thesis", "keep");
      },
      [](const Path& path) { write_bytes(path, "keep"); },
      [](const Path& path) {
        fs::create_directory(path.parent_path() / "elsewhere");
        write_bytes(path.parent_path() / "elsewhere" / ".hgt-partial", "keep");
        fs::create_directory_symlink("elsewhere", path);
      },
      [](const Path& path) {
        fs::create_directory(path);
        write_bytes(path / ".lock", "keep");
      }};
  for (const auto& make : makers) {
    const TestFolder place;
    make(place / "out.partial");
    const Names names = names_in(place.path());
    const auto bytes = folder_bytes(place.path());
    const std::string error = error_of([&] { StagedFolder(place / "out"); });
    EXPECT_TRUE(contains(error, (place / "out.partial").string() + ": is in the way")) << error;
    EXPECT_EQ(names_in(place.path()), names);
    EXPECT_EQ(folder_bytes(place.path()), bytes);
  }
}

TEST(StagedFolder, LeavesALockFileAloneInWhichSomebodyWrote) {
  const TestFolder place;
  write_bytes(place / "out.partial.lock", "keep");
  StagedFolder(place / "out").commit();
  EXPECT_EQ(read_bytes(place / "out.partial.lock"), "keep");
}

TEST(StagedFolder, ReplacesOnlyWhatItIsToldIsItsOwn) {
  const TestFolder place;
  fs::create_directory(place / "out");
  write_bytes(place / "out" / "mine", "keep");
  const auto refuse = [](const Path& folder) { throw Error(folder.string() + ": is foreign"); };
  EXPECT_EQ(error_of([&] { StagedFolder(place / "out", refuse); }),
            (place / "out").string() + ": is foreign");
  EXPECT_EQ(names_in(place.path()), Names{"out"});
  // It was fine at the beginning, but is not when its turn comes.
  bool foreign = false;
  StagedFolder staged(place / "out", [&](const Path& folder) {
    if (foreign) refuse(folder);
  });
  foreign = true;
  EXPECT_TRUE(contains(error_of([&] { staged.commit(); }), "is foreign"));
  EXPECT_EQ(names_in(place / "out"), Names{"mine"});
}

TEST(StagedFolder, NeverReplacesAFileOrALink) {
  const TestFolder place;
  write_bytes(place / "file", "keep");
  fs::create_directory(place / "target");
  write_bytes(place / "target" / "mine", "keep");
  fs::create_directory_symlink("target", place / "link");
  fs::create_symlink("nowhere", place / "dangling");
  const auto names = names_in(place.path());
  for (const RequireOwn& replaceable : {RequireOwn(), RequireOwn(anything)}) {
    for (const char* name : {"file", "link", "dangling", "link/"}) {
      const std::string error = error_of([&] { StagedFolder(place / name, replaceable); });
      EXPECT_TRUE(contains(error, "is a link") || contains(error, "is a file") ||
                  contains(error, "already exists"))
          << name << error;
    }
  }
  EXPECT_EQ(names_in(place.path()), names);
  EXPECT_EQ(read_bytes(place / "target" / "mine"), "keep");
}

TEST(StagedFolder, RefusesAFolderWithoutANameOfItsOwn) {
  const TestFolder place;
  for (const char* name : {".", "..", "./"}) {
    const std::string error = error_of([&] { StagedFolder(place / name, anything); });
    EXPECT_TRUE(contains(error, "no name of its own")) << name << error;
  }
}

TEST(StagedFolder, DoesNotCommitWhatSomebodyElsePutInItsPlace) {
  const TestFolder place;
  {
    StagedFolder staged(place / "out");
    fs::remove_all(staged.path());
    fs::create_directory(staged.path());
    write_bytes(staged.path() / "mine", "keep");
    EXPECT_TRUE(contains(error_of([&] { staged.commit(); }), "somebody removed it"));
  }
  EXPECT_EQ(names_in(place.path()), Names{"out.partial"});
  EXPECT_EQ(read_bytes(place / "out.partial" / "mine"), "keep");
}

// A process that dies right after the exchange leaves the old folder, with the mark that it is
// ours.
TEST(StagedFolder, MarksTheFolderThatItReplaces) {
  const TestFolder place;
  fs::create_directory(place / "out");
  std::vector<Names> seen;
  StagedFolder staged(place / "out", [&](const Path& folder) { seen.push_back(names_in(folder)); });
  before_rename = [&] { seen.push_back(names_in(place / "out")); };
  staged.commit();
  before_rename = nullptr;
  EXPECT_EQ(seen, (std::vector<Names>{{}, {}, {".hgt-partial"}}));
  EXPECT_EQ(names_in(place.path()), Names{"out"});
  EXPECT_TRUE(fs::is_empty(place / "out"));
}

TEST(StagedFolder, RefusesASecondWriterInTheSameProcess) {
  const TestFolder place;
  StagedFolder staged(place / "out");
  staged.write_text("a", "a");
  for (const RequireOwn& replaceable : {RequireOwn(), RequireOwn(anything)}) {
    const std::string error = error_of([&] { StagedFolder(place / "out", replaceable); });
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
      const StagedFolder staged(folder);
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
  const std::string error = error_of([&] { StagedFolder(place / "out"); });
  EXPECT_TRUE(contains(error, "being written")) << error;
  EXPECT_EQ(read_bytes(place / "out.partial" / "from_child"), "x");
  writer.kill();
  EXPECT_TRUE(fs::exists(place / "out.partial")) << "kill -9 leaves the partial folder";
  StagedFolder staged(place / "out");
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
        StagedFolder staged(place / "out", anything);
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

// While one waits for a slow disk, neither its partial folder nor its turn is anybody else's.
TEST(StagedFolder, IsNobodyElsesWhileTheDiskIsSlow) {
  const TestFolder place;
  std::atomic<bool> syncing = false;
  std::atomic<bool> tried = false;
  before_sync = [&] {
    syncing = true;
    while (!tried) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  std::thread first([&] {
    StagedFolder staged(place / "out");
    staged.write_text("a", "first");
    staged.write_text("b", "first");
    staged.commit();
  });
  while (!syncing) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto try_another = [&] { StagedFolder(place / "out", anything); };
  EXPECT_TRUE(contains(error_of(try_another), "being written"));
  fs::remove_all(place / "out.partial" / "a");
  write_bytes(place / "out.partial" / "a", "first");  // the lock does not lie where files may go
  EXPECT_TRUE(contains(error_of(try_another), "being written"));
  bool held_at_rename = false;
  before_rename = [&] { held_at_rename = Lock::is_held(place / "out.partial.lock"); };
  tried = true;
  first.join();
  before_sync = nullptr;
  before_rename = nullptr;
  EXPECT_TRUE(held_at_rename);
  EXPECT_EQ(names_in(place.path()), Names{"out"});
  EXPECT_EQ(names_in(place / "out"), (Names{"a", "b"}));
}

TEST(StagedFolder, NamesTheFileThatExistsAlready) {
  const TestFolder place;
  const StagedFolder staged(place / "out");
  staged.write_text("a", "a");
  EXPECT_TRUE(
      contains(error_of([&] { staged.write_text("a", "b"); }), (staged.path() / "a").string()));
}

}  // namespace
}  // namespace hgt
