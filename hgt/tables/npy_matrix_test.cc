#include "hgt/tables/npy_matrix.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "hgt/graph/half.h"
#include "hgt/tables/import_test_folder.h"

namespace hgt {
namespace {

using Numbers = std::vector<float>;

class NpyMatrixTest : public testing::Test {
 protected:
  NpyMatrix open(const std::string& bytes) const {
    return NpyMatrix(folder_.write("m.npy", bytes));
  }
  std::string open_error(const std::string& bytes) const {
    const std::string text = error_of([&] { open(bytes); });
    expect_contains(text, "m.npy: ");
    return text;
  }
  static Numbers row_of(NpyMatrix& matrix, uint64_t row) {
    Numbers values(matrix.width());
    matrix.read_row(row, values);
    return values;
  }

  ImportTestFolder folder_;
};

const std::string kSixFloats = number_bytes<float>({1, 2, 3, 4, 5, 6.5F});

TEST_F(NpyMatrixTest, Float32RowsAreReadInAnyOrder) {
  NpyMatrix matrix = open(npy_bytes(npy_header("<f4", "2, 3"), kSixFloats));
  EXPECT_EQ(matrix.rows(), 2U);
  EXPECT_EQ(matrix.width(), 3U);
  EXPECT_EQ(row_of(matrix, 1), (Numbers{4, 5, 6.5F}));
  EXPECT_EQ(row_of(matrix, 0), (Numbers{1, 2, 3}));
}

TEST_F(NpyMatrixTest, Float16RowsAreWidened) {
  const std::string data = number_bytes<uint16_t>({to_half(0.5F), to_half(-2), to_half(65504)});
  NpyMatrix matrix = open(npy_bytes(npy_header("<f2", "3, 1"), data));
  EXPECT_EQ(row_of(matrix, 0), (Numbers{0.5F}));
  EXPECT_EQ(row_of(matrix, 1), (Numbers{-2}));
  EXPECT_EQ(row_of(matrix, 2), (Numbers{65504}));
}

TEST_F(NpyMatrixTest, Float64RowsAreRounded) {
  NpyMatrix matrix =
      open(npy_bytes(npy_header("<f8", "1, 2"), number_bytes<double>({0.1, 16777217.0})));
  EXPECT_EQ(row_of(matrix, 0), (Numbers{0.1F, 16777216.0F}));
}

TEST_F(NpyMatrixTest, HeadersOfVersionTwoAndThreeAreRead) {
  for (const char version : {2, 3}) {
    NpyMatrix matrix = open(npy_bytes(npy_header("<f4", "3, 2"), kSixFloats, version));
    EXPECT_EQ(matrix.rows(), 3U);
    EXPECT_EQ(row_of(matrix, 2), (Numbers{5, 6.5F}));
  }
}

TEST_F(NpyMatrixTest, AnotherTypeIsRefused) {
  for (const char* dtype : {"<i4", ">f4", "<u1", "|O", "<c8"}) {
    expect_contains(open_error(npy_bytes(npy_header(dtype, "2, 3"), kSixFloats)),
                    "is not a two-dimensional array of float16, float32 or float64");
  }
}

TEST_F(NpyMatrixTest, OneOrThreeDimensionsAreRefused) {
  for (const char* shape : {"6,", "1, 2, 3", ""}) {
    expect_contains(open_error(npy_bytes(npy_header("<f4", shape), kSixFloats)), "two-dimensional");
  }
}

TEST_F(NpyMatrixTest, FortranOrderIsRefused) {
  expect_contains(open_error(npy_bytes(npy_header("<f4", "2, 3", "True"), kSixFloats)), "C order");
}

TEST_F(NpyMatrixTest, AFileCutShortIsRefused) {
  const std::string whole = npy_bytes(npy_header("<f4", "2, 3"), kSixFloats);
  expect_contains(open_error(whole.substr(0, whole.size() - 1)), "is truncated");
  for (const size_t bytes : {size_t{0}, size_t{5}, size_t{11}, size_t{40}}) {
    open_error(whole.substr(0, bytes));
  }
}

TEST_F(NpyMatrixTest, AFileOfAnotherKindIsRefused) {
  expect_contains(open_error("id,x,y\n1,2,3\n4,5,6\n"), "is not an .npy file");
  std::string wrong_magic = npy_bytes(npy_header("<f4", "2, 3"), kSixFloats);
  wrong_magic[1] = 'n';
  expect_contains(open_error(wrong_magic), "is not an .npy file");
}

TEST_F(NpyMatrixTest, AHeaderLengthBeyondAllReasonIsRefused) {
  std::string bytes = npy_bytes(npy_header("<f4", "2, 3"), kSixFloats, 2);
  bytes[11] = '\x7f';
  expect_contains(open_error(bytes), "header is too long");
}

// In a process of its own: a regular expression over a long header can exhaust the stack.
TEST_F(NpyMatrixTest, ALongHeaderIsReadOrRefusedButDoesNotCrash) {
  const std::string header = "{'descr': '<f4', " + std::string(60000, ' ') +
                             "'fortran_order': False, 'shape': (2, 3), }\n";
  const Path file = folder_.write("m.npy", npy_bytes(header, kSixFloats, 2));
  const auto open_and_leave = [&file] {
    try {
      const NpyMatrix matrix(file);
    } catch (const Error&) {
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(open_and_leave(), testing::ExitedWithCode(0), "");
}

TEST_F(NpyMatrixTest, AMissingFileIsNamed) {
  expect_contains(error_of([&] { NpyMatrix(folder_ / "gone.npy"); }), "gone.npy");
}

}  // namespace
}  // namespace hgt
