// Prints benchmarks as usual, keeps their times (the best of the repetitions, with
// --benchmark_repetitions), and prints ratios between them at the end: the figures that mean
// something on a shared machine.
#pragma once

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace hgt {

class RatioReporter : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
      failed_ = failed_ || run.error_occurred;
      if (run.run_type != Run::RT_Iteration) continue;
      const double seconds = run.real_accumulated_time / static_cast<double>(run.iterations);
      const auto [kept, is_new] = seconds_.emplace(run.benchmark_name(), seconds);
      kept->second = std::min(kept->second, seconds);
    }
  }

  // Of benchmarks that use real or manual time. Nothing when one of the two did not run.
  void print_ratio(const std::string& slow, const std::string& fast,
                   const std::string& meaning) const {
    const double over = seconds(slow);
    const double under = seconds(fast);
    if (over > 0 && under > 0) fmt::print("{:8.2f}  {}\n", over / under, meaning);
  }

  bool failed() const { return failed_; }

 private:
  double seconds(const std::string& name) const {
    for (const char* clock : {"/real_time", "/manual_time"}) {
      const auto found = seconds_.find(name + clock);
      if (found != seconds_.end()) return found->second;
    }
    return 0;
  }

  std::map<std::string, double> seconds_;  // of one iteration, by benchmark
  bool failed_ = false;
};

}  // namespace hgt
