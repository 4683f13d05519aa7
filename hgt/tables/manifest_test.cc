#include "hgt/tables/manifest.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hgt/tables/import_test_folder.h"

namespace hgt {
namespace {

using By = EdgeSplit::By;
using Form = FeatureColumns::Form;

const std::string kPaper = "[[nodes]]\ntype = 'paper'\nfiles = 'p.tsv'\nid = 'id'\n";
const std::string kCites =
    "[[edges]]\ntype = 'cites'\nfiles = 'c.tsv'\nsource = { type = 'paper', column = 'a' }\n"
    "target = { type = 'paper', column = 'b' }\n";

class ManifestTest : public testing::Test {
 protected:
  Manifest read(const std::string& text) const {
    return read_manifest(folder_.write("m.toml", text));
  }
  // The Error, which must begin with file and line.
  std::string read_error(const std::string& text, int line) const {
    const std::string error = error_of([&] { read(text); });
    const std::string place = (folder_ / "m.toml").string() + ":" + std::to_string(line) + ": ";
    EXPECT_EQ(error.substr(0, place.size()), place) << error;
    return error;
  }

  ImportTestFolder folder_;
};

// --- every key reaches the struct ---

TEST_F(ManifestTest, KeysOfTheWholeAreRead) {
  const Manifest manifest = read("name = 'cs'\ntime_unit = 'month'\n" + kPaper);
  EXPECT_EQ(manifest.name, "cs");
  EXPECT_EQ(manifest.time_unit, TimeUnit::month);
  EXPECT_EQ(manifest.file, folder_ / "m.toml");
}

TEST_F(ManifestTest, NameAndUnitHaveDefaults) {
  const Manifest manifest = read(kPaper);
  EXPECT_EQ(manifest.name, "m");
  EXPECT_EQ(manifest.time_unit, TimeUnit::year);
}

TEST_F(ManifestTest, KeysOfTheSourceOfATableAreRead) {
  const Manifest manifest = read(
      "\n[[nodes]]\ntype = 'paper'\nid = 'id'\nfiles = ['a*.csv', 'b.csv.gz']\ndelimiter = ';'\n"
      "quote = \"'\"\ncolumns = ['id', 'kind']\nskip_lines = 3\nmay_be_empty = true\n"
      "where = { kind = ['x', 'y'], lang = 'en' }\n");
  const TableSource& source = manifest.nodes.at(0).source;
  EXPECT_EQ(source.files, (Texts{"a*.csv", "b.csv.gz"}));
  EXPECT_EQ(source.options.columns, (Texts{"id", "kind"}));
  EXPECT_EQ(source.options.values, (decltype(source.options.values){
                                       {"delimiter", ";"}, {"quote", "'"}, {"skip_lines", "3"}}));
  EXPECT_TRUE(source.may_be_empty);
  EXPECT_EQ(source.where, (std::map<std::string, Texts>{{"kind", {"x", "y"}}, {"lang", {"en"}}}));
  EXPECT_EQ(source.line, 2U);
}

TEST_F(ManifestTest, TheSourceOfATableHasDefaults) {
  const Manifest manifest = read(kPaper);
  const TableSource& source = manifest.nodes.at(0).source;
  EXPECT_EQ(source.files, Texts{"p.tsv"});
  EXPECT_EQ(source.format, "");
  EXPECT_TRUE(source.options.columns.empty());
  EXPECT_TRUE(source.options.values.empty());
  EXPECT_TRUE(source.where.empty());
  EXPECT_FALSE(source.may_be_empty);
}

TEST_F(ManifestTest, KeysOfNodesAreRead) {
  const Manifest manifest =
      read(kPaper +
           "name = 'title'\ntime = 'year'\ntime_format = 'number'\nmissing_time = 'keep'\n"
           "duplicates = 'ignore'\nlabels = { kind = 'k', area = 'a' }\nlabel_separator = ';'\n"
           "features = { list = 'v', separator = ',', width = 7, precision = 'float16' }\n");
  const NodeTable& nodes = manifest.nodes.at(0);
  EXPECT_EQ(nodes.type, "paper");
  EXPECT_EQ(nodes.id, Texts{"id"});
  EXPECT_EQ(nodes.name, "title");
  ASSERT_TRUE(nodes.time.has_value());
  EXPECT_EQ(nodes.time->column, "year");
  EXPECT_EQ(nodes.time->format, TimeFormat::number);
  EXPECT_TRUE(nodes.time->keep_missing);
  EXPECT_TRUE(nodes.ignore_duplicates);
  ASSERT_EQ(nodes.labels.size(), 2U);
  EXPECT_EQ(nodes.labels[0].name, "area");
  EXPECT_EQ(nodes.labels[0].column, "a");
  EXPECT_EQ(nodes.labels[1].column, "k");
  EXPECT_EQ(nodes.labels[1].separator, ";");
  ASSERT_TRUE(nodes.features.has_value());
  EXPECT_EQ(nodes.features->form, Form::list);
  EXPECT_EQ(nodes.features->columns, Texts{"v"});
  EXPECT_EQ(nodes.features->separator, ",");
  EXPECT_EQ(nodes.features->width, 7U);
  EXPECT_EQ(nodes.features->type, FeatureType::float16);
}

TEST_F(ManifestTest, NodesHaveDefaults) {
  const NodeTable nodes = read(kPaper).nodes.at(0);
  EXPECT_FALSE(nodes.name.has_value());
  EXPECT_FALSE(nodes.time.has_value());
  EXPECT_FALSE(nodes.ignore_duplicates);
  EXPECT_TRUE(nodes.labels.empty());
  EXPECT_FALSE(nodes.features.has_value());
}

TEST_F(ManifestTest, EveryFormOfFeaturesIsRead) {
  const auto features = [&](const std::string& text) {
    return read(kPaper + "features = { " + text + " }\n").nodes.at(0).features.value();
  };
  const FeatureColumns columns = features("columns = ['x', 'y', 'z']");
  EXPECT_EQ(columns.form, Form::columns);
  EXPECT_EQ(columns.columns, (Texts{"x", "y", "z"}));
  EXPECT_EQ(columns.width, 3U);
  EXPECT_EQ(columns.type, FeatureType::float32);
  EXPECT_EQ(features("list = 'v'").form, Form::list);
  EXPECT_EQ(features("list = 'v'").separator, " ");
  EXPECT_EQ(features("list = 'v'").width, 0U);
  EXPECT_EQ(features("sparse = 'v', width = 5").form, Form::sparse);
  EXPECT_EQ(features("sparse = 'v', width = 5").width, 5U);
  EXPECT_EQ(features("hashed_words = 't', width = 64").form, Form::hashed_words);
  EXPECT_EQ(features("npy = 'x.npy'").form, Form::npy);
  EXPECT_EQ(features("npy = 'x.npy'").columns, Texts{"x.npy"});
}

TEST_F(ManifestTest, KeysOfEdgesAreRead) {
  const Manifest manifest =
      read(kPaper + kCites + "reverse = 'cited_by'\nduplicates = 'drop'\ntime = 'when'\n" +
           "time_format = 'unix'\nmissing_time = 'keep'\nweight = 'w'\nskip_lines = 2\n");
  const EdgeTable& edges = manifest.edges.at(0);
  EXPECT_EQ(edges.type, "cites");
  EXPECT_EQ(edges.source.type, "paper");
  EXPECT_EQ(edges.source.columns, Texts{"a"});
  EXPECT_EQ(edges.target.type, "paper");
  EXPECT_EQ(edges.target.columns, Texts{"b"});
  EXPECT_EQ(edges.reverse, "cited_by");
  EXPECT_TRUE(edges.unique);
  ASSERT_TRUE(edges.time.has_value());
  EXPECT_EQ(edges.time->column, "when");
  EXPECT_EQ(edges.time->format, TimeFormat::unix_seconds);
  EXPECT_TRUE(edges.time->keep_missing);
  EXPECT_EQ(edges.weight, "w");
  EXPECT_EQ(edges.split.by, By::nothing);
  EXPECT_EQ(edges.source_table.options.values.at("skip_lines"), "2");
  EXPECT_EQ(edges.source_table.line, 5U);
  EXPECT_EQ(edges.edge_types(), Texts{"cites"});
}

TEST_F(ManifestTest, EdgesHaveDefaults) {
  const EdgeTable edges = read(kPaper + kCites).edges.at(0);
  EXPECT_EQ(edges.reverse, "");
  EXPECT_FALSE(edges.symmetric);
  EXPECT_FALSE(edges.unique);
  EXPECT_FALSE(edges.time.has_value());
  EXPECT_FALSE(edges.weight.has_value());
  EXPECT_TRUE(read(kPaper + kCites + "symmetric = true\n").edges.at(0).symmetric);
}

TEST_F(ManifestTest, ByOrderMakesThreeEdgeTypes) {
  EdgeTable edges = read(kPaper + kCites + "by_order = { column = 'pos' }\n").edges.at(0);
  EXPECT_EQ(edges.split.by, By::order);
  EXPECT_EQ(edges.split.column, "pos");
  EXPECT_TRUE(edges.split.within_target);
  EXPECT_EQ(edges.edge_types(), (Texts{"cites_first", "cites_last", "cites_other"}));
  edges = read(kPaper + kCites + "by_order = { column = 'pos', within = 'source' }\n").edges.at(0);
  EXPECT_FALSE(edges.split.within_target);
}

TEST_F(ManifestTest, ByColumnTakesValuesAndOther) {
  const EdgeTable edges =
      read(kPaper + kCites +
           "by_column = { column = 'k', values = { x = 'cx', y = 'cx', '1.0' = 'c1' }, other = "
           "'co' }\n")
          .edges.at(0);
  EXPECT_EQ(edges.split.by, By::column);
  EXPECT_EQ(edges.split.column, "k");
  EXPECT_EQ(edges.split.values,
            (std::map<std::string, std::string>{{"x", "cx"}, {"y", "cx"}, {"1.0", "c1"}}));
  EXPECT_EQ(edges.split.other, "co");
  EXPECT_EQ(edges.edge_types(), (Texts{"c1", "co", "cx"}));
}

TEST_F(ManifestTest, ByLabelLooksAtTheTargetUnlessToldOtherwise) {
  const std::string values = "label = 'kind', values = { j = 'cj' } }\n";
  EdgeTable edges = read(kPaper + kCites + "by_label = { " + values).edges.at(0);
  EXPECT_EQ(edges.split.by, By::target_label);
  EXPECT_EQ(edges.split.column, "kind");
  EXPECT_FALSE(edges.split.other.has_value());
  edges = read(kPaper + kCites + "by_label = { end = 'source', " + values).edges.at(0);
  EXPECT_EQ(edges.split.by, By::source_label);
}

TEST_F(ManifestTest, KeysOfFeaturesLabelsAndClassesAreRead) {
  const Manifest manifest = read(
      kPaper +
      "[[features]]\ntype = 'paper'\nfiles = 'f.tsv'\nid = 'pid'\nvalues = { sparse = 's', width = "
      "9 }\n"
      "[[labels]]\ntype = 'paper'\nfiles = 'l.tsv'\nid = 'lid'\nlabel = 'area'\ncolumn = 'c'\n"
      "separator = '|'\nsplit = 'validation'\n"
      "[[classes]]\ntype = 'paper'\nfiles = 'n.tsv'\nlabel = 'area'\nvalue = 'v'\nname = 'n'\n");
  const FeatureTable& features = manifest.features.at(0);
  EXPECT_EQ(features.type + features.id.at(0) + features.source.files.at(0), "paperpidf.tsv");
  EXPECT_EQ(features.features.form, Form::sparse);
  EXPECT_EQ(features.features.width, 9U);
  EXPECT_EQ(features.source.line, 5U);
  const LabelTable& labels = manifest.labels.at(0);
  EXPECT_EQ(labels.type + labels.id.at(0) + labels.source.files.at(0), "paperlidl.tsv");
  EXPECT_EQ(labels.label.name, "area");
  EXPECT_EQ(labels.label.column, "c");
  EXPECT_EQ(labels.label.separator, "|");
  EXPECT_EQ(labels.split, "validation");
  const ClassTable& classes = manifest.classes.at(0);
  EXPECT_EQ(classes.type + classes.label + classes.source.files.at(0), "paperarean.tsv");
  EXPECT_EQ(classes.value, "v");
  EXPECT_EQ(classes.name, "n");
}

TEST_F(ManifestTest, TablesKeepTheirOrder) {
  const Manifest manifest =
      read(kPaper + "[[nodes]]\ntype = 'a'\nfiles = 'a'\nid = 'i'\n" + kPaper);
  ASSERT_EQ(manifest.nodes.size(), 3U);
  EXPECT_EQ(manifest.nodes[1].type, "a");
  EXPECT_EQ(manifest.nodes[2].type, "paper");
}

TEST_F(ManifestTest, DatesAreTheDefaultForCoarseUnitsAndUnixTimesForFineOnes) {
  const std::vector<std::pair<std::string, TimeFormat>> cases = {
      {"year", TimeFormat::date},
      {"month", TimeFormat::date},
      {"day", TimeFormat::date},
      {"hour", TimeFormat::unix_seconds},
      {"minute", TimeFormat::unix_seconds},
      {"second", TimeFormat::unix_seconds}};
  for (const auto& [unit, format] : cases) {
    const Manifest manifest =
        read("time_unit = '" + unit + "'\n" + kPaper + "time = 't'\n" + kCites + "time = 't'\n");
    EXPECT_EQ(manifest.nodes.at(0).time->format, format) << unit;
    EXPECT_EQ(manifest.edges.at(0).time->format, format) << unit;
  }
  const Manifest given =
      read("time_unit = 'second'\n" + kPaper + "time = 't'\ntime_format = 'date'\n");
  EXPECT_EQ(given.nodes.at(0).time->format, TimeFormat::date);
}

// --- what is wrong ---

TEST_F(ManifestTest, AMisspelledKeyIsNamedWithItsLineAndTheKnownOnes) {
  std::string text = read_error(kPaper + "titel = 'x'\n", 5);
  expect_contains(text, "unknown key 'titel' in [[nodes]]");
  for (const char* known : {"files", "id", "name", "time", "time_format", "missing_time", "labels",
                            "label_separator", "features", "duplicates", "where", "columns"}) {
    expect_contains(text, known);
  }
  text = read_error(kPaper + kCites + "\nsymetric = true\n", 11);
  expect_contains(text, "'symetric' in [[edges]]");
  for (const char* known :
       {"symmetric", "reverse", "by_order", "by_column", "by_label", "weight"}) {
    expect_contains(text, known);
  }
  expect_contains(read_error("time_unit = 'day'\ntimeunit = 'day'\n" + kPaper, 2), "time_unit");
}

TEST_F(ManifestTest, AMisspelledKeyInsideAnInnerTableIsNamed) {
  expect_contains(read_error(kPaper + "features = { lst = 'x' }\n", 5), "'lst' in 'features'");
  expect_contains(read_error(kPaper + kCites + "by_order = { column = 'p', withn = 'x' }\n", 10),
                  "withn");
  expect_contains(read_error(kPaper + kCites +
                                 "by_column = { column = 'p', values = { a = 'b' }, "
                                 "others = 'x' }\n",
                             10),
                  "others");
  expect_contains(read_error(kPaper + "[[edges]]\ntype = 'x'\nfiles = 'x'\n"
                                      "source = { type = 'paper', colum = 'x', column = 'x' }\n"
                                      "target = { type = 'paper', column = 'x' }\n",
                             8),
                  "colum");
}

TEST_F(ManifestTest, AMissingKeyIsNamedWithTheLineOfItsEntry) {
  const std::string edge = "[[edges]]\ntype = 'x'\nfiles = 'x'\n";
  const std::string feature = "[[features]]\ntype = 'paper'\nid = 'x'\nfiles = 'x'\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"[[nodes]]\nfiles = 'x'\nid = 'x'\n", "'type'"},
      {"[[nodes]]\ntype = 'x'\nid = 'x'\n", "'files'"},
      {"[[nodes]]\ntype = 'x'\nid = 'x'\nfiles = []\n", "'files'"},
      {"[[nodes]]\ntype = 'x'\nfiles = 'x'\n", "'id'"},
      {"[[nodes]]\ntype = 'x'\nfiles = 'x'\nid = ''\n", "'id'"},
      {edge + "target = { type = 'paper', column = 'b' }\n", "'source'"},
      {edge + "source = { type = 'paper', column = 'b' }\n", "'target'"},
      {feature, "'values'"},
      {"[[labels]]\ntype = 'paper'\nid = 'x'\nfiles = 'x'\ncolumn = 'c'\n", "'label'"},
      {"[[labels]]\ntype = 'paper'\nid = 'x'\nfiles = 'x'\nlabel = 'c'\n", "'column'"},
      {"[[classes]]\ntype = 'p'\nfiles = 'x'\nlabel = 'c'\nvalue = 'v'\n", "'name'"},
      {"[[classes]]\ntype = 'p'\nfiles = 'x'\nlabel = 'c'\nname = 'v'\n", "'value'"}};
  for (const auto& [entry, key] : cases) expect_contains(read_error(kPaper + entry, 5), key);
  expect_contains(read_error(kPaper + edge + "source = { type = 'paper' }\n", 8), "'column'");
}

TEST_F(ManifestTest, AValueOfTheWrongKindIsAnError) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"name = 3\n", "'name' in [[nodes]] must be text"},
      {"skip_lines = '3'\n", "'skip_lines' in [[nodes]] must be a whole number"},
      {"skip_lines = -1\n", "'skip_lines' in [[nodes]] is -1; it must be from 0 to 1000000000"},
      {"may_be_empty = 'yes'\n", "must be true or false"},
      {"columns = [1, 2]\n", "must be text or a list of texts"},
      {"where = 'x'\n", "must be a table"},
      {"where = { year = 2019.5 }\n", "must be text or a list of texts"},
      {"labels = { a = ['b', 'c'] }\n", "needs one column"},
      {"features = 'x'\n", "must be a table"},
      {"delimiter = ', '\n", "one character"},
      {"delimiter = ''\n", "one character"},
      {"quote = '\"\"'\n", "one character"},
      {"format = 'xml'\n", "choose one of tsv, csv, jsonl"},
      {"duplicates = 'drop'\n", "choose one of report, ignore"},
      {"time = 't'\ntime_format = 'iso'\n", "choose \"date\" (2019,"},
      {"missing_time = 'zero'\n", "choose one of drop, keep"}};
  for (const auto& [line, what] : cases) expect_contains(read_error(kPaper + line, 1), what);
  expect_contains(read_error("time_unit = 'week'\n" + kPaper, 1), "second");
  expect_contains(error_of([&] { read("nodes = 'p.tsv'\n"); }), "[[nodes]]");
  expect_contains(error_of([&] { read("[nodes]\ntype = 'p'\n"); }), "[[nodes]]");
  expect_contains(read_error(kPaper + "[[labels]]\ntype = 'p'\nfiles = 'f'\nid = 'i'\nlabel = 'l'\n"
                                      "column = 'c'\nsplit = 'dev'\n",
                             5),
                  "train, validation, test");
}

TEST_F(ManifestTest, FeaturesOfNoneOrOfTwoFormsAreAnError) {
  for (const char* inside :
       {"", "width = 3", "list = 'a', sparse = 'b', width = 3", "columns = []"}) {
    expect_contains(read_error(kPaper + "features = { " + inside + " }\n", 5), "exactly one of");
  }
  expect_contains(read_error(kPaper + "features = { list = ['a', 'b'] }\n", 5),
                  "only 'columns' takes several");
  expect_contains(read_error(kPaper + "features = { sparse = 'a' }\n", 5), "'width'");
  expect_contains(read_error(kPaper + "features = { hashed_words = 'a' }\n", 5), "'width'");
  expect_contains(read_error(kPaper + "features = { list = 'a', separator = '' }\n", 5),
                  "'separator'");
  expect_contains(read_error(kPaper + "features = { list = 'a', precision = 'float64' }\n", 5),
                  "float16");
}

// Its rows are found by id; a matrix has none. Without the Error, the name of the file is taken for
// the name of a column, and its words are hashed into a row of width 0.
TEST_F(ManifestTest, AMatrixInATableOfFeaturesByIdIsRefused) {
  read_error(
      kPaper + "[[features]]\ntype = 'paper'\nfiles = 'f'\nid = 'i'\nvalues = { npy = 'x.npy' }\n",
      9);
}

TEST_F(ManifestTest, OnlyOneOfOrderColumnAndLabelMayShareOutEdges) {
  const std::string order = "by_order = { column = 'p' }\n";
  const std::string column = "by_column = { column = 'k', values = { a = 'b' } }\n";
  const std::string label = "by_label = { label = 'k', values = { a = 'b' } }\n";
  for (const std::string& two : {order + column, column + label, order + label}) {
    expect_contains(read_error(kPaper + kCites + two, 5), "only one of");
  }
}

TEST_F(ManifestTest, ASplitWithoutValuesOrOtherIsAnError) {
  expect_contains(read_error(kPaper + kCites + "by_column = { column = 'k' }\n", 10), "'values'");
  expect_contains(read_error(kPaper + kCites + "by_label = { label = 'k' }\n", 10), "'values'");
  expect_contains(
      read_error(kPaper + kCites + "by_label = { label = 'k', values = { a = ['b', 'c'] } }\n", 10),
      "needs one edge type");
  expect_contains(read_error(kPaper + kCites + "by_order = {}\n", 10), "'column'");
}

TEST_F(ManifestTest, AReverseWithASplitOrASymmetricTypeIsRefused) {
  for (const char* split :
       {"by_order = { column = 'p' }\n", "by_column = { column = 'k', values = { a = 'b' } }\n",
        "by_label = { label = 'k', other = 'b' }\n"}) {
    expect_contains(read_error(kPaper + kCites + "reverse = 'r'\n" + split, 5), "'reverse'");
  }
  expect_contains(read_error(kPaper + kCites + "reverse = 'r'\nsymmetric = true\n", 5),
                  "'reverse'");
}

TEST_F(ManifestTest, InvalidTomlIsAnErrorWithItsLine) {
  expect_contains(read_error(kPaper + "name = \n", 5), "is not valid TOML");
  expect_contains(read_error("name = 'a'\nname = 'b'\n" + kPaper, 2), "is not valid TOML");
}

TEST_F(ManifestTest, AnEmptyOrMissingManifestIsAnError) {
  expect_contains(error_of([&] { read(""); }), "there is no [[nodes]] table");
  expect_contains(error_of([&] { read(kCites); }), "there is no [[nodes]] table");
  expect_contains(error_of([&] { read_manifest(folder_ / "gone.toml"); }), "gone.toml");
  expect_contains(error_of([&] { read_manifest(folder_.path()); }), "no such manifest");
}

TEST_F(ManifestTest, KeysThatWouldDoNothingAreErrors) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"time_format = 'unix'\n", "need 'time'"},
      {"missing_time = 'keep'\n", "need 'time'"},
      {"label_separator = ';'\n", "needs 'labels'"},
      {"features = { columns = ['a'], width = 1 }\n", "do not take a 'width'"},
      {"features = { npy = 'f.npy', width = 4 }\n", "do not take a 'width'"}};
  for (const auto& [line, what] : cases) {
    expect_contains(error_of([&, &line = line] { read(kPaper + line); }), what);
  }
}

TEST_F(ManifestTest, NodesGivenByCountTakeNoTable) {
  EXPECT_EQ(read("[[nodes]]\ntype = 'p'\ncount = 7\n").nodes.at(0).count, 7U);
  expect_contains(error_of([&] { read("[[nodes]]\ntype = 'p'\ncount = 0\n"); }), "from 1 to");
  expect_contains(error_of([&] { read(kPaper + "count = 7\n"); }), "unknown key");
}

// --- bounds ---

TEST_F(ManifestTest, NumbersBeyondTheirRangesAreRefusedWithThem) {
  for (const std::string width : {"4000000000", "-1", "1048577"}) {
    expect_contains(read_error(kPaper + "features = { sparse = 'f', width = " + width + " }\n", 5),
                    "is " + width + "; it must be from 0 to 1048576");
  }
  expect_contains(read_error(kPaper + "skip_lines = 5000000000\n", 1),
                  "it must be from 0 to 1000000000");
  for (const std::string count : {"0", "-1", "9000000000000000000"}) {
    expect_contains(read_error("[[nodes]]\ntype = 'x'\ncount = " + count + "\n", 1), "from ");
  }
}

TEST_F(ManifestTest, NestedBeyondAllBoundsIsRefusedWithItsLine) {
  std::string key = "a";
  for (int i = 0; i < 100'000; ++i) key += ".a";
  expect_contains(read_error("name = 'x'\n[" + key + "]\n", 2), "a key has more than 32 parts");
  expect_contains(read_error("[[nodes]]\nwhere = { " + key + " = 1 }\n", 2), "a key has more");
  expect_contains(read_error("[[nodes]]\nfiles = " + std::string(100'000, '[') + "\n", 2),
                  "nested deeper than 32 levels");
}

}  // namespace
}  // namespace hgt
