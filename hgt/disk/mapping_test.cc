#include "hgt/disk/mapping.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

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

}  // namespace
}  // namespace hgt
