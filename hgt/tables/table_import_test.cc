#include "hgt/tables/table_import.h"

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

namespace hgt {
namespace {

using Numbers = std::vector<float>;

// Pieces of manifests. `more` goes into the entry.
std::string nodes(const std::string& type, const std::string& more = "") {
  return "[[nodes]]\ntype = '" + type + "'\nid = 'id'\n" +
         (contains(more, "files =") ? "" : "files = '" + type + ".tsv'\n") + more + "\n";
}
std::string edges(const std::string& source, const std::string& type, const std::string& target,
                  const std::string& more = "") {
  return "[[edges]]\ntype = '" + type + "'\nsource = { type = '" + source +
         "', column = 's' }\ntarget = { type = '" + target + "', column = 't' }\n" +
         (contains(more, "files =") ? "" : "files = '" + type + ".tsv'\n") + more + "\n";
}

class TableImportTest : public testing::Test {
 protected:
  // Most tests need no more nodes than these.
  TableImportTest() {
    folder_.write("paper.tsv", "id\np1\np2\np3\n");
    folder_.write("author.tsv", "id\na1\na2\na3\na4\n");
  }
  HeteroGraph import(const std::string& manifest) {
    report_ = folder_.import(manifest).report;
    return folder_.graph();
  }

  ImportTestFolder folder_;
  ImportReport report_;
};

// --- nodes ---

TEST_F(TableImportTest, NodesKeepIdsNamesAndTheOrderOfTheTable) {
  folder_.write("venue.tsv", "name\tid\nA name, with comma\tkdd\n\tICML 2020\n\"quoted\"\t007\n");
  const HeteroGraph graph = import(nodes("venue", "name = 'name'"));
  EXPECT_EQ(nodes_of(graph, "venue"),
            (Texts{"kdd|A name, with comma", "ICML 2020|", "007|\"quoted\""}));
  const NodeType venue = graph.schema().node_type("venue");
  EXPECT_EQ(graph.find(venue, "007"), NodeId{2});
  EXPECT_EQ(graph.find(venue, "7"), std::nullopt);
  EXPECT_EQ(graph.schema().at(venue).kind, NodeKind::plain);
  EXPECT_FALSE(graph.schema().time_range.has_value());
}

TEST_F(TableImportTest, TheSchemaTellsWhereTheGraphCameFrom) {
  const HeteroGraph graph = import("name = 'my tables'\n" + nodes("paper"));
  EXPECT_EQ(graph.schema().origin.at("name"), "my tables");
  EXPECT_EQ(graph.schema().origin.at("made_by"), "hgt import");
}

TEST_F(TableImportTest, ATimeColumnMakesAnEventType) {
  folder_.write("event.tsv", "id\twhen\ne1\t2019\ne2\t1998-07-04\n");
  const HeteroGraph graph = import(nodes("event", "time = 'when'") + nodes("paper"));
  EXPECT_EQ(nodes_of(graph, "event"), (Texts{"e1@2019", "e2@1998"}));
  EXPECT_EQ(graph.schema().at(graph.schema().node_type("event")).kind, NodeKind::event);
  EXPECT_EQ(graph.schema().at(graph.schema().node_type("paper")).kind, NodeKind::plain);
  EXPECT_EQ(graph.schema().time_range, (std::pair<Time, Time>{1998, 2019}));
}

TEST_F(TableImportTest, TimesOfEveryFormatCountInTheUnit) {
  struct Case {
    std::string unit, format, text;
    Time expected;
  };
  const std::vector<Case> cases = {{"year", "date", "2019-12-31", 2019},
                                   {"month", "date", "2019-03", 2019 * 12 + 2},
                                   {"day", "date", "1970-01-03", 2},
                                   {"day", "unix", "172799", 1},
                                   {"hour", "unix", "7200.5", 2},
                                   {"hour", "date", "1970-01-01T05:30:00+01:00", 4},
                                   {"minute", "date", "1970-01-01 00:02:59", 2},
                                   {"second", "unix", "-1", -1},
                                   {"second", "number", "12", 12},
                                   {"year", "number", "-44", -44},
                                   {"year", "unix", "0", 1970}};
  for (size_t i = 0; i < cases.size(); ++i) {
    folder_.write("event.tsv", "id\twhen\ne\t" + cases[i].text + "\n");
    folder_.import("time_unit = '" + cases[i].unit + "'\n" +
                       nodes("event", "time = 'when'\ntime_format = '" + cases[i].format + "'"),
                   "graph" + std::to_string(i));
    const HeteroGraph graph = folder_.graph("graph" + std::to_string(i));
    EXPECT_EQ(nodes_of(graph, "event"), Texts{"e@" + std::to_string(cases[i].expected)})
        << cases[i].unit << " " << cases[i].text;
    EXPECT_EQ(to_string(graph.schema().time_unit), cases[i].unit);
  }
}

TEST_F(TableImportTest, AMissingTimeIsKeptWhenTheManifestSaysSo) {
  folder_.write("event.tsv", "id\twhen\ne1\t\ne2\t2001\n");
  const HeteroGraph graph = import(nodes("event", "time = 'when'\nmissing_time = 'keep'"));
  EXPECT_EQ(nodes_of(graph, "event"), (Texts{"e1", "e2@2001"}));
  EXPECT_EQ(report_.dropped(), 0U);
}

TEST_F(TableImportTest, SeveralTablesOfOneTypeAddUp) {
  folder_.write("more.tsv", "id\ttitle\nx\tAn X\n");
  const HeteroGraph graph =
      import(nodes("paper") + nodes("paper", "files = 'more.tsv'\nname = 'title'"));
  EXPECT_EQ(nodes_of(graph, "paper"), (Texts{"p1|", "p2|", "p3|", "x|An X"}));
}

TEST_F(TableImportTest, RepeatedIdsCanBeIgnoredSoThatAnEdgeTableMakesItsNodes) {
  folder_.write("links.tsv", "s\tt\nu\tv\nv\tw\nu\tw\n");
  const std::string both =
      "[[nodes]]\ntype = 'page'\nfiles = 'links.tsv'\nid = 's'\nduplicates = 'ignore'\n"
      "[[nodes]]\ntype = 'page'\nfiles = 'links.tsv'\nid = 't'\nduplicates = 'ignore'\n";
  const HeteroGraph graph = import(both + edges("page", "links", "page"));
  EXPECT_EQ(nodes_of(graph, "page"), (Texts{"u", "v", "w"}));
  EXPECT_EQ(edges_of(graph, "page", "links", "page"), (Texts{"u>v", "u>w", "v>w"}));
  EXPECT_EQ(report_.tables.at(0).ignored, 1U);
  EXPECT_EQ(report_.tables.at(1).ignored, 2U);
  EXPECT_EQ(report_.dropped(), 0U);
}

TEST_F(TableImportTest, ANodeTypeMayHaveAnyValidName) {
  folder_.write("t.tsv", "id\n1\n");
  for (const char* name : {"lock", "run-0", "paper.v2", "-", "runs"}) {
    const std::string manifest = nodes(name, "files = 't.tsv'");
    EXPECT_NO_THROW(folder_.import(manifest, std::string("graph_") + name)) << name;
  }
  EXPECT_THROW(folder_.import(nodes("schema.json", "files = 't.tsv'"), "graph"), Error);
}

TEST_F(TableImportTest, NodesCanBeGivenByTheirNumberAlone) {
  folder_.write("links.tsv", "s\tt\n0\t2\n1\t2\n3\t0\n");
  const HeteroGraph graph =
      import("[[nodes]]\ntype = 'page'\ncount = 3\n" + edges("page", "links", "page"));
  EXPECT_EQ(nodes_of(graph, "page"), (Texts{"0", "1", "2"}));
  EXPECT_EQ(edges_of(graph, "page", "links", "page"), (Texts{"0>2", "1>2"}));
  EXPECT_EQ(report_.dropped(), 1U) << "there is no page 3";
}

TEST_F(TableImportTest, RowsWithoutAnEndAreNoDefectWhereTheManifestSaysSo) {
  folder_.write("links.tsv", "s\tt\n0\t2\n1\t\n\t0\n");
  const std::string counted = "[[nodes]]\ntype = 'page'\ncount = 3\n";
  import(counted + edges("page", "links", "page"));
  EXPECT_EQ(report_.dropped(), 2U);
  const Imported again =
      folder_.import(counted + edges("page", "links", "page", "empty_ids = 'ignore'"), "again");
  EXPECT_EQ(again.report.dropped(), 0U);
  EXPECT_EQ(again.report.tables.at(1).ignored, 2U);
  EXPECT_EQ(again.report.tables.at(1).kept, 1U);
}

TEST_F(TableImportTest, ATimeBeyondTheUnitSecondNamesTheCoarserUnits) {
  folder_.write("t.tsv", "id\twhen\na\t4102444800\nb\t0\n");  // 2100-01-01, 1970-01-01
  const std::string table = nodes("x", "files = 't.tsv'\ntime = 'when'");
  import("time_unit = 'second'\n" + table);
  EXPECT_EQ(report_.dropped(), 1U);
  expect_contains(report_.tables.at(0).examples.at(0), "t.tsv:2: ");
  expect_contains(report_.tables.at(0).examples.at(0), "take minute or a coarser unit");
  EXPECT_EQ(folder_.import("time_unit = 'minute'\n" + table, "minutes").report.dropped(), 0U);
}

// --- files and formats ---

TEST_F(TableImportTest, APatternReadsItsFilesInTheOrderOfTheirNames) {
  folder_.write("part-2.tsv", "id\nc\n");
  folder_.write("part-1.tsv", "id\na\nb\n");
  folder_.write("extra.tsv", "id\nz\n");
  const HeteroGraph graph = import(nodes("x", "files = ['extra.tsv', 'part-*.tsv']"));
  EXPECT_EQ(nodes_of(graph, "x"), (Texts{"z", "a", "b", "c"}));
  EXPECT_EQ(report_.tables.at(0).rows, 4U);
  EXPECT_EQ(report_.tables.at(0).kept, 4U);
}

TEST_F(TableImportTest, FilesOfOneEntryMayOrderTheirColumnsDifferently) {
  folder_.write("part-1.tsv", "id\tn\na\tA\n");
  folder_.write("part-2.tsv", "n\tid\nB\tb\n");
  EXPECT_EQ(nodes_of(import(nodes("x", "files = 'part-*.tsv'\nname = 'n'")), "x"),
            (Texts{"a|A", "b|B"}));
}

TEST_F(TableImportTest, GzipAndZstdFilesAreReadLikePlainOnes) {
  folder_.write("x.csv.gz", gzip("id,n\na,\"A, B\"\n"));
  folder_.write("y.tsv.zst", zstd("id\tn\nb\t\"B\n"));
  folder_.write("z.tsv", zstd("id\tn\nc\tC\n"));  // told by its bytes, not its name
  const HeteroGraph graph =
      import(nodes("x", "files = ['x.csv.gz', 'y.tsv.zst', 'z.tsv']\nname = 'n'"));
  EXPECT_EQ(nodes_of(graph, "x"), (Texts{"a|A, B", "b|\"B", "c|C"}));
}

TEST_F(TableImportTest, CsvMayHaveQuotesLineEndsOfWindowsAndAByteOrderMark) {
  folder_.write("x.csv", "\xef\xbb\xbfid,n\r\n1,\"He said \"\"no\"\",\r\nthen left\"\r\n2,x\r\n");
  EXPECT_EQ(nodes_of(import(nodes("x", "files = 'x.csv'\nname = 'n'")), "x"),
            (Texts{"1|He said \"no\",\r\nthen left", "2|x"}));
}

TEST_F(TableImportTest, DelimiterAndQuoteCanBeGiven) {
  folder_.write("x.txt", "id|n\n'a|1'|A\n");
  EXPECT_EQ(
      nodes_of(import(nodes("x", "files = 'x.txt'\nname = 'n'\ndelimiter = '|'\nquote = \"'\"")),
               "x"),
      Texts{"a|1|A"});
  folder_.write("y.csv", "id,n\n\"1\",\"x\n");
  folder_.import(nodes("y", "files = 'y.csv'\nname = 'n'\nquote = ''"), "unquoted");
  EXPECT_EQ(nodes_of(folder_.graph("unquoted"), "y"), Texts{"\"1\"|\"x"});
}

TEST_F(TableImportTest, ATableWithoutHeaderTakesItsColumnsFromTheManifest) {
  folder_.write("x.tsv", "# made by hand\n# 2019\n5\tfive\n6\tsix\n");
  EXPECT_EQ(nodes_of(import(nodes("x", "columns = ['id', 'n']\nskip_lines = 2\nname = 'n'")), "x"),
            (Texts{"5|five", "6|six"}));
}

TEST_F(TableImportTest, LinesBeforeTheHeaderAreSkipped) {
  folder_.write("x.tsv", "anything\tat all\there\nid\nu\n");
  EXPECT_EQ(nodes_of(import(nodes("x", "skip_lines = 1")), "x"), Texts{"u"});
}

TEST_F(TableImportTest, WhereKeepsTheRowsThatMeetAllItsConditions) {
  folder_.write("x.tsv", "id\tkind\tlang\n1\ta\ten\n2\tb\ten\n3\tc\ten\n4\ta\tde\n");
  const HeteroGraph graph = import(nodes("x", "where = { kind = ['a', 'b'], lang = 'en' }"));
  EXPECT_EQ(nodes_of(graph, "x"), (Texts{"1", "2"}));
  EXPECT_EQ(report_.tables.at(0).rows, 4U);
  EXPECT_EQ(report_.tables.at(0).filtered, 2U);
  EXPECT_EQ(report_.tables.at(0).kept, 2U);
  EXPECT_EQ(report_.dropped(), 0U);
}

TEST_F(TableImportTest, TheTablesMayLieInAnotherFolder) {
  folder_.write("elsewhere/x.tsv", "id\nu\n");
  folder_.import(nodes("x"), "graph", {.tables = folder_ / "elsewhere"});
  EXPECT_EQ(nodes_of(folder_.graph(), "x"), Texts{"u"});
}

// Only 'files' is a pattern; the folder is what it is called.
TEST_F(TableImportTest, TheFolderOfTheTablesMayHaveBracketsInItsName) {
  folder_.write("run[1]/x.tsv", "id\nu\n");
  EXPECT_NO_THROW(folder_.import(nodes("x"), "graph", {.tables = folder_ / "run[1]"}));
}

// --- labels ---

TEST_F(TableImportTest, LabelsComeFromColumnsOfTheNodes) {
  folder_.write("venue.tsv",
                "id\tkind\tareas\nv1\tjournal\tml;db\nv2\tworkshop\t\nv3\t\tdb;ml;ai;ml\n");
  const HeteroGraph graph =
      import(nodes("venue", "labels = { kind = 'kind', area = 'areas' }\nlabel_separator = ';'"));
  EXPECT_EQ(labels_of(graph, "venue", "kind"), (Texts{"v1=journal", "v2=workshop"}));
  EXPECT_EQ(labels_of(graph, "venue", "area"), (Texts{"v1=db+ml", "v3=ai+db+ml"}));
}

TEST_F(TableImportTest, WithoutASeparatorACellIsOneClass) {
  folder_.write("venue.tsv", "id\tkind\nv1\ta;b\n");
  EXPECT_EQ(labels_of(import(nodes("venue", "labels = { kind = 'kind' }")), "venue", "kind"),
            Texts{"v1=a;b"});
}

TEST_F(TableImportTest, LabelTablesGiveClassesAndSplits) {
  folder_.write("train.tsv", "id\tc\np1\t10\np1\t9\n");
  folder_.write("test.tsv", "id\tc\np3\t9,2\n");
  folder_.write("names.tsv", "v\tn\n9\tNine\n10\tTen\n77\tUnused\n");
  const auto entry = [](const std::string& split) {
    return "[[labels]]\ntype = 'paper'\nlabel = 'area'\nid = 'id'\ncolumn = 'c'\nseparator = "
           "','\nfiles = '" +
           split + ".tsv'\nsplit = '" + split + "'\n";
  };
  const HeteroGraph graph =
      import(nodes("paper") + entry("train") + entry("test") +
             "[[classes]]\ntype = 'paper'\nlabel = 'area'\nfiles = 'names.tsv'\nvalue = 'v'\nname "
             "= 'n'\n");
  EXPECT_EQ(labels_of(graph, "paper", "area"), (Texts{"p1=9+10/1", "p3=2+9/3"}));
  const LabelSpec& label = graph.schema().at(graph.schema().node_type("paper")).labels.at(0);
  EXPECT_EQ(label.classes, (Texts{"2", "9", "10"}));  // numbers in the order of numbers
  EXPECT_EQ(label.class_names, (Texts{"2", "Nine", "Ten"}));
  EXPECT_TRUE(label.split);
}

TEST_F(TableImportTest, ASplitOfValidationAndALabelTableWithoutSplitAreTold) {
  folder_.write("l.tsv", "id\tc\np2\tx\n");
  const std::string entry =
      "[[labels]]\ntype = 'paper'\nlabel = 'area'\nid = 'id'\ncolumn = 'c'\nfiles = 'l.tsv'\n";
  EXPECT_EQ(labels_of(import(nodes("paper") + entry + "split = 'validation'\n"), "paper", "area"),
            Texts{"p2=x/2"});
  folder_.import(nodes("paper") + entry, "plain");
  const HeteroGraph plain = folder_.graph("plain");
  EXPECT_EQ(labels_of(plain, "paper", "area"), Texts{"p2=x"});
  EXPECT_FALSE(plain.schema().node_types()[0].labels.at(0).split);
}

// --- features ---

TEST_F(TableImportTest, FeaturesOfEveryFormReachTheGraph) {
  folder_.write("x.tsv",
                "id\ta\tb\tv\ts\tt\nn1\t1\t2\t3 4\t1:5\tdeep graphs\nn2\t6\t7\t8 9\t\tx\n");
  struct Case {
    std::string form;
    Numbers first, second;
    std::string origin;
  };
  Numbers words(2);
  hashed_words("deep graphs", words);
  Numbers word(2);
  hashed_words("x", word);
  const std::vector<Case> cases = {
      {"columns = ['b', 'a']", {2, 1}, {7, 6}, "columns b, a"},
      {"list = 'v'", {3, 4}, {8, 9}, "column v"},
      {"sparse = 's', width = 2", {0, 5}, {0, 0}, "column s"},
      {"hashed_words = 't', width = 2", words, word, "hashed words of t"}};
  for (size_t i = 0; i < cases.size(); ++i) {
    const std::string name = "graph" + std::to_string(i);
    folder_.import(nodes("x", "features = { " + cases[i].form + " }"), name);
    const HeteroGraph graph = folder_.graph(name);
    EXPECT_EQ(features_of(graph, "x", "n1"), cases[i].first) << cases[i].form;
    EXPECT_EQ(features_of(graph, "x", "n2"), cases[i].second) << cases[i].form;
    const FeatureSpec spec = graph.schema().node_types()[0].features.value();
    EXPECT_EQ(spec.width, 2U);
    EXPECT_EQ(spec.type, FeatureType::float32);
    EXPECT_EQ(spec.origin, cases[i].origin);
    EXPECT_EQ(spec.missing, 0U);
  }
}

TEST_F(TableImportTest, FeaturesCanBeStoredInHalfPrecision) {
  folder_.write("x.tsv", "id\tv\nn1\t0.1 1000.4\n");
  const HeteroGraph graph = import(nodes("x", "features = { list = 'v', precision = 'float16' }"));
  EXPECT_EQ(graph.features(NodeType{0}).halves.size(), 2U);
  EXPECT_EQ(features_of(graph, "x", "n1"), (Numbers{0.0999755859375F, 1000.5F}));
}

TEST_F(TableImportTest, AMatrixGivesRowIToNodeI) {
  folder_.write("m.npy",
                npy_bytes(npy_header("<f8", "3, 2"), number_bytes<double>({1, 2, 3, 4, 5, 6.5})));
  const HeteroGraph graph = import(nodes("paper", "features = { npy = 'm.npy' }"));
  EXPECT_EQ(features_of(graph, "paper", "p1"), (Numbers{1, 2}));
  EXPECT_EQ(features_of(graph, "paper", "p3"), (Numbers{5, 6.5F}));
}

TEST_F(TableImportTest, FeatureTablesAreMatchedByIdAndNodesWithoutAreCounted) {
  folder_.write("f.tsv", "pid\tv\np3\t1 2\np1\t3 4\np3\t9 9\n");
  const HeteroGraph graph = import(
      nodes("paper") +
      "[[features]]\ntype = 'paper'\nfiles = 'f.tsv'\nid = 'pid'\nvalues = { list = 'v' }\n");
  EXPECT_EQ(features_of(graph, "paper", "p1"), (Numbers{3, 4}));
  EXPECT_EQ(features_of(graph, "paper", "p2"), (Numbers{0, 0}));
  EXPECT_EQ(features_of(graph, "paper", "p3"), (Numbers{1, 2}));  // the first row counts
  EXPECT_EQ(graph.schema().node_types()[0].features->missing, 1U);
}

// --- edges ---

TEST_F(TableImportTest, EdgesComeWithTheirReverse) {
  folder_.write("writes.tsv", "s\tt\na1\tp1\na2\tp1\na1\tp3\n");
  const HeteroGraph graph =
      import(nodes("paper") + nodes("author") + edges("author", "writes", "paper"));
  EXPECT_EQ(edges_of(graph, "author", "writes", "paper"), (Texts{"a1>p1", "a1>p3", "a2>p1"}));
  EXPECT_EQ(edges_of(graph, "paper", "rev_writes", "author"), (Texts{"p1>a1", "p1>a2", "p3>a1"}));
}

TEST_F(TableImportTest, EdgesCarryTimesAndWeights) {
  folder_.write("writes.tsv", "s\tt\ty\tw\na1\tp1\t2019\t0.5\na2\tp1\t\t-2\n");
  const HeteroGraph graph =
      import(nodes("paper") + nodes("author") +
             edges("author", "writes", "paper", "time = 'y'\nmissing_time = 'keep'\nweight = 'w'"));
  EXPECT_EQ(edges_of(graph, "author", "writes", "paper"),
            (Texts{"a1>p1@2019*0.50", "a2>p1*-2.00"}));
  EXPECT_EQ(edges_of(graph, "paper", "rev_writes", "author"),
            (Texts{"p1>a1@2019*0.50", "p1>a2*-2.00"}));
  EXPECT_EQ(graph.schema().time_range, (std::pair<Time, Time>{2019, 2019}));
}

TEST_F(TableImportTest, SymmetricEdgesAreStoredInBothDirectionsUnderOneName) {
  folder_.write("knows.tsv", "s\tt\na1\ta2\na3\ta3\n");
  const HeteroGraph graph =
      import(nodes("author") + edges("author", "knows", "author", "symmetric = true"));
  EXPECT_EQ(edges_of(graph, "author", "knows", "author"), (Texts{"a1>a2", "a2>a1", "a3>a3"}));
  EXPECT_EQ(graph.schema().relations().size(), 1U);
}

TEST_F(TableImportTest, TheReverseCanHaveAnotherName) {
  folder_.write("cites.tsv", "s\tt\np1\tp2\n");
  const HeteroGraph graph =
      import(nodes("paper") + edges("paper", "cites", "paper", "reverse = 'cited_by'"));
  EXPECT_EQ(edges_of(graph, "paper", "cited_by", "paper"), Texts{"p2>p1"});
  EXPECT_EQ(graph.schema().relations().size(), 2U);
}

TEST_F(TableImportTest, RepeatedEdgesAreKeptUnlessTheManifestDropsThem) {
  folder_.write("cites.tsv", "s\tt\ty\np1\tp2\t2000\np1\tp2\t2000\np1\tp2\t2001\np2\tp3\t2000\n");
  const std::string base = nodes("paper");
  const HeteroGraph kept = import(base + edges("paper", "cites", "paper", "time = 'y'"));
  EXPECT_EQ(edges_of(kept, "paper", "cites", "paper").size(), 4U);
  EXPECT_EQ(kept.schema().at(kept.schema().relation("paper", "cites", "paper")).repeated, 1U);
  folder_.import(base + edges("paper", "cites", "paper", "time = 'y'\nduplicates = 'drop'"),
                 "unique");
  const HeteroGraph graph = folder_.graph("unique");
  EXPECT_EQ(edges_of(graph, "paper", "cites", "paper"),
            (Texts{"p1>p2@2000", "p1>p2@2001", "p2>p3@2000"}));
  EXPECT_EQ(edges_of(graph, "paper", "rev_cites", "paper").size(), 3U);
}

TEST_F(TableImportTest, ByOrderTellsFirstAndLastFromTheOthers) {
  // Unsorted rows; p1 counts from 0, p2 from 1, p3 has one author only.
  folder_.write("writes.tsv",
                "s\tt\tpos\na3\tp1\t2\na1\tp2\t2\na1\tp1\t0\na4\tp3\t1\na2\tp1\t1\na2\tp2\t1\n"
                "a4\tp1\t10\n");
  const HeteroGraph graph =
      import(nodes("paper") + nodes("author") +
             edges("author", "writes", "paper", "by_order = { column = 'pos' }"));
  EXPECT_EQ(edges_of(graph, "author", "writes_first", "paper"), (Texts{"a1>p1", "a2>p2", "a4>p3"}));
  EXPECT_EQ(edges_of(graph, "author", "writes_last", "paper"), (Texts{"a1>p2", "a4>p1"}));
  EXPECT_EQ(edges_of(graph, "author", "writes_other", "paper"), (Texts{"a2>p1", "a3>p1"}));
  EXPECT_EQ(edges_of(graph, "paper", "rev_writes_first", "author").size(), 3U);
}

TEST_F(TableImportTest, ByOrderCanCountWithinTheSource) {
  folder_.write("has.tsv", "s\tt\tpos\np1\ta1\t1\np1\ta2\t2\np1\ta3\t3\np2\ta1\t5\n");
  const HeteroGraph graph =
      import(nodes("paper") + nodes("author") +
             edges("paper", "has", "author", "by_order = { column = 'pos', within = 'source' }"));
  EXPECT_EQ(edges_of(graph, "paper", "has_first", "author"), (Texts{"p1>a1", "p2>a1"}));
  EXPECT_EQ(edges_of(graph, "paper", "has_last", "author"), Texts{"p1>a3"});
  EXPECT_EQ(edges_of(graph, "paper", "has_other", "author"), Texts{"p1>a2"});
}

TEST_F(TableImportTest, ByOrderLooksAtAllFilesAndOnlyAtRowsThatWhereKeeps) {
  folder_.write("w1.tsv", "s\tt\tpos\tok\na1\tp1\t1\ty\na2\tp1\t2\ty\n");
  folder_.write("w2.tsv", "s\tt\tpos\tok\na3\tp1\t3\ty\na4\tp1\t4\tn\n");
  const HeteroGraph graph =
      import(nodes("paper") + nodes("author") +
             edges("author", "writes", "paper",
                   "files = 'w?.tsv'\nby_order = { column = 'pos' }\nwhere = { ok = 'y' }"));
  EXPECT_EQ(edges_of(graph, "author", "writes_last", "paper"), Texts{"a3>p1"});
  EXPECT_EQ(edges_of(graph, "author", "writes_other", "paper"), Texts{"a2>p1"});
}

TEST_F(TableImportTest, AnUnknownFirstAuthorDoesNotMakeTheSecondOneFirst) {
  folder_.write("writes.tsv", "s\tt\tpos\nghost\tp1\t1\na1\tp1\t2\na2\tp1\t3\n");
  const HeteroGraph graph =
      import(nodes("paper") + nodes("author") +
             edges("author", "writes", "paper", "by_order = { column = 'pos' }"));
  EXPECT_EQ(edges_of(graph, "author", "writes_first", "paper"), Texts{});
  EXPECT_EQ(edges_of(graph, "author", "writes_other", "paper"), Texts{"a1>p1"});
  EXPECT_EQ(edges_of(graph, "author", "writes_last", "paper"), Texts{"a2>p1"});
}

TEST_F(TableImportTest, ByColumnSharesRowsOutByAValue) {
  folder_.write("rel.tsv", "s\tt\tk\na1\tp1\t1\na2\tp1\t2\na3\tp1\t7\na4\tp2\t\n");
  const HeteroGraph graph =
      import(nodes("paper") + nodes("author") +
             edges("author", "rel", "paper",
                   "by_column = { column = 'k', values = { 1 = 'reads', 2 = 'reviews' }, other = "
                   "'touches' }"));
  EXPECT_EQ(edges_of(graph, "author", "reads", "paper"), Texts{"a1>p1"});
  EXPECT_EQ(edges_of(graph, "author", "reviews", "paper"), Texts{"a2>p1"});
  EXPECT_EQ(edges_of(graph, "author", "touches", "paper"), (Texts{"a3>p1", "a4>p2"}));
  EXPECT_EQ(graph.schema().find_relation(NodeType{1}, "rel", NodeType{0}), std::nullopt);
}

TEST_F(TableImportTest, ByLabelLooksAtEitherEnd) {
  folder_.write("venue.tsv", "id\tk\nv1\tj\nv2\tw\nv3\t\n");
  folder_.write("pub.tsv", "s\tt\np1\tv1\np2\tv2\np3\tv3\n");
  folder_.write("holds.tsv", "s\tt\nv1\tp1\nv2\tp2\n");
  const std::string venues = nodes("paper") + nodes("venue", "labels = { kind = 'k' }");
  const HeteroGraph graph = import(
      venues +
      edges(
          "paper", "pub", "venue",
          "by_label = { label = 'kind', values = { j = 'pub_j', w = 'pub_w' }, other = 'pub_o' }") +
      edges("venue", "holds", "paper",
            "by_label = { label = 'kind', end = 'source', values = { j = 'holds_j', w = 'holds_w' "
            "} }"));
  EXPECT_EQ(edges_of(graph, "paper", "pub_j", "venue"), Texts{"p1>v1"});
  EXPECT_EQ(edges_of(graph, "paper", "pub_w", "venue"), Texts{"p2>v2"});
  EXPECT_EQ(edges_of(graph, "paper", "pub_o", "venue"), Texts{"p3>v3"});
  EXPECT_EQ(edges_of(graph, "venue", "holds_j", "paper"), Texts{"v1>p1"});
  EXPECT_EQ(edges_of(graph, "venue", "holds_w", "paper"), Texts{"v2>p2"});
}

TEST_F(TableImportTest, ByLabelFindsLabelsOfALabelTable) {
  folder_.write("levels.tsv", "id\tc\np1\tL1\n");
  folder_.write("cites.tsv", "s\tt\np2\tp1\np1\tp2\n");
  const HeteroGraph graph = import(
      nodes("paper") +
      "[[labels]]\ntype = 'paper'\nlabel = 'level'\nfiles = 'levels.tsv'\nid = 'id'\ncolumn = "
      "'c'\n" +
      edges("paper", "cites", "paper",
            "by_label = { label = 'level', values = { L1 = 'cites_L1' }, other = 'cites_any' }"));
  EXPECT_EQ(edges_of(graph, "paper", "cites_L1", "paper"), Texts{"p2>p1"});
  EXPECT_EQ(edges_of(graph, "paper", "cites_any", "paper"), Texts{"p1>p2"});
}

TEST_F(TableImportTest, OneEdgeTypeMayJoinTwoPairsOfTypes) {
  folder_.write("c1.tsv", "s\tt\np1\tp2\n");
  folder_.write("c2.tsv", "s\tt\np1\ta1\n");
  const HeteroGraph graph = import(nodes("paper") + nodes("author") +
                                   edges("paper", "cites", "paper", "files = 'c1.tsv'") +
                                   edges("paper", "cites", "author", "files = 'c2.tsv'"));
  EXPECT_EQ(edges_of(graph, "paper", "cites", "paper"), Texts{"p1>p2"});
  EXPECT_EQ(edges_of(graph, "paper", "cites", "author"), Texts{"p1>a1"});
  EXPECT_EQ(edges_of(graph, "author", "rev_cites", "paper"), Texts{"a1>p1"});
}

TEST_F(TableImportTest, TwoTablesMayFeedOneRelation) {
  folder_.write("c1.tsv", "s\tt\tw\np1\tp2\t2\n");
  folder_.write("c2.tsv", "s\tt\ty\np2\tp3\t1999\n");
  const HeteroGraph graph =
      import(nodes("paper") + edges("paper", "cites", "paper", "files = 'c1.tsv'\nweight = 'w'") +
             edges("paper", "cites", "paper", "files = 'c2.tsv'\ntime = 'y'"));
  EXPECT_EQ(edges_of(graph, "paper", "cites", "paper"), (Texts{"p1>p2*2.00", "p2>p3@1999*1.00"}));
}

TEST_F(TableImportTest, AColumnOfANodeTableMayBeAnEdge) {
  folder_.write("book.tsv", "id\tby\nb1\ta2\nb2\ta1\n");
  const HeteroGraph graph = import(
      nodes("book") + nodes("author") +
      "[[edges]]\ntype = 'by'\nfiles = 'book.tsv'\nsource = { type = 'book', column = 'id' }\n"
      "target = { type = 'author', column = 'by' }\n");
  EXPECT_EQ(edges_of(graph, "book", "by", "author"), (Texts{"b1>a2", "b2>a1"}));
}

TEST_F(TableImportTest, EntriesMayComeInAnyOrder) {
  folder_.write("writes.tsv", "s\tt\na1\tp1\n");
  const HeteroGraph graph =
      import(edges("author", "writes", "paper") + nodes("author") + nodes("paper"));
  EXPECT_EQ(edges_of(graph, "author", "writes", "paper"), Texts{"a1>p1"});
}

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
     "there is a paper with the id 'p1' already"},
    {"writes.tsv", "a9\tp1\t2000\t1\ta", Defect::unknown_source, 4,
     "there is no author with the id 'a9'"},
    {"writes.tsv", "\tp1\t2000\t1\ta", Defect::unknown_source, 4, "with the id ''"},
    {"writes.tsv", "a1\tp9\t2000\t1\ta", Defect::unknown_target, 4,
     "there is no paper with the id 'p9'"},
    {"vectors.tsv", "a9\t1\t1", Defect::unknown_node, 2, "there is no author with the id 'a9'"},
    {"areas.tsv", "a9\tai", Defect::unknown_node, 3, "there is no author with the id 'a9'"},
    {"papers.tsv", "p9\tn/a\t1 2", Defect::bad_time, 0, "year 'n/a' is no time in the unit year"},
    {"writes.tsv", "a1\tp1\t20x\t1\ta", Defect::bad_time, 4, "y '20x'"},
    {"papers.tsv", "p9\t\t1 2", Defect::missing_time, 0, "column year is empty"},
    {"writes.tsv", "a1\tp1\t\t1\ta", Defect::missing_time, 4, "column y is empty"},
    {"writes.tsv", "a1\tp1\t2000\theavy\ta", Defect::bad_number, 4,
     "w 'heavy' is no finite number"},
    {"writes.tsv", "a1\tp1\t2000\tinf\ta", Defect::bad_number, 4, "w 'inf' is no finite number"},
    {"order.tsv", "a1\tp1\t1st", Defect::bad_number, 5, "pos '1st' is no whole number"},
    {"papers.tsv", "p9\t2000\t1 2 3", Defect::bad_features, 0, "3 features where 2 are expected"},
    {"vectors.tsv", "a1\t1\tx", Defect::bad_features, 2, "'x' in column y is no finite number"},
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

TEST_F(DefectTest, AnUnlabelledEndWithoutOtherIsAnUnlistedValue) {
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
  expect_contains(text, "manifest.toml:6: no table gives the label 'kind' of paper");
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
    expect_contains(text, "there is no node type 'papr'; there are paper, author");
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
      "the features of paper have width 2");
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
  expect_contains(error_of([&] { folder_.import(manifest); }), "exists already");
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
