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
  if (source_ended_ || source_ == nullptr) return false;
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

bool TextWindow::cut(std::string& text) {
  while (true) {
    const size_t last_break = std::string_view(begin_, size()).rfind('\n');
    const bool has_break = last_break != std::string_view::npos;
    if (source_ended_ || has_break || is_full()) {
      text.assign(begin_, has_break && !source_ended_ ? last_break + 1 : size());
      begin_ += text.size();
      return !source_ended_;
    }
    extend();
  }
}

void TextWindow::hold(std::string_view text, bool ends) {
  buffer_.resize(std::max<size_t>(text.size(), 1));
  std::copy(text.begin(), text.end(), buffer_.begin());
  begin_ = buffer_.data();
  end_ = begin_ + text.size();
  source_ended_ = ends;
}

}  // namespace hgt
