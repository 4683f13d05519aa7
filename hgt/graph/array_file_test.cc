#include "hgt/graph/array_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "hgt/error.h"
#include "hgt/graph/graph_test_folder.h"
#include "hgt/random.h"

namespace hgt {
namespace {

std::vector<int64_t> random_numbers(uint64_t count, uint64_t seed) {
  std::vector<int64_t> numbers(count);
  Draws draws(seed);
  for (int64_t& number : numbers) number = static_cast<int64_t>(draws.bits());
  return numbers;
}

template <typename T>
std::vector<T> to_vector(std::span<const T> items) {
  return {items.begin(), items.end()};
}

// What NumPy's format 1.0 asks for, and the alignment that we promise.
void expect_header(const std::string& header, const std::string& dictionary) {
  ASSERT_EQ(header.size(), 128U);
  EXPECT_EQ(header.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  const auto length =
      static_cast<unsigned char>(header[8]) + 256U * static_cast<unsigned char>(header[9]);
  EXPECT_EQ(length + 10U, 128U);
  EXPECT_EQ(header.substr(10, dictionary.size()), dictionary);
  const std::string rest = header.substr(10 + dictionary.size());
  EXPECT_EQ(rest, std::string(rest.size() - 1, ' ') + "\n");
}

TEST(ArrayHeader, IsNumpyFormatOneIn128Bytes) {
  const auto header = [](std::string_view dtype, std::vector<uint64_t> shape) {
    return array_header(dtype, shape);
  };
  expect_header(header("<u4", {3}), "{'descr': '<u4', 'fortran_order': False, 'shape': (3,), }");
  expect_header(header("<i8", {0}), "{'descr': '<i8', 'fortran_order': False, 'shape': (0,), }");
  expect_header(header("<f4", {4, 5}),
                "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 5), }");
  expect_header(header("<f2", {0, 7}),
                "{'descr': '<f2', 'fortran_order': False, 'shape': (0, 7), }");
  expect_header(header("|u1", {281474976710655, 281474976710655}),
                "{'descr': '|u1', 'fortran_order': False, 'shape': (281474976710655, "
                "281474976710655), }");
}

TEST(ArrayHeader, ItemSizeAndCountFollowFromDtypeAndShape) {
  EXPECT_EQ(item_size("<i8"), sizeof(int64_t));
  EXPECT_EQ(item_size("<u4"), sizeof(uint32_t));
  EXPECT_EQ(item_size("<f2"), sizeof(uint16_t));
  EXPECT_EQ(item_size("|u1"), sizeof(uint8_t));
  EXPECT_EQ(num_items(std::vector<uint64_t>{3, 5}), 15U);
  EXPECT_EQ(num_items(std::vector<uint64_t>{0, 5}), 0U);
}

TEST(ArrayStream, LargerThanItsBufferReadsBackThroughAMapping) {
  const TestFolder folder;
  const auto numbers = random_numbers(400'000, 1);  // 3.2 MB; the buffer holds 1 MB
  ArrayStream stream(folder.path(), "numbers.npy", "<i8");
  stream.append(numbers[0]);
  stream.append(std::span<const int64_t>(numbers).subspan(1, 10));
  stream.append(std::span<const int64_t>(numbers).subspan(11, 300'000));
  for (size_t i = 300'011; i < numbers.size(); ++i) stream.append(numbers[i]);
  EXPECT_EQ(stream.items(), numbers.size());
  const ArrayRecord record = stream.close();
  EXPECT_EQ(record.file, "numbers.npy");
  EXPECT_EQ(record.dtype, "<i8");
  EXPECT_EQ(record.shape, std::vector<uint64_t>{numbers.size()});
  EXPECT_EQ(record.checksum, checksum(std::as_bytes(std::span(numbers))));
  const MappedArray mapped(folder.path(), record);
  EXPECT_EQ(to_vector(mapped.as<int64_t>()), numbers);
  EXPECT_EQ(to_vector(mapped.as<int64_t>()), numbers);
  EXPECT_EQ(read_bytes(folder / "numbers.npy").substr(0, 128), array_header("<i8", record.shape));
}

TEST(ArrayStream, WithNothingInItIsAnEmptyArray) {
  const TestFolder folder;
  ArrayStream stream(folder.path(), "empty.npy", "<f4");
  const ArrayRecord record = stream.close();
  EXPECT_EQ(record.shape, std::vector<uint64_t>{0});
  EXPECT_TRUE(MappedArray(folder.path(), record).as<float>().empty());
  EXPECT_EQ(std::filesystem::file_size(folder / "empty.npy"), 128U);
}

TEST(ArrayStream, WithoutCloseIsNoArray) {
  const TestFolder folder;
  {
    ArrayStream stream(folder.path(), "cut.npy", "|u1");
    stream.append(uint8_t{1});
  }
  EXPECT_NE(read_bytes(folder / "cut.npy").substr(0, 6), "\x93NUMPY");
}

TEST(ArrayStream, KeepsItsContentWhenMoved) {
  const TestFolder folder;
  ArrayStream first(folder.path(), "a.npy", "<u4");
  first.append(uint32_t{5});
  ArrayStream second(std::move(first));
  second.append(uint32_t{6});
  ArrayStream third(folder.path(), "b.npy", "<u4");
  third = std::move(second);
  third.append(uint32_t{7});
  const ArrayRecord record = third.close();
  EXPECT_EQ(record.file, "a.npy");
  EXPECT_EQ(to_vector(MappedArray(folder.path(), record).as<uint32_t>()),
            (std::vector<uint32_t>{5, 6, 7}));
}

TEST(ArrayStream, RefusesAFileThatExists) {
  const TestFolder folder;
  write_bytes(folder / "there.npy", "x");
  EXPECT_TRUE(contains(error_of([&] { ArrayStream(folder.path(), "there.npy", "<i8"); }),
                       (folder / "there.npy").string()));
}

TEST(GrowingArray, GrowsAndKeepsItsContentWhenItsPagesAreDropped) {
  const TestFolder folder;
  const auto numbers = random_numbers(500'000, 2);  // 4 MB; the first mapping holds 1 MB
  GrowingArray array(folder.path(), "numbers.npy", "<i8");
  for (size_t at = 0; at < numbers.size(); at += 25'000) {
    array.append(std::span<const int64_t>(numbers).subspan(at, 25'000));
    array.drop_pages();
    ASSERT_EQ(array.as<int64_t>()[at], numbers[at]);
    ASSERT_EQ(array.as<int64_t>()[0], numbers[0]);
  }
  EXPECT_TRUE(std::equal(numbers.begin(), numbers.end(), array.as<int64_t>().begin()));
  GrowingArray moved(std::move(array));
  const ArrayRecord record = moved.close({1000, 500});
  const MappedArray mapped(folder.path(), record);
  EXPECT_EQ(to_vector(mapped.as<int64_t>()), numbers);
}

TEST(GrowingArray, NewItemsAreZero) {
  const TestFolder folder;
  GrowingArray array(folder.path(), "zeros.npy", "<f4");
  array.append(std::span<const float>(std::vector<float>(1000, 1.0F)));
  array.resize(600'000);
  const auto items = array.as<float>();
  ASSERT_EQ(items.size(), 600'000U);
  EXPECT_EQ(std::count(items.begin(), items.end(), 1.0F), 1000);
  EXPECT_EQ(std::count(items.begin(), items.end(), 0.0F), 599'000);
}

TEST(GrowingArray, ItemsThatComeBackAfterShrinkingAreZero) {
  const TestFolder folder;
  GrowingArray array(folder.path(), "shrunk.npy", "<u4");
  array.append(std::span<const uint32_t>(std::vector<uint32_t>{1, 2, 3}));
  array.resize(1);
  array.resize(3);
  EXPECT_EQ(array.as<uint32_t>()[0], 1U);
  EXPECT_EQ(array.as<uint32_t>()[1], 0U);
  EXPECT_EQ(array.as<uint32_t>()[2], 0U);
}

TEST(GrowingArray, LeavesNoSpareBytesInItsFile) {
  const TestFolder folder;
  GrowingArray array(folder.path(), "a.npy", "<f2");
  array.resize(6);
  array.close({2, 3});
  EXPECT_EQ(read_bytes(folder / "a.npy"),
            array_header("<f2", std::vector<uint64_t>{2, 3}) + std::string(12, '\0'));
}

TEST(GrowingArray, HasTheChecksumOfAStreamOfTheSameData) {
  const TestFolder folder;
  const auto numbers = random_numbers(300'000, 3);
  ArrayStream stream(folder.path(), "stream.npy", "<i8");
  GrowingArray growing(folder.path(), "growing.npy", "<i8");
  for (const int64_t number : numbers) stream.append(number);
  growing.append(std::span<const int64_t>(numbers));
  EXPECT_EQ(stream.close().checksum, growing.close({numbers.size()}).checksum);
  EXPECT_EQ(read_bytes(folder / "stream.npy"), read_bytes(folder / "growing.npy"));
}

TEST(Checksum, ChangesWithEveryBit) {
  std::vector<std::byte> data(300);
  const uint64_t before = checksum(data);
  for (size_t bit = 0; bit < data.size() * 8; ++bit) {
    data[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_NE(checksum(data), before);
    data[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  EXPECT_EQ(checksum(data), before);
}

class MappedArrayErrors : public testing::Test {
 protected:
  MappedArrayErrors() {
    ArrayStream stream(folder_.path(), "array.npy", "<u4");
    for (uint32_t i = 0; i < 10; ++i) stream.append(i);
    record_ = stream.close();
  }
  std::string error() const {
    return error_of([&] { MappedArray(folder_.path(), record_); });
  }
  Path file() const { return folder_ / "array.npy"; }

  TestFolder folder_;
  ArrayRecord record_;
};

TEST_F(MappedArrayErrors, NoneForAGoodFile) { EXPECT_EQ(error(), ""); }

TEST_F(MappedArrayErrors, NameAMissingFile) {
  std::filesystem::remove(file());
  EXPECT_TRUE(contains(error(), file().string())) << error();
}

TEST_F(MappedArrayErrors, NameAFileOfTheWrongSize) {
  for (const uint64_t size : {0U, 1U, 127U, 128U, 167U, 169U, 200000U}) {
    std::filesystem::resize_file(file(), size);
    EXPECT_TRUE(contains(error(), file().string())) << size;
  }
}

TEST_F(MappedArrayErrors, NameAFileWithAnyWrongHeaderByte) {
  const std::string good = read_bytes(file());
  for (size_t at = 0; at < kArrayHeaderBytes; ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    write_bytes(file(), bad);
    EXPECT_TRUE(contains(error(), file().string())) << at;
  }
}

TEST_F(MappedArrayErrors, NameAFileOfAnotherShapeOrDtypeOfTheSameSize) {
  record_.shape = {5, 2};
  EXPECT_TRUE(contains(error(), file().string()));
  record_.shape = {10};
  record_.dtype = "<f4";
  EXPECT_TRUE(contains(error(), file().string()));
}

TEST(MappedArray, MovesWithItsMapping) {
  const TestFolder folder;
  ArrayStream stream(folder.path(), "a.npy", "<u4");
  stream.append(uint32_t{9});
  const ArrayRecord record = stream.close();
  MappedArray first(folder.path(), record);
  const MappedArray second(std::move(first));
  EXPECT_EQ(second.as<uint32_t>()[0], 9U);
  EXPECT_TRUE(MappedArray().as<uint32_t>().empty());
}

TEST(File, ReadsLessOnlyAtTheEnd) {
  const TestFolder folder;
  File file = File::create(folder / "data");
  file.write("hello", 5);
  file.write_at("J", 1, 0);
  file.write("!", 1);
  std::string text(10, '.');
  EXPECT_EQ(file.read_at(text.data(), 10, 1), 5U);
  EXPECT_EQ(text, "ello!.....");
  EXPECT_EQ(file.size(), 6U);
  file.close();
  EXPECT_EQ(read_bytes(folder / "data"), "Jello!");
  EXPECT_TRUE(contains(error_of([&] { File::create(folder / "data"); }), "data"));
  EXPECT_TRUE(contains(error_of([&] { File::open_to_read(folder / "none"); }), "none"));
}

}  // namespace
}  // namespace hgt
