// Dependencies point one way (docs/architecture.md): a folder includes only the folders listed for
// it here, and torch stays out of the torch-free folders.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

// Folder -> folders of ours that it may include, besides itself.
const std::map<std::string, std::set<std::string>> kAllowed = {
    {"hgt", {}},  // error.h, random.h, progress.h, parallel.h, ...: know nothing of ours
    {"hgt/disk", {"hgt"}},
    {"hgt/options", {"hgt", "hgt/disk"}},
    {"hgt/graph", {"hgt", "hgt/disk"}},
    {"hgt/http", {"hgt"}},
    {"hgt/tables", {"hgt", "hgt/disk", "hgt/options", "hgt/graph"}},
    {"hgt/academic", {"hgt", "hgt/disk", "hgt/graph"}},
    {"hgt/sampling", {"hgt", "hgt/disk", "hgt/graph"}},
    {"hgt/task", {"hgt", "hgt/disk", "hgt/options", "hgt/graph", "hgt/sampling"}},
    {"hgt/message", {"hgt", "hgt/disk", "hgt/graph", "hgt/sampling"}},
    {"hgt/run",
     {"hgt", "hgt/disk", "hgt/options", "hgt/graph", "hgt/sampling", "hgt/task", "hgt/message"}},
    // One library: model/layer_makers.h declares what makes the layers of baselines/.
    {"hgt/model", {"hgt", "hgt/disk", "hgt/graph", "hgt/sampling", "hgt/message", "hgt/run"}},
    {"hgt/model/baselines", {"hgt", "hgt/message", "hgt/run", "hgt/model"}},
    {"hgt/training",
     {"hgt", "hgt/disk", "hgt/graph", "hgt/sampling", "hgt/task", "hgt/message", "hgt/run",
      "hgt/model"}},
    {"hgt/features/tokens", {"hgt", "hgt/disk"}},
    {"hgt/features/metapath2vec", {"hgt", "hgt/disk", "hgt/graph"}},
    {"hgt/features/transformer", {"hgt", "hgt/disk", "hgt/model"}},
    {"hgt/features/xlnet",
     {"hgt", "hgt/disk", "hgt/model", "hgt/features/tokens", "hgt/features/transformer"}},
    {"hgt/features/bert", {"hgt", "hgt/disk", "hgt/features/tokens", "hgt/features/transformer"}},
    {"hgt/features",
     {"hgt", "hgt/disk", "hgt/options", "hgt/graph", "hgt/tables", "hgt/task", "hgt/message",
      "hgt/features/metapath2vec", "hgt/features/xlnet", "hgt/features/bert"}},
    {"hgt/insight",
     {"hgt", "hgt/disk", "hgt/graph", "hgt/sampling", "hgt/task", "hgt/message", "hgt/run",
      "hgt/model", "hgt/training"}},
    {"hgt/viewer",
     {"hgt", "hgt/graph", "hgt/http", "hgt/task", "hgt/run", "hgt/model", "hgt/training",
      "hgt/insight"}},
    {"cli", {"hgt", "hgt/disk", "hgt/options", "hgt/graph", "hgt/sampling"}},
    {"cli/graph",
     {"cli", "hgt", "hgt/disk", "hgt/graph", "hgt/tables", "hgt/academic", "hgt/sampling"}},
    {"cli/learn",
     {"cli", "hgt", "hgt/disk", "hgt/options", "hgt/graph", "hgt/tables", "hgt/sampling",
      "hgt/task", "hgt/run", "hgt/http", "hgt/model", "hgt/features", "hgt/training", "hgt/insight",
      "hgt/viewer"}},
};

// Folders where torch may be included.
const std::set<std::string> kTorchFolders = {
    "hgt/model",          "hgt/model/baselines", "hgt/training", "hgt/features/transformer",
    "hgt/features/xlnet", "hgt/features/bert",   "hgt/insight"};

// Tests may include more than the product beside them.
bool is_test(const fs::path& file) {
  return file.filename().string().find("_test") != std::string::npos;
}

// Headers that are not installed (CMakeLists.txt), which only sources of their folder include.
std::vector<std::string> included_by(const fs::path& file) {
  static const std::regex pattern(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
  std::ifstream in(file);
  std::vector<std::string> found;
  std::smatch match;
  for (std::string line; std::getline(in, line);) {
    if (std::regex_search(line, match, pattern)) found.push_back(match[1]);
  }
  return found;
}

std::string folder_of(const fs::path& file) {
  return fs::relative(file.parent_path(), HGT_SOURCE_DIR).string();
}

std::vector<fs::path> product_sources() {
  std::vector<fs::path> files;
  for (const char* root : {"hgt", "cli"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(HGT_SOURCE_DIR) / root)) {
      const std::string extension = entry.path().extension();
      if (extension == ".h" || extension == ".cc") files.push_back(entry.path());
    }
  }
  return files;
}

TEST(IncludeDirection, EveryFolderIsListed) {
  for (const fs::path& file : product_sources()) {
    EXPECT_TRUE(kAllowed.contains(folder_of(file))) << file << ": list its folder in this test";
  }
}

TEST(IncludeDirection, NoIncludeRunsAgainstTheArrows) {
  size_t checked = 0;
  for (const fs::path& file : product_sources()) {
    if (is_test(file) || file.filename() == "hgt.h") continue;  // the front door is above all
    const std::string from = folder_of(file);
    for (const std::string& name : included_by(file)) {
      const std::string to = fs::path(name).parent_path().string();
      if (!name.starts_with("hgt/") && !name.starts_with("cli/")) continue;
      ++checked;
      EXPECT_TRUE(to == from || kAllowed.at(from).contains(to))
          << file << " includes " << name << ", which " << from << " must not know";
    }
  }
  EXPECT_GT(checked, 100U) << "the test looked at almost nothing";
}

TEST(IncludeDirection, TorchStaysOutOfTheTorchFreeFolders) {
  for (const fs::path& file : product_sources()) {
    if (kTorchFolders.contains(folder_of(file))) continue;
    for (const std::string& name : included_by(file)) {
      const bool torch =
          name.starts_with("torch/") || name.starts_with("ATen/") || name.starts_with("c10/");
      EXPECT_FALSE(torch) << file << " includes " << name;
    }
  }
}

TEST(IncludeDirection, InstalledHeadersNeedNoThirdPartyHeader) {
  std::ifstream list(fs::path(HGT_SOURCE_DIR) / "tests" / "installed_headers.txt");
  size_t checked = 0;
  for (std::string header; std::getline(list, header); ++checked) {
    for (const std::string& name : included_by(fs::path(HGT_SOURCE_DIR) / header)) {
      const bool standard =
          name.find('/') == std::string::npos && name.find('.') == std::string::npos;
      const bool torch = name.starts_with("torch/") && header == "hgt/model/torch.h";
      EXPECT_TRUE(standard || torch || name.starts_with("hgt/"))
          << header << " is installed and includes " << name;
    }
  }
  EXPECT_GT(checked, 20U) << "the list is missing";
}

// The front door can be opened by those who have no LibTorch.
TEST(IncludeDirection, TheFrontDoorIncludesNoTorch) {
  std::set<std::string> seen;
  std::vector<std::string> waiting = {"hgt/hgt.h"};
  while (!waiting.empty()) {
    const std::string header = waiting.back();
    waiting.pop_back();
    if (!header.starts_with("hgt/") || !seen.insert(header).second) continue;
    EXPECT_NE(header, "hgt/model/torch.h");
    for (std::string& name : included_by(fs::path(HGT_SOURCE_DIR) / header)) {
      waiting.push_back(std::move(name));
    }
  }
  EXPECT_GT(seen.size(), 20U);
}

// One place for each format, which bounds size and depth. A safetensors header and the rows of JSON
// tables are not kept as values, and bound their depth themselves.
TEST(IncludeDirection, TomlAndJsonAreParsedWithinLimitsOnly) {
  const std::set<std::string> parsers = {"hgt/options/toml_file.cc", "hgt/disk/json_text.h",
                                         "hgt/disk/tensor_file.cc", "hgt/tables/json_rows.cc"};
  const std::regex pattern("toml::parse(_file)?\\(|[Jj]son::(sax_)?parse\\(|>> *json\\b");
  size_t found = 0;
  for (const fs::path& file : product_sources()) {
    if (is_test(file)) continue;
    std::ifstream in(file);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (!std::regex_search(text, pattern)) continue;
    const std::string name = fs::relative(file, HGT_SOURCE_DIR).string();
    EXPECT_TRUE(parsers.contains(name)) << name << " must use parse_toml_file() or parse_json()";
    ++found;
  }
  EXPECT_EQ(found, parsers.size());
}

}  // namespace
