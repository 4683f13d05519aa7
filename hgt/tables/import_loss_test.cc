// Tables that would lose too many of their rows, and what a manifest can say against it: null,
// missing, time patterns, ids of several columns, ids that may be unknown.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "hgt/tables/graph_export.h"
#include "hgt/tables/import_test_folder.h"

namespace hgt {
namespace {

class LossTest : public TableImportTest {
 protected:
  LossTest() { folder_.max_dropped = ImportOptions{}.max_dropped; }

  // Expects the import to fail with a text that has all parts.
  void expect_loss(const std::string& manifest, const std::vector<std::string>& parts) const {
    const std::string text = folder_.import_error(manifest);
    for (const std::string& part : parts) expect_contains(text, part);
  }
  // A table of rows, the first `bad` of them with one cell and the others with another.
  void write_mixed(const std::string& file, int rows, int bad, const std::string& bad_cell,
                   const std::string& good_cell) const {
    std::string text = "id\tv\n";
    for (int i = 0; i < rows; ++i) {
      text += "n" + std::to_string(i) + "\t" + (i < bad ? bad_cell : good_cell) + "\n";
    }
    folder_.write(file, text);
  }
};

TEST_F(LossTest, OfMoreThanTheShareFailsAndLeavesNothing) {
  const std::string manifest = nodes("x", "time = 'v'");
  write_mixed("x.tsv", 10, 2, "soon", "2019");
  EXPECT_EQ(import(manifest).num_nodes(NodeType{0}), 8U);  // 20% and no more
  write_mixed("x.tsv", 10, 3, "soon", "2019");
  expect_loss(manifest, {"manifest.toml:1: nodes x would lose 3 of 10 rows (30.0%)",
                         "3 rows whose time cannot be read, such as ", "x.tsv:2: v 'soon'",
                         "more than the 20%", "--max-dropped 0.3"});
  folder_.max_dropped = 0.3;
  EXPECT_EQ(folder_.import(manifest, "allowed").report.dropped(), 3U);
  folder_.max_dropped = 0;
  write_mixed("x.tsv", 1000, 1, "soon", "2019");
  expect_loss(manifest, {"would lose 1 of 1000 rows (0.1%)"});
}

TEST_F(LossTest, IsNotWhatTheManifestLeavesOut) {
  folder_.write("x.tsv", "id\tkind\na\tyes\nb\tno\nc\tno\nd\tno\na\tyes\na\tyes\n");
  folder_.write("to.tsv", "s\tt\na\ta\na\t\na\t\na\tq\na\tq\n");
  const HeteroGraph graph =
      import(nodes("x", "where = { kind = 'yes' }\nduplicates = 'ignore'") +
             edges("x", "to", "x", "empty_ids = 'ignore'\nunknown_ids = 'ignore'"));
  EXPECT_EQ(nodes_of(graph, "x"), Texts{"a"});
  EXPECT_EQ(edges_of(graph, "x", "to", "x"), Texts{"a>a"});
  EXPECT_EQ(report_.dropped(), 0U);
}

TEST_F(LossTest, CountsDefectsAgainstTheRowsThatWhereLeaves) {
  folder_.write("x.tsv", "id\tkind\tt\na\tyes\t2000\nb\tno\tx\nc\tno\tx\nd\tyes\tx\n");
  expect_loss(nodes("x", "where = { kind = 'yes' }\ntime = 't'"), {"would lose 1 of 2 rows"});
}

TEST_F(LossTest, AWhereThatLeavesNothingIsAnErrorUnlessTheTableMayBeEmpty) {
  folder_.write("x.tsv", "id\tkind\na\tyes\n");
  expect_loss(nodes("x", "where = { kind = 'Yes' }"),
              {"manifest.toml:1: 'where' leaves none of the 1 rows of", "may_be_empty"});
  import(nodes("x", "where = { kind = 'Yes' }\nmay_be_empty = true"));
}

TEST_F(LossTest, ShowsEveryReasonWithItsCountTheMostFrequentFirst) {
  folder_.write("x.tsv", "id\tv\na\t1\nb\tNA\nc\t\nd\t\ne\t\nf\t1e3x\n\t1\na\t1\n");
  const std::string text = folder_.import_error(nodes("x", "features = { columns = ['v'] }"));
  for (const char* part :
       {"would lose 7 of 8 rows", "3 rows whose features cannot be read, such as ", "x.tsv:4: ''",
        "missing = 0 or missing = \"flag\"", "1 rows whose features cannot be read, such as ",
        "x.tsv:3: 'NA'", "null = ['NA']", "x.tsv:7: '1e3x'", "1 rows without an id",
        "1 rows with a repeated id", "duplicates = \"ignore\""}) {
    expect_contains(text, part);
  }
  EXPECT_LT(text.find("x.tsv:4"), text.find("x.tsv:3"));
}

TEST_F(LossTest, ReasonsAreBoundedHoweverManyCellsThereAre) {
  std::string rows = "id\tv\n";
  for (int i = 0; i < 26 * 26; ++i) {
    rows += std::to_string(i) + "\t" + char('a' + i / 26) + char('a' + i % 26) + "\n";
  }
  folder_.write("x.tsv", rows);
  const std::string text = folder_.import_error(nodes("x", "features = { columns = ['v'] }"));
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 13);
  folder_.max_dropped = 1;
  const TableReport report =
      folder_.import(nodes("x", "features = { columns = ['v'] }")).report.tables.at(0);
  uint64_t lost = 0;
  for (const LostRows& loss : report.losses) lost += loss.rows;
  EXPECT_EQ(lost, 26U * 26U);
  EXPECT_LE(report.losses.size(), 64U);
}

TEST_F(LossTest, OfEdgesShowsAnIdOfEachTable) {
  folder_.write("to.tsv", "s\tt\n1\tP1\n2\tP2\n");
  expect_loss(nodes("paper") + nodes("author") + edges("author", "to", "paper"),
              {"manifest.toml:11: edges to would lose 2 of 2 rows (100.0%)",
               "no node of type author with the id '1'", "ids of type author look like 'a1'",
               "unknown_ids = \"ignore\""});
  folder_.write("to.tsv", "s\tt\n\tp1\n\tp2\n");
  expect_loss(nodes("paper") + nodes("author") + edges("author", "to", "paper"),
              {"empty_ids = \"ignore\""});
}

TEST_F(LossTest, OfSeveralTablesIsToldAtOnceButNodesBeforeWhatNeedsThem) {
  folder_.write("x.tsv", "id\tt\n1\tx\n");
  folder_.write("to.tsv", "s\tt\n1\tp1\n");
  const std::string two = nodes("x", "time = 't'") + nodes("y", "files = 'x.tsv'\ntime = 't'") +
                          nodes("paper") + edges("x", "to", "paper");
  const std::string text = folder_.import_error(two);
  expect_contains(text, "nodes x would lose");
  expect_contains(text, "nodes y would lose");
  EXPECT_FALSE(contains(text, "edges to")) << text;
}

TEST_F(LossTest, OfFeaturesAndLabelsForUnknownNodesCanBeAllowedByTheManifest) {
  folder_.write("v.tsv", "id\tv\np1\t1\nq1\t2\nq2\t3\n");
  const auto both = [&](const std::string& more) {
    return nodes("paper") +
           "[[features]]\ntype = 'paper'\nid = 'id'\nfiles = 'v.tsv'\nvalues = { columns = ['v'] "
           "}\n" +
           more +
           "[[labels]]\ntype = 'paper'\nid = 'id'\nfiles = 'v.tsv'\nlabel = 'l'\ncolumn = "
           "'v'\n" +
           more;
  };
  expect_loss(both(""), {"features of paper would lose 2 of 3", "labels of paper would lose 2 of 3",
                         "ids of type paper look like 'p1'"});
  const HeteroGraph graph = import(both("unknown_ids = 'ignore'\n"));
  EXPECT_EQ(features_of(graph, "paper", "p1"), std::vector<float>{1});
  EXPECT_EQ(labels_of(graph, "paper", "l"), Texts{"p1=1"});
  EXPECT_EQ(report_.tables.at(1).ignored, 2U);
}

// --- delimiters ---

TEST_F(LossTest, AWrongDelimiterIsGuessed) {
  folder_.write("x.csv", "id;name;year\n1;a;2000\n");
  expect_loss(nodes("x", "files = 'x.csv'"),
              {"has no column 'id'", "did you mean delimiter = \";\"?"});
  folder_.write("x.tsv", "id,name\n1,a\n");
  expect_loss(nodes("x"), {"did you mean delimiter = \",\"?"});
  folder_.write("y.csv", "1|a|2000\n2|b|2001\n");
  expect_loss(nodes("y", "files = 'y.csv'\ncolumns = ['id', 'name', 'year']"),
              {"2 malformed rows", "did you mean delimiter = \"|\"?"});
  folder_.write("z.csv", "1\ta\n2\tb\n");
  expect_loss(nodes("z", "files = 'z.csv'\ncolumns = ['id', 'name']"),
              {"did you mean delimiter = \"\\t\"?"});
}

// --- times ---

TEST_F(LossTest, OfTimesNamesTheFormatThatReadsThem) {
  const std::string manifest = nodes("x", "time = 'v'");
  write_mixed("x.tsv", 3, 3, "20190102", "");
  expect_loss(manifest, {"v '20190102' is not a time in the unit year: its year is not from -9999 "
                         "to 9999",
                         "time_format = \"%Y%m%d\" reads it"});
  write_mixed("x.tsv", 3, 3, "01/02/2019", "");
  expect_loss(manifest, {"time_format = \"%d/%m/%Y\" or \"%m/%d/%Y\" reads it"});
  write_mixed("x.tsv", 3, 3, "1551535509000", "");
  expect_loss(manifest, {"time_format = \"unix_ms\" reads it"});
  write_mixed("x.tsv", 3, 3, "Q3 of 2019", "");
  expect_loss(manifest, {"needs another time_format: \"date\" (2019, 2019-03,", "\"unix\"",
                         "\"number\"", "\"%d.%m.%Y %H:%M\""});
  write_mixed("x.tsv", 3, 3, "", "");
  expect_loss(manifest, {"missing_time = \"keep\""});
}

TEST_F(LossTest, AYearOfEightDigitsIsTakenOnlyAsANumber) {
  write_mixed("x.tsv", 2, 2, "20190102", "");
  EXPECT_EQ(nodes_of(import(nodes("x", "time = 'v'\ntime_format = 'number'")), "x"),
            (Texts{"n0@20190102", "n1@20190102"}));
  write_mixed("x.tsv", 2, 2, "1551535509000", "");  // milliseconds: hours of the year 51,136
  expect_loss("time_unit = 'hour'\n" + nodes("x", "time = 'v'"), {"time_format = \"unix_ms\""});
}

TEST_F(LossTest, TimesAreReadByAPattern) {
  folder_.write("x.tsv", "id\tv\na\t31.12.2019 23:30\nb\t1.1.2020 00:00\n");
  folder_.write("to.tsv", "s\tt\tw\na\tb\t2019/02/03\n");
  const HeteroGraph graph =
      import("time_unit = 'month'\n" + nodes("x", "time = 'v'\ntime_format = '%d.%m.%Y %H:%M'") +
             edges("x", "to", "x", "time = 'w'\ntime_format = '%Y/%m/%d'"));
  EXPECT_EQ(nodes_of(graph, "x"), (Texts{"a@24239", "b@24240"}));
  EXPECT_EQ(edges_of(graph, "x", "to", "x"), Texts{"a>b@24229"});
}

// --- null and missing ---

TEST_F(LossTest, CellsThatTheManifestCallsNullAreEmptyEverywhere) {
  folder_.write("x.tsv", "id\tn\tt\tf\tk\na\tAnn\t2000\t1\tred\nb\t\\N\t\\N\t\\N\t\\N\n");
  folder_.write("to.tsv", "s\tt\tw\na\tb\t\\N\na\t\\N\t2\n");
  const HeteroGraph graph =
      import(nodes("x",
                   "null = '\\N'\nname = 'n'\ntime = 't'\nmissing_time = 'keep'\nlabels = { k = "
                   "'k' }\nfeatures = { columns = ['f'], missing = -1 }") +
             edges("x", "to", "x",
                   "null = ['\\N', 'NA']\nempty_ids = 'ignore'\nweight = 'w'\nmissing_weight = "
                   "0.5"));
  EXPECT_EQ(nodes_of(graph, "x"), (Texts{"a|Ann@2000", "b|"}));
  EXPECT_EQ(labels_of(graph, "x", "k"), Texts{"a=red"});
  EXPECT_EQ(features_of(graph, "x", "b"), std::vector<float>{-1});
  EXPECT_EQ(edges_of(graph, "x", "to", "x"), Texts{"a>b*0.50"});
  EXPECT_EQ(report_.dropped(), 0U);
}

TEST_F(LossTest, MissingNumbersAreFilledOrFlagged) {
  folder_.write("x.tsv", "id\tf\tg\na\t1\t2\nb\t\t4\nc\t5\t\n");
  const HeteroGraph filled =
      import(nodes("x", "features = { columns = ['f', 'g'], missing = 0.5 }"));
  EXPECT_EQ(features_of(filled, "x", "b"), (std::vector<float>{0.5, 4}));
  folder_.import(nodes("x", "features = { columns = ['f', 'g'], missing = 'flag' }"), "flagged");
  const HeteroGraph flagged = folder_.graph("flagged");
  EXPECT_EQ(features_of(flagged, "x", "a"), (std::vector<float>{1, 2, 0, 0}));
  EXPECT_EQ(features_of(flagged, "x", "b"), (std::vector<float>{0, 4, 1, 0}));
  EXPECT_EQ(features_of(flagged, "x", "c"), (std::vector<float>{5, 0, 0, 1}));
  expect_loss(nodes("x", "features = { columns = ['f', 'g'], missing = 'drop' }"),
              {"would lose 2 of 3 rows"});
}

TEST_F(LossTest, AnEmptyListIsFilled) {
  folder_.write("x.tsv", "id\tf\na\t1 2\nb\t\n");
  const std::string features = "features = { list = 'f', width = 2";
  EXPECT_EQ(features_of(import(nodes("x", features + ", missing = 0 }")), "x", "b"),
            (std::vector<float>{0, 0}));
  expect_loss(nodes("x", features + " }"), {"missing = 0 with a 'width'"});
}

TEST_F(LossTest, PoliciesThatDoNotFitAreRefused) {
  folder_.write("x.tsv", "id\tf\n1\t2\n");
  const auto features = [](const std::string& text) { return nodes("x", "features = " + text); };
  expect_loss(features("{ columns = 'f', missing = 'mean' }"),
              {"'missing'", "must be a finite number or one of drop, flag"});
  expect_loss(features("{ columns = 'f', missing = inf }"), {"must be a finite number"});
  expect_loss(features("{ columns = 'f', missing = 1e300 }"), {"too large"});
  expect_loss(features("{ list = 'f', missing = 'flag', width = 1 }"), {"a number for 'list'"});
  expect_loss(features("{ list = 'f', missing = 0 }"), {"needs a 'width'"});
  expect_loss(features("{ sparse = 'f', width = 3, missing = 0 }"), {"is for 'columns'"});
  expect_loss(nodes("x") + edges("x", "x", "x", "missing_weight = 1"), {"needs 'weight'"});
  expect_loss(nodes("x", "time = 'f'\ntime_format = '%d.%m'"), {"manifest.toml:1", "has no year"});
  expect_loss(nodes("x", "time = 'f'\ntime_format = 'dd.mm.yyyy'"),
              {"'time_format' is 'dd.mm.yyyy'; choose \"date\""});
}

// --- ids of several columns ---

const std::string kStarts =
    "[[nodes]]\ntype = 'start'\nfiles = 'starts.tsv'\nid = ['driver', 'date']\n"
    "[[nodes]]\ntype = 'driver'\nfiles = 'starts.tsv'\nid = 'driver'\nduplicates = 'ignore'\n"
    "[[labels]]\ntype = 'start'\nfiles = 'starts.tsv'\nid = ['driver', 'date']\nlabel = 'won'\n"
    "column = 'won'\n"
    "[[edges]]\ntype = 'of'\nfiles = 'starts.tsv'\n"
    "source = { type = 'start', column = ['driver', 'date'] }\n"
    "target = { type = 'driver', column = 'driver' }\nby_order = { column = 'n' }\n";

TEST_F(LossTest, IdsOfSeveralColumnsAreJoinedInEveryTable) {
  folder_.write("starts.tsv",
                "driver\tdate\twon\tn\nham\t2008-03-16\t1\t1\nham\t2008-03-23\t0\t2\nros\t"
                "2008-03-16\t0\t1\n");
  const HeteroGraph graph = import(kStarts);
  EXPECT_EQ(nodes_of(graph, "start"),
            (Texts{"ham+2008-03-16", "ham+2008-03-23", "ros+2008-03-16"}));
  EXPECT_EQ(labels_of(graph, "start", "won"),
            (Texts{"ham+2008-03-16=1", "ham+2008-03-23=0", "ros+2008-03-16=0"}));
  EXPECT_EQ(edges_of(graph, "start", "of_last", "driver"), (Texts{"ham+2008-03-23>ham"}));
  // Exported as one column, they come back as they are.
  export_tables(graph, folder_ / "tables", [](const Progress&) {});
  import_tables(read_manifest(folder_ / "tables/manifest.toml"), folder_ / "again");
  EXPECT_EQ(nodes_of(folder_.graph("again"), "start"), nodes_of(graph, "start"));
  EXPECT_EQ(edges_of(folder_.graph("again"), "start", "of_first", "driver"),
            edges_of(graph, "start", "of_first", "driver"));
}

TEST_F(LossTest, IdsOfSeveralColumnsAreNeverConfused) {
  folder_.write("x.tsv", "a\tb\n1+2\t3\n1\t2+3\n1\\\t2+3\n1\\+2\t3\n1\\\\\t+\n1\\\t\\+\n");
  const HeteroGraph graph = import("[[nodes]]\ntype = 'x'\nfiles = 'x.tsv'\nid = ['a', 'b']\n");
  EXPECT_EQ(graph.num_nodes(NodeType{0}), 6U);
  EXPECT_EQ(nodes_of(graph, "x").at(0), "1\\+2+3");
}

TEST_F(LossTest, AnIdWithAnEmptyPartIsEmpty) {
  folder_.write("x.tsv", "a\tb\n1\t\n\t2\n");
  expect_loss("[[nodes]]\ntype = 'x'\nfiles = 'x.tsv'\nid = ['a', 'b']\n",
              {"2 rows without an id", "x.tsv:2: column b is empty"});
  folder_.write("x.tsv", "a\tb\n1\t2\n1\t2\n");
  expect_loss("[[nodes]]\ntype = 'x'\nfiles = 'x.tsv'\nid = ['a', 'b']\n",
              {"if column a + b alone does not tell the rows apart"});
  expect_loss("[[nodes]]\ntype = 'x'\nfiles = 'x.tsv'\nid = []\n", {"'id' in [[nodes]] is empty"});
  expect_loss("[[nodes]]\ntype = 'x'\nfiles = 'x.tsv'\nid = ['a', 'c']\n", {"no column 'c'"});
}

TEST_F(LossTest, TheShareMustBeOne) {
  for (const double share : {-0.1, 1.1, std::nan("")}) {
    folder_.max_dropped = share;
    expect_loss(nodes("paper"), {"max_dropped", "from 0 to 1"});
  }
}

}  // namespace
}  // namespace hgt
