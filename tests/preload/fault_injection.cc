// For tests, to be named in LD_PRELOAD: lets one call of the system fail.
//   HGT_FAULT=KIND:N        the N-th call of the kind fails; KIND:N+ it and all later ones
//   HGT_FAULT_FROM=TEXT     calls count from when a file whose path ends so is first opened: what
//                           fails before belongs to the loader and to libraries
//   HGT_FAULT_COUNTS=FILE   at the end, "KIND NUMBER" for each kind goes there
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

extern "C" {
void* __libc_malloc(size_t);            // NOLINT: glibc's own
void* __libc_calloc(size_t, size_t);    // NOLINT
void* __libc_realloc(void*, size_t);    // NOLINT
void* __libc_memalign(size_t, size_t);  // NOLINT
}

namespace {

enum Kind : size_t {
  allocate,
  write_bytes,
  sync_bytes,
  rename_file,
  map_file,
  thread,
  create,
  grow
};
constexpr std::array<const char*, 8> kKindNames = {"allocate", "write",  "sync",   "rename",
                                                   "map",      "thread", "create", "grow"};

std::array<std::atomic<uint64_t>, kKindNames.size()> counts;
std::atomic<bool> counting = false;
size_t failing_kind = kKindNames.size();
uint64_t failing_call = 0;
bool failing_on = false;
const char* counted_from = "";

void read_fault(const char* text) {
  const std::string_view words(text);
  for (size_t kind = 0; kind < kKindNames.size(); ++kind) {
    if (!words.starts_with(kKindNames[kind]) || words[strlen(kKindNames[kind])] != ':') continue;
    failing_kind = kind;
    failing_call = std::strtoull(text + strlen(kKindNames[kind]) + 1, nullptr, 10);
    failing_on = words.ends_with('+');
  }
}

[[gnu::constructor]] void begin() {
  if (const char* fault = std::getenv("HGT_FAULT")) read_fault(fault);
  if (const char* from = std::getenv("HGT_FAULT_FROM")) counted_from = from;
  counting = *counted_from == '\0';
}

[[gnu::destructor]] void end() {
  counting = false;
  const char* file = std::getenv("HGT_FAULT_COUNTS");
  std::FILE* const out = file == nullptr ? nullptr : std::fopen(file, "w");
  if (out == nullptr) return;
  for (size_t kind = 0; kind < counts.size(); ++kind) {
    std::fprintf(out, "%s %lu\n", kKindNames[kind], counts[kind].load());
  }
  std::fclose(out);
}

// Counts a call; true: it is to fail.
bool fails(Kind kind, int error) {
  if (!counting) return false;
  const uint64_t number = ++counts[kind];
  const bool chosen =
      kind == failing_kind && (failing_on ? number >= failing_call : number == failing_call);
  if (chosen) errno = error;
  return chosen;
}

// Messages are written to the first three, and must be.
bool is_file(int descriptor) { return descriptor > STDERR_FILENO; }

void look_at(const char* path) {
  if (!counting && std::string_view(path).ends_with(counted_from)) counting = true;
}

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

template <typename Function>
int opened(const char* name, const char* path, int flags, mode_t mode) {
  static auto* const real = next<Function>(name);
  look_at(path);
  if ((flags & O_CREAT) != 0 && fails(create, ENOSPC)) return -1;
  return real(path, flags, mode);
}

mode_t mode_of(int flags, va_list arguments) {
  return (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

extern "C" {

// --- memory ---

void* malloc(size_t bytes) noexcept {
  return fails(allocate, ENOMEM) ? nullptr : __libc_malloc(bytes);
}
void* calloc(size_t items, size_t bytes) noexcept {
  return fails(allocate, ENOMEM) ? nullptr : __libc_calloc(items, bytes);
}
void* realloc(void* block, size_t bytes) noexcept {
  return fails(allocate, ENOMEM) ? nullptr : __libc_realloc(block, bytes);
}
void* memalign(size_t alignment, size_t bytes) noexcept {
  return fails(allocate, ENOMEM) ? nullptr : __libc_memalign(alignment, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) noexcept { return memalign(alignment, bytes); }
int posix_memalign(void** block, size_t alignment, size_t bytes) noexcept {
  *block = memalign(alignment, bytes);
  return *block == nullptr ? ENOMEM : 0;
}

void* mmap(void* at, size_t bytes, int protection, int flags, int descriptor,
           off_t offset) noexcept {
  static auto* const real = next<decltype(mmap)>("mmap");
  if (descriptor >= 0 && fails(map_file, ENOMEM)) return MAP_FAILED;
  return real(at, bytes, protection, flags, descriptor, offset);
}

int pthread_create(pthread_t* thread_id, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) noexcept {
  static auto* const real = next<decltype(pthread_create)>("pthread_create");
  if (fails(thread, EAGAIN)) return EAGAIN;
  return real(thread_id, attributes, start, argument);
}

// --- files ---

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return opened<int(const char*, int, ...)>("open", path, flags, mode);
}

int mkdir(const char* path, mode_t mode) noexcept {
  static auto* const real = next<decltype(mkdir)>("mkdir");
  return fails(create, ENOSPC) ? -1 : real(path, mode);
}

ssize_t write(int descriptor, const void* data, size_t bytes) {
  static auto* const real = next<decltype(write)>("write");
  if (is_file(descriptor) && fails(write_bytes, ENOSPC)) return -1;
  return real(descriptor, data, bytes);
}

ssize_t pwrite(int descriptor, const void* data, size_t bytes, off_t offset) {
  static auto* const real = next<decltype(pwrite)>("pwrite");
  if (is_file(descriptor) && fails(write_bytes, ENOSPC)) return -1;
  return real(descriptor, data, bytes, offset);
}

int posix_fallocate(int descriptor, off_t offset, off_t bytes) {
  static auto* const real = next<decltype(posix_fallocate)>("posix_fallocate");
  return fails(grow, ENOSPC) ? ENOSPC : real(descriptor, offset, bytes);
}

int ftruncate(int descriptor, off_t bytes) noexcept {
  static auto* const real = next<int(int, off_t)>("ftruncate");
  return fails(grow, ENOSPC) ? -1 : real(descriptor, bytes);
}

int fsync(int descriptor) {
  static auto* const real = next<decltype(fsync)>("fsync");
  return fails(sync_bytes, EIO) ? -1 : real(descriptor);
}

int fdatasync(int descriptor) {
  static auto* const real = next<decltype(fdatasync)>("fdatasync");
  return fails(sync_bytes, EIO) ? -1 : real(descriptor);
}

int syncfs(int descriptor) noexcept {
  static auto* const real = next<int(int)>("syncfs");
  return fails(sync_bytes, EIO) ? -1 : real(descriptor);
}

int rename(const char* from, const char* to) noexcept {
  static auto* const real = next<int(const char*, const char*)>("rename");
  return fails(rename_file, EIO) ? -1 : real(from, to);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  static auto* const real = next<int(int, const char*, int, const char*, unsigned)>("renameat2");
  return fails(rename_file, EIO) ? -1 : real(from_folder, from, to_folder, to, flags);
}

}  // extern "C"
