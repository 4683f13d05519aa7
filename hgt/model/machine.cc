#include "hgt/model/machine.h"

#include <ATen/Version.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/alloc_cpu.h>
#include <dlfcn.h>
#include <sched.h>
#include <torch/version.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <new>
#include <thread>

#include "hgt/disk/memory_limit.h"
#include "hgt/message/attention_kernels.h"
#include "hgt/model/blas_memory.h"
#include "hgt/model/large_blocks.h"
#include "hgt/model/torch.h"
#include "hgt/parallel.h"

namespace hgt {

namespace {

// Never destroyed: tensors of static duration may outlive it.
LargeBlocks& large_blocks() {
  static auto* const blocks = new LargeBlocks;
  return *blocks;
}

// From malloc.
void* plain_block(size_t bytes) {
  try {
    return c10::alloc_cpu(bytes);
  } catch (const c10::Error&) {
    throw std::bad_alloc();
  }
}

void free_tensor(void* block) {
  if (block != nullptr && !large_blocks().release(block)) c10::free_cpu(block);
}

// LibTorch's allocator for the CPU: large tensors from LargeBlocks, small ones from malloc.
class TensorMemory : public at::Allocator {
 public:
  at::DataPtr allocate(size_t bytes) const override {
    void* block = nullptr;
    if (bytes >= LargeBlocks::kSmallest) {
      block = large_blocks().allocate(bytes);
      if (block == nullptr && !can_map(bytes + kHeadroomBytes)) throw std::bad_alloc();
    }
    if (block == nullptr) block = plain_block(bytes);
    return {block, block, &free_tensor, at::Device(at::kCPU)};
  }
  at::DeleterFnPtr raw_deleter() const override { return &free_tensor; }
};

constexpr uint8_t kPriority = 100;  // above LibTorch's own

// The file that the program's sgemm_ comes from; "": it has none of its own.
std::string sgemm_file() {
  void* const symbol = dlsym(RTLD_DEFAULT, "sgemm_");
  Dl_info found{};
  if (symbol == nullptr || dladdr(symbol, &found) == 0 || found.dli_fname == nullptr) return "";
  std::error_code ignored;
  const auto real = std::filesystem::canonical(found.dli_fname, ignored);
  return ignored ? found.dli_fname : real.string();
}

// Whether the program's BLAS is an OpenBLAS that starts threads of its own instead of OpenMP's.
bool has_own_threads() {
  void* const symbol = dlsym(RTLD_DEFAULT, "openblas_get_parallel");
  if (symbol == nullptr) return false;
  constexpr int kPthreads = 1;
  return reinterpret_cast<int (*)()>(symbol)() == kPthreads;
}

// What LibTorch says of its own vector instructions.
std::string torch_instructions() {
  const std::string text = at::show_config();
  const std::string label = "CPU capability usage: ";
  const size_t start = text.find(label);
  if (start == std::string::npos) return "unknown";
  const size_t first = start + label.size();
  return text.substr(first, text.find('\n', first) - first);
}

unsigned usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
}

}  // namespace

Blas blas() {
  if (at::hasMKL()) return {.name = "MKL", .file = ""};
  const std::string file = sgemm_file();
  constexpr std::array<std::pair<const char*, const char*>, 5> kKnown = {
      {{"openblas", "OpenBLAS"},
       {"mkl", "MKL"},
       {"blis", "BLIS"},
       {"atlas", "ATLAS"},
       {"flexiblas", "FlexiBLAS"}}};
  for (const auto& [part, name] : kKnown) {
    if (file.find(part) != std::string::npos) {
      return {.name = name, .file = file, .own_threads = has_own_threads()};
    }
  }
  if (file.find("libblas") != std::string::npos) {
    return {.name = "reference BLAS", .file = file, .slow = true};
  }
  return {.name = "unknown", .file = file};
}

std::optional<std::string> blas_warning() {
  const Blas found = blas();
  if (found.own_threads) {
    return "warning: LibTorch computes with an OpenBLAS that has threads of its own (" +
           found.file +
           "), which compete with those of hgt: a training step takes about 1.6 times as long; "
           "install the OpenMP version with: apt-get install libopenblas0-openmp, and select it "
           "with: update-alternatives --config libblas.so.3-x86_64-linux-gnu";
  }
  if (!found.slow) return {};
  return "warning: LibTorch computes with the reference BLAS (" + found.file +
         "), about 30 times slower than it needs to be; install OpenBLAS: "
         "apt-get install libopenblas0-openmp";
}

Machine machine() {
  return {.torch_version = TORCH_VERSION,
          .instructions = torch_instructions(),
          .kernels = std::string(to_string(current_instructions())),
          .cores = usable_cores(),
          .threads = at::get_num_threads(),
          .memory_bytes = memory_told("/proc/meminfo", "MemTotal:"),
          .available_bytes = memory_told("/proc/meminfo", "MemAvailable:")};
}

void set_compute_threads(int threads) {
  const int count = threads > 0 ? threads : static_cast<int>(usable_cores());
  // libgomp would end the program, and LibTorch's own pool, which has a thread for each core
  // whatever is asked for here, would wait forever.
  const unsigned most = std::max(static_cast<unsigned>(count), std::thread::hardware_concurrency());
  require_threads(most - 1);
  reserve_blas_memory(count);
  at::set_num_threads(count);
}

double measure_gemm_rate(int repetitions) {
  const torch::NoGradGuard no_gradient;
  constexpr int64_t kRows = 2048;
  constexpr int64_t kInner = 256;
  constexpr int64_t kColumns = 768;
  const at::Tensor x = torch::ones({kRows, kInner});
  const at::Tensor w = torch::ones({kColumns, kInner});
  at::Tensor y = torch::empty({kRows, kColumns});
  double best = std::numeric_limits<double>::infinity();
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    const auto start = std::chrono::steady_clock::now();
    at::mm_out(y, x, w.t());
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    best = std::min(best, seconds.count());
  }
  return 2.0 * kRows * kInner * kColumns / best;
}

void keep_tensor_memory() {
  static TensorMemory memory;
  c10::SetAllocator(at::kCPU, &memory, kPriority);
}

}  // namespace hgt
