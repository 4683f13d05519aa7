// The text of a file, whether it is compressed or not, a part at a time: for formats whose rows are
// lines.
//
// Memory: one buffer of about a megabyte plus the longest row (at most kMaxRowBytes).
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hgt/graph/types.h"
#include "hgt/tables/byte_source.h"

namespace hgt {

constexpr size_t kMaxRowBytes = size_t{64} << 20U;

inline const char* find_byte(const char* begin, const char* end, char byte) {
  const void* found = std::memchr(begin, byte, static_cast<size_t>(end - begin));
  return static_cast<const char*>(found);
}

inline const char* without_carriage_return(const char* begin, const char* end) {
  return begin != end && end[-1] == '\r' ? end - 1 : end;
}

// The part of the text that is in memory: what the rows have not used up yet.
class TextWindow {
 public:
  // Opens the file and reads the first bytes; a UTF-8 byte order mark is left out.
  explicit TextWindow(const Path& file);
  // Of no file; hold() gives it text.
  TextWindow() = default;

  const char* begin() const { return begin_; }
  const char* end() const { return end_; }
  bool empty() const { return begin_ == end_; }
  size_t size() const { return static_cast<size_t>(end_ - begin_); }
  bool holds_end_of_text() const { return source_ended_; }
  const ByteSource& source() const { return *source_; }

  // The line break at or after `from`, or the end of the text; nullptr: not in the window yet.
  const char* line_end(const char* from) const {
    const char* found = find_byte(from, end_, '\n');
    return found == nullptr && source_ended_ ? end_ : found;
  }

  void drop_until(const char* position) { begin_ = position; }
  void drop_line(const char* line_end) { begin_ = line_end == end_ ? end_ : line_end + 1; }

  char* writable(const char* position) { return buffer_.data() + (position - buffer_.data()); }

  // True: the row is longer than a row may be.
  bool is_full() const { return size() >= kLargestWindowBytes; }

  // Adds as much text as fits, which moves the existing text. A full window grows: scanning an
  // unfinished row again from its start after each call then costs linear time in total. False: the
  // end of the text was in the window already.
  bool extend();

  // Moves the text of whole lines, about a megabyte, out of the window; without a line end in sight
  // as much as there is. False: it is the end of the text.
  bool cut(std::string& text);
  // Puts a copy of `text` in the place of all there was. `ends`: nothing comes after it.
  void hold(std::string_view text, bool ends);

 private:
  static constexpr size_t kLargestWindowBytes = kMaxRowBytes + 2;  // the longest row and its CRLF

  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;
  const char* begin_ = buffer_.data();
  const char* end_ = buffer_.data();
  bool source_ended_ = false;
};

}  // namespace hgt
