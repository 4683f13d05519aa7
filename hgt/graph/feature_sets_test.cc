// Several feature sets in one graph: made, chosen, replaced, removed, damaged.
#include "hgt/graph/feature_sets.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "hgt/graph/feature_set_writer.h"
#include "hgt/graph/feature_writer.h"
#include "hgt/graph/feature_writer_test_folder.h"
#include "hgt/graph/graph_check.h"
#include "hgt/graph/version_1_test_graph.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

const Rows kFirst = {{1, 2}, {3, 4}, {5, 6}};
const Rows kSecond = {{6, 5}, {4, 3}, {2, 1}};

class FeatureSetsTest : public FeatureWriterTest {
 protected:
  static void write(FeatureSetWriter& set, const Rows& rows, const std::string& type = "author") {
    FeatureWriter writer(set, type, spec("key"));
    append(writer, rows);
    writer.finish();
  }
  void make_set(const NewFeatureSet& wanted, const Rows& rows) const {
    const FeatureLock lock(path());
    FeatureSetWriter set(lock, wanted);
    write(set, rows);
    set.finish();
  }
  Texts sets() const {
    Texts names;
    for (const FeatureSet& set : all_feature_sets(read_schema(path()))) names.push_back(set.name);
    return names;
  }
  Rows authors(const std::string& set) const {
    return rows_of(HeteroGraph::open(path(), set), "author");
  }
};

TEST_F(FeatureSetsTest, AGraphHasTheImportedOne) {
  EXPECT_EQ(sets(), Texts{"imported"});
  EXPECT_EQ(HeteroGraph::open(path()).feature_set(), "imported");
  const Schema stored = read_schema(path());
  EXPECT_EQ(with_features(stored, "imported").to_json(), read_bytes(path() / "schema.json"))
      << "the text of schema.json, so that runs of older graphs find theirs unchanged";
}

TEST_F(FeatureSetsTest, AreAddedToAGraphOfVersion1WhichStaysInVersion1) {
  convert_to_version_1(path());
  make_set({.name = "one"}, kFirst);
  EXPECT_EQ(read_schema(path()).format_version, 1);
  EXPECT_EQ(authors("one"), kFirst);
  verify(HeteroGraph::open(path()));
}

TEST_F(FeatureSetsTest, OthersAreAddedAndTheNewestIsUsed) {
  const Rows imported = authors("imported");
  const auto before = folder_bytes(path());
  make_set({.name = "one"}, kFirst);
  make_set({.name = "two"}, kSecond);
  EXPECT_EQ(sets(), (Texts{"imported", "one", "two"}));
  EXPECT_EQ(authors("imported"), imported);
  EXPECT_EQ(authors("one"), kFirst);
  EXPECT_EQ(authors("two"), kSecond);
  EXPECT_EQ(HeteroGraph::open(path()).feature_set(), "two");
  for (const auto& [name, bytes] : before) {
    if (name == "schema.json") continue;
    EXPECT_EQ(read_bytes(path() / name), bytes) << name;
  }
  verify(HeteroGraph::open(path()));
}

TEST_F(FeatureSetsTest, TakesFromItsBaseWhatItDoesNotMake) {
  make_set({.name = "one"}, kFirst);
  const FeatureLock lock(path());
  FeatureSetWriter set(lock, {.name = "two", .base = "one"});
  write(set, {{1, 1}, {2, 2}}, "venue");
  set.finish();
  const HeteroGraph two = HeteroGraph::open(path(), "two");
  EXPECT_EQ(authors("two"), kFirst);
  EXPECT_EQ(rows_of(two, "venue"), (Rows{{1, 1}, {2, 2}}));
  EXPECT_EQ(rows_of(two, "paper"), rows_of(HeteroGraph::open(path(), "imported"), "paper"));
  EXPECT_EQ(feature_files("author").size(), 1U) << "they share the file";
  remove_feature_set(lock, "one");
  EXPECT_EQ(authors("two"), kFirst) << "and it stays as long as a set has it";
  remove_feature_set(lock, "two");
  EXPECT_EQ(feature_files("author"), Texts{});
  EXPECT_EQ(sets(), Texts{"imported"});
}

TEST_F(FeatureSetsTest, TheSchemaOfOneIsTheSameWhateverOthersThereAre) {
  const std::string imported = HeteroGraph::open(path()).schema().to_json();
  make_set({.name = "one"}, kFirst);
  const std::string one = HeteroGraph::open(path(), "one").schema().to_json();
  EXPECT_NE(one, imported);
  make_set({.name = "two"}, kSecond);
  make_set({.name = "three", .base = "one"}, kFirst);
  EXPECT_EQ(HeteroGraph::open(path(), "imported").schema().to_json(), imported);
  EXPECT_EQ(HeteroGraph::open(path(), "one").schema().to_json(), one);
  const FeatureLock lock(path());
  remove_feature_set(lock, "two");
  EXPECT_EQ(HeteroGraph::open(path(), "one").schema().to_json(), one);
}

TEST_F(FeatureSetsTest, AreNeverOverwrittenUnlessAskedTo) {
  make_set({.name = "one", .key = "a"}, kFirst);
  const auto before = folder_bytes(path());
  const std::string error = error_of([&] { make_set({.name = "one", .key = "b"}, kSecond); });
  EXPECT_TRUE(contains(error, path().string() + ": has a feature set 'one' already")) << error;
  EXPECT_TRUE(contains(error, "--set") && contains(error, "--replace")) << error;
  EXPECT_EQ(folder_bytes(path()), before);
  make_set({.name = "one", .key = "b", .replace = true}, kSecond);
  EXPECT_EQ(authors("one"), kSecond);
  EXPECT_EQ(feature_files("author").size(), 1U);
}

TEST_F(FeatureSetsTest, TheOldOneStaysUntilTheNewOneIsFinished) {
  make_set({.name = "one", .key = "a"}, kFirst);
  const NewFeatureSet wanted{.name = "one", .key = "b", .replace = true};
  {
    const FeatureLock lock(path());
    FeatureSetWriter set(lock, wanted);
    write(set, kSecond);
    EXPECT_EQ(rows_of(set.graph(), "author"), kSecond);
    EXPECT_TRUE(set.has_made("author"));
  }
  EXPECT_EQ(authors("one"), kFirst);
  EXPECT_EQ(HeteroGraph::open(path()).feature_set(), "one") << "not what is unfinished";
  EXPECT_EQ(sets(), (Texts{"imported", "one", "one.partial"}));
  verify(HeteroGraph::open(path()));
  const FeatureLock lock(path());
  FeatureSetWriter set(lock, wanted);
  EXPECT_TRUE(set.has_made("author")) << "by the writer before";
  set.begin_step(2);
  EXPECT_FALSE(set.has_made("author"));
  set.finish();
  EXPECT_EQ(authors("one"), kSecond);
  EXPECT_EQ(sets(), (Texts{"imported", "one"}));
  EXPECT_EQ(feature_files("author").size(), 1U);
}

TEST_F(FeatureSetsTest, AKilledProcessLeavesWholeSets) {
  make_set({.name = "one"}, kFirst);
  const int code = in_child([&] {
    const FeatureLock lock(path());
    FeatureSetWriter set(lock, {.name = "two", .key = "a"});
    write(set, kSecond);
    ::raise(SIGKILL);
    return 0;
  });
  ASSERT_EQ(code, 128 + SIGKILL);
  EXPECT_EQ(authors("one"), kFirst);
  verify(HeteroGraph::open(path()));
  make_set({.name = "two", .key = "a"}, kSecond);
  EXPECT_EQ(sets(), (Texts{"imported", "one", "two"}));
}

TEST_F(FeatureSetsTest, AnUnfinishedOneThatIsBegunInAnotherWayKeepsItsFeaturesForAWhile) {
  const FeatureLock lock(path());
  { FeatureSetWriter empty(lock, {.name = "one", .key = "a"}); }
  EXPECT_EQ(sets(), Texts{"imported"}) << "nothing was made";
  {
    FeatureSetWriter set(lock, {.name = "one", .key = "a"});
    write(set, kFirst);
  }
  const std::string file = feature_files("author").front();
  { FeatureSetWriter other(lock, {.name = "one", .key = "b"}); }
  EXPECT_EQ(sets(), (Texts{"imported", "one.partial"})) << "nothing came of the other one";
  FeatureSetWriter set(lock, {.name = "one", .key = "b"});
  EXPECT_FALSE(set.has_made("author"));
  EXPECT_TRUE(fs::exists(path() / "author" / file));
  write(set, kSecond);
  EXPECT_TRUE(fs::exists(path() / "author" / file));
  set.finish();
  EXPECT_FALSE(fs::exists(path() / "author" / file));
  EXPECT_EQ(sets(), (Texts{"imported", "one"}));
  EXPECT_EQ(authors("one"), kSecond);
}

TEST_F(FeatureSetsTest, WhatIsDamagedConcernsOnlyThoseWhoUseIt) {
  make_set({.name = "one"}, kFirst);
  make_set({.name = "two"}, kSecond);
  fs::resize_file(path() / "author" / kept("author").file, 130);  // two's
  EXPECT_EQ(authors("one"), kFirst);
  EXPECT_EQ(HeteroGraph::open(path(), "imported").feature_set(), "imported");
  const std::string error = error_of([&] { HeteroGraph::open(path()); });
  EXPECT_TRUE(contains(error, "it belongs to the feature set 'two'")) << error;
  EXPECT_NE(error_of([&] { verify(HeteroGraph::open(path(), "one")); }), "") << "checks all";
  const FeatureLock lock(path());
  remove_feature_set(lock, "two");
  verify(HeteroGraph::open(path()));
}

TEST_F(FeatureSetsTest, VerifyReadsTheNumbersOfAllSets) {
  make_set({.name = "one"}, kFirst);
  const Path file = path() / "author" / kept("author").file;
  make_set({.name = "two"}, kSecond);
  std::string bytes = read_bytes(file);
  bytes.back() ^= 1;
  write_bytes(file, bytes);
  const std::string error = error_of([&] { verify(HeteroGraph::open(path(), "two")); });
  EXPECT_TRUE(contains(error, file.string()) &&
              contains(error, "make the feature sets that have it"))
      << error;
}

TEST_F(FeatureSetsTest, SaysWhichNamesThereAre) {
  make_set({.name = "one"}, kFirst);
  EXPECT_EQ(error_of([&] { HeteroGraph::open(path(), "won"); }),
            path().string() + ": there is no feature set 'won'; the sets are imported, one");
  EXPECT_EQ(error_of([&] { make_set({.name = "two", .base = "won"}, kFirst); }),
            path().string() + ": there is no feature set 'won'; the sets are imported, one");
  const FeatureLock lock(path());
  EXPECT_TRUE(contains(error_of([&] { remove_feature_set(lock, "won"); }), "imported, one"));
  EXPECT_TRUE(contains(error_of([&] { remove_feature_set(lock, "imported"); }), "import them"));
  for (const char* name : {"", "imported", "a/b", ".a", "a.partial"}) {
    EXPECT_TRUE(contains(error_of([&] { FeatureSetWriter(lock, {.name = name}); }),
                         "cannot be the name of a new feature set"))
        << name;
  }
}

TEST_F(FeatureSetsTest, OfASchemaAreChecked) {
  make_set({.name = "one"}, kFirst);
  const Schema stored = read_schema(path());
  const auto error_for = [&](const auto& damage) {
    Schema schema = stored;
    damage(schema.feature_sets);
    return error_of([&] { Schema::from_json(schema.to_json(), "schema.json"); });
  };
  EXPECT_EQ(error_for([](auto& /*unused*/) {}), "");
  EXPECT_TRUE(contains(error_for([](auto& sets) { sets.push_back(sets[0]); }), "listed twice"));
  EXPECT_TRUE(
      contains(error_for([](auto& sets) { sets[0].name = "a/b"; }), "'a/b' is not a valid"));
  EXPECT_TRUE(contains(error_for([](auto& sets) { sets[0].types["autor"] = {}; }), "autor"));
  EXPECT_TRUE(contains(error_for([](auto& sets) { sets[0].types["author"].file = "../x"; }),
                       "not a valid file name"));
}

}  // namespace
}  // namespace hgt
