// JSON that is nested a hundred thousand deep, in every file of a run and of a graph.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "hgt/disk/temporary_test_folder.h"
#include "hgt/graph/graph_test_folder.h"
#include "hgt/message/model_schema.h"
#include "hgt/run/comparison.h"
#include "hgt/run/model_options.h"
#include "hgt/run/results.h"
#include "hgt/run/saved_run.h"
#include "hgt/run/training_log.h"
#include "hgt/run/tune_log.h"

namespace hgt {
namespace {

std::vector<std::string> deep_texts() {
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"seeds\":";
  const std::string arrays(100'000, '[');
  return {objects, arrays, arrays + std::string(100'000, ']'), "{\"models\": " + arrays,
          "{\"format\": \"hgt run 3\", \"graph\": " + objects};
}

TEST(HostileJson, IsRefusedByEveryReaderOfARun) {
  const TestFolder folder;
  const RunFolder run(folder.path());
  const ComparisonFolder comparison(folder.path());
  const TuneFolder tune(folder.path());
  for (const std::string& text : deep_texts()) {
    for (const Path& file :
         {run.environment_file(), run.training_file(), run.results_file(Split::test),
          comparison.models_file(), tune.plan_file()}) {
      write_bytes(file, text);
    }
    const std::vector<std::function<void()>> readers = {
        [&] { read_run(run); },
        [&] { read_training_summary(run); },
        [&] { read_result(run, Split::test); },
        [&] { read_compared_models(comparison); },
        [&] { read_plan(tune); },
        [&] { options_from_json(text, "a model"); },
        [&] { schema_from_json(text, "a model"); },
        [&] { static_cast<void>(Schema::from_json(text, "schema.json")); }};
    for (const auto& read : readers) EXPECT_NE(error_of(read), "");
  }
}

TEST(HostileJson, InALogIsADamagedLine) {
  const TestFolder folder;
  write_bytes(folder / "log.jsonl", deep_texts()[0] + "\n" + deep_texts()[2] + "\n{\"step\": 3}\n");
  const std::vector<LogEntry> entries = TrainingLog(folder / "log.jsonl").read();
  for (const LogEntry& entry : entries) EXPECT_EQ(entry.step, 3U);
  EXPECT_TRUE(TuneLog(folder / "log.jsonl").read().empty());
}

}  // namespace
}  // namespace hgt
