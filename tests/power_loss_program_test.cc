// Power cuts: the process ends before its n-th change of the disk, and what was not flushed by then
// is gone. What docs/architecture.md promises must hold for what is left.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/disturbed_job.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;

// What is lost besides the content of files that was not flushed.
enum class Lost { names, content_only };

// The account that power_loss.cc keeps of a folder.
class Account {
 public:
  Account(const Path& root, const Path& shadow) : root_(root), shadow_(shadow) {
    fs::create_directories(shadow_);
    flush(root_);
    for (const auto& entry : fs::recursive_directory_iterator(root_)) flush(entry.path());
  }

  // Makes the folder what a power cut leaves of it.
  void apply(Lost lost) const {
    const Path left = root_.string() + ".left";
    if (lost == Lost::names) {
      restore(inode(root_), left);
    } else {
      restore_content(root_, left);
    }
    fs::remove_all(root_);
    fs::rename(left, root_);
  }

 private:
  static ino_t inode(const Path& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0 ? status.st_ino : 0;
  }
  Path data(ino_t file) const { return shadow_ / ("data." + std::to_string(file)); }
  Path names(ino_t folder) const { return shadow_ / ("names." + std::to_string(folder)); }

  void flush(const Path& path) const {
    if (!fs::is_directory(path)) {
      fs::copy_file(path, data(inode(path)));
      return;
    }
    std::ofstream out(names(inode(path)));
    for (const auto& entry : fs::directory_iterator(path)) {
      out << inode(entry.path()) << (entry.is_directory() ? " folder " : " file ")
          << entry.path().filename().string() << '\n';
    }
  }

  void restore_file(ino_t file, const Path& to) const {
    if (fs::exists(data(file))) {
      fs::copy_file(data(file), to);
    } else {
      write_bytes(to, "");
    }
  }

  // The names of the folder that were flushed, and so on below them.
  void restore(ino_t folder, const Path& to) const {
    fs::create_directories(to);
    std::ifstream in(names(folder));
    ino_t number = 0;
    std::string kind;
    for (std::string name; in >> number >> kind && std::getline(in >> std::ws, name);) {
      if (kind == "folder") {
        restore(number, to / name);
      } else {
        restore_file(number, to / name);
      }
    }
  }

  void restore_content(const Path& from, const Path& to) const {
    fs::create_directories(to);
    for (const auto& entry : fs::directory_iterator(from)) {
      const Path copy = to / entry.path().filename();
      if (entry.is_directory()) {
        restore_content(entry.path(), copy);
      } else {
        restore_file(inode(entry.path()), copy);
      }
    }
  }

  Path root_;
  Path shadow_;
};

class PowerLossProgram : public testing::Test {
 protected:
  static constexpr int kPowerCut = 99;

  static std::vector<std::string> environment(const Trial& trial, const std::string& more) {
    return {"LD_PRELOAD=" HGT_POWER_LOSS,
            "HGT_LOSS_ROOT=" + trial.place().lexically_normal().string(),
            "HGT_LOSS_SHADOW=" + (trial.scratch() / "shadow").string(), more};
  }

  static uint64_t changes(const Job& job) {
    const Trial trial(job);
    const Account account(trial.place(), trial.scratch() / "shadow");
    const Path count = trial.scratch() / "count";
    const Outcome outcome = trial.run(environment(trial, "HGT_LOSS_COUNT=" + count.string()));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return std::stoull(read_bytes(count));
  }

  static void cut(const Job& job, uint64_t at, Lost lost, const std::string& good) {
    SCOPED_TRACE(job.name + " cut at " + std::to_string(at) +
                 (lost == Lost::names ? ", names lost" : ", content lost"));
    const Trial trial(job);
    const Account account(trial.place(), trial.scratch() / "shadow");
    const Outcome outcome = trial.run(environment(trial, "HGT_LOSS_AT=" + std::to_string(at)));
    EXPECT_EQ(outcome.exit_code, kPowerCut) << outcome.err;
    account.apply(lost);
    trial.expect_recovery(good);
  }

  // After all that it did, it is on disk.
  static void cut_after_the_end(const Job& job, const std::string& good) {
    SCOPED_TRACE(job.name + " cut after its end");
    const Trial trial(job);
    const Account account(trial.place(), trial.scratch() / "shadow");
    EXPECT_EQ(trial.run(environment(trial, "HGT_LOSS_AT=0")).exit_code, 0);
    account.apply(Lost::names);
    EXPECT_TRUE(trial.result() == good) << "it said that it was done";
  }

  static void cut_everywhere(const Job& job, uint64_t most) {
    const std::string good = undisturbed(job);
    const uint64_t count = changes(job);
    ASSERT_GT(count, 4U);
    const uint64_t trials = std::min(count, most);
    for (uint64_t i = 0; i < trials; ++i) {
      cut(job, 1 + i * count / trials, Lost::names, good);
      cut(job, 1 + (2 * i + 1) * count / (2 * trials) % count, Lost::content_only, good);
    }
    cut_after_the_end(job, good);
  }

  const Workshop workshop_;
};

TEST_F(PowerLossProgram, LeavesAGraphWholeOrAbsent) { cut_everywhere(workshop_.importing(), 60); }
TEST_F(PowerLossProgram, LeavesTheOldFeaturesOrTheNew) { cut_everywhere(workshop_.featuring(), 8); }
TEST_F(PowerLossProgram, LeavesARunThatGoesOn) { cut_everywhere(workshop_.training(), 10); }
TEST_F(PowerLossProgram, LeavesASearchThatGoesOn) { cut_everywhere(workshop_.tuning(), 10); }
TEST_F(PowerLossProgram, LeavesAnEvaluationWholeOrAbsent) {
  cut_everywhere(workshop_.evaluating(), 5);
}

}  // namespace
}  // namespace hgt
