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
  expect_contains(report_.tables.at(0).examples.at(0), "choose minute or a coarser unit");
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

}  // namespace
}  // namespace hgt
