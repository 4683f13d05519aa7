#include "hgt/tables/graph_export.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hgt/academic/academic_generator.h"
#include "hgt/tables/import_test_folder.h"

namespace hgt {
namespace {

using Json = nlohmann::ordered_json;

// schema.json without what tells how the graph was made.
Json comparable_schema(const Path& graph) {
  Json json = Json::parse(read_bytes(graph / "schema.json"));
  json.erase("origin");
  json.erase("checksum");
  for (Json& type : json["node_types"]) {
    if (type.contains("features")) type["features"].erase("origin");
  }
  return json;
}

class GraphExportTest : public testing::Test {
 protected:
  // Exports "graph" to "tables", imports them to "again" and compares.
  void expect_round_trip() const {
    export_tables(folder_.graph(), folder_ / "tables");
    const Imported imported = import_tables(read_manifest(folder_ / "tables/manifest.toml"),
                                            folder_ / "again", {.strict = true});
    EXPECT_EQ(imported.report.dropped(), 0U);
    verify(folder_.graph("again"));
    for (const std::string& file : differing_files(folder_ / "graph", folder_ / "again")) {
      EXPECT_TRUE(file == "schema.json" || file.starts_with("truth/")) << file;
    }
    const Json difference =
        Json::diff(comparable_schema(folder_ / "graph"), comparable_schema(folder_ / "again"));
    EXPECT_TRUE(difference.empty()) << "schema.json differs: " << difference.dump().substr(0, 500);
  }
  void import(const std::string& manifest) const { folder_.import(manifest); }

  ImportTestFolder folder_;
};

// Two types with plain ids, for the smaller tests.
const std::string kTwoTypes =
    "[[nodes]]\ntype = 'b'\nfiles = 'b.csv'\nid = 'id'\n"
    "[[nodes]]\ntype = 'c'\nfiles = 'c.csv'\nid = 'id'\n";

std::string edge_entry(const std::string& source, const std::string& type,
                       const std::string& target, const std::string& more = "") {
  return "[[edges]]\ntype = '" + type + "'\nfiles = '" + type + ".csv'\nsource = { type = '" +
         source + "', column = 's' }\ntarget = { type = '" + target + "', column = 't' }\n" + more;
}

class SmallExportTest : public GraphExportTest {
 protected:
  SmallExportTest() {
    folder_.write("b.csv", "id\nb1\nb2\n");
    folder_.write("c.csv", "id\nc1\nc2\n");
  }
};

// --- the graph with everything ---

void write_full_tables(const ImportTestFolder& folder) {
  folder.write("paper.csv",
               "id,title,year,areas,a,b\n"
               "p 1,\"tab\there, quote \"\" and\nnewline\",2001,ml;db,0.1,-2\n"
               "\"p\t2\",,,,3,4e-7\n"
               "\"p\"\"3\"\"\",\"\"\"\",1999,db,1e-3,65504\n"
               "007,\r plain ,2020,\"x\ty;ml\",0,-0\n");
  folder.write("author.csv", "id,n\n40,Ann\n41,\n42,\xc3\x89mile\n");
  folder.write("word.csv", "id,v\nw1,0.25 1\nw2,0.1 -3\n");
  folder.write("nothing.csv", "id\n");
  folder.write("train.csv", "id,c\np 1,2\np 1,10\n007,\n");
  folder.write("valid.csv", "id,c\n\"p\t2\",2\n");
  folder.write("test.csv", "id,c\n\"p\"\"3\"\"\",10\n");
  folder.write("names.csv", "v,n\n2,\"Two\twords\"\n10,Ten\n");
  folder.write("writes.csv",
               "s,t,pos,w,y\n40,p 1,1,0.1,2001\n41,p 1,2,-3.5,\n42,p 1,3,1e-30,1999\n"
               "40,007,1,7,2020\n40,007,1,7,2020\n");
  folder.write("knows.csv", "s,t,w\n40,41,1.5\n41,40,1.5\n42,42,2\n40,42,0.3333333\n");
  folder.write("cites.csv", "s,t\np 1,\"p\t2\"\n007,p 1\n\"p\"\"3\"\"\",p 1\n");
  folder.write("has.csv", "s,t\np 1,w1\n007,w2\n007,w1\n");
  folder.write("empty.csv", "s,t,y\n");
}

std::string label_entry(const std::string& split) {
  return "[[labels]]\ntype = 'paper'\nlabel = 'class'\nfiles = '" +
         (split.empty() ? "plain" : split.substr(0, 5)) +
         ".csv'\nid = 'id'\ncolumn = 'c'\nsplit = '" + split + "'\n";
}

std::string full_manifest() {
  return "name = \"all \\\"of\\\" it \\\\ \\n\"\ntime_unit = 'month'\n"
         "[[nodes]]\ntype = 'paper'\nfiles = 'paper.csv'\nid = 'id'\nname = 'title'\ntime = "
         "'year'\n"
         "missing_time = 'keep'\nlabels = { area = 'areas' }\nlabel_separator = ';'\n"
         "features = { columns = ['a', 'b'] }\n"
         "[[nodes]]\ntype = 'author'\nfiles = 'author.csv'\nid = 'id'\nname = 'n'\n"
         "[[nodes]]\ntype = 'word'\nfiles = 'word.csv'\nid = 'id'\n"
         "features = { list = 'v', precision = 'float16' }\n"
         "[[nodes]]\ntype = 'nothing'\nfiles = 'nothing.csv'\nid = 'id'\nmay_be_empty = true\n" +
         label_entry("train") + label_entry("validation") + label_entry("test") +
         "[[classes]]\ntype = 'paper'\nlabel = 'class'\nfiles = 'names.csv'\nvalue = 'v'\nname = "
         "'n'\n" +
         edge_entry(
             "author", "writes", "paper",
             "by_order = { column = 'pos' }\ntime = 'y'\nmissing_time = 'keep'\nweight = 'w'\n") +
         edge_entry("author", "knows", "author", "symmetric = true\nweight = 'w'\n") +
         edge_entry("paper", "cites", "paper", "reverse = 'cited-by'\nduplicates = 'drop'\n") +
         edge_entry("paper", "has", "word") +
         edge_entry("paper", "empty", "nothing", "may_be_empty = true\ntime = 'y'\n");
}

TEST_F(GraphExportTest, AGraphWithEverythingComesBackByteForByte) {
  write_full_tables(folder_);
  import(full_manifest());
  expect_round_trip();
}

// Guards the test above: were the graph poorer than it looks, a round trip would prove little.
TEST_F(GraphExportTest, TheGraphWithEverythingHasEverything) {
  write_full_tables(folder_);
  import(full_manifest());
  const HeteroGraph graph = folder_.graph();
  EXPECT_EQ(nodes_of(graph, "paper"), (Texts{"p 1|tab\there, quote \" and\nnewline@24012", "p\t2|",
                                             "p\"3\"|\"@23988", "007|\r plain @24240"}));
  EXPECT_EQ(nodes_of(graph, "author"), (Texts{"40|Ann", "41|", "42|\xc3\x89mile"}));
  const NodeTypeSpec& author = graph.schema().at(graph.schema().node_type("author"));
  EXPECT_EQ(author.first_id, 40);
  EXPECT_EQ(labels_of(graph, "paper", "area"), (Texts{"p 1=db+ml", "p\"3\"=db", "007=ml+x\ty"}));
  EXPECT_EQ(labels_of(graph, "paper", "class"),
            (Texts{"p 1=2+10/1", "p\t2=2/2", "p\"3\"=10/3", "007=/1"}));
  EXPECT_EQ(edges_of(graph, "author", "writes_other", "paper"), Texts{"41>p 1*-3.50"});
  EXPECT_EQ(edges_of(graph, "author", "knows", "author").size(), 7U);
  EXPECT_EQ(edges_of(graph, "paper", "cited-by", "paper").size(), 3U);
  EXPECT_EQ(edges_of(graph, "paper", "empty", "nothing"), Texts{});
  EXPECT_EQ(graph.features(graph.schema().node_type("word")).halves.size(), 4U);
}

TEST_F(GraphExportTest, FeaturesInBytesComeBackByteForByte) {
  write_full_tables(folder_);
  std::string manifest = full_manifest();
  const std::string half = "precision = 'float16'";
  manifest.replace(manifest.find(half), half.size(), "precision = 'int8'");
  import(manifest);
  EXPECT_FALSE(folder_.graph().features(folder_.graph().schema().node_type("word")).bytes.empty());
  expect_round_trip();
}

TEST_F(GraphExportTest, TheNameOfTheGraphComesBack) {
  write_full_tables(folder_);
  import(full_manifest());
  export_tables(folder_.graph(), folder_ / "tables");
  import_tables(read_manifest(folder_ / "tables/manifest.toml"), folder_ / "again");
  EXPECT_EQ(folder_.graph("again").schema().origin.at("name"), "all \"of\" it \\ \n");
}

TEST_F(GraphExportTest, TheTinyGraphComesBackByteForByte) {
  GenerateOptions options;
  options.preset = "tiny";
  generate_academic_graph(folder_ / "graph", options);
  expect_round_trip();
}

TEST_F(GraphExportTest, AGeneratedGraphWithShortcutsComesBackByteForByte) {
  GenerateOptions options;
  options.preset = "small";
  options.papers = 300;
  options.shortcuts = true;
  generate_academic_graph(folder_ / "graph", options);
  expect_round_trip();
}

// --- smaller graphs, one trouble each ---

// Relations that enter one type are numbered as they were declared, reverses included.
TEST_F(SmallExportTest, RelationsThatCrossKeepTheirOrder) {
  folder_.write("x.csv", "s,t\nb1,c1\n");
  folder_.write("y.csv", "s,t\nc2,b2\n");
  import(kTwoTypes + edge_entry("b", "x", "c") + edge_entry("c", "y", "b"));
  expect_round_trip();
}

TEST_F(SmallExportTest, OneEdgeTypeOverTwoPairsComesBack) {
  folder_.write("x.csv", "s,t\n1,1\n");
  folder_.write("b.csv", "id\n1\n");
  folder_.write("c.csv", "id\n1\n");
  import(kTwoTypes + edge_entry("b", "x", "b") + edge_entry("b", "x", "c"));
  expect_round_trip();
}

TEST_F(SmallExportTest, RepeatedEdgesComeBack) {
  folder_.write("x.csv", "s,t\nb1,c1\nb1,c1\nb1,c1\n");
  folder_.write("y.csv", "s,t\nb1,b2\nb2,b1\nb1,b1\nb1,b1\n");
  import(kTwoTypes + edge_entry("b", "y", "b", "symmetric = true\n") + edge_entry("b", "x", "c"));
  expect_round_trip();
}

TEST_F(SmallExportTest, ALabelNamedLikeASplitOfAnotherComesBack) {
  folder_.write("l.csv", "id,c\nb1,x\n");
  const std::string entry = "[[labels]]\ntype = 'b'\nfiles = 'l.csv'\nid = 'id'\ncolumn = 'c'\n";
  import(kTwoTypes + entry + "label = 'kind'\nsplit = 'train'\n" + entry +
         "label = 'kind_train'\n");
  expect_round_trip();
}

TEST_F(SmallExportTest, TypesWhoseNamesRunTogetherComeBack) {
  folder_.write("x.csv", "s,t\nb1,c1\n");
  import(
      "[[nodes]]\ntype = 'b'\nfiles = 'b.csv'\nid = 'id'\n"
      "[[nodes]]\ntype = 'b_x'\nfiles = 'b.csv'\nid = 'id'\n"
      "[[nodes]]\ntype = 'c'\nfiles = 'c.csv'\nid = 'id'\n"
      "[[edges]]\ntype = 'x_y'\nfiles = 'x.csv'\nsource = { type = 'b', column = 's' }\n"
      "target = { type = 'c', column = 't' }\n"
      "[[edges]]\ntype = 'y'\nfiles = 'x.csv'\nsource = { type = 'b_x', column = 's' }\n"
      "target = { type = 'c', column = 't' }\n");
  expect_round_trip();
}

TEST_F(SmallExportTest, AControlCharacterInTheNameOfTheGraphComesBack) {
  import("name = \"a\\u007fb\\u0001\"\n" + kTwoTypes);
  expect_round_trip();
}

TEST_F(SmallExportTest, ALabelThatNoNodeHasComesBack) {
  folder_.write("l.csv", "id,c\nb1,\n");
  import(kTwoTypes +
         "[[labels]]\ntype = 'b'\nfiles = 'l.csv'\nid = 'id'\ncolumn = 'c'\nlabel = 'kind'\n");
  expect_round_trip();
}

TEST_F(SmallExportTest, ReversesAreNotWritten) {
  folder_.write("x.csv", "s,t\nb1,c1\n");
  import(kTwoTypes + edge_entry("b", "x", "c"));
  export_tables(folder_.graph(), folder_ / "tables");
  Texts files;
  for (const auto& [name, bytes] : folder_bytes(folder_ / "tables")) files.push_back(name);
  EXPECT_EQ(files, (Texts{"edges_b+x+c.tsv", "manifest.toml", "nodes_b.tsv", "nodes_c.tsv"}));
}

TEST_F(SmallExportTest, AFolderThatExistsIsAnErrorAndStaysAsItIs) {
  import(kTwoTypes);
  folder_.write("tables/mine.txt", "precious");
  expect_contains(error_of([&] { export_tables(folder_.graph(), folder_ / "tables"); }),
                  "already exists");
  EXPECT_EQ(folder_bytes(folder_ / "tables").size(), 1U);
}

TEST_F(SmallExportTest, AnExceptionOfTheProgressSinkLeavesNothingBehind) {
  import(kTwoTypes);
  const ProgressSink stop = [](const Progress&) { throw Interrupted(); };
  EXPECT_THROW(export_tables(folder_.graph(), folder_ / "tables", stop), Interrupted);
  folder_.expect_nothing_left("tables");
}

}  // namespace
}  // namespace hgt
