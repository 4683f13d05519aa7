// doctor: is this machine set up as it should be?
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/text_table.h"
#include "cli/verbs.h"
#include "hgt/disk/range_reader.h"
#include "hgt/model/machine.h"

namespace hgt::cli {

namespace {

constexpr const char* kAllocator = "hgt's own for large tensors (huge pages, kept for reuse)";

// Everything that doctor tells, and what it advises.
struct Findings {
  Machine machine;
  Blas blas;
  double gemm_rate = 0;
  ReadingWay reading{};            // of a batch from the disk
  std::string reason_for_threads;  // why it is not io_uring
  std::vector<std::string> advice;
};

Findings examine(int threads) {
  Findings found;
  keep_tensor_memory();
  set_compute_threads(threads);
  found.machine = machine();
  found.blas = blas();
  found.gemm_rate = measure_gemm_rate();
  RangeReader reader;
  found.reading = reader.way();
  found.reason_for_threads = reader.reason_for_threads();
  if (const auto warning = blas_warning()) found.advice.push_back(*warning);
  if (found.machine.kernels == "portable") {
    found.advice.emplace_back(
        "this processor has no AVX2: the attention kernels run their portable version");
  }
  constexpr uint64_t kLittleMemory = uint64_t{2} << 30U;
  if (found.machine.available_bytes < kLittleMemory) {
    found.advice.emplace_back("less than 2 GB of memory is free: sample narrower batches");
  }
  return found;
}

void print_json(const Findings& found) {
  const nlohmann::ordered_json json = {{"hgt", HGT_VERSION},
                                       {"libtorch", found.machine.torch_version},
                                       {"torch_instructions", found.machine.instructions},
                                       {"kernels", found.machine.kernels},
                                       {"cores", found.machine.cores},
                                       {"threads", found.machine.threads},
                                       {"blas", found.blas.name},
                                       {"blas_file", found.blas.file},
                                       {"gemm_gflops", found.gemm_rate * 1e-9},
                                       {"allocator", kAllocator},
                                       {"reading", to_string(found.reading)},
                                       {"why_not_io_uring", found.reason_for_threads},
                                       {"memory_bytes", found.machine.memory_bytes},
                                       {"available_bytes", found.machine.available_bytes},
                                       {"advice", found.advice}};
  fmt::print("{}\n", json.dump(1));
}

std::string reading_of(const Findings& found) {
  if (found.reading == ReadingWay::io_uring) return "many requests at once, by io_uring";
  return fmt::format("several threads (no io_uring: {})", found.reason_for_threads);
}

void print_table(const Findings& found) {
  const Machine& machine = found.machine;
  TextTable table({"what", "found"});
  table.add({"hgt", HGT_VERSION});
  table.add({"LibTorch", fmt::format("{} ({})", machine.torch_version, machine.instructions)});
  table.add({"attention kernels", machine.kernels});
  table.add({"threads", fmt::format("{} of {} cores", machine.threads, machine.cores)});
  table.add({"BLAS", fmt::format("{}{}", found.blas.name,
                                 found.blas.file.empty() ? "" : " (" + found.blas.file + ")")});
  table.add({"matrix products", fmt::format("{:.0f} GFLOP/s", found.gemm_rate * 1e-9)});
  table.add({"allocator", kAllocator});
  table.add({"reading a batch from disk", reading_of(found)});
  table.add({"memory", fmt::format("{}, {} free", short_bytes(machine.memory_bytes),
                                   short_bytes(machine.available_bytes))});
  fmt::print("{}", table.text());
  for (const std::string& line : found.advice) fmt::print("\n{}\n", line);
  if (found.advice.empty()) fmt::print("\nAll is well.\n");
}

}  // namespace

void add_doctor(CLI::App& verb) {
  struct Flags {
    int threads = 0;
    bool json = false;
  };
  auto flags = std::make_shared<Flags>();
  verb.add_option("--threads", flags->threads, "Compute threads to measure with (0 = one per core)")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  verb.add_flag("--json", flags->json, "Print JSON instead of text");
  verb.callback([flags] {
    const Findings found = examine(flags->threads);
    if (flags->json) {
      print_json(found);
    } else {
      print_table(found);
    }
  });
}

}  // namespace hgt::cli
