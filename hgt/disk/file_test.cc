#include "hgt/disk/file.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>

#include "hgt/graph/graph_test_folder.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;

TEST(FileTest, TellsWhatTheSystemSays) {
  const auto error = [](int number) {
    return error_of([&] {
      errno = number;
      fail_on_disk("a/b", "be written");
    });
  };
  EXPECT_EQ(error(EACCES), "a/b: cannot be written: Permission denied");
  EXPECT_EQ(error(ENOSPC),
            "a/b: cannot be written: No space left on device; free some disk space and try again");
  EXPECT_TRUE(contains(error(ENOMEM), "free some memory"));
}

TEST(FileTest, SaysThatADeviceIsFull) {
  File full = File::open_to_write("/dev/full");
  EXPECT_TRUE(contains(error_of([&] { full.write("x", 1); }), "/dev/full: cannot write: No space"));
}

TEST(FileTest, IsMadeOnce) {
  const TestFolder folder;
  const Path path = folder / "file";
  EXPECT_TRUE(File::try_create(path, "shown"));
  EXPECT_FALSE(File::try_create(path, "shown"));
  EXPECT_EQ(error_of([&] { File::create(path); }),
            path.string() + ": cannot create the file: File exists");
  EXPECT_TRUE(contains(error_of([&] { File::try_create(folder / "no" / "file", "shown"); }),
                       "shown: cannot create the file"));
}

TEST(FileTest, ReadsBackWhatIsOnDisk) {
  const TestFolder folder;
  File file = File::create(folder / "file");
  file.write("abc", 3);
  file.write_at("x", 1, 1);
  file.sync();
  std::array<char, 8> read{};
  EXPECT_EQ(file.read_at(read.data(), read.size(), 0), 3U);
  EXPECT_STREQ(read.data(), "axc");
  EXPECT_TRUE(file.is_open());
  file.close();
  EXPECT_FALSE(file.is_open());
  EXPECT_TRUE(contains(error_of([&] { file.sync(); }), "cannot flush it to disk"));
}

TEST(FileTest, IsLockedByOneDescriptor) {
  const TestFolder folder;
  File first = File::create(folder / "file");
  File second = File::open_to_read(folder / "file");
  EXPECT_TRUE(first.try_lock());
  EXPECT_TRUE(first.try_lock());
  EXPECT_FALSE(second.try_lock());
  first.close();
  EXPECT_TRUE(second.try_lock());
}

TEST(FileTest, MovesIntoPlaceOverWhatWasThere) {
  const TestFolder folder;
  write_bytes(folder / "new", "new");
  write_bytes(folder / "file", "old");
  move_into_place(folder / "new", folder / "file");
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"file"});
  EXPECT_EQ(read_bytes(folder / "file"), "new");
  EXPECT_EQ(error_of([&] { move_into_place(folder / "new", folder / "file"); }),
            (folder / "file").string() +
                ": cannot rename the finished file to it: No such file or directory");
  EXPECT_EQ(error_of([&] { sync_folder(folder / "none"); }), "");
}

TEST(FileTest, LiesInAFolder) {
  EXPECT_EQ(folder_of("a/b"), "a");
  EXPECT_EQ(folder_of("/a"), "/");
  EXPECT_EQ(folder_of("a"), ".");
}

}  // namespace
}  // namespace hgt
