#include "hgt/disk/mapping.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hgt/graph/graph_test_folder.h"

namespace hgt {
namespace {

std::string text_of(const Mapping& mapping) {
  return {reinterpret_cast<const char*>(mapping.bytes().data()), mapping.bytes().size()};
}

class MappingTest : public testing::Test {
 protected:
  Path path() const { return folder_ / "file"; }
  Mapping mapped(uint64_t bytes) const {
    return Mapping::to_read(File::open_to_read(path()), bytes);
  }
  TestFolder folder_;
};

TEST_F(MappingTest, ShowsTheFileOrItsBeginning) {
  write_bytes(path(), "0123456789");
  EXPECT_EQ(text_of(mapped(10)), "0123456789");
  EXPECT_EQ(text_of(mapped(4)), "0123");
}

TEST_F(MappingTest, OfNothingIsEmpty) {
  write_bytes(path(), "");
  EXPECT_TRUE(mapped(0).bytes().empty());
  Mapping none;
  none.drop_pages();
  EXPECT_TRUE(none.bytes().empty() && none.writable_bytes().empty());
  EXPECT_TRUE(Mapping::to_write(File::open_to_write(path()), 0).writable_bytes().empty());
}

TEST_F(MappingTest, RefusesAFileThatIsTooShort) {
  write_bytes(path(), "0123456789");
  std::filesystem::resize_file(path(), 9);
  const std::string expected = path().string() + ": has 9 bytes, but 10 are needed";
  EXPECT_TRUE(contains(error_of([&] { mapped(10); }), expected));
  EXPECT_TRUE(
      contains(error_of([&] { Mapping::to_write(File::open_to_write(path()), 10); }), expected));
}

TEST_F(MappingTest, NamesAFileThatCannotBeMapped) {
  write_bytes(path(), "0123456789");
  const std::string error = error_of([&] { Mapping::to_write(File::open_to_read(path()), 10); });
  EXPECT_TRUE(contains(error, path().string() + ": cannot map its 10 bytes: ")) << error;
}

TEST_F(MappingTest, WritesToTheFileAndLosesNothingWithItsPages) {
  File file = File::create(path());
  file.reserve(100'000);
  Mapping mapping = Mapping::to_write(file, 100'000);
  file.close();
  std::ranges::fill(mapping.writable_bytes(), std::byte{'x'});
  mapping.drop_pages();
  EXPECT_TRUE(text_of(mapping) == std::string(100'000, 'x'));
  EXPECT_TRUE(read_bytes(path()) == std::string(100'000, 'x'));
}

TEST_F(MappingTest, GoesWhereItIsMoved) {
  write_bytes(path(), "0123456789");
  Mapping first = mapped(10);
  const std::byte* const at = first.bytes().data();
  Mapping second = std::move(first);
  EXPECT_EQ(second.bytes().data(), at);
  Mapping third;
  third = std::move(second);
  EXPECT_EQ(text_of(third), "0123456789");
  third = mapped(3);
  EXPECT_EQ(text_of(third), "012");
}

// --- will_need ---

constexpr uint64_t kPage = 4096;
constexpr uint64_t kPages = 700;

class WillNeed : public testing::Test {
 protected:
  WillNeed() {
    write_bytes(folder_ / "file", std::string(kPages * kPage, 'x'));
    file_ = File::open_to_read(folder_ / "file");
    file_.sync();
    mapping_ = Mapping::to_read(file_, kPages * kPage);
    mapping_.expect(Access::at_random);
    ::posix_fadvise(file_.descriptor(), 0, 0, POSIX_FADV_DONTNEED);
  }

  MemoryRange part(uint64_t offset, uint64_t bytes) const {
    return mapping_.bytes().subspan(offset, bytes);
  }
  std::vector<bool> pages_in_memory() const {
    std::vector<unsigned char> pages(kPages);
    auto* const at = const_cast<std::byte*>(mapping_.bytes().data());
    if (::mincore(at, kPages * kPage, pages.data()) != 0) throw Error("mincore");
    std::vector<bool> in_memory;
    for (const unsigned char page : pages) in_memory.push_back((page & 1U) != 0);
    return in_memory;
  }
  // The reading is in the background.
  bool comes_to(const std::vector<bool>& expected) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (pages_in_memory() != expected && std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
    }
    return pages_in_memory() == expected;
  }
  bool is_on_disk() const { return pages_in_memory() == std::vector<bool>(kPages, false); }

  TestFolder folder_{"."};  // on a disk, which the usual place need not be
  File file_;
  Mapping mapping_;
};

TEST_F(WillNeed, BringsThePagesOfTheRangesAndNoOthers) {
  if (!is_on_disk()) GTEST_SKIP() << "this file system keeps files in memory";
  std::vector<bool> expected(kPages, false);
  std::vector<MemoryRange> ranges = {part(300 * kPage + 5, 1),     part(0, 0),
                                     part(10 * kPage - 1, 2),      part(100 * kPage, 150 * kPage),
                                     part(10 * kPage, 3 * kPage),  part(699 * kPage, kPage),
                                     part(101 * kPage, 2 * kPage), part(10 * kPage + 9, 1)};
  for (const size_t page : {9, 10, 11, 12, 300, 699}) expected[page] = true;
  for (size_t page = 100; page < 250; ++page) expected[page] = true;  // more than a piece
  will_need(ranges);
  EXPECT_EQ(ranges.size(), 4U) << "joined";
  EXPECT_TRUE(comes_to(expected));
}

TEST_F(WillNeed, LooksAtNothingElseWhenReadAtRandom) {
  if (!is_on_disk()) GTEST_SKIP() << "this file system keeps files in memory";
  EXPECT_EQ(part(350 * kPage, 1)[0], std::byte{'x'});
  std::vector<bool> expected(kPages, false);
  expected[350] = true;
  EXPECT_EQ(pages_in_memory(), expected);
}

TEST_F(WillNeed, OfNothingDoesNothing) {
  std::vector<MemoryRange> ranges;
  will_need(ranges);
  ranges.emplace_back();
  will_need(ranges);
  EXPECT_TRUE(ranges.empty());
  Mapping().expect(Access::at_random);
}

}  // namespace
}  // namespace hgt
