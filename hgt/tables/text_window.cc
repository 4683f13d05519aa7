#include "hgt/tables/text_window.h"

#include <algorithm>
#include <span>
#include <string_view>

namespace hgt {

namespace {

constexpr size_t kFirstWindowBytes = size_t{1} << 20U;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

TextWindow::TextWindow(const Path& file)
    : source_(open_byte_source(file)), buffer_(kFirstWindowBytes) {
  extend();
  const std::string_view start(begin(), size());
  if (start.starts_with(kByteOrderMark)) drop_until(begin() + kByteOrderMark.size());
}

bool TextWindow::extend() {
  if (source_ended_) return false;
  const size_t kept = size();
  std::memmove(buffer_.data(), begin_, kept);
  if (kept == buffer_.size()) buffer_.resize(std::min(2 * kept, kLargestWindowBytes));
  begin_ = buffer_.data();
  end_ = begin_ + kept;
  while (size() < buffer_.size() && !source_ended_) {
    const size_t count = source_->read(std::span(buffer_).subspan(size()));
    source_ended_ = count == 0;
    end_ += count;
  }
  return true;
}

}  // namespace hgt
