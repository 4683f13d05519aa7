#include "hgt/graph/feature_writer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "hgt/graph/feature_writer_test_folder.h"
#include "hgt/graph/graph_check.h"
#include "hgt/graph/graph_test_folder.h"
#include "hgt/graph/half.h"
#include "hgt/graph/hetero_graph.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;

const Rows kAuthors = {{1.5F, -2.0F}, {0.1F, 3e38F}, {0.0F, 1e-40F}};

TEST_F(FeatureWriterTest, WritesRowsThatReadBackEqual) {
  const FeatureSpec made = make("author", spec(), kAuthors);
  EXPECT_EQ(rows_of(open(), "author"), kAuthors);
  verify(open());
  EXPECT_EQ(made.width, 2U);
  EXPECT_FALSE(made.flagged);
  EXPECT_EQ(made.missing, 0U);
  EXPECT_EQ(feature_files("author"), std::vector<std::string>{made.file});
}

TEST_F(FeatureWriterTest, RoundsToHalves) {
  const Rows rows = {
      {0.1F, 65504.0F, -1e-9F}, {1.0F, 2049.0F, 0.5F}, {3.0F, -0.3F, 65519.0F}, {0, 0, 0}};
  make("paper", spec("one", 3, FeatureType::float16), rows);
  const Rows got = rows_of(open(), "paper");
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t j = 0; j < 3; ++j) EXPECT_EQ(got[i][j], from_half(to_half(rows[i][j])));
  }
  EXPECT_EQ(kept("paper").type, FeatureType::float16);
  verify(open());
}

TEST_F(FeatureWriterTest, RoundsToBytes) {
  const Rows rows = {{1.27F, -0.014F, 0}, {3e38F, -3e38F, 1e36F}, {0, 0, 0}, {1e-3F, 0, -1e-3F}};
  make("paper", spec("one", 3, FeatureType::int8), rows);
  const Rows got = rows_of(open(), "paper");
  EXPECT_EQ(got[0][0], 1.27F);
  EXPECT_FLOAT_EQ(got[0][1], -0.01F);
  EXPECT_EQ(got[1], (std::vector<float>{3e38F, -3e38F, 0}));
  EXPECT_EQ(got[2], rows[2]);
  EXPECT_EQ(got[3], rows[3]);
  const HeteroGraph graph = open();
  EXPECT_EQ(graph.features(graph.schema().node_type("paper")).bytes.size(), 4U * (4 + 3));
  EXPECT_EQ(kept("paper").type, FeatureType::int8);
  verify(graph);
}

TEST_F(FeatureWriterTest, SaysInTheSchemaWhatTheFeaturesAre) {
  make("author", spec("some-key"), kAuthors);
  const FeatureSpec now = kept("author");
  EXPECT_EQ(now.width, 2U);
  EXPECT_EQ(now.type, FeatureType::float32);
  EXPECT_EQ(now.origin, "a test");
  EXPECT_EQ(now.until, 2014);
  EXPECT_EQ(now.key, "some-key");
  EXPECT_TRUE(now.file.starts_with("features_")) << now.file;
  FeatureSpec unbounded = spec("other");
  unbounded.until.reset();
  make("author", unbounded, kAuthors);
  EXPECT_FALSE(kept("author").until.has_value());
}

TEST_F(FeatureWriterTest, FlagsMissingNodesInAColumnOfTheirOwn) {
  for (const FeatureType type : {FeatureType::float32, FeatureType::float16, FeatureType::int8}) {
    const FeatureSpec made =
        make("author", spec("one", 2, type), {{-2.0F, 2.0F}, {}, {0.0F, 0.0F}});
    EXPECT_TRUE(made.flagged);
    EXPECT_EQ(made.width, 3U);
    EXPECT_EQ(made.missing, 1U);
    EXPECT_EQ(rows_of(open(), "author"), (Rows{{-2.0F, 2.0F, 0}, {0, 0, 1}, {0, 0, 0}}));
    EXPECT_TRUE(kept("author").flagged);
    EXPECT_EQ(kept("author").missing, 1U);
    EXPECT_EQ(feature_files("author"), std::vector<std::string>{made.file});
    verify(open());
  }
  make("author", spec("two"), kAuthors);
  EXPECT_FALSE(kept("author").flagged) << "nobody is missing any more";
}

TEST_F(FeatureWriterTest, LeavesAllElseAsItWas) {
  const auto before = folder_bytes(path());
  make("author", spec(), kAuthors);
  make("venue", spec(), {{1, 2}, {3, 4}});
  auto after = folder_bytes(path());
  EXPECT_NE(before.at("schema.json"), after.at("schema.json"));
  for (const auto& [name, bytes] : before) {
    if (name == "schema.json") continue;
    ASSERT_TRUE(after.contains(name)) << name;
    EXPECT_EQ(after.at(name), bytes) << name;
    after.erase(name);
  }
  after.erase("schema.json");
  after.erase(".features.lock");
  EXPECT_EQ(after.size(), 2U) << "the two new arrays";
  EXPECT_EQ(rows_of(open(), "venue"), (Rows{{1, 2}, {3, 4}}));
  EXPECT_EQ(kept("paper").file, "features.npy");
  verify(open());
}

TEST_F(FeatureWriterTest, AnOpenGraphKeepsTheOldFeatures) {
  const HeteroGraph old = open();
  const Rows rows = rows_of(old, "author");
  make("author", spec(), kAuthors);
  EXPECT_EQ(rows_of(old, "author"), rows);
  EXPECT_NE(rows_of(open(), "author"), rows);
}

TEST_F(FeatureWriterTest, ReplacesAsOftenAsOneLikes) {
  const Rows other = {{1, 2}, {3, 4}, {5, 6}};
  for (const Rows& rows : {kAuthors, other, other, kAuthors}) {
    const FeatureSpec made = make("author", spec(), rows);
    EXPECT_EQ(rows_of(open(), "author"), rows);
    EXPECT_EQ(feature_files("author"), std::vector<std::string>{made.file});
    verify(open());
  }
}

TEST_F(FeatureWriterTest, AppendsInAnyPieces) {
  const FeatureLock lock(path());
  FeatureSetWriter set = begin(lock);
  FeatureWriter writer(set, "author", spec());
  EXPECT_EQ(writer.nodes(), 3U);
  append(writer, {kAuthors[0]});
  EXPECT_EQ(writer.rows(), 1U);
  append(writer, {kAuthors[1], kAuthors[2]});
  EXPECT_EQ(writer.rows(), 3U);
  writer.finish();
  EXPECT_EQ(rows_of(open(), "author"), kAuthors);
}

// --- stopping and going on ---

TEST_F(FeatureWriterTest, GoesOnWhereTheOneBeforeStopped) {
  const FeatureLock lock(path());
  FeatureSetWriter set = begin(lock);
  const Rows old = rows_of(open(), "author");
  {
    FeatureWriter writer(set, "author", spec());
    append(writer, {kAuthors[0], {}});
  }
  EXPECT_EQ(rows_of(open(), "author"), old);
  verify(open());
  FeatureWriter writer(set, "author", spec());
  ASSERT_EQ(writer.rows(), 2U);
  append(writer, {kAuthors[2]});
  EXPECT_EQ(writer.missing(), 1U);
  const FeatureSpec made = writer.finish();
  EXPECT_EQ(made.missing, 1U) << "of both writers";
  EXPECT_EQ(feature_files("author"), std::vector<std::string>{made.file});
  EXPECT_EQ(rows_of(open(), "author")[0][0], 1.5F);
  EXPECT_EQ(rows_of(open(), "author")[1], (std::vector<float>{0, 0, 1}));
}

TEST_F(FeatureWriterTest, FinishesWhatWasWrittenButNotFinished) {
  const FeatureLock lock(path());
  FeatureSetWriter set = begin(lock);
  { append(*std::make_unique<FeatureWriter>(set, "author", spec()), kAuthors); }
  FeatureWriter writer(set, "author", spec());
  ASSERT_EQ(writer.rows(), 3U);
  writer.finish();
  EXPECT_EQ(rows_of(open(), "author"), kAuthors);
}

TEST_F(FeatureWriterTest, StartsAnewForAnotherKey) {
  const FeatureLock lock(path());
  FeatureSetWriter set = begin(lock);
  { append(*std::make_unique<FeatureWriter>(set, "author", spec("one")), {{9, 9}, {9, 9}}); }
  EXPECT_EQ(FeatureWriter(set, "author", spec("two")).rows(), 0U);
  FeatureWriter writer(set, "author", spec("two", 5));
  EXPECT_EQ(writer.rows(), 0U);
  append(writer, {{1, 2, 3, 4, 5}, {}, {}}, 5);
  EXPECT_EQ(writer.finish().key, "two");
  EXPECT_EQ(rows_of(open(), "author")[0], (std::vector<float>{1, 2, 3, 4, 5, 0}));
}

TEST_F(FeatureWriterTest, StartsAnewAfterFinishing) {
  make("author", spec(), kAuthors);
  const FeatureLock lock(path());
  FeatureSetWriter set = begin(lock);
  EXPECT_EQ(FeatureWriter(set, "author", spec()).rows(), 0U);
}

TEST_F(FeatureWriterTest, StartsAnewWhereWhatIsLeftIsDamaged) {
  const Path partial = path() / "author" / "features.partial";
  const Path position = path() / "author" / "features.position";
  const std::vector<std::function<void()>> damages = {
      [&] { fs::resize_file(partial, fs::file_size(partial) - 1); },
      [&] { fs::resize_file(partial, 10); },
      [&] { fs::resize_file(partial, 1'000'000); },
      [&] { fs::remove(partial); },
      [&] { fs::remove(position); },
      [&] { write_bytes(position, ""); },
      [&] { write_bytes(position, "one"); },
      [&] { write_bytes(position, "one many\n"); },
      [&] { write_bytes(position, "one -1\n"); },
      [&] { write_bytes(position, "one 4\n"); },
      [&] { write_bytes(position, "one 99999999999999999999999\n"); },
  };
  for (size_t i = 0; i < damages.size(); ++i) {
    const FeatureLock lock(path());
    FeatureSetWriter set = begin(lock);
    { append(*std::make_unique<FeatureWriter>(set, "author", spec()), {{9, 9}, {9, 9}}); }
    damages[i]();
    FeatureWriter writer(set, "author", spec());
    EXPECT_EQ(writer.rows(), 0U) << i;
    append(writer, kAuthors);
    writer.finish();
    EXPECT_EQ(rows_of(open(), "author"), kAuthors) << i;
    verify(open());
  }
}

TEST_F(FeatureWriterTest, WritesItsOwnHeaderOverADamagedOne) {
  const FeatureLock lock(path());
  FeatureSetWriter set = begin(lock);
  { append(*std::make_unique<FeatureWriter>(set, "author", spec()), {kAuthors[0], kAuthors[1]}); }
  const Path partial = path() / "author" / "features.partial";
  std::string bytes = read_bytes(partial);
  bytes.replace(0, 20, std::string(20, '?'));
  write_bytes(partial, bytes);
  FeatureWriter writer(set, "author", spec());
  append(writer, {{}});
  writer.finish();
  verify(open());
}

TEST_F(FeatureWriterTest, AGraphWhoseSchemaCannotBeReplacedIsWhole) {
  const Rows old = rows_of(open(), "author");
  for (const bool flagged : {false, true}) {
    const Rows rows = flagged ? Rows{kAuthors[0], {}, kAuthors[2]} : kAuthors;
    const uint64_t features = 128 + 3 * 3 * sizeof(float);
    ASSERT_GT(fs::file_size(path() / "schema.json"), features) << "what fills the disk";
    const FeatureLock lock(path());
    FeatureSetWriter set = begin(lock);
    const std::string error = error_of([&] {
      const FileSizeLimit full(features);
      FeatureWriter writer(set, "author", spec(flagged ? "1" : "0"));
      append(writer, rows);
      writer.finish();
    });
    EXPECT_TRUE(contains(error, (path() / "schema.json").string() + ": cannot write")) << error;
    EXPECT_EQ(rows_of(open(), "author"), old);
    verify(open());
    FeatureWriter writer(set, "author", spec(flagged ? "1" : "0"));
    if (writer.rows() == 0) append(writer, rows);
    EXPECT_EQ(writer.finish().flagged, flagged);
    verify(open());
    build_small_graph(path(), {.replace = true});
  }
}

// --- what is refused ---

TEST_F(FeatureWriterTest, RefusesNumbersThatAreNotFiniteAsStored) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const FeatureLock lock(path());
  FeatureSetWriter set = begin(lock);
  const auto error_for = [&](float value, FeatureType type) {
    FeatureWriter writer(set, "author", spec("one", 2, type));
    const std::string error = error_of([&] { append(writer, {{1, 2}, {1, value}}); });
    EXPECT_EQ(writer.rows(), 0U);
    return error;
  };
  for (const float value : {nan, infinity, -infinity}) {
    EXPECT_TRUE(contains(error_for(value, FeatureType::float32), "author")) << value;
    EXPECT_TRUE(contains(error_for(value, FeatureType::float16), "not finite as float16")) << value;
    EXPECT_TRUE(contains(error_for(value, FeatureType::int8), "not finite as int8")) << value;
  }
  EXPECT_TRUE(contains(error_for(65520.0F, FeatureType::float16), "nodes 0 to 1 are not finite"));
  EXPECT_TRUE(contains(error_for(65520.0F, FeatureType::float16), "--precision float32"));
  FeatureWriter writer(set, "author", spec("one", 2, FeatureType::float16));
  append(writer, {{1, 65519.0F}});  // rounds to the largest half
  EXPECT_EQ(writer.rows(), 1U);
}

TEST_F(FeatureWriterTest, OnlyOneProcessAtATime) {
  const auto try_to_lock = [&] { return error_of([&] { const FeatureLock second(path()); }); };
  {
    const FeatureLock lock(path());
    EXPECT_EQ(in_child([&] {
                const std::string error = try_to_lock();
                return contains(error, "another process is computing features") &&
                               contains(error, path().string())
                           ? 5
                           : 6;
              }),
              5);
    EXPECT_TRUE(contains(try_to_lock(), "another process")) << "nor twice in one";
  }
  EXPECT_EQ(in_child([&] { return try_to_lock().empty() ? 5 : 6; }), 5) << "free again";
}

TEST_F(FeatureWriterTest, WantsAGraphAndAType) {
  EXPECT_TRUE(contains(error_of([&] { const FeatureLock lock(folder_ / "none"); }),
                       "no such graph folder"));
  EXPECT_FALSE(fs::exists(folder_ / "none"));
  const FeatureLock lock(path());
  FeatureSetWriter set = begin(lock);
  const std::string error = error_of([&] { FeatureWriter(set, "autor", spec()); });
  EXPECT_TRUE(contains(error, "autor") && contains(error, "author")) << error;
}

TEST_F(FeatureWriterTest, ATypeWithoutNodesGetsAnEmptyArray) {
  Schema schema;
  schema.add_node_type("ghost", NodeKind::plain);
  schema.number_relations();
  GraphBuilder(path(), schema, {.replace = true}).finish();
  const FeatureLock lock(path());
  FeatureSetWriter set = begin(lock);
  FeatureWriter writer(set, "ghost", spec());
  EXPECT_EQ(writer.nodes(), 0U);
  EXPECT_FALSE(writer.finish().flagged);
  EXPECT_EQ(kept("ghost").width, 2U);
  verify(open());
}

}  // namespace
}  // namespace hgt
