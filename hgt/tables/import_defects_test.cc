// Imports that go wrong: defective rows, errors of the whole import, random tables with unknown
// ends.
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hgt/graph/text_features.h"
#include "hgt/tables/compressed_test_text.h"
#include "hgt/tables/import_test_folder.h"
#include "hgt/tables/table_import.h"

namespace hgt {
namespace {

// --- defects: a graph with one table of each kind, and one bad row in the middle of one ---

const std::string kRich =
    "[[nodes]]\ntype = 'paper'\nfiles = 'papers.tsv'\nid = 'id'\ntime = 'year'\n"
    "features = { list = 'vec', width = 2 }\n"
    "[[nodes]]\ntype = 'author'\nfiles = 'authors.tsv'\nid = 'id'\n"
    "[[features]]\ntype = 'author'\nfiles = 'vectors.tsv'\nid = 'id'\nvalues = { columns = ['x', "
    "'y'] }\n"
    "[[labels]]\ntype = 'author'\nlabel = 'area'\nfiles = 'areas.tsv'\nid = 'id'\ncolumn = 'area'\n"
    "[[edges]]\ntype = 'writes'\nfiles = 'writes.tsv'\nsource = { type = 'author', column = 's' }\n"
    "target = { type = 'paper', column = 't' }\ntime = 'y'\nweight = 'w'\n"
    "by_column = { column = 'k', values = { a = 'writes_a', b = 'writes_b' } }\n"
    "[[edges]]\ntype = 'order'\nfiles = 'order.tsv'\nsource = { type = 'author', column = 's' }\n"
    "target = { type = 'paper', column = 't' }\nby_order = { column = 'pos' }\n";

using Tables = std::map<std::string, Texts>;

Tables rich_tables() {
  return {{"papers.tsv", {"id\tyear\tvec", "p1\t2000\t1 2", "p2\t2001\t3 4"}},
          {"authors.tsv", {"id\tname", "a1\tAnn", "a2\tBob"}},
          {"vectors.tsv", {"id\tx\ty", "a1\t1\t2", "a2\t3\t4"}},
          {"areas.tsv", {"id\tarea", "a1\tml", "a2\tdb"}},
          {"writes.tsv", {"s\tt\ty\tw\tk", "a1\tp1\t2000\t1\ta", "a2\tp2\t2001\t2\tb"}},
          {"order.tsv", {"s\tt\tpos", "a1\tp1\t1", "a2\tp1\t2"}}};
}

struct DefectCase {
  std::string file, row;
  Defect defect;
  size_t table;  // of the report
  std::string what;
};

const std::vector<DefectCase> kDefectCases = {
    {"papers.tsv", "p9\t1999", Defect::bad_row, 0, ""},
    {"order.tsv", "a1\tp1\t1\t1", Defect::bad_row, 5, ""},
    {"papers.tsv", "\t2000\t1 2", Defect::empty_id, 0, "column id is empty"},
    {"papers.tsv", "p1\t2005\t5 5", Defect::duplicate_id, 0,
     "there is already a node of type paper with the id 'p1'"},
    {"writes.tsv", "a9\tp1\t2000\t1\ta", Defect::unknown_source, 4,
     "there is no node of type author with the id 'a9'"},
    {"writes.tsv", "\tp1\t2000\t1\ta", Defect::unknown_source, 4, "with the id ''"},
    {"writes.tsv", "a1\tp9\t2000\t1\ta", Defect::unknown_target, 4,
     "there is no node of type paper with the id 'p9'"},
    {"vectors.tsv", "a9\t1\t1", Defect::unknown_node, 2,
     "there is no node of type author with the id 'a9'"},
    {"areas.tsv", "a9\tai", Defect::unknown_node, 3,
     "there is no node of type author with the id 'a9'"},
    {"papers.tsv", "p9\tn/a\t1 2", Defect::bad_time, 0,
     "year 'n/a' is not a time in the unit year"},
    {"writes.tsv", "a1\tp1\t20x\t1\ta", Defect::bad_time, 4, "y '20x'"},
    {"papers.tsv", "p9\t\t1 2", Defect::missing_time, 0, "column year is empty"},
    {"writes.tsv", "a1\tp1\t\t1\ta", Defect::missing_time, 4, "column y is empty"},
    {"writes.tsv", "a1\tp1\t2000\theavy\ta", Defect::bad_number, 4,
     "w 'heavy' is not a finite number"},
    {"writes.tsv", "a1\tp1\t2000\tinf\ta", Defect::bad_number, 4, "w 'inf' is not a finite number"},
    {"order.tsv", "a1\tp1\t1st", Defect::bad_number, 5, "pos '1st' is not a whole number"},
    {"papers.tsv", "p9\t2000\t1 2 3", Defect::bad_features, 0,
     "the row has 3 features instead of 2"},
    {"vectors.tsv", "a1\t1\tx", Defect::bad_features, 2, "'x' in column y is not a finite number"},
    {"writes.tsv", "a1\tp1\t2000\t1\tc", Defect::unlisted_value, 4, "no edge type for k 'c'"}};

class DefectTest : public TableImportTest {
 protected:
  void write(const Tables& tables) const {
    for (const auto& [file, lines] : tables) {
      std::string text;
      for (const std::string& line : lines) text += line + "\n";
      folder_.write(file, text);
    }
  }
  void write_with(const DefectCase& defect) const {
    Tables tables = rich_tables();
    tables[defect.file].insert(tables[defect.file].begin() + 2, defect.row);
    write(tables);
  }
};

TEST_F(DefectTest, EveryKindOfDefectHasACase) {
  std::set<Defect> kinds;
  for (const DefectCase& item : kDefectCases) kinds.insert(item.defect);
  EXPECT_EQ(kinds.size(), kNumDefects);
}

TEST_F(DefectTest, ABadRowIsCountedShownAndDroppedAndChangesNothingElse) {
  write(rich_tables());
  EXPECT_EQ(folder_.import(kRich, "clean").report.dropped(), 0U);
  for (size_t i = 0; i < kDefectCases.size(); ++i) {
    const DefectCase& item = kDefectCases[i];
    SCOPED_TRACE(item.file + ": " + item.row);
    write_with(item);
    const std::string name = "graph" + std::to_string(i);
    const ImportReport report = folder_.import(kRich, name).report;
    ASSERT_EQ(report.tables.size(), 6U);
    const TableReport& table = report.tables[item.table];
    EXPECT_EQ(report.dropped(), 1U);
    EXPECT_EQ(table.defects[static_cast<size_t>(item.defect)], 1U);
    EXPECT_EQ(table.rows, 3U);
    EXPECT_EQ(table.kept, 2U);
    ASSERT_EQ(table.examples.size(), 1U);
    const std::string place = (folder_ / item.file).string() + ":3: ";
    EXPECT_EQ(table.examples[0].substr(0, place.size()), place);
    expect_contains(table.examples[0], item.what);
    EXPECT_EQ(differing_files(folder_ / "clean", folder_ / name), Texts{});
  }
}

TEST_F(DefectTest, WithStrictABadRowIsAnErrorAndNothingIsLeft) {
  for (const DefectCase& item : kDefectCases) {
    SCOPED_TRACE(item.file + ": " + item.row);
    write_with(item);
    const std::string text = folder_.import_error(kRich, {.strict = true});
    expect_contains(text, (folder_ / item.file).string() + ":3: ");
    expect_contains(text, item.what);
  }
}

TEST_F(DefectTest, WithStrictGoodTablesAreImported) {
  write(rich_tables());
  EXPECT_EQ(folder_.import(kRich, "graph", {.strict = true}).report.dropped(), 0U);
}

TEST_F(DefectTest, TheFirstThreeOfEachKindAreShownWithTheirFileAndLine) {
  folder_.write("x1.tsv", "id\ty\n1\t2000\n2\tbad\n\t2000\n3\tbad\n");
  folder_.write("x2.tsv", "id\ty\n4\tbad\n5\tbad\n\t2000\n6\t2000\n");
  import(nodes("x", "files = 'x?.tsv'\ntime = 'y'"));
  const TableReport& table = report_.tables.at(0);
  EXPECT_EQ(table.title, "nodes x");
  EXPECT_EQ(table.defects[static_cast<size_t>(Defect::bad_time)], 4U);
  EXPECT_EQ(table.defects[static_cast<size_t>(Defect::empty_id)], 2U);
  EXPECT_EQ(table.rows, 8U);
  EXPECT_EQ(table.kept, 2U);
  ASSERT_EQ(table.examples.size(), 5U);
  expect_contains(table.examples[0], "x1.tsv:3: ");
  expect_contains(table.examples[1], "x1.tsv:4: ");
  expect_contains(table.examples[2], "x1.tsv:5: ");
  expect_contains(table.examples[3], "x2.tsv:2: ");
  expect_contains(table.examples[4], "x2.tsv:4: ");
}

TEST_F(DefectTest, LinesAreCountedWithTheOnesInsideQuotesAndBeforeTheHeader) {
  folder_.write("x.csv", "about\nid,n,y\n1,\"two\nlines\",2000\n\n2,x,never\n");
  import(nodes("x", "files = 'x.csv'\nskip_lines = 1\ntime = 'y'"));
  ASSERT_EQ(report_.tables.at(0).examples.size(), 1U);
  expect_contains(report_.tables[0].examples[0], "x.csv:6: ");
}

TEST_F(DefectTest, BrokenQuotesAreABadRow) {
  folder_.write("x.csv", "id,n\n1,\"a\"b\n2,c\n");
  EXPECT_EQ(nodes_of(import(nodes("x", "files = 'x.csv'\nname = 'n'")), "x"), Texts{"2|c"});
  EXPECT_EQ(report_.tables.at(0).defects[static_cast<size_t>(Defect::bad_row)], 1U);
}

TEST_F(DefectTest, AnUnlabeledEndWithoutOtherIsAnUnlistedValue) {
  folder_.write("venue.tsv", "id\tk\nv1\tj\nv2\t\n");
  folder_.write("pub.tsv", "s\tt\np1\tv1\np2\tv2\n");
  const HeteroGraph graph = import(
      nodes("paper") + nodes("venue", "labels = { kind = 'k' }") +
      edges("paper", "pub", "venue", "by_label = { label = 'kind', values = { j = 'pub_j' } }"));
  EXPECT_EQ(edges_of(graph, "paper", "pub_j", "venue"), Texts{"p1>v1"});
  EXPECT_EQ(report_.tables.at(2).defects[static_cast<size_t>(Defect::unlisted_value)], 1U);
}

// The width is that of the first row; a row of another is one bad row among good ones.
TEST_F(DefectTest, WithoutAWidthARowOfAnotherLengthIsDropped) {
  folder_.write("x.tsv", "id\tv\nn1\t1 2\nn2\t1 2 3\nn3\t4 5\n");
  EXPECT_EQ(nodes_of(import(nodes("x", "features = { list = 'v' }")), "x"), (Texts{"n1", "n3"}));
  EXPECT_EQ(report_.tables.at(0).defects[static_cast<size_t>(Defect::bad_features)], 1U);
}

// Half precision ends at 65504; an infinity in the graph is what verify() calls damage.
TEST_F(DefectTest, AFeatureBeyondHalfPrecisionDoesNotBecomeInfinite) {
  folder_.write("x.tsv", "id\tv\nn1\t1 2\nn2\t70000 2\n");
  try {
    folder_.import(nodes("x", "features = { list = 'v', width = 2, precision = 'float16' }"));
  } catch (const Error& error) {
    expect_contains(error.what(), "x.tsv:3");  // not the complaint of verify()
  }
}

TEST_F(DefectTest, ANumberTooSmallForAFloatIsZeroAndNotADefect) {
  folder_.write("x.tsv", "id\tv\nn1\t1 1e-60\n");
  const HeteroGraph graph = import(nodes("x", "features = { list = 'v', width = 2 }"));
  EXPECT_EQ(report_.dropped(), 0U);
  EXPECT_EQ(graph.num_nodes(NodeType{0}), 1U);
}

// --- errors of the whole import ---

class ImportErrorTest : public TableImportTest {};

TEST_F(ImportErrorTest, AMissingFileIsToldWithTheLineOfItsEntryBeforeAnyWork) {
  int reports = 0;
  const ImportOptions options{.build = {.progress = [&](const Progress&) { ++reports; }}};
  const std::string text =
      folder_.import_error(nodes("paper") + edges("paper", "cites", "paper"), options);
  expect_contains(text, "manifest.toml:6: no file matches");
  expect_contains(text, "cites.tsv");
  EXPECT_EQ(reports, 0);
}

TEST_F(ImportErrorTest, AMissingMatrixIsToldBeforeAnyWork) {
  int reports = 0;
  const ImportOptions options{.build = {.progress = [&](const Progress&) { ++reports; }}};
  expect_contains(folder_.import_error(nodes("paper", "features = { npy = 'gone.npy' }"), options),
                  "gone.npy");
  EXPECT_EQ(reports, 0);
}

TEST_F(ImportErrorTest, APatternWithoutMatchIsAnError) {
  expect_contains(folder_.import_error(nodes("x", "files = ['paper.tsv', 'none-*.tsv']")),
                  "none-*.tsv");
}

TEST_F(ImportErrorTest, AnUnknownColumnIsNamedTogetherWithTheKnownOnes) {
  folder_.write("x.tsv", "id\tyear\tkind\n1\t2000\ta\n");
  folder_.write("rel.tsv", "s\tt\n1\t1\n");
  const std::vector<std::string> cases = {
      nodes("x", "name = 'nope'"),
      nodes("x", "time = 'nope'"),
      nodes("x", "labels = { a = 'nope' }"),
      nodes("x", "features = { list = 'nope' }"),
      nodes("x", "where = { nope = 'a' }"),
      nodes("x") + edges("x", "rel", "x", "weight = 'nope'"),
      nodes("x") + edges("x", "rel", "x", "time = 'nope'"),
      nodes("x") + edges("x", "rel", "x", "by_order = { column = 'nope' }"),
      nodes("x") + edges("x", "rel", "x", "by_column = { column = 'nope', other = 'o' }")};
  for (const std::string& manifest : cases) {
    const std::string text = folder_.import_error(manifest);
    expect_contains(text, "'nope'");
    expect_contains(text, contains(manifest, "[[edges]]") ? "rel.tsv" : "x.tsv");
    expect_contains(text, contains(manifest, "[[edges]]") ? "s, t" : "id, year, kind");
  }
}

TEST_F(ImportErrorTest, AnEmptyTableIsAnErrorUnlessItMayBeEmpty) {
  folder_.write("cites.tsv", "s\tt\n");
  const std::string text = folder_.import_error(nodes("paper") + edges("paper", "cites", "paper"));
  expect_contains(text, "cites.tsv: the table has no rows");
  expect_contains(text, "manifest.toml:6");
  folder_.import(nodes("paper") + edges("paper", "cites", "paper", "may_be_empty = true"));
  EXPECT_EQ(edges_of(folder_.graph(), "paper", "cites", "paper"), Texts{});
}

TEST_F(ImportErrorTest, ByLabelWithoutSuchALabelIsAnErrorWithItsLine) {
  folder_.write("cites.tsv", "s\tt\np1\tp2\n");
  const std::string text =
      folder_.import_error(nodes("paper") + edges("paper", "cites", "paper",
                                                  "by_label = { label = 'kind', other = 'o' }"));
  expect_contains(text, "manifest.toml:6: no table gives the label 'kind' of type paper");
}

TEST_F(ImportErrorTest, AnUnknownNodeTypeIsAnErrorThatListsTheKnownOnes) {
  folder_.write("x.tsv", "id\ts\tt\np1\tp1\tp1\n");
  const std::vector<std::string> cases = {
      edges("paper", "x", "papr"), edges("papr", "x", "paper"),
      "[[features]]\ntype = 'papr'\nfiles = 'x.tsv'\nid = 'id'\nvalues = { list = 's' }\n",
      "[[labels]]\ntype = 'papr'\nfiles = 'x.tsv'\nid = 'id'\nlabel = 'l'\ncolumn = 's'\n",
      "[[classes]]\ntype = 'papr'\nfiles = 'x.tsv'\nlabel = 'l'\nvalue = 's'\nname = 't'\n"};
  for (const std::string& entry : cases) {
    const std::string text = folder_.import_error(nodes("paper") + nodes("author") + entry);
    expect_contains(text, "manifest.toml");
    expect_contains(text, "there is no node type 'papr'; the node types are paper, author");
  }
}

TEST_F(ImportErrorTest, FeaturesOfTwoWidthsOrPrecisionsAreAnError) {
  folder_.write("f1.tsv", "id\tv\np1\t1 2\n");
  folder_.write("f2.tsv", "id\tv\np2\t1 2 3\n");
  const auto entry = [](const std::string& file, const std::string& more) {
    return "[[features]]\ntype = 'paper'\nid = 'id'\nfiles = '" + file +
           "'\nvalues = { list = 'v'" + more + " }\n";
  };
  expect_contains(
      folder_.import_error(nodes("paper") + entry("f1.tsv", "") + entry("f2.tsv", ", width = 3")),
      "the features of type paper have width 2");
  expect_contains(folder_.import_error(nodes("paper") + entry("f1.tsv", "") +
                                       entry("f1.tsv", ", precision = 'float16'")),
                  "float16");
}

TEST_F(ImportErrorTest, AMatrixWithAnotherNumberOfRowsIsAnError) {
  folder_.write("m.npy", npy_bytes(npy_header("<f4", "2, 1"), number_bytes<float>({1, 2})));
  const std::string text = folder_.import_error(nodes("paper", "features = { npy = 'm.npy' }"));
  expect_contains(text, "m.npy: has 2 rows for 3 nodes of type paper");
}

TEST_F(ImportErrorTest, AMatrixWithNumbersThatAreNotFiniteIsAnError) {
  folder_.write("m.npy",
                npy_bytes(npy_header("<f4", "3, 1"),
                          number_bytes<float>({1, std::numeric_limits<float>::infinity(), 2})));
  expect_contains(folder_.import_error(nodes("paper", "features = { npy = 'm.npy' }")),
                  "row 1 holds numbers that are not finite");
}

TEST_F(ImportErrorTest, TablesThatDisagreeAboutAReverseAreAnError) {
  folder_.write("c.tsv", "s\tt\np1\tp2\n");
  const std::string text =
      folder_.import_error(nodes("paper") + edges("paper", "cites", "paper", "files = 'c.tsv'") +
                           edges("paper", "cites", "paper", "files = 'c.tsv'\nreverse = 'back'"));
  expect_contains(text, "'cites'");
}

TEST_F(ImportErrorTest, AnExceptionOfTheProgressSinkLeavesNothingBehind) {
  folder_.write("cites.tsv", "s\tt\np1\tp2\n");
  const std::string manifest = nodes("paper") + edges("paper", "cites", "paper");
  int calls = 0;
  folder_.import(manifest, "whole", {.build = {.progress = [&](const Progress&) { ++calls; }}});
  ASSERT_GE(calls, 2);
  for (int stop = 1; stop <= calls; ++stop) {
    int seen = 0;
    const ImportOptions options{.build = {.progress = [&](const Progress&) {
                                  if (++seen == stop) throw Interrupted();
                                }}};
    EXPECT_THROW(folder_.import(manifest, "stopped", options), Interrupted) << stop;
    folder_.expect_nothing_left("stopped");
  }
}

TEST_F(ImportErrorTest, AGzipFileDamagedInTheMiddleLeavesNothingBehind) {
  std::mt19937 random(7);
  std::string text = "id\n";
  for (int i = 0; i < 100000; ++i)
    text += std::to_string(random()) + "_" + std::to_string(i) + "\n";
  const std::string good = gzip(text);
  std::string flipped = good;
  for (size_t i = 0; i < 64; ++i) flipped[flipped.size() / 2 + i] = '\x55';
  for (const std::string& bad : {flipped, good.substr(0, good.size() / 2)}) {
    folder_.write("x.tsv.gz", bad);
    expect_contains(folder_.import_error(nodes("x", "files = 'x.tsv.gz'")), "x.tsv.gz");
  }
}

TEST_F(ImportErrorTest, AFailedReplacementLeavesTheOldGraph) {
  const std::string manifest = nodes("paper");
  folder_.import(manifest);
  const auto before = folder_bytes(folder_ / "graph");
  folder_.write("paper.tsv", "id\nx\nx\n");
  const ImportOptions options{.strict = true, .build = {.replace = true}};
  error_of([&] { folder_.import(manifest, "graph", options); });
  EXPECT_EQ(folder_bytes(folder_ / "graph"), before);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "graph.partial"));
  expect_contains(error_of([&] { folder_.import(manifest); }), "already exists");
}

TEST_F(ImportErrorTest, AMemoryBoundBelowTheLeastIsAnError) {
  expect_contains(folder_.import_error(nodes("paper"), {.build = {.memory = 1024}}), "64 MB");
}

// --- random tables against a naive model ---

struct RandomTables {
  Texts a, b;
  std::string a_table = "id\n", b_table = "id\n", edge_table = "s\tt\tw\n";
  std::vector<std::pair<std::string, std::string>> kept;
  uint64_t unknown_sources = 0, unknown_targets = 0, rows = 0;

  RandomTables(unsigned seed, int nodes, int edges) {
    std::mt19937 random(seed);
    a = ids(random, nodes);
    b = ids(random, nodes / 3 + 1);
    for (const std::string& id : a) a_table += id + "\n";
    for (const std::string& id : b) b_table += id + "\n";
    for (int i = 0; i < edges; ++i) add_edge(random);
  }

  static Texts ids(std::mt19937& random, int count) {
    std::set<std::string> chosen;
    Texts result;
    while (static_cast<int>(chosen.size()) < count) {
      std::string id;
      const size_t length = 1 + random() % 12;
      for (size_t i = 0; i < length; ++i) id += "0123456789abXY -_.\xc3"[random() % 19];
      if (chosen.insert(id).second) result.push_back(id);
    }
    return result;
  }

  void add_edge(std::mt19937& random) {
    const bool bad_source = random() % 20 == 0;
    const bool bad_target = random() % 20 == 0;
    const std::string source = bad_source ? "?" : a[random() % a.size()];
    const std::string target = bad_target ? "?" : b[random() % b.size()];
    edge_table += source + "\t" + target + "\t1\n";
    ++rows;
    if (bad_source) {
      ++unknown_sources;
    } else if (bad_target) {
      ++unknown_targets;
    } else {
      kept.emplace_back(source, target);
    }
  }
};

const std::string kRandomManifest = nodes("a") + nodes("b") + edges("a", "to", "b");

class RandomImportTest : public TableImportTest {
 protected:
  void write(const RandomTables& tables) const {
    folder_.write("a.tsv", tables.a_table);
    folder_.write("b.tsv", tables.b_table);
    folder_.write("to.tsv", tables.edge_table);
  }
};

TEST_F(RandomImportTest, RandomTablesGiveTheGraphOfTheNaiveModel) {
  for (const unsigned seed : {1U, 2U, 3U, 4U, 5U, 6U}) {
    const RandomTables tables(seed, 40 * static_cast<int>(seed), 300 * static_cast<int>(seed));
    write(tables);
    const std::string name = "graph" + std::to_string(seed);
    const ImportReport report = folder_.import(kRandomManifest, name).report;
    const HeteroGraph graph = folder_.graph(name);
    EXPECT_EQ(nodes_of(graph, "a"), tables.a);
    EXPECT_EQ(nodes_of(graph, "b"), tables.b);
    Texts forward;
    Texts backward;
    for (const auto& [source, target] : tables.kept) {
      forward.push_back(source + ">" + target);
      backward.push_back(target + ">" + source);
    }
    std::sort(forward.begin(), forward.end());
    std::sort(backward.begin(), backward.end());
    EXPECT_EQ(edges_of(graph, "a", "to", "b"), forward);
    EXPECT_EQ(edges_of(graph, "b", "rev_to", "a"), backward);
    const TableReport& edge_report = report.tables.at(2);
    EXPECT_EQ(edge_report.rows, tables.rows);
    EXPECT_EQ(edge_report.kept, tables.kept.size());
    EXPECT_EQ(edge_report.defects[static_cast<size_t>(Defect::unknown_source)],
              tables.unknown_sources);
    EXPECT_EQ(edge_report.defects[static_cast<size_t>(Defect::unknown_target)],
              tables.unknown_targets);
  }
}

TEST_F(RandomImportTest, ASmallMemoryBoundGivesTheSameBytesAsALargeOne) {
  write(RandomTables(9, 5000, 60000));
  folder_.import(kRandomManifest, "small", {.build = {.memory = kMinBuildMemory}});
  folder_.import(kRandomManifest, "large", {.build = {.memory = uint64_t{4} << 30U}});
  EXPECT_EQ(differing_files(folder_ / "small", folder_ / "large"), Texts{});
}

TEST_F(RandomImportTest, TheOrderOfEdgeRowsDoesNotChangeTheBytes) {
  RandomTables tables(11, 100, 2000);
  write(tables);
  folder_.import(kRandomManifest, "forward");
  std::string shuffled = "s\tt\n";
  std::shuffle(tables.kept.begin(), tables.kept.end(), std::mt19937(3));
  for (const auto& [source, target] : tables.kept) shuffled += source + "\t" + target + "\n";
  folder_.write("to.tsv", shuffled);
  folder_.import(kRandomManifest, "shuffled");
  EXPECT_EQ(differing_files(folder_ / "forward", folder_ / "shuffled"), Texts{});
}

}  // namespace
}  // namespace hgt
