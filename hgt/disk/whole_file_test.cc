#include "hgt/disk/whole_file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "hgt/graph/graph_test_folder.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class WholeFileTest : public testing::Test {
 protected:
  Path file() const { return folder_ / "file.json"; }
  Names names() const { return names_in(folder_.path()); }
  TestFolder folder_;
};

// --- WholeFile ---

TEST_F(WholeFileTest, AppearsAtCommitAndNotBefore) {
  WholeFile out(file());
  out.write("first, ");
  out.write(std::as_bytes(std::span("second", 6)));
  EXPECT_FALSE(fs::exists(file()));
  EXPECT_EQ(names(), Names{out.partial().filename().string()});
  out.commit();
  EXPECT_EQ(read_bytes(file()), "first, second");
  EXPECT_EQ(names(), Names{"file.json"});
}

TEST_F(WholeFileTest, KeepsTheOrderOfShortAndLongPieces) {
  std::string expected;
  WholeFile out(file());
  for (const size_t length : {1U, 65'535U, 1U, 65'536U, 65'537U, 3U, 0U, 200'000U, 7U, 40'000U}) {
    const std::string piece(length, static_cast<char>('a' + expected.size() % 26));
    out.write(piece);
    expected += piece;
  }
  out.commit();
  EXPECT_TRUE(read_bytes(file()) == expected);
}

TEST_F(WholeFileTest, MayBeEmpty) {
  WholeFile(file()).commit();
  EXPECT_EQ(fs::file_size(file()), 0U);
}

TEST_F(WholeFileTest, LeavesWhatWasThereWithoutCommit) {
  write_bytes(file(), "before");
  {
    WholeFile out(file());
    out.write(std::string(100'000, '.'));
    EXPECT_EQ(read_bytes(file()), "before");
  }
  EXPECT_EQ(read_bytes(file()), "before");
  EXPECT_EQ(names(), Names{"file.json"});
}

TEST_F(WholeFileTest, LeavesWhatWasThereWhenTheDiskIsFull) {
  write_bytes(file(), "before");
  for (const size_t piece : {100U, 100'000U}) {  // gathered, and written at once
    const std::string error = error_of([&] {
      const FileSizeLimit full(1000);
      WholeFile out(file());
      for (int i = 0; i < 20; ++i) out.write(std::string(piece, '.'));
      out.commit();
    });
    EXPECT_TRUE(contains(error, file().string() + ": cannot write: ")) << error;
    EXPECT_EQ(read_bytes(file()), "before");
    EXPECT_EQ(names(), Names{"file.json"});
  }
}

TEST_F(WholeFileTest, LinesAreAddedToALog) {
  append_line(file(), "first");
  append_line(file(), "");
  append_line(file(), "third");
  EXPECT_EQ(read_bytes(file()), "first\n\nthird\n");
  for (const Path& bad : {Path("/dev/full"), folder_.path(), folder_ / "no" / "x"}) {
    EXPECT_TRUE(contains(error_of([&] { append_line(bad, "line"); }),
                         bad.string() + ": cannot be written"));
  }
}

TEST_F(WholeFileTest, RefusesAPlaceThatIsNone) {
  const auto error = [](const Path& path) { return error_of([&] { WholeFile{path}; }); };
  EXPECT_EQ(error(folder_ / "no" / "x"), (folder_ / "no" / "x").string() +
                                             ": cannot be written: there is no folder " +
                                             (folder_ / "no").string() + "; create it first");
  EXPECT_EQ(error(folder_.path()), folder_.path().string() + ": is a folder; name a file in it");
  EXPECT_EQ(error("/dev/full"), "/dev/full: is not a regular file; name another");
  EXPECT_TRUE(contains(error("/proc/file.json"), "/proc/file.json: cannot create the file"));
  EXPECT_TRUE(names().empty());
}

TEST_F(WholeFileTest, SaysThatTheNameWasTakenMeanwhile) {
  const std::string error = error_of([&] {
    WholeFile out(file());
    fs::create_directories(file() / "full");
    out.commit();
  });
  EXPECT_TRUE(contains(error, file().string() + ": cannot rename")) << error;
  EXPECT_EQ(names(), Names{"file.json"});
}

TEST_F(WholeFileTest, IsNamedWithoutItsFolderToo) {
  const Path before = fs::current_path();
  fs::current_path(folder_.path());
  write_text("bare", "text");
  fs::current_path(before);
  EXPECT_EQ(read_bytes(folder_ / "bare"), "text");
}

TEST_F(WholeFileTest, TakesWhatALibraryWritesToItsPath) {
  WholeFile out(file());
  write_bytes(out.partial(), "by somebody else");
  out.commit();
  EXPECT_EQ(read_bytes(file()), "by somebody else");
  EXPECT_EQ(names(), Names{"file.json"});
}

// --- several writers ---

TEST_F(WholeFileTest, IsThatOfTheLastOfTwoWriters) {
  WholeFile first(file());
  WholeFile second(file());
  first.write("first");
  second.write("second");
  second.commit();
  EXPECT_EQ(read_bytes(file()), "second");
  first.commit();
  EXPECT_EQ(read_bytes(file()), "first");
  EXPECT_EQ(names(), Names{"file.json"});
}

TEST_F(WholeFileTest, IsWholeAtAnyMomentWhileManyWriteIt) {
  const auto text = [](int writer) {
    return std::string(static_cast<size_t>(50'000 * (writer + 1)), static_cast<char>('a' + writer));
  };
  write_text(file(), text(0));
  std::atomic<int> failures = 0;
  const auto write_often = [&](int writer) {
    for (int i = 0; i < 10; ++i) {
      if (!error_of([&] { write_text(file(), text(writer)); }).empty()) ++failures;
    }
  };
  std::vector<std::thread> writers;
  for (int i = 0; i < 3; ++i) writers.emplace_back(write_often, i);
  for (int i = 0; i < 50; ++i) {
    const std::string found = read_bytes(file());
    ASSERT_FALSE(found.empty());
    EXPECT_TRUE(found == text(found.front() - 'a')) << found.size();
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(names(), Names{"file.json"});
}

// A process that dies in the middle of writing, and the name of what it left.
Names left_by_a_dead_process(const TestFolder& folder) {
  const pid_t child = ::fork();
  if (child == 0) {
    WholeFile out(folder / "file.json");
    out.write(std::string(100'000, '.'));
    ::_exit(0);  // no destructor
  }
  ::waitpid(child, nullptr, 0);
  return names_in(folder.path());
}

TEST_F(WholeFileTest, CleansUpAfterADeadProcess) {
  ASSERT_EQ(left_by_a_dead_process(folder_).size(), 1U);
  write_text(file(), "text");
  EXPECT_EQ(names(), Names{"file.json"});
}

TEST_F(WholeFileTest, LeavesAloneWhatIsNotItsOwn) {
  const Names others = {"file.json.partial",      "file.json.partial.1",   "file.json.partial.1-",
                        "file.json.partial.1-0x", "file.json.partial.old", "other.partial.1-0"};
  for (const std::string& name : others) write_bytes(folder_ / name, "mine");
  fs::create_directory(folder_ / "file.json.partial.1-1");
  write_bytes(folder_ / "file.json.partial.1-0", "a leftover");
  write_text(file(), "text");
  Names expected = {"file.json"};
  expected.insert(expected.end(), others.begin(), others.end());
  expected.insert(expected.begin() + 3, "file.json.partial.1-1");
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(names(), expected);
}

TEST_F(WholeFileTest, LeavesAloneWhatAnotherProcessIsWriting) {
  std::array<int, 2> ready{};
  std::array<int, 2> go_on{};
  ASSERT_TRUE(::pipe(ready.data()) == 0 && ::pipe(go_on.data()) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    WholeFile out(file());
    out.write("of the child");
    char byte = 'r';
    const bool told = ::write(ready[1], &byte, 1) == 1 && ::read(go_on[0], &byte, 1) == 1;
    if (told) out.commit();
    ::_exit(told ? 0 : 1);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  write_text(file(), "of the parent");
  EXPECT_EQ(names().size(), 2U);
  ASSERT_EQ(::write(go_on[1], &byte, 1), 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_bytes(file()), "of the child");
  EXPECT_EQ(names(), Names{"file.json"});
  for (const int end : {ready[0], ready[1], go_on[0], go_on[1]}) ::close(end);
}

// --- texts ---

TEST_F(WholeFileTest, ATextIsReplacedWhole) {
  for (const std::string& text :
       {std::string("first, longer"), std::string("a\0b", 3), std::string()}) {
    write_bytes(file().string() + ".partial.1-0", "what a killed process left, longer than all");
    write_text(file(), text);
    EXPECT_EQ(read_text(file()), text);
    EXPECT_EQ(names(), Names{"file.json"});
  }
}

TEST_F(WholeFileTest, ATextIsReadToItsEnd) {
  for (const size_t length : {0U, 65'535U, 65'536U, 65'537U, 131'072U, 300'000U}) {
    const std::string text(length, 'x');
    write_text(file(), text);
    EXPECT_TRUE(read_text(file()) == text) << length;
  }
  EXPECT_NE(read_text("/proc/self/status"), "") << "a file whose size is 0 beforehand";
}

TEST_F(WholeFileTest, ATextIsNamedWhenItCannotBeReadOrWritten) {
  EXPECT_EQ(error_of([&] { read_text(file()); }),
            file().string() + ": cannot be read: No such file or directory");
  EXPECT_TRUE(contains(error_of([&] { read_text(folder_.path()); }),
                       folder_.path().string() + ": cannot read: Is a directory"));
  EXPECT_TRUE(contains(error_of([&] { write_text(folder_ / "no" / "x", ""); }), "no/x"));
}

}  // namespace
}  // namespace hgt
