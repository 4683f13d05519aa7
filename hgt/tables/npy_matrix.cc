#include "hgt/tables/npy_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <regex>
#include <string>

#include "hgt/error.h"
#include "hgt/graph/half.h"

namespace hgt {

namespace {

constexpr uint64_t kMaxHeader = 2048;  // std::regex recurses over the text

template <typename Number>
Number number_at(std::span<const std::byte> bytes, size_t item) {
  Number number{};
  std::memcpy(&number, bytes.data() + item * sizeof(Number), sizeof(Number));
  return number;
}

}  // namespace

NpyMatrix::NpyMatrix(const Path& file) : file_(File::open_to_read(file)) {
  read_header();
  const uint64_t expected = data_start_ + rows_ * width_ * item_bytes_;
  if (file_.size() < expected) {
    throw Error(fmt::format("{}: is truncated: it has {} bytes, but its header calls for {}",
                            file.string(), file_.size(), expected));
  }
  buffer_.resize(width_ * item_bytes_);
}

void NpyMatrix::read_header() {
  const auto fail = [this](const std::string& what) {
    throw Error(
        fmt::format("{}: {}; save a 2-D float array with numpy.save", file_.path().string(), what));
  };
  std::string start(12, '\0');
  start.resize(file_.read_at(start.data(), start.size(), 0));
  if (start.size() < 12 || start.compare(0, 6, "\x93NUMPY") != 0) fail("is not an .npy file");
  const bool old = start[6] == 1;  // version 1 has a two-byte header length
  uint64_t length = 0;
  std::memcpy(&length, start.data() + 8, old ? 2 : 4);
  if (length > kMaxHeader) fail("its header is too long");
  std::string header(length, '\0');
  const uint64_t at = old ? 10 : 12;
  header.resize(file_.read_at(header.data(), length, at));
  data_start_ = at + length;
  const std::regex layout(
      R"('descr':\s*'<f([248])'.*'fortran_order':\s*False.*'shape':\s*\((\d{1,12}),\s*(\d{1,6}),?\s*\))");
  std::smatch found;
  if (!std::regex_search(header, found, layout)) {
    fail("is not a two-dimensional array of float16, float32 or float64 in C order");
  }
  item_bytes_ = std::stoul(found[1]);
  rows_ = std::stoull(found[2]);
  width_ = std::stoull(found[3]);
}

void NpyMatrix::read_row(uint64_t row, std::span<float> values) {
  file_.read_at(buffer_.data(), buffer_.size(), data_start_ + row * buffer_.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (item_bytes_ == 2) values[i] = from_half(number_at<uint16_t>(buffer_, i));
    if (item_bytes_ == 4) values[i] = number_at<float>(buffer_, i);
    if (item_bytes_ == 8) values[i] = static_cast<float>(number_at<double>(buffer_, i));
  }
}

}  // namespace hgt
