#include "hgt/tables/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hgt/error.h"

namespace hgt {
namespace {

using namespace std::string_view_literals;

constexpr size_t kStoredBlockBytes = size_t{256} << 10U;
constexpr size_t kMagicBytes = 4;
constexpr int kGzipWindowBits = 15 + 16;  // the largest window; + 16: expects gzip, not zlib

[[noreturn]] void fail(const Path& file, std::string_view what) {
  throw Error(fmt::format("{}: {}", file.string(), what));
}

class FileDescriptor {
 public:
  explicit FileDescriptor(const Path& file) : number_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (number_ >= 0) return;
    if (errno == ENOENT) fail(file, "no such file; check the path");
    fail(file, fmt::format("cannot be opened: {}", std::strerror(errno)));
  }
  ~FileDescriptor() { ::close(number_); }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  int number() const { return number_; }

 private:
  int number_;
};

class PlainSource : public ByteSource {
 public:
  explicit PlainSource(const Path& file) : file_(file), descriptor_(file) {
    struct stat status = {};
    if (::fstat(descriptor_.number(), &status) != 0) fail_to_read();
    if (S_ISDIR(status.st_mode)) fail(file_, "is a directory; name a table file inside it");
    bytes_total_ = static_cast<uint64_t>(status.st_size);
    ::posix_fadvise(descriptor_.number(), 0, 0, POSIX_FADV_SEQUENTIAL);
    read_head();
  }

  size_t read(std::span<char> room) override {
    if (head_served_ == head_size_) return read_file(room);
    const size_t count = std::min(room.size(), head_size_ - head_served_);
    std::copy_n(head_.begin() + head_served_, count, room.begin());
    head_served_ += count;
    return count;
  }

  uint64_t stored_bytes_read() const override { return bytes_read_; }
  uint64_t stored_bytes_total() const override { return bytes_total_; }

  const Path& file() const { return file_; }
  std::string_view magic() const { return {head_.data(), head_size_}; }

 private:
  // Kept aside and not read again from the start, because a pipe cannot be rewound.
  void read_head() {
    while (head_size_ < head_.size()) {
      const size_t count = read_file(std::span(head_).subspan(head_size_));
      if (count == 0) return;
      head_size_ += count;
    }
  }

  size_t read_file(std::span<char> room) {
    ssize_t count = 0;
    do {
      count = ::read(descriptor_.number(), room.data(), room.size());
    } while (count < 0 && errno == EINTR);
    if (count < 0) fail_to_read();
    bytes_read_ += static_cast<uint64_t>(count);
    return static_cast<size_t>(count);
  }

  [[noreturn]] void fail_to_read() const {
    fail(file_, fmt::format("cannot be read: {}", std::strerror(errno)));
  }

  Path file_;
  FileDescriptor descriptor_;
  std::array<char, kMagicBytes> head_ = {};
  size_t head_size_ = 0;
  size_t head_served_ = 0;
  uint64_t bytes_read_ = 0;
  uint64_t bytes_total_ = 0;
};

class CompressedSource : public ByteSource {
 public:
  explicit CompressedSource(std::unique_ptr<PlainSource> stored)
      : stored_(std::move(stored)), block_(kStoredBlockBytes) {}

  uint64_t stored_bytes_read() const override { return stored_->stored_bytes_read(); }
  uint64_t stored_bytes_total() const override { return stored_->stored_bytes_total(); }

 protected:
  // Empty at the end; overwrites the block given before.
  std::span<char> next_block() { return std::span(block_).first(stored_->read(block_)); }

  [[noreturn]] void fail_truncated(std::string_view format) const {
    fail(stored_->file(),
         fmt::format("contains truncated {} data; copy, download or compress the file again",
                     format));
  }
  [[noreturn]] void fail_damaged(std::string_view format, const char* reason) const {
    fail(stored_->file(),
         fmt::format("contains damaged {} data ({}); copy, download or compress the file again",
                     format, reason != nullptr ? reason : "unknown reason"));
  }
  const Path& file() const { return stored_->file(); }

 private:
  std::unique_ptr<PlainSource> stored_;
  std::vector<char> block_;
};

class GzipSource final : public CompressedSource {
 public:
  explicit GzipSource(std::unique_ptr<PlainSource> stored) : CompressedSource(std::move(stored)) {
    if (inflateInit2(&stream_, kGzipWindowBits) != Z_OK) throw std::bad_alloc();
  }
  ~GzipSource() override { inflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  size_t read(std::span<char> room) override {
    const size_t room_size = std::min<size_t>(room.size(), std::numeric_limits<uInt>::max());
    stream_.next_out = reinterpret_cast<Bytef*>(room.data());
    stream_.avail_out = static_cast<uInt>(room_size);
    while (stream_.avail_out == room_size) {
      if (stream_.avail_in == 0 && !take_block()) {
        if (inside_member_) fail_truncated("gzip");
        return 0;
      }
      inflate_some();
    }
    return room_size - stream_.avail_out;
  }

 private:
  bool take_block() {
    const std::span<char> block = next_block();
    stream_.next_in = reinterpret_cast<Bytef*>(block.data());
    stream_.avail_in = static_cast<uInt>(block.size());
    return !block.empty();
  }

  void inflate_some() {
    if (!inside_member_) inflateReset(&stream_);
    const int result = inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    if (result != Z_OK && result != Z_STREAM_END) fail_damaged("gzip", stream_.msg);
    inside_member_ = result == Z_OK;
  }

  z_stream stream_ = {};
  bool inside_member_ = true;
};

class ZstdSource final : public CompressedSource {
 public:
  explicit ZstdSource(std::unique_ptr<PlainSource> stored)
      : CompressedSource(std::move(stored)), stream_(ZSTD_createDStream()) {
    if (!stream_) throw std::bad_alloc();
  }

  size_t read(std::span<char> room) override {
    ZSTD_outBuffer output = {room.data(), room.size(), 0};
    while (output.pos == 0) {
      if (input_.pos == input_.size && !take_block()) {
        if (inside_frame_) fail_truncated("zstd");
        return 0;
      }
      const size_t result = ZSTD_decompressStream(stream_.get(), &output, &input_);
      if (ZSTD_isError(result) != 0) fail_with(result);
      inside_frame_ = result != 0;
    }
    return output.pos;
  }

 private:
  struct FreeStream {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };

  bool take_block() {
    const std::span<char> block = next_block();
    input_ = {block.data(), block.size(), 0};
    return !block.empty();
  }

  [[noreturn]] void fail_with(size_t result) const {
    const ZSTD_ErrorCode code = ZSTD_getErrorCode(result);
    if (code == ZSTD_error_memory_allocation) throw std::bad_alloc();
    if (code == ZSTD_error_frameParameter_windowTooLarge) {
      fail(file(),
           "contains zstd data with a window of more than 128 MiB; compress the file again, with "
           "at most --long=27");
    }
    fail_damaged("zstd", ZSTD_getErrorName(result));
  }

  std::unique_ptr<ZSTD_DStream, FreeStream> stream_;
  ZSTD_inBuffer input_ = {nullptr, 0, 0};
  bool inside_frame_ = true;
};

bool is_gzip(std::string_view magic) { return magic.starts_with("\x1f\x8b"sv); }

// The second form is a skippable frame, with which pzstd and seekable zstd files may start.
bool is_zstd(std::string_view magic) {
  if (magic == "\x28\xb5\x2f\xfd"sv) return true;
  return magic.size() == kMagicBytes && (magic[0] & 0xf0) == 0x50 &&
         magic.substr(1) == "\x2a\x4d\x18"sv;
}

}  // namespace

std::unique_ptr<ByteSource> open_byte_source(const Path& file) {
  auto stored = std::make_unique<PlainSource>(file);
  if (is_gzip(stored->magic())) return std::make_unique<GzipSource>(std::move(stored));
  if (is_zstd(stored->magic())) return std::make_unique<ZstdSource>(std::move(stored));
  return stored;
}

}  // namespace hgt
