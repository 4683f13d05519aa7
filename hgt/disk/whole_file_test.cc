#include "hgt/disk/whole_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "hgt/graph/graph_test_folder.h"

namespace hgt {
namespace {

class TextFile : public testing::Test {
 protected:
  Path file() const { return folder_ / "file.json"; }
  TestFolder folder_;
};

TEST_F(TextFile, IsReplacedWhole) {
  for (const std::string& text :
       {std::string("first, longer"), std::string("a\0b", 3), std::string()}) {
    write_bytes(file().string() + ".partial", "what a killed process left, longer than all");
    write_text(file(), text);
    EXPECT_EQ(read_text(file()), text);
    EXPECT_EQ(names_in(folder_.path()), std::vector<std::string>{"file.json"});
  }
}

TEST_F(TextFile, IsLeftAsItWasWhenTheDiskIsFull) {
  write_text(file(), "before");
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit tight{.rlim_cur = 1000, .rlim_max = limit.rlim_max};
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  const std::string error = error_of([&] { write_text(file(), std::string(5000, '.')); });
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(contains(error, "file.json.partial: cannot write")) << error;
  EXPECT_EQ(read_text(file()), "before");
  EXPECT_EQ(names_in(folder_.path()), std::vector<std::string>{"file.json"});
}

TEST_F(TextFile, IsNamedWhenItCannotBeReadOrWritten) {
  EXPECT_TRUE(contains(error_of([&] { read_text(file()); }), file().string()));
  EXPECT_TRUE(contains(error_of([&] { write_text(folder_ / "no" / "x", ""); }), "no/x"));
  std::filesystem::create_directories(file() / "full");
  const std::string error = error_of([&] { write_text(file(), "x"); });
  EXPECT_TRUE(contains(error, file().string() + ": cannot be written")) << error;
}

TEST_F(TextFile, HasAChecksumThatTellsTextsApart) {
  EXPECT_EQ(text_checksum("a"), text_checksum("a"));
  EXPECT_NE(text_checksum("a"), text_checksum("a\n"));
  EXPECT_EQ(text_checksum("").size(), 16U);
}

}  // namespace
}  // namespace hgt
