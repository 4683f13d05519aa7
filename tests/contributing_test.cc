// CONTRIBUTING.md names files that exist: whoever moves one also changes the recipes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr const char* kPlaceholder = "NAME";

std::string contributing() {
  const std::ifstream in(fs::path(HGT_SOURCE_DIR) / "CONTRIBUTING.md");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Words in backticks that begin with a folder of the repository and contain nothing that a path
// does not: `hgt/run/model_kinds.h`, `tests/`, but not `hgt compare` or `hgt::Error`.
std::vector<std::string> paths_in(const std::string& text) {
  static const std::regex quoted("`([A-Za-z_]+(/[A-Za-z0-9_.-]*)+)`");
  std::vector<std::string> paths;
  for (std::sregex_iterator i(text.begin(), text.end(), quoted), end; i != end; ++i) {
    paths.push_back((*i)[1]);
  }
  return paths;
}

// A placeholder stands for one or more letters, digits and underscores.
bool exists(const std::string& path) {
  const fs::path file = fs::path(HGT_SOURCE_DIR) / path;
  const std::string name = file.filename().string();
  const size_t place = name.find(kPlaceholder);
  if (place == std::string::npos) return fs::exists(file);
  if (!fs::is_directory(file.parent_path())) return false;
  const std::string before = name.substr(0, place);
  const std::string after = name.substr(place + std::string(kPlaceholder).size());
  const fs::directory_iterator folder(file.parent_path());
  return std::any_of(fs::begin(folder), fs::end(folder), [&](const fs::directory_entry& entry) {
    const std::string found = entry.path().filename().string();
    return found.size() > before.size() + after.size() && found.starts_with(before) &&
           found.ends_with(after);
  });
}

TEST(Contributing, NamesOnlyFilesAndFoldersThatExist) {
  const std::vector<std::string> paths = paths_in(contributing());
  EXPECT_GT(paths.size(), 20U) << "the test looked at almost nothing";
  for (const std::string& path : paths) {
    EXPECT_TRUE(exists(path)) << "CONTRIBUTING.md names " << path << ", which does not exist";
  }
}

TEST(Contributing, IsReadAsPathsAndNothingElse) {
  const std::vector<std::string> wanted = {"hgt/run/model_kinds.h", "tests/", "cli/graph"};
  EXPECT_EQ(paths_in("`hgt/run/model_kinds.h`, `tests/`, `hgt::Error`, `hgt compare`, `cli/graph`, "
                     "`README.md`, `cmake --build a/b`, a/b"),
            wanted);
  EXPECT_TRUE(exists("hgt/model/baselines/NAME_test.cc"));
  EXPECT_FALSE(exists("hgt/model/baselines/NAME_tests.cc"));
  EXPECT_FALSE(exists("hgt/nowhere/NAME.cc"));
  EXPECT_FALSE(exists("hgt/run/no_such_file.h"));
}

// Every recipe says where its row goes.
TEST(Contributing, LeadsToTheTables) {
  const std::vector<std::string> paths = paths_in(contributing());
  for (const char* table : {"hgt/run/model_kinds.h", "hgt/task/task_kinds.cc",
                            "hgt/tables/row_format.cc", "cli/verbs.h"}) {
    EXPECT_NE(std::find(paths.begin(), paths.end(), table), paths.end()) << table;
  }
}

}  // namespace
