#include "hgt/disk/tensor_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <thread>

#include "hgt/error.h"
#include "hgt/graph/array_file.h"
#include "hgt/graph/graph_test_folder.h"

namespace hgt {
namespace {

using Metadata = std::map<std::string, std::string>;

std::span<const std::byte> data_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string hex(uint64_t number) {
  std::string digits;
  for (int shift = 60; shift >= 0; shift -= 4)
    digits += "0123456789abcdef"[(number >> shift) & 15U];
  return digits;
}

// A file as the format describes it.
std::string file_of(const std::string& header, const std::string& data) {
  std::string length(8, '\0');
  for (size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(header.size() >> (8 * i));
  return length + header + data;
}

std::string described(std::span<const TensorView> tensors) {
  std::string text;
  for (const TensorView& tensor : tensors) {
    text += tensor.name + " " + std::string(to_string(tensor.type));
    for (const uint64_t extent : tensor.shape) text += " " + std::to_string(extent);
    text += " = " + text_of(tensor.data) + "\n";
  }
  return text;
}

class TensorFileTest : public testing::Test {
 protected:
  // The data is kept for as long as the test runs.
  void add(const std::string& name, ElementType type, std::vector<uint64_t> shape,
           const std::string& data) {
    kept_.push_back(data);
    tensors_.push_back(
        {.name = name, .type = type, .shape = std::move(shape), .data = data_of(kept_.back())});
  }
  void write() const { write_tensor_file(file(), tensors_, metadata_); }
  std::string read() const { return described(TensorFile::open(file()).tensors()); }
  std::string error_of_reading(const std::string& bytes) const {
    write_bytes(file(), bytes);
    return error_of([&] { TensorFile::open(file()); });
  }
  std::string error_of_writing() const {
    return error_of([&] { write(); });
  }
  Path file() const { return folder_ / "model.safetensors"; }

  // Two tensors, and metadata with one character that JSON writes as \u001f.
  void add_small_model() {
    add("w", ElementType::float16, {2, 1}, "wxyz");
    add("step", ElementType::uint8, {}, "7");
    metadata_ = {{"note", "\x1f"}};
  }

  TestFolder folder_;
  std::deque<std::string> kept_;
  std::vector<TensorView> tensors_;
  Metadata metadata_;
};

// --- what is written ---

TEST(ElementType, HasTheSizeAndNameOfTheFormat) {
  const std::map<std::string, size_t> sizes = {{"F16", 2}, {"BF16", 2}, {"F32", 4}, {"F64", 8},
                                               {"I32", 4}, {"I64", 8},  {"U8", 1},  {"BOOL", 1}};
  std::map<std::string, size_t> found;
  for (int i = 0; i <= static_cast<int>(ElementType::boolean); ++i) {
    const auto type = static_cast<ElementType>(i);
    found[std::string(to_string(type))] = element_size(type);
  }
  EXPECT_EQ(found, sizes);
  EXPECT_EQ(to_string(ElementType::bfloat16), "BF16");
  EXPECT_EQ(to_string(ElementType::int64), "I64");
}

TEST_F(TensorFileTest, ReadsBackEveryTypeInTheOrderWritten) {
  add("empty.z", ElementType::int64, {0}, "");
  add("empty.a", ElementType::float32, {3, 0, 2}, "");
  for (int i = 0; i <= static_cast<int>(ElementType::boolean); ++i) {
    const auto type = static_cast<ElementType>(i);
    std::string data(6 * element_size(type), '\0');
    for (size_t at = 0; at < data.size(); ++at) data[at] = static_cast<char>(at * 37 + i);
    add("matrix." + std::string(to_string(type)), type, {3, 2}, data);
    add("scalar." + std::string(to_string(type)), type, {}, data.substr(0, element_size(type)));
  }
  add("a \"name\",\n\\ \xc3\xa9 {", ElementType::boolean, {1, 1, 1}, std::string(1, '\1'));
  add("empty.last", ElementType::float64, {0}, "");
  metadata_ = {{"", ""}, {"text", "{\"hidden\": 256}\n\t\xe2\x82\xac"}};
  write();
  const TensorFile file = TensorFile::open(this->file());
  EXPECT_EQ(described(file.tensors()), described(tensors_));
  EXPECT_EQ(file.metadata(), metadata_);
}

TEST_F(TensorFileTest, FindsTensorsByName) {
  add_small_model();
  write();
  const TensorFile file = TensorFile::open(this->file());
  ASSERT_NE(file.find("step"), nullptr);
  EXPECT_EQ(text_of(file.find("step")->data), "7");
  EXPECT_EQ(file.find("w"), file.tensors().data());
  EXPECT_EQ(file.find("nothing"), nullptr);
  EXPECT_EQ(file.find("__metadata__"), nullptr);
}

TEST_F(TensorFileTest, IsLaidOutByteForByteAsInTheFormat) {
  add("b", ElementType::uint8, {3}, "xyz");
  add("a", ElementType::int32, {}, "1234");
  metadata_ = {{"k", "v"}};
  write();
  const std::string content = R"({"__metadata__":{"k":"v"},"a":["I32",[],)" +
                              std::to_string(checksum(data_of("1234"))) + R"(],"b":["U8",[3],)" +
                              std::to_string(checksum(data_of("xyz"))) + "]}";
  std::string header = R"({"__metadata__":{"hgt_checksum":")" + hex(checksum(data_of(content))) +
                       R"(","k":"v"},"b":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)"
                       R"("a":{"dtype":"I32","shape":[],"data_offsets":[3,7]}})";
  ASSERT_EQ(header.size(), 164U);
  header += "    ";  // to a multiple of 8
  EXPECT_EQ(read_bytes(file()), file_of(header, "xyz1234"));
}

TEST_F(TensorFileTest, HoldsNoTensorWhenGivenNone) {
  write();
  EXPECT_EQ(std::filesystem::file_size(file()) % 8, 0U);
  EXPECT_EQ(read(), "");
}

// --- files of other programs ---

TEST_F(TensorFileTest, ReadsFilesOfOtherPrograms) {
  write_bytes(file(), file_of(R"({"attn.0":{"dtype":"F32","shape":[1,2,3],"data_offsets":[0,24]}})",
                              "abcdefghijklmnopqrstuvwx"));
  EXPECT_EQ(read(), "attn.0 F32 1 2 3 = abcdefghijklmnopqrstuvwx\n");
  write_bytes(file(), file_of("{}      ", ""));
  EXPECT_EQ(read(), "");
}

TEST_F(TensorFileTest, ReadsAnyOrderOfEntriesAndFieldsAndAnyPadding) {
  write_bytes(file(),
              file_of("{\n\"z\": {\"data_offsets\":[2,3], \"more\":[{}], \"shape\":[1],"
                      "\"dtype\":\"U8\"}, \"e\":{\"dtype\":\"I64\",\"shape\":[0,9],"
                      "\"data_offsets\":[2,2]}, \"__metadata__\":{\"format\":\"pt\"},"
                      "\"y\":{\"dtype\":\"BF16\",\"shape\":[1,1],\"data_offsets\":[0,2]}} \t\r\n",
                      "123"));
  EXPECT_EQ(read(), "y BF16 1 1 = 12\ne I64 0 9 = \nz U8 1 = 3\n");
  EXPECT_EQ(TensorFile::open(file()).metadata(), (Metadata{{"format", "pt"}}));
}

TEST_F(TensorFileTest, IsReadUncheckedWithoutAChecksum) {
  add_small_model();
  write();
  std::string bytes = read_bytes(file());
  bytes.back() = '8';
  EXPECT_TRUE(contains(error_of_reading(bytes), "does not match its checksum"));
  bytes.replace(bytes.find("hgt_checksum"), 12, "old_checksum");
  EXPECT_EQ(error_of_reading(bytes), "");
  EXPECT_EQ(read(), "w F16 2 1 = wxyz\nstep U8 = 8\n");
}

// --- damage ---

TEST_F(TensorFileTest, NamesAFileThatCannotBeRead) {
  const auto error = [](const Path& path) { return error_of([&] { TensorFile::open(path); }); };
  EXPECT_TRUE(contains(error(file()), file().string() + ": there is no such file"));
  EXPECT_TRUE(contains(error(folder_.path()), folder_.path().string() + ": is not a regular file"));
  EXPECT_TRUE(contains(error("/dev/zero"), "/dev/zero: is not a regular file"));
}

TEST_F(TensorFileTest, RefusesAHeaderThatDoesNotFitTheFile) {
  const std::string length = "its first 8 bytes announce a header of ";
  EXPECT_TRUE(contains(error_of_reading(""), "has 0 bytes, but at least 8 are needed"));
  EXPECT_TRUE(contains(error_of_reading("1234567"), "has 7 bytes, but at least 8 are needed"));
  EXPECT_TRUE(contains(error_of_reading(std::string("\3\0\0\0\0\0\0\0{}", 10)),
                       length + "3 bytes, but at most 2 are"));
  EXPECT_TRUE(contains(error_of_reading(std::string(16, '\xff')),
                       length + "18446744073709551615 bytes, but at most 8 are"));
  // 200 MB of zeros behind the length, which take no room on disk.
  const auto error_of_length = [&](uint64_t bytes) {
    write_bytes(file(), text_of(std::as_bytes(std::span(&bytes, 1))));
    std::filesystem::resize_file(file(), 200'000'008);
    return error_of([&] { TensorFile::open(file()); });
  };
  EXPECT_TRUE(contains(error_of_length(100'000'000), "its header is not a JSON object"));
  EXPECT_TRUE(contains(error_of_length(100'000'001),
                       length + "100000001 bytes, but at most 100000000 are"));
}

TEST_F(TensorFileTest, RefusesAHeaderThatIsNoJsonObject) {
  using std::string_literals::operator""s;
  for (const std::string& header :
       {""s, "[]"s, "7"s, "null"s, "\"{}\""s, " {}"s, "\xef\xbb\xbf{}"s, "{"s, "{}}"s, "{},"s,
        "{}\0"s, "{\"a\":}"s, "{'a':1}"s, "{\"\xff\":1}"s, "{\"a\":1e999}"s}) {
    const std::string error = error_of_reading(file_of(header, ""));
    EXPECT_TRUE(contains(error, file().string() + ": its header is not a JSON object")) << header;
    EXPECT_TRUE(contains(error, "restore it from a copy")) << header;
    EXPECT_FALSE(contains(error, "\n")) << header;
  }
}

TEST_F(TensorFileTest, RefusesAHeaderThatNestsDeepOrIsFullOfValues) {
  const std::string deep = "{\"a\":{\"shape\":" + std::string(1'000'000, '[');
  EXPECT_TRUE(
      contains(error_of_reading(file_of(deep, "")), "entry \"a\" of its header is nested too"));
  const std::string wide =
      "{\"" + std::string(1'000'000, 'n') + "\":" + std::string(5000, '7') + "}";
  EXPECT_LT(error_of_reading(file_of(wide, "")).size(), 1000U);
}

TEST_F(TensorFileTest, RefusesEntriesThatAreNoTensors) {
  const auto expect = [&](const std::string& entry, const std::string& message) {
    const std::string error = error_of_reading(file_of("{\"a\":" + entry + "}", "12345678"));
    EXPECT_TRUE(contains(error, file().string() + ": " + message)) << entry << "\n" << error;
    EXPECT_TRUE(contains(error, "; ")) << error;
  };
  const auto with = [](const std::string& dtype, const std::string& shape,
                       const std::string& offsets) {
    return R"({"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
  };
  for (const std::string entry : {"1", "[]", "null", "{}"}) {
    expect(entry, "tensor \"a\" is " + entry + ", which has no \"dtype\"");
  }
  expect(R"({"dtype":"U8","data_offsets":[0,8]})", R"(tensor "a" is {"data_offsets":[0,8],"dtyp)");
  expect(R"({"dtype":"U8","shape":[8]})",
         R"(tensor "a" is {"dtype":"U8","shape":[8]}, which has no "data_offsets")");
  expect(with("\"F31\"", "[2]", "[0,8]"),
         "tensor \"a\" has the unknown dtype \"F31\"; convert it to one of F16, BF16, F32, F64, "
         "I32, I64, U8, BOOL");
  expect(with("32", "[2]", "[0,8]"), "tensor \"a\" has the unknown dtype 32");
  for (const std::string list : {"8", "\"8\"", "[-8]", "[8.0]", "[[8]]", "[\"8\"]", "{\"0\":8}",
                                 "null", "[1.8446744073709552e+19]"}) {
    const std::string message = " of tensor \"a\", " + list + ", is not a list of counts; ";
    expect(with("\"U8\"", list, "[0,8]"), "the shape" + message);
    expect(with("\"U8\"", "[8]", list), "the data_offsets" + message);
  }
  expect(with("\"U8\"", "[18446744073709551616]", "[0,8]"), "the shape of tensor \"a\", [1.8");
  for (const std::string offsets : {"[8]", "[0,4,8]", "[]", "[8,0]"}) {
    expect(with("\"U8\"", "[8]", offsets),
           "the data_offsets of tensor \"a\" are " + offsets + ", not a begin and an end; ");
  }
  expect(with("\"U8\"", "[9]", "[0,9]"),
         "the data_offsets of tensor \"a\" are [0,9], but the file has 8 bytes of data");
  expect(with("\"U8\"", "[0]", "[9,9]"), "the data_offsets of tensor \"a\" are [9,9], but");
  expect(with("\"U8\"", "[7]", "[0,18446744073709551615]"), "the data_offsets of tensor \"a\"");
}

TEST_F(TensorFileTest, RefusesDataThatDoesNotHoldItsShape) {
  const auto error = [&](const std::string& dtype, const std::string& shape, size_t bytes) {
    const std::string size = std::to_string(bytes);
    return error_of_reading(file_of(R"({"a":{"dtype":")" + dtype + R"(","shape":)" + shape +
                                        R"(,"data_offsets":[0,)" + size + "]}}",
                                    std::string(bytes, '.')));
  };
  EXPECT_EQ(error("F32", "[2,3]", 24), "");
  EXPECT_TRUE(contains(error("F32", "[2,3]", 23),
                       "the data_offsets of tensor \"a\" are [0,23], which is 23 bytes and does "
                       "not match the shape [2,3] of F32"));
  EXPECT_NE(error("F32", "[2,3]", 25), "");
  EXPECT_NE(error("F32", "[]", 0), "");
  EXPECT_EQ(error("F32", "[]", 4), "");
  EXPECT_NE(error("F32", "[0]", 4), "");
  EXPECT_EQ(error("F32", "[0,7]", 0), "");
  EXPECT_NE(error("U8", "[4294967296,4294967296]", 0), "");
  EXPECT_NE(error("F32", "[4611686018427387905]", 4), "");
  EXPECT_NE(error("U8", "[0,9223372036854775808]", 0), "");
  EXPECT_EQ(error("U8", "[0,9223372036854775807]", 0), "");
}

TEST_F(TensorFileTest, RefusesTensorsThatDoNotFillTheFileOneAfterTheOther) {
  const auto expect = [&](const std::string& first, const std::string& second,
                          const std::string& message) {
    const std::string header = R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)" + first +
                               R"(},"b":{"dtype":"U8","shape":[4],"data_offsets":)" + second + "}}";
    const std::string error = error_of_reading(file_of(header, "123456789"));
    EXPECT_TRUE(contains(error, file().string() + ": " + message)) << error;
  };
  expect("[1,5]", "[5,9]", "tensor \"a\" starts at byte 1 of the data instead of byte 0");
  expect("[0,4]", "[5,9]", "tensor \"b\" starts at byte 5 of the data instead of byte 4");
  expect("[5,9]", "[2,6]", "tensor \"b\" starts at byte 2 of the data instead of byte 0");
  expect("[3,7]", "[0,4]", "tensor \"a\" starts at byte 3 of the data instead of byte 4");
  expect("[0,4]", "[0,4]", "tensor \"b\" starts at byte 0 of the data instead of byte 4");
  expect("[0,4]", "[4,8]", "its tensors end at byte 8 of the data, which has 9 bytes");
  EXPECT_TRUE(contains(error_of_reading(file_of("{}", "1")), "its tensors end at byte 0"));
}

TEST_F(TensorFileTest, RefusesRepeatedNames) {
  const std::string tensor = R"({"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  const auto error = [&](const std::string& entries) {
    return error_of_reading(file_of("{" + entries + "}", "1"));
  };
  EXPECT_EQ(error("\"a\":" + tensor), "");
  EXPECT_TRUE(
      contains(error("\"a\":" + tensor + ",\"a\":" + tensor), "its header has \"a\" twice"));
  EXPECT_TRUE(contains(error("\"a\":" + tensor + ",\"\\u0061\":" + tensor), "has \"a\" twice"));
  EXPECT_TRUE(
      contains(error(R"("a":{"shape":[1],"dtype":"U8","dtype":"BOOL"})"), "has \"dtype\" twice"));
  EXPECT_TRUE(contains(error(R"("__metadata__":{"k":"1","k":"2"})"), "has \"k\" twice"));
  EXPECT_TRUE(contains(error(R"("__metadata__":{},"__metadata__":{})"), "\"__metadata__\" twice"));
}

TEST_F(TensorFileTest, RefusesMetadataThatIsNotTextToText) {
  const auto error = [&](const std::string& metadata) {
    return error_of_reading(file_of("{\"__metadata__\":" + metadata + "}", ""));
  };
  EXPECT_EQ(error("{}"), "");
  EXPECT_TRUE(
      contains(error("[\"k\"]"), file().string() + ": its metadata is [\"k\"], not an object"));
  EXPECT_TRUE(contains(error("null"), "its metadata is null, not an object"));
  EXPECT_TRUE(contains(error("{\"k\":1}"), "its metadata entry \"k\" is 1, not text"));
  EXPECT_TRUE(contains(error("{\"k\":{\"a\":\"b\"}}"), "entry \"k\" is {\"a\":\"b\"}, not text"));
}

TEST_F(TensorFileTest, IsRefusedWhenCutAtAnyByte) {
  add_small_model();
  add("empty", ElementType::int32, {0}, "");
  write();
  const std::string whole = read_bytes(file());
  for (size_t size = whole.size(); size-- > 0;) {
    std::filesystem::resize_file(file(), size);
    EXPECT_TRUE(contains(error_of([&] { read(); }), file().string())) << size;
  }
  EXPECT_NE(error_of_reading(whole + '\0'), "");
  EXPECT_EQ(error_of_reading(whole), "");
}

// Two kinds of flipped bits are let through: the case of the hexadecimal letter in \u001f, which
// changes nothing, and the name of the checksum's entry, which makes it an entry like any other.
TEST_F(TensorFileTest, IsRefusedWithAnyBitFlippedThatChangesItsContent) {
  add_small_model();
  write();
  const std::string whole = read_bytes(file());
  const size_t escape = whole.find("\\u001f") + 5;
  const size_t name = whole.find("hgt_checksum");
  size_t renamed = 0;
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    const std::string error = error_of_reading(flipped);
    const bool in_name = bit / 8 >= name && bit / 8 < name + 12;
    if (bit == escape * 8 + 5 || (in_name && error.empty())) {
      ASSERT_EQ(error, "") << bit;
      EXPECT_EQ(read(), described(tensors_)) << bit;
      Metadata metadata = TensorFile::open(file()).metadata();
      renamed += in_name ? metadata.erase(flipped.substr(name, 12)) : 0;
      EXPECT_EQ(metadata, metadata_) << bit;
    } else {
      EXPECT_TRUE(contains(error, file().string())) << bit;
    }
  }
  EXPECT_GT(renamed, 0U);
}

// --- writing ---

TEST_F(TensorFileTest, RefusesToWriteWhatItCouldNotRead) {
  const auto expect = [&](const std::string& message) {
    const std::string error = error_of_writing();
    EXPECT_TRUE(contains(error, file().string())) << error;
    EXPECT_TRUE(contains(error, message)) << error;
    EXPECT_TRUE(names_in(folder_.path()).empty());
    tensors_.clear();
    metadata_.clear();
  };
  add("", ElementType::uint8, {1}, "1");
  expect("\"\" is not a valid name for a tensor");
  add("__metadata__", ElementType::uint8, {1}, "1");
  expect("\"__metadata__\" is not a valid name for a tensor");
  add("a", ElementType::uint8, {1}, "1");
  add("a", ElementType::uint8, {1}, "1");
  expect("there are two tensors named \"a\"");
  add("a", ElementType::float32, {2, 1}, "1234567");
  expect("tensor \"a\" has 7 bytes, which do not match the shape [2,1] of F32");
  add("a", ElementType::float32, {uint64_t{1} << 62U, 4}, "");
  expect("tensor \"a\" has 0 bytes");
  add("\xff", ElementType::uint8, {1}, "1");
  expect("must be UTF-8");
  metadata_ = {{"k", "\xc3"}};
  expect("must be UTF-8");
  metadata_ = {{"hgt_checksum", ""}};
  expect("hgt_checksum is added automatically");
}

TEST_F(TensorFileTest, NamesAPlaceThatCannotBeWritten) {
  const auto error = [](const Path& path) {
    return error_of([&] { write_tensor_file(path, {}, {}); });
  };
  EXPECT_TRUE(contains(error(folder_ / "none" / "model"),
                       "there is no folder " + (folder_ / "none").string()));
  EXPECT_TRUE(contains(error("/proc/model"), "/proc/model"));
  std::filesystem::create_directory(folder_ / "taken");
  EXPECT_TRUE(contains(error(folder_ / "taken"), (folder_ / "taken").string() + ": is a folder"));
  EXPECT_EQ(names_in(folder_.path()), std::vector<std::string>{"taken"});
}

TEST_F(TensorFileTest, IsLeftAsItWasWhenTheDiskIsFull) {
  add_small_model();
  write();
  const std::string before = read_bytes(file());
  add("large", ElementType::uint8, {1'000'000}, std::string(1'000'000, '.'));
  std::string error;
  {
    const FileSizeLimit full(500'000);
    error = error_of_writing();
  }
  EXPECT_TRUE(contains(error, file().string() + ": cannot write")) << error;
  EXPECT_EQ(read_bytes(file()), before);
  EXPECT_EQ(names_in(folder_.path()), std::vector<std::string>{"model.safetensors"});
}

TEST_F(TensorFileTest, ReplacesAFileAndWhatAKilledProcessLeft) {
  add("old", ElementType::uint8, {3}, "old");
  write();
  write_bytes(file().string() + ".partial.1-0", "left behind by a killed process");
  tensors_.clear();
  add_small_model();
  write();
  EXPECT_EQ(read(), described(tensors_));
  EXPECT_EQ(names_in(folder_.path()), std::vector<std::string>{"model.safetensors"});
}

TEST_F(TensorFileTest, KeepsItsViewsWhenMovedAndWhenItsPathIsWrittenAgain) {
  add_small_model();
  write();
  TensorFile opened = TensorFile::open(file());
  const TensorFile moved = std::move(opened);
  std::vector<TensorView> views(moved.tensors().begin(), moved.tensors().end());
  std::swap(views[0], views[1]);
  write_tensor_file(file(), views, moved.metadata());
  EXPECT_EQ(described(moved.tensors()), described(tensors_));
  EXPECT_EQ(read(), described(views));
}

TEST_F(TensorFileTest, IsWholeAtAnyMomentWhileTwoWriteIt) {
  add("a", ElementType::uint8, {100'000}, std::string(100'000, 'a'));
  add("b", ElementType::uint8, {200'000}, std::string(200'000, 'b'));
  const auto write_often = [&](const TensorView& tensor) {
    for (int i = 0; i < 20; ++i) write_tensor_file(file(), {tensor}, {});
  };
  write_often(tensors_[0]);
  std::thread first(write_often, tensors_[0]);
  std::thread second(write_often, tensors_[1]);
  std::string error;
  for (int i = 0; i < 100 && error.empty(); ++i) error = error_of([&] { read(); });
  first.join();
  second.join();
  EXPECT_EQ(error, "");
  EXPECT_EQ(names_in(folder_.path()), std::vector<std::string>{"model.safetensors"});
}

}  // namespace
}  // namespace hgt
