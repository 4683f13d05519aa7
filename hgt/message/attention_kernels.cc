// Which of the kernels' versions computes, and a plan as they read it.
#include "hgt/message/attention_kernels.h"

#include <fmt/format.h>

#include <atomic>

#include "hgt/error.h"

namespace hgt {

Instructions best_instructions() {
#if defined(__x86_64__)
  static const bool avx2 =
      __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  static const bool avx512 =
      __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512bw") != 0;
  if (avx2) return avx512 ? Instructions::avx512 : Instructions::avx2;
#endif
  return Instructions::portable;
}

namespace {

std::atomic<Instructions>& instructions_in_use() {
  static std::atomic<Instructions> current = best_instructions();
  return current;
}

}  // namespace

Instructions current_instructions() { return instructions_in_use(); }

void use_instructions(Instructions instructions) {
  if (instructions > best_instructions()) {
    throw Error(fmt::format(
        "this processor has no {} instructions, only {}; choose these, or let hgt choose (auto)",
        to_string(instructions), to_string(best_instructions())));
  }
  instructions_in_use() = instructions;
}

std::string_view to_string(Instructions instructions) {
  if (instructions == Instructions::portable) return "portable";
  return instructions == Instructions::avx2 ? "AVX2" : "AVX-512";
}

template <typename T>
const AttentionKernels<T>& attention_kernels(Instructions instructions) {
#if defined(__x86_64__)
  if (instructions == Instructions::avx512) return avx512::kernels<T>();
  if (instructions == Instructions::avx2) return avx2::kernels<T>();
#endif
  return portable::kernels<T>();
}

template const AttentionKernels<float>& attention_kernels<float>(Instructions);
template const AttentionKernels<double>& attention_kernels<double>(Instructions);

PlanArrays::PlanArrays(const AttentionPlan& plan)
    : edge_source(plan.edge_source.data()),
      edge_time(plan.temporal ? plan.edge_time.data() : nullptr),
      groups(plan.groups.data()),
      target_groups(plan.target_groups.data()),
      uses(plan.uses.data()),
      chunks(plan.chunks.data()),
      num_targets(plan.num_targets),
      num_edges(plan.num_edges()) {}

}  // namespace hgt
