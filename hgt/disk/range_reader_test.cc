#include "hgt/disk/range_reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <thread>

#include "hgt/graph/graph_test_folder.h"
#include "hgt/random.h"

namespace hgt {
namespace {

constexpr uint64_t kFileBytes = 3'000'001;

std::string random_bytes(uint64_t seed) {
  std::string bytes(kFileBytes, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(mix64(seed + i));
  return bytes;
}

// Ranges with the memory that they are read into.
struct Asked {
  std::vector<FileRange> ranges;
  std::vector<std::vector<std::byte>> memory;

  void add(const File& file, uint64_t offset, size_t bytes) {
    auto& into = memory.emplace_back(bytes);
    ranges.push_back({.file = &file, .offset = offset, .into = into});
  }
};

class RangeReaderTest : public testing::TestWithParam<ReadingWay> {
 protected:
  RangeReaderTest() {
    for (const std::string name : {"a", "b"}) {
      write_bytes(folder_ / name, random_bytes(name[0]));
      files_.push_back(File::open_to_read(folder_ / name));
    }
  }

  // From the disk, not from what the system remembers.
  void forget() const {
    for (const File& file : files_) {
      file.sync();
      ::posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_DONTNEED);
    }
  }

  Asked random_ranges(uint64_t seed, size_t count) const {
    Draws draws(seed);
    Asked asked;
    for (size_t i = 0; i < count; ++i) {
      const uint64_t longest = draws.chance(0.1) ? 100'000 : 600;
      const uint64_t bytes = draws.below(longest);
      asked.add(files_[draws.below(2)], draws.below(kFileBytes - bytes + 1), bytes);
    }
    return asked;
  }

  static void expect_as_read_one_by_one(const Asked& asked) {
    for (const FileRange& range : asked.ranges) {
      std::vector<std::byte> expected(range.into.size());
      ASSERT_EQ(range.file->read_at(expected.data(), expected.size(), range.offset),
                expected.size());
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), range.into.begin()));
    }
  }

  TestFolder folder_{"."};  // on a disk, which the usual place need not be
  std::vector<File> files_;
  RangeReader reader_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(EveryWay, RangeReaderTest,
                         testing::Values(ReadingWay::io_uring, ReadingWay::threads),
                         [](const auto& way) { return std::string(to_string(way.param)); });

TEST_P(RangeReaderTest, ReadsWhatReadingOneByOneWould) {
  for (const size_t count : {1U, 5U, 300U, 4000U}) {
    for (const bool cold : {true, false}) {
      Asked asked = random_ranges(count, count);
      if (cold) forget();
      reader_.read(asked.ranges);
      expect_as_read_one_by_one(asked);
    }
  }
}

TEST_P(RangeReaderTest, TellsOfEachRangeOnceItIsThere) {
  for (const bool cold : {true, false}) {
    Asked asked = random_ranges(5, 700);
    if (cold) forget();
    std::vector<int> told(asked.ranges.size());
    reader_.read(asked.ranges, [&](size_t number) {
      ++told[number];
      const FileRange& range = asked.ranges[number];
      std::vector<std::byte> expected(range.into.size());
      range.file->read_at(expected.data(), expected.size(), range.offset);
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), range.into.begin()));
    });
    EXPECT_EQ(told, std::vector<int>(told.size(), 1));
  }
}

TEST_P(RangeReaderTest, OfNothingReadsNothing) {
  reader_.read({});
  Asked asked;
  asked.add(files_[0], 5, 0);
  asked.add(files_[0], kFileBytes, 0);
  EXPECT_NO_THROW(reader_.read(asked.ranges));
}

TEST_P(RangeReaderTest, ReadsToTheLastByteAndNoFurther) {
  Asked asked;
  asked.add(files_[0], kFileBytes - 7, 7);
  reader_.read(asked.ranges);
  expect_as_read_one_by_one(asked);
  for (const uint64_t offset : {kFileBytes - 6, kFileBytes, kFileBytes + 5000}) {
    Asked beyond = random_ranges(offset, 400);
    beyond.add(files_[1], offset, 7);
    forget();
    const std::string error = error_of([&] { reader_.read(beyond.ranges); });
    EXPECT_TRUE(contains(error, (folder_ / "b").native())) << error;
    EXPECT_TRUE(contains(error, std::to_string(offset))) << error;
  }
}

TEST_P(RangeReaderTest, NamesAFileThatCannotBeRead) {
  const File directory = File::open_to_read(folder_.path());  // opens, but gives no bytes
  Asked asked = random_ranges(1, 300);
  asked.add(directory, 0, 100);
  forget();
  const std::string error = error_of([&] { reader_.read(asked.ranges); });
  EXPECT_TRUE(contains(error, folder_.path().native() + ": cannot read")) << error;
  asked.ranges.pop_back();
  reader_.read(asked.ranges);  // and goes on working
  expect_as_read_one_by_one(asked);
}

TEST_P(RangeReaderTest, ServesSeveralThreadsAtOnce) {
  std::vector<Asked> asked;
  for (uint64_t seed = 0; seed < 4; ++seed) asked.push_back(random_ranges(seed, 1000));
  forget();
  {
    std::vector<std::jthread> threads;
    for (Asked& each : asked) threads.emplace_back([&] { reader_.read(each.ranges); });
  }
  for (const Asked& each : asked) expect_as_read_one_by_one(each);
}

TEST_P(RangeReaderTest, SaysWhichWayItTakes) {
  EXPECT_TRUE(reader_.way() == GetParam() || !reader_.reason_for_threads().empty());
  EXPECT_TRUE(reader_.way() == ReadingWay::threads || reader_.reason_for_threads().empty());
}

// The system refuses io_uring to this process from now on, as containers do.
void forbid_rings(uint32_t error) {
  const std::array<sock_filter, 4> steps = {
      {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
       BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}};
  const sock_fprog program{.len = steps.size(), .filter = const_cast<sock_filter*>(steps.data())};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) std::exit(2);
}

using RangeReaderWithoutRings = RangeReaderTest;
INSTANTIATE_TEST_SUITE_P(Refused, RangeReaderWithoutRings, testing::Values(ReadingWay::io_uring));

TEST_P(RangeReaderWithoutRings, FallsBackToThreads) {
  for (const auto& [error, reason] :
       {std::pair{EPERM, "Operation not permitted"}, std::pair{ENOSYS, "Function not impl"}}) {
    const auto read_refused = [&, refused = error, why = reason] {
      forbid_rings(static_cast<uint32_t>(refused));
      Asked asked = random_ranges(3, 500);
      forget();
      reader_.read(asked.ranges);
      expect_as_read_one_by_one(asked);
      const bool good = reader_.way() == ReadingWay::threads && !HasFailure() &&
                        contains(reader_.reason_for_threads(), why);
      std::exit(good ? 0 : 1);
    };
    EXPECT_EXIT(read_refused(), testing::ExitedWithCode(0), "");
  }
}

}  // namespace
}  // namespace hgt
