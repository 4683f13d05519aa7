#include "hgt/graph/sorted_run.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "hgt/error.h"
#include "hgt/graph/graph_test_folder.h"
#include "hgt/random.h"

namespace hgt {
namespace {

template <typename Record>
SortedRun write_run(const Path& file, const std::vector<Record>& records, uint32_t source_bits) {
  RunWriter<Record> writer(File::create(file), source_bits);
  for (const Record& record : records) writer.append(record);
  return writer.finish();
}

template <typename Record>
std::vector<Record> read_run(SortedRun run) {
  RunReader<Record> reader(std::move(run));
  std::vector<Record> all;
  std::vector<Record> some;
  for (reader.read(some); !some.empty(); reader.read(some)) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

// The most distant targets, sources, times and weights, and many that are near.
std::vector<RichRecord> random_records(uint64_t count, NodeId targets, NodeId sources) {
  Draws draws(hash(count, targets, sources));
  std::vector<RichRecord> records(count);
  for (RichRecord& record : records) {
    const Edge edge{.source = draws.chance(0.1)
                                  ? sources
                                  : static_cast<NodeId>(draws.below(uint64_t{sources} + 1)),
                    .target = static_cast<NodeId>(draws.below(uint64_t{targets} + 1)),
                    .time = draws.chance(0.2) ? kNoTime : static_cast<Time>(draws.bits()),
                    .weight = draws.chance(0.3) ? 1.0F : static_cast<float>(draws.unit()) - 0.5F};
    record = RichRecord::from(edge);
  }
  std::sort(records.begin(), records.end());
  return records;
}

bool same(const RichRecord& a, const RichRecord& b) {
  return a.key == b.key && a.payload == b.payload;
}

TEST(SortedRun, GivesBackWhatWasWritten) {
  const TestFolder folder;
  constexpr NodeId kLargest = std::numeric_limits<NodeId>::max();
  int file = 0;
  for (const uint64_t count : {0U, 1U, 2U, 4095U, 4096U, 4097U, 50'000U}) {
    for (const NodeId targets : {0U, 3U, 100'000U, kLargest}) {
      for (const NodeId sources : {0U, 1U, 1000U, kLargest}) {
        const auto records = random_records(count, targets, sources);
        const auto bits = static_cast<uint32_t>(std::bit_width(sources));
        const auto rich =
            read_run<RichRecord>(write_run(folder / std::to_string(++file), records, bits));
        ASSERT_TRUE(std::equal(records.begin(), records.end(), rich.begin(), rich.end(), same));
        std::vector<PlainRecord> keys;
        for (const RichRecord& record : records) keys.push_back({record.key});
        const auto plain =
            read_run<PlainRecord>(write_run(folder / std::to_string(++file), keys, bits));
        ASSERT_TRUE(std::equal(keys.begin(), keys.end(), plain.begin(), plain.end(),
                               [](auto a, auto b) { return a.key == b.key; }));
      }
    }
  }
}

// An edge into every second of 90 million nodes, from any of as many, takes 5 bytes.
TEST(SortedRun, TakesFewBytesForAnEdge) {
  const TestFolder folder;
  Draws draws(7);
  std::vector<PlainRecord> records;
  for (uint64_t i = 0; i < 100'000; ++i) {
    records.push_back({(2 * i) << 32U | draws.below(90'000'000)});
  }
  EXPECT_LE(write_run(folder / "far", records, 27).file.size(), 500'000U);
  for (uint64_t i = 0; i < records.size(); ++i) records[i].key = i << 28U;  // 16 for each target
  EXPECT_LE(write_run(folder / "near", records, 32).file.size(), 500'000U);
  std::vector<RichRecord> years(100'000, RichRecord::from({.time = 2001}));
  EXPECT_LE(write_run(folder / "years", years, 1).file.size(), 300'010U);
}

TEST(SortedRun, GivesItsDiskSpaceBackWhileItIsRead) {
  const TestFolder folder;
  const auto blocks = [&](const char* name) {
    struct stat status {};
    EXPECT_EQ(::stat((folder / name).c_str(), &status), 0);
    return status.st_blocks;
  };
  std::vector<PlainRecord> records;
  for (uint64_t i = 0; i < 3'000'000; ++i) records.push_back({i << 32U | (i * 7919) % 100'000});
  RunReader<PlainRecord> reader(write_run(folder / "run", records, 17));
  const auto before = blocks("run");
  ASSERT_GT(before * 512, 8'000'000);
  std::vector<PlainRecord> some;
  for (size_t read = 0; read < records.size(); read += some.size()) reader.read(some);
  const auto after = blocks("run");
  if (after == before) GTEST_SKIP() << "this file system cannot give parts of a file back";
  EXPECT_LE(after * 512, 5'000'000);
}

TEST(SortedRun, ThatWasCutIsAnError) {
  const TestFolder folder;
  std::vector<PlainRecord> records;
  for (uint64_t i = 0; i < 400'000; ++i) records.push_back({i << 32U | (i % 10)});
  for (const double kept : {0.0, 0.3, 0.9}) {
    const Path path = folder / ("run" + std::to_string(kept));
    SortedRun run = write_run(path, records, 4);
    const auto bytes = static_cast<double>(run.file.size());
    run.file.truncate(static_cast<uint64_t>(kept * bytes));
    const std::string error = error_of([&] { read_run<PlainRecord>(std::move(run)); });
    EXPECT_TRUE(contains(error, path.string()) && contains(error, "truncated")) << error;
  }
  SortedRun open = write_run(folder / "open", records, 4);
  RunReader<PlainRecord> reader(std::move(open));
  std::vector<PlainRecord> some;
  reader.read(some);
  std::filesystem::resize_file(folder / "open", 10);
  EXPECT_TRUE(contains(error_of([&] {
                         while (!some.empty()) reader.read(some);
                       }),
                       "truncated"));
}

}  // namespace
}  // namespace hgt
