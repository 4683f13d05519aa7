#include "hgt/model/blas_memory.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <optional>
#include <vector>

#include "hgt/disk/memory_limit.h"
#include "hgt/error.h"

namespace hgt {

namespace {

constexpr size_t kBlasBufferBytes = size_t{130} << 20U;  // 128 MB and what surrounds them
constexpr int kMostBlasBuffers = 100;                    // it has room for about so many

template <typename Function>
Function blas_function(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

// The limit that the process came with; no value: keep_within_container() was not called.
std::optional<rlim_t> limit_before;

}  // namespace

void require_headroom() {
  if (memory_limit() && !can_map(kHeadroomBytes / 4)) throw std::bad_alloc();
}

void reserve_blas_memory(int threads) {
  static std::mutex mutex;
  static int reserved = 0;
  const auto take = blas_function<void* (*)(int)>("blas_memory_alloc");
  const auto give_back = blas_function<void (*)(void*)>("blas_memory_free");
  const auto limit = memory_limit();
  if (!limit || take == nullptr || give_back == nullptr) return;
  const std::scoped_lock lock(mutex);
  const int wanted = std::min(threads, kMostBlasBuffers);
  if (wanted <= reserved) return;
  const size_t missing = static_cast<size_t>(wanted - reserved) * kBlasBufferBytes;
  if (!can_map(missing + kHeadroomBytes)) {
    throw Error(fmt::format(
        "memory ran out: computing on {} threads takes {} MB more, and the process may have {} MB "
        "in all; lower --threads, or raise the limit (ulimit -v, ulimit -d)",
        threads, (missing + kHeadroomBytes) >> 20U, *limit >> 20U));
  }
  std::vector<void*> buffers;
  for (int i = 0; i < wanted; ++i) buffers.push_back(take(0));
  for (void* const buffer : buffers) give_back(buffer);  // it keeps them
  reserved = wanted;
  if (limit_before) keep_within_container();
}

void keep_within_container() {
  const auto memory = container_memory("/proc/self/cgroup", "/sys/fs/cgroup");
  rlimit limit{};
  if (!memory || ::getrlimit(RLIMIT_DATA, &limit) != 0) return;
  if (!limit_before) limit_before = limit.rlim_cur;
  const uint64_t mapped = memory_told("/proc/self/status", "VmData:");
  const uint64_t used = memory_told("/proc/self/status", "RssAnon:");
  const uint64_t unused = mapped > used ? mapped - used : 0;
  // A little less than all: the kernel counts pages of files and its own, too.
  limit.rlim_cur = std::min<uint64_t>(*limit_before, *memory - *memory / 32 + unused);
  ::setrlimit(RLIMIT_DATA, &limit);  // a soft limit may always be lowered, and raised again
}

}  // namespace hgt
