// What a person reads where there is no terminal: lines.
#include "cli/progress_bar.h"

#include <gtest/gtest.h>

#include <cctype>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "hgt/graph/graph_test_folder.h"

namespace hgt::cli {
namespace {

void wait(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

std::string printed(const std::function<void(ProgressBar&)>& work, bool quiet = false) {
  testing::internal::CaptureStderr();
  ProgressBar bar(quiet);
  work(bar);
  return testing::internal::GetCapturedStderr();
}

// The number before "/s".
double rate_in(const std::string& line) {
  const size_t end = line.find("/s");
  EXPECT_NE(end, std::string::npos) << line;
  const size_t start = line.rfind(' ', end) + 1;
  EXPECT_TRUE(end > 0 && std::isdigit(line[end - 1]) != 0) << line << ": below a thousand";
  return std::stod(line.substr(start, end - start));
}

TEST(ProgressBar, WhatWasDoneBeforeAStopIsNoRate) {
  const std::string line = printed([](ProgressBar& bar) {
    bar.show({.stage = "titles", .unit = "titles", .count = 500'000, .fraction = 0.5});
    wait(200);
    bar.show(
        {.stage = "titles", .unit = "titles", .count = 500'100, .fraction = 1, .finished = true});
  });
  EXPECT_TRUE(contains(line, "500.1k titles")) << line;
  EXPECT_LE(rate_in(line), 500) << line;
  EXPECT_GT(rate_in(line), 10) << line;
}

TEST(ProgressBar, AStageWhoseCountFallsBeginsAnew) {
  const std::string line = printed([](ProgressBar& bar) {
    bar.show({.stage = "scoring", .unit = "nodes", .count = 10, .fraction = 0.1});
    wait(400);
    bar.show({.stage = "scoring", .unit = "nodes", .count = 100, .fraction = 1});
    bar.show({.stage = "scoring", .unit = "nodes", .count = 10, .fraction = 0.1});
    wait(100);
    bar.show({.stage = "scoring", .unit = "nodes", .count = 100, .fraction = 1, .finished = true});
  });
  EXPECT_GT(rate_in(line), 90 / 0.4) << line;
}

TEST(ProgressBar, SaysNoRateOfWhatItDidNotSee) {
  const std::string line = printed([](ProgressBar& bar) {
    bar.show({.stage = "tiny", .unit = "rows", .count = 7, .fraction = 1, .finished = true});
  });
  EXPECT_TRUE(contains(line, "100%        7 rows, 0.0 s\n")) << line;
}

TEST(ProgressBar, TellsHowMuchOfAllIsDoneAndHowLongTheRestTakes) {
  const std::string lines = printed([](ProgressBar& bar) {
    bar.show({.stage = "rows", .unit = "rows", .count = 1, .fraction = 0.1, .whole = 0.0});
    wait(1200);
    bar.show({.stage = "rows",
              .unit = "rows",
              .count = 9,
              .fraction = 1,
              .finished = true,
              .whole = 0.255});
    bar.show({.stage = "edges",
              .unit = "edges",
              .count = 9,
              .fraction = 1,
              .finished = true,
              .whole = 1.0});
  });
  EXPECT_TRUE(contains(lines, " s; 25% of all, ")) << lines;
  EXPECT_TRUE(contains(lines, " s left\n")) << lines;
  EXPECT_TRUE(contains(lines, "9 edges, 0.0 s\n")) << lines;
}

TEST(ProgressBar, WorkWhoseShareFallsBeginsAnew) {
  const std::string lines = printed([](ProgressBar& bar) {
    bar.show({.stage = "a", .unit = "rows", .fraction = 1, .finished = true, .whole = 0.9});
    wait(1100);
    bar.show({.stage = "b", .unit = "rows", .fraction = 1, .finished = true, .whole = 0.5});
  });
  EXPECT_TRUE(contains(lines, "; 50% of all\n")) << lines;
}

TEST(ProgressBar, IsSilentWhenQuiet) {
  EXPECT_EQ(
      printed([](ProgressBar& bar) { bar.show({.stage = "s", .unit = "rows", .finished = true}); },
              true),
      "");
}

}  // namespace
}  // namespace hgt::cli
