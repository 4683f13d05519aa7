#include "hgt/graph/verified_arrays.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "hgt/error.h"
#include "hgt/graph/array_file.h"
#include "hgt/graph/graph_check.h"
#include "hgt/graph/graph_test_folder.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// Longer than what verified_arrays.cc takes for "just changed".
void let_files_settle() { std::this_thread::sleep_for(std::chrono::milliseconds(1050)); }

class VerifiedArrays : public testing::Test {
 protected:
  VerifiedArrays() {
    build_small_graph(graph_);
    good_ = folder_bytes(graph_);
    good_.erase("schema.json");
  }

  std::string error() const {
    return error_of([&] { open_verified(graph_); });
  }
  Path file(const std::string& name) const { return graph_ / name; }
  Path memory() const { return graph_ / "verified.json"; }
  void mend(const std::string& name) const { write_bytes(file(name), good_.at(name)); }
  // False where it would change nothing.
  bool zero(const std::string& name) const {
    std::string bytes = good_.at(name);
    std::fill(bytes.begin() + kArrayHeaderBytes, bytes.end(), '\0');
    write_bytes(file(name), bytes);
    return bytes != good_.at(name);
  }
  Json remembered() const { return Json::parse(read_bytes(memory())); }

  TestFolder folder_;
  Path graph_ = folder_ / "small.graph";
  std::map<std::string, std::string> good_;  // the arrays
};

TEST_F(VerifiedArrays, NameAFileOfZeros) {
  size_t tried = 0;
  for (const auto& [name, bytes] : good_) {
    if (zero(name)) {
      ++tried;
      EXPECT_TRUE(contains(error(), file(name).string())) << name << ": " << error();
    }
    mend(name);
    EXPECT_EQ(error(), "") << name;
  }
  EXPECT_GT(tried, 20U);
}

TEST_F(VerifiedArrays, NameAFileWithAnyBitFlipped) {
  size_t number = 0;
  for (const auto& [name, bytes] : good_) {
    if (bytes.size() == kArrayHeaderBytes) continue;  // an empty array
    std::string damaged = bytes;
    const size_t at = kArrayHeaderBytes + ++number % (bytes.size() - kArrayHeaderBytes);
    damaged[at] = static_cast<char>(damaged[at] ^ static_cast<char>(1U << number % 8));
    write_bytes(file(name), damaged);
    EXPECT_TRUE(contains(error(), file(name).string())) << name << ": " << error();
    mend(name);
  }
  EXPECT_EQ(error(), "");
}

TEST_F(VerifiedArrays, AreRememberedWithTheIdentityOfTheirFiles) {
  let_files_settle();
  EXPECT_EQ(error(), "");
  const Json files = remembered().at("files");
  ASSERT_EQ(files.size(), good_.size());
  for (const Json& entry : files) {
    const std::string name = entry.at("file");
    struct stat status {};
    ASSERT_EQ(::stat(file(name).c_str(), &status), 0) << name;
    EXPECT_EQ(entry.at("inode"), status.st_ino);
    EXPECT_EQ(entry.at("device"), status.st_dev);
    EXPECT_EQ(entry.at("size"), good_.at(name).size());
    EXPECT_EQ(entry.at("modified").get<int64_t>() / 1'000'000'000, status.st_mtim.tv_sec);
  }
}

TEST_F(VerifiedArrays, AreNotReadAgainByTheSameProcess) {
  let_files_settle();
  EXPECT_EQ(error(), "");
  fs::remove(memory());
  EXPECT_EQ(error(), "");
  EXPECT_FALSE(fs::exists(memory())) << "it is written only when something was read";
}

// What nobody can do by damage alone: a memory that vouches for a file of zeros.
TEST_F(VerifiedArrays, AreNotReadAgainByAnotherProcess) {
  let_files_settle();
  EXPECT_EQ(error(), "");
  const std::string name = "paper/incoming_sources.npy";
  ASSERT_TRUE(zero(name));
  EXPECT_NE(error(), "");
  struct stat status {};
  ASSERT_EQ(::stat(file(name).c_str(), &status), 0);
  Json json = remembered();
  for (Json& entry : json.at("files")) {
    if (entry.at("file") != name) continue;
    entry["modified"] = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
    entry["changed"] = status.st_ctim.tv_sec * 1'000'000'000 + status.st_ctim.tv_nsec;
  }
  write_bytes(memory(), json.dump());
  EXPECT_EQ(error(), "");
  EXPECT_NE(error_of([&] { verify(HeteroGraph::open(graph_)); }), "") << "it trusts nobody";
}

TEST_F(VerifiedArrays, AreFoundDamagedThoughTheTimeOfTheFileWasSetBack) {
  let_files_settle();
  EXPECT_EQ(error(), "");
  const std::string name = "paper/time.npy";
  const auto time = fs::last_write_time(file(name));
  ASSERT_TRUE(zero(name));
  fs::last_write_time(file(name), time);
  EXPECT_TRUE(contains(error(), file(name).string())) << error();
  mend(name);
  fs::last_write_time(file(name), time);
  EXPECT_EQ(error(), "");
}

TEST_F(VerifiedArrays, AreNotRememberedWhileTheyMayStillChange) {
  mend("paper/time.npy");
  EXPECT_EQ(error(), "");
  ASSERT_TRUE(zero("paper/time.npy"));  // in the same moment, as far as the file system knows
  EXPECT_NE(error(), "");
}

TEST_F(VerifiedArrays, DoNotNeedAFolderThatCanBeWritten) {
  fs::create_directory(memory());
  let_files_settle();
  EXPECT_EQ(error(), "");
  EXPECT_FALSE(holds_partial(graph_));
  ASSERT_TRUE(zero("paper/time.npy"));
  EXPECT_NE(error(), "");
}

TEST_F(VerifiedArrays, OutliveAMemoryThatIsDamaged) {
  for (const char* text : {"", "{", "[]", "{\"format\":\"hgt-verified\",\"version\":1}",
                           "{\"format\":\"hgt-verified\",\"version\":1,\"files\":[{}]}",
                           "{\"format\":\"hgt-verified\",\"version\":2,\"files\":[]}"}) {
    write_bytes(memory(), text);
    EXPECT_EQ(error(), "") << text;
    ASSERT_TRUE(zero("author/name_bytes.npy"));
    EXPECT_NE(error(), "") << text;
    mend("author/name_bytes.npy");
  }
}

TEST_F(VerifiedArrays, AreRememberedAsFarAsTheyWereReadBeforeDamage) {
  const std::string last = HeteroGraph::open(graph_).schema().arrays.back().file;
  ASSERT_TRUE(zero(last));
  let_files_settle();
  EXPECT_TRUE(contains(error(), file(last).string())) << error();
  EXPECT_EQ(remembered().at("files").size(), good_.size() - 1);
}

}  // namespace
}  // namespace hgt
