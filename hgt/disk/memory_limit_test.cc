#include "hgt/disk/memory_limit.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <optional>
#include <string>

#include "hgt/graph/graph_test_folder.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;

class ContainerMemory : public testing::Test {
 protected:
  std::optional<uint64_t> found(const std::string& groups) const {
    write_bytes(folder_ / "groups", groups);
    return container_memory(folder_ / "groups", folder_ / "mounted");
  }
  void limit(const std::string& file, const std::string& text) const {
    const Path path = folder_ / "mounted" / file;
    fs::create_directories(path.parent_path());
    write_bytes(path, text + "\n");
  }
  TestFolder folder_;
};

TEST_F(ContainerMemory, IsTheLeastOfAGroupAndThoseAround) {
  limit("a/b/memory.max", "500000000");
  limit("a/b/memory.swap.max", "0");
  EXPECT_EQ(found("0::/a/b\n"), 500000000U);
  EXPECT_EQ(found("0::/a/b/c/d\n"), 500000000U) << "groups without a limit of their own";
  limit("a/memory.max", "300000000");
  limit("a/memory.swap.max", "0");
  EXPECT_EQ(found("0::/a/b\n"), 300000000U);
}

TEST_F(ContainerMemory, IsKnownInTheFirstVersionToo) {
  limit("memory/x/memory.limit_in_bytes", "200000000");
  limit("memory/x/memory.memsw.limit_in_bytes", "200000000");
  EXPECT_EQ(found("12:cpu,cpuacct:/x\n5:memory:/x\n"), 200000000U) << "no swap";
  // Where only the memory is limited, the limit with swap is a number beyond all machines.
  limit("memory/x/memory.memsw.limit_in_bytes", "9223372036854771712");
  EXPECT_EQ(found("5:memory:/x\n"), 200000000U + memory_told("/proc/meminfo", "SwapTotal:"));
}

TEST_F(ContainerMemory, IsNoLimitThatTheMachineDoesNotHave) {
  EXPECT_EQ(found("0::/a\n"), std::nullopt);
  limit("a/memory.max", "max");
  limit("memory/a/memory.limit_in_bytes", "9223372036854771712");
  EXPECT_EQ(found("0::/a\n5:memory:/a\n"), std::nullopt);
  EXPECT_EQ(found("nonsense\n"), std::nullopt);
  EXPECT_EQ(container_memory(folder_ / "none", folder_ / "none"), std::nullopt);
}

TEST(MemoryLimit, IsThatOfTheProcess) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_DATA, &before), 0);
  const rlimit limit{.rlim_cur = uint64_t{1} << 50U, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_DATA, &limit), 0);
  EXPECT_LE(memory_limit(), uint64_t{1} << 50U);
  EXPECT_TRUE(memory_limit());
  ASSERT_EQ(::setrlimit(RLIMIT_DATA, &before), 0);
  EXPECT_TRUE(can_map(size_t{1} << 20U));
  EXPECT_FALSE(can_map(size_t{1} << 60U));
}

}  // namespace
}  // namespace hgt
