// For tests, to be named in LD_PRELOAD: ends the process as a power cut would, and keeps account of
// what had reached the disk by then, as LevelDB's tests do.
//   HGT_LOSS_ROOT=FOLDER     whose files are watched
//   HGT_LOSS_SHADOW=FOLDER   where the account is kept:
//     data.INODE             a file's content when it was last flushed
//     names.INODE            a folder's "INODE KIND NAME" lines when it was last flushed
//   HGT_LOSS_AT=N            the process ends before its N-th change of the disk; 0: never
//   HGT_LOSS_COUNT=FILE      at the end, the number of changes goes there
// The caller takes the account of what was there before. Strict: flushing a file does not flush the
// name that it has in its folder.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

namespace fs = std::filesystem;

std::string root;
std::string shadow;
uint64_t last_change = 0;
std::atomic<uint64_t> changes = 0;
constexpr int kPowerCut = 99;

std::string text_of(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? "" : text;
}

// At the first call: other libraries may write before our constructor runs.
bool is_watching() {
  static const bool watching = [] {
    root = text_of("HGT_LOSS_ROOT");
    shadow = text_of("HGT_LOSS_SHADOW");
    last_change = std::strtoull(text_of("HGT_LOSS_AT").c_str(), nullptr, 10);
    return !root.empty();
  }();
  return watching;
}

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

std::string path_of(int descriptor) {
  std::error_code none;
  return fs::read_symlink("/proc/self/fd/" + std::to_string(descriptor), none).string();
}

bool is_watched(const std::string& path) {
  return is_watching() && fs::absolute(path).lexically_normal().string().starts_with(root);
}

void count_change() {
  if (++changes == last_change) ::_exit(kPowerCut);
}
void count_change_of(int descriptor) {
  if (is_watching() && is_watched(path_of(descriptor))) count_change();
}
void count_change_at(const char* path) {
  if (is_watching() && is_watched(path)) count_change();
}

ino_t inode_of(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

// Its number must not go to a new file while the account knows it by this one: it stays open.
void keep(const char* path) {
  static auto* const open_file = next<int(const char*, int, ...)>("open");
  if (is_watching() && is_watched(path)) open_file(path, O_RDONLY | O_CLOEXEC);
}

void flush_file(const std::string& path) {
  std::error_code none;
  const std::string copy = shadow + "/data." + std::to_string(inode_of(path));
  fs::copy_file(path, copy, fs::copy_options::overwrite_existing, none);
}

void flush_names(const std::string& folder) {
  std::ofstream out(shadow + "/names." + std::to_string(inode_of(folder)));
  for (const auto& entry : fs::directory_iterator(folder)) {
    out << inode_of(entry.path().string()) << (entry.is_directory() ? " folder " : " file ")
        << entry.path().filename().string() << '\n';
  }
}

void flush(const std::string& path) {
  if (fs::is_directory(path)) {
    flush_names(path);
  } else {
    flush_file(path);
  }
}

void flush_all() {
  flush_names(root);
  for (const auto& entry : fs::recursive_directory_iterator(root)) flush(entry.path().string());
}

[[gnu::destructor]] void end() {
  const std::string file = text_of("HGT_LOSS_COUNT");
  if (!file.empty()) std::ofstream(file) << changes.load();
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  static auto* const real = next<int(const char*, int, ...)>("open");
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  const bool creates = (flags & O_CREAT) != 0 && ::access(path, F_OK) != 0;
  if (creates) count_change_at(path);
  const int descriptor = real(path, flags, mode);
  if (creates && descriptor >= 0) keep(path);
  return descriptor;
}

int mkdir(const char* path, mode_t mode) noexcept {
  static auto* const real = next<decltype(mkdir)>("mkdir");
  count_change_at(path);
  const int result = real(path, mode);
  if (result == 0) keep(path);
  return result;
}

ssize_t write(int descriptor, const void* data, size_t bytes) {
  static auto* const real = next<decltype(write)>("write");
  if (descriptor > STDERR_FILENO) count_change_of(descriptor);
  return real(descriptor, data, bytes);
}

ssize_t pwrite(int descriptor, const void* data, size_t bytes, off_t offset) {
  static auto* const real = next<decltype(pwrite)>("pwrite");
  count_change_of(descriptor);
  return real(descriptor, data, bytes, offset);
}

int ftruncate(int descriptor, off_t bytes) noexcept {
  static auto* const real = next<int(int, off_t)>("ftruncate");
  count_change_of(descriptor);
  return real(descriptor, bytes);
}

int fsync(int descriptor) {
  static auto* const real = next<decltype(fsync)>("fsync");
  const std::string path = path_of(descriptor);
  const bool watched = is_watched(path);
  if (watched) count_change();
  const int result = real(descriptor);
  if (watched && result == 0) flush(path);
  return result;
}

int fdatasync(int descriptor) { return fsync(descriptor); }

int syncfs(int descriptor) noexcept {
  static auto* const real = next<int(int)>("syncfs");
  if (is_watching()) count_change();
  const int result = real(descriptor);
  if (is_watching() && result == 0) flush_all();
  return result;
}

int rename(const char* from, const char* to) noexcept {
  static auto* const real = next<int(const char*, const char*)>("rename");
  count_change_at(to);
  keep(to);
  return real(from, to);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  static auto* const real = next<int(int, const char*, int, const char*, unsigned)>("renameat2");
  count_change_at(to);
  return real(from_folder, from, to_folder, to, flags);
}

int unlink(const char* path) noexcept {
  static auto* const real = next<int(const char*)>("unlink");
  count_change_at(path);
  keep(path);
  return real(path);
}

int remove(const char* path) noexcept {
  static auto* const real = next<int(const char*)>("remove");
  count_change_at(path);
  keep(path);
  return real(path);
}

int unlinkat(int folder, const char* path, int flags) noexcept {
  static auto* const real = next<int(int, const char*, int)>("unlinkat");
  static auto* const open_at = next<int(int, const char*, int, ...)>("openat");
  const std::string full = folder == AT_FDCWD ? path : path_of(folder) + "/" + path;
  count_change_at(full.c_str());
  if (is_watching() && is_watched(full)) open_at(folder, path, O_RDONLY | O_CLOEXEC);
  return real(folder, path, flags);
}

}  // extern "C"
