#include "hgt/graph/sorted_run.h"

#include <fmt/format.h>

#include "hgt/error.h"

namespace hgt {

namespace {

constexpr size_t kRunBufferBytes = size_t{128} << 10U;
constexpr uint64_t kGiveBackBytes = uint64_t{4} << 20U;  // at once; a multiple of any block size

}  // namespace

NumberWriter::NumberWriter(File file) : file_(std::move(file)), buffer_(kRunBufferBytes) {}

void NumberWriter::flush() {
  file_.write(buffer_.data(), used_);
  used_ = 0;
}

File NumberWriter::finish() {
  flush();
  return std::move(file_);
}

NumberReader::NumberReader(File file)
    : file_(std::move(file)), size_(file_.size()), buffer_(kRunBufferBytes) {}

// Moves what is left to the front and reads on. At the end of the file zeros follow, so that the
// last number is read like any other.
void NumberReader::refill() {
  if (offset_ == size_ && at_ < filled_) return;
  const size_t left = filled_ - std::min(at_, filled_);
  std::copy_n(buffer_.begin() + static_cast<ptrdiff_t>(at_), left, buffer_.begin());
  const size_t room = buffer_.size() - NumberWriter::kMaxNumberBytes - left;
  const uint64_t wanted = std::min<uint64_t>(room, size_ - offset_);
  if (wanted == 0 || file_.read_at(&buffer_[left], wanted, offset_) != wanted) {
    throw Error(
        fmt::format("{}: a sorted run on disk was truncated while it was being read; check the "
                    "disk and try again",
                    file_.path().string()));
  }
  offset_ += wanted;
  filled_ = left + wanted;
  at_ = 0;
  std::fill(buffer_.begin() + static_cast<ptrdiff_t>(filled_), buffer_.end(), uint8_t{0});
  const uint64_t read = offset_ / kGiveBackBytes * kGiveBackBytes;
  if (read > given_back_) file_.give_back(std::exchange(given_back_, read), read);
}

}  // namespace hgt
