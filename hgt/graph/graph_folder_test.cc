#include "hgt/graph/graph_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "hgt/graph/graph_test_folder.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;

class GraphFolderTest : public testing::Test {
 protected:
  GraphFolderTest() { build_small_graph(graph()); }
  Path graph() const { return folder_ / "graph"; }
  std::string error() const {
    return error_of([&] { require_only_graph(graph()); });
  }
  void edit_schema(const std::string& from, const std::string& to) const {
    std::string text = read_bytes(graph() / "schema.json");
    text.replace(text.find(from), from.size(), to);
    write_bytes(graph() / "schema.json", text);
  }
  TestFolder folder_;
};

TEST_F(GraphFolderTest, IsKnownByItsSchema) {
  EXPECT_EQ(error(), "");
  edit_schema("hgt-graph", "my-schema");
  EXPECT_TRUE(contains(error(), "no schema.json of a graph"));
  write_bytes(graph() / "schema.json", "{\"$schema\": 1");
  EXPECT_TRUE(contains(error(), "no schema.json of a graph"));
  fs::remove(graph() / "schema.json");
  EXPECT_TRUE(contains(error(), "no schema.json of a graph"));
}

TEST_F(GraphFolderTest, MayBeOfAnotherVersionOfTheFormat) {
  edit_schema("\"version\": 2", "\"version\": 999");
  EXPECT_EQ(error(), "");
}

TEST_F(GraphFolderTest, MayHoldWhatHgtLeaves) {
  for (const char* name : {".features.lock", ".hgt-partial", "verified.json", "walks_12.rows",
                           "schema.json.partial.1-0"}) {
    write_bytes(graph() / name, "");
  }
  fs::create_directory(graph() / kTruthFolder);
  EXPECT_EQ(error(), "");
}

TEST_F(GraphFolderTest, HoldsNothingElse) {
  write_bytes(graph() / "notes.txt", "mine");
  EXPECT_TRUE(contains(error(), "it also holds notes.txt"));
  fs::remove(graph() / "notes.txt");
  fs::create_directory(graph() / "tables");
  EXPECT_TRUE(contains(error(), "it also holds tables"));
  fs::remove(graph() / "tables");
  fs::create_directory_symlink(folder_.path(), graph() / "walks_");
  EXPECT_TRUE(contains(error(), "it also holds walks_"));
}

}  // namespace
}  // namespace hgt
