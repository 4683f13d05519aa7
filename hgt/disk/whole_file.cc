#include "hgt/disk/whole_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "hgt/error.h"

namespace hgt {

namespace fs = std::filesystem;

namespace {

constexpr size_t kGatheredBytes = size_t{1} << 16U;
constexpr std::string_view kPartial = ".partial.";

void require_place(const Path& file) {
  std::error_code unknown;  // creating will tell
  if (!fs::is_directory(folder_of(file), unknown)) {
    throw Error(fmt::format("{}: cannot be written: there is no folder {}; create it first",
                            file.string(), folder_of(file).string()));
  }
  const fs::file_status status = fs::status(file, unknown);
  if (fs::is_directory(status)) {
    throw Error(fmt::format("{}: is a folder; name a file in it", file.string()));
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw Error(fmt::format("{}: is not a regular file; name another", file.string()));
  }
}

// "<process>-<number>"
bool is_suffix_of_ours(std::string_view text) {
  const auto is_number = [](std::string_view digits) {
    return !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
  };
  const size_t dash = text.find('-');
  return dash != std::string_view::npos && is_number(text.substr(0, dash)) &&
         is_number(text.substr(dash + 1));
}

// A writer locks its partial file; one that nobody has locked belongs to a process that died.
void remove_unless_locked(const Path& partial) {
  try {
    File found = File::open_to_write(partial);  // NFS locks nothing that is open for reading only
    std::error_code ignored;                    // the next writer tries again
    if (found.try_lock()) fs::remove(partial, ignored);
  } catch (const Error&) {  // gone already, not ours to touch, or no locks here: let it lie
    return;
  }
}

void remove_leftovers(const Path& file) {
  const std::string prefix = file.filename().string() + std::string(kPartial);
  std::error_code unreadable;  // then nothing is cleaned up
  for (fs::directory_iterator at(folder_of(file), unreadable), end; !unreadable && at != end;
       at.increment(unreadable)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(prefix) || !is_suffix_of_ours(name.substr(prefix.size()))) continue;
    std::error_code unknown;
    if (at->is_regular_file(unknown)) remove_unless_locked(at->path());
  }
}

// False where another writer took it for a leftover between its making and its locking.
bool locked_in_time(File& made) {
  try {
    if (!made.try_lock()) return false;
  } catch (const Error&) {  // no locks here: nobody can take it for a leftover
    return true;
  }
  struct stat status {};
  return ::fstat(made.descriptor(), &status) == 0 && status.st_nlink > 0;
}

}  // namespace

WholeFile::WholeFile(Path file) : file_(std::move(file)) {
  require_place(file_);
  remove_leftovers(file_);
  create_partial();
}

WholeFile::~WholeFile() {
  std::error_code ignored;  // a destructor has nobody to tell
  if (out_.is_open()) fs::remove(partial_, ignored);
}

void WholeFile::create_partial() {
  static std::atomic<uint64_t> number = 0;
  while (true) {
    partial_ = file_;
    partial_ += fmt::format("{}{}-{}", kPartial, ::getpid(), number++);
    std::optional<File> made = File::try_create(partial_, file_);
    if (!made || !locked_in_time(*made)) continue;
    out_ = std::move(*made);
    return;
  }
}

void WholeFile::write(std::string_view text) { write(std::as_bytes(std::span(text))); }

void WholeFile::write(std::span<const std::byte> bytes) {
  if (gathered_.size() + bytes.size() > kGatheredBytes) flush();
  if (bytes.size() > kGatheredBytes) {
    out_.write(bytes.data(), bytes.size());
  } else {
    gathered_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
}

void WholeFile::flush() {
  out_.write(gathered_.data(), gathered_.size());
  gathered_.clear();
}

void WholeFile::commit() {
  flush();
  out_.sync();
  move_into_place(partial_, file_);
  out_.close();  // not before: the lock keeps others from taking it for a leftover
}

void write_text(const Path& file, std::string_view text) {
  WholeFile out(file);
  out.write(text);
  out.commit();
}

void append_line(const Path& file, std::string_view line) {
  const bool is_new = !std::filesystem::exists(file);
  std::ofstream out(file, std::ios::app);
  out << line << '\n';
  out.close();
  if (!out) throw Error(fmt::format("{}: cannot be written; is the disk full?", file.string()));
  File::open_to_read(file).sync();
  if (is_new) sync_folder(folder_of(file));
}

std::string read_text(const Path& file) {
  if (::access(file.c_str(), R_OK) != 0) fail_on_disk(file, "be read");
  const File in = File::open_to_read(file);
  std::string text;
  size_t got = 0;
  do {  // until nothing comes: the size may be another one by now
    const size_t before = text.size();
    text.resize(before + kGatheredBytes);
    got = in.read_at(text.data() + before, kGatheredBytes, before);
    text.resize(before + got);
  } while (got == kGatheredBytes);
  return text;
}

}  // namespace hgt
