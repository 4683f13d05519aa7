// Imports the real data sets with the manifests of the repository and checks the counts against the
// sets' own stats.json. Skipped, with a message, where the data is not there.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "hgt/disk/temporary_test_folder.h"
#include "hgt/graph/graph_check.h"
#include "hgt/graph/hetero_graph.h"
#include "hgt/tables/table_import.h"

namespace hgt {
namespace {

struct DataSet {
  std::string name;
  // Rows that the set's own tables have wrong and the import must drop: title -> number.
  std::map<std::string, uint64_t> dropped = {};
};

std::ostream& operator<<(std::ostream& out, const DataSet& set) { return out << set.name; }

class RealData : public testing::TestWithParam<DataSet> {
 protected:
  void SetUp() override {
    tables_ = Path(HGT_SHARED_DIR) / "data" / GetParam().name;
    if (!std::filesystem::exists(tables_)) GTEST_SKIP() << "no data set at " << tables_;
    manifest_ =
        read_manifest(Path(HGT_SOURCE_DIR) / "data/manifests" / (GetParam().name + ".toml"));
    imported_ = import_tables(manifest_, folder_ / "graph", {.tables = tables_});
    rows_ = nlohmann::json::parse(std::ifstream(tables_ / "stats.json")).at("rows");
  }

  // The name under which stats.json counts the table: "nodes_paper.tsv*" -> nodes_paper.
  uint64_t stated_rows(const TableSource& source) const {
    const std::string& file = source.files.at(0);
    return rows_.at(file.substr(0, file.find('.')));
  }
  uint64_t dropped(const std::string& title) const {
    const auto found = GetParam().dropped.find(title);
    return found == GetParam().dropped.end() ? 0 : found->second;
  }

  Path tables_;
  TestFolder folder_;
  Manifest manifest_;
  Imported imported_;
  nlohmann::json rows_;
};

class RealPapers : public RealData {};  // sets with a year for each paper

TEST_P(RealData, CountsAgreeWithTheStatsOfTheSet) {
  std::map<std::string, uint64_t> nodes;
  std::map<std::string, uint64_t> edges;
  for (const NodeTable& table : manifest_.nodes) nodes[table.type] += stated_rows(table.source);
  for (const EdgeTable& table : manifest_.edges) {
    const uint64_t rows = stated_rows(table.source_table) - dropped("edges " + table.type);
    edges[table.source.type + "-" + table.target.type + "-" + table.edge_types()[0]] += rows;
  }
  for (const NodeTypeSpec& spec : imported_.schema.node_types()) {
    EXPECT_EQ(spec.nodes, nodes.at(spec.name)) << spec.name;
  }
  for (const EdgeTable& table : manifest_.edges) {
    uint64_t stored = 0;
    uint64_t reversed = 0;
    for (const std::string& type : table.edge_types()) {
      const Relation relation =
          imported_.schema.relation(table.source.type, type, table.target.type);
      stored += imported_.schema.at(relation).edges;
      reversed += imported_.schema.at(imported_.schema.reverse(relation)).edges;
    }
    const uint64_t stated =
        edges.at(table.source.type + "-" + table.target.type + "-" + table.edge_types()[0]);
    EXPECT_EQ(reversed, stored) << table.type;
    if (table.source_table.where.empty()) {
      EXPECT_EQ(stored, stated) << table.type;
    } else {  // a part of the rows
      EXPECT_GT(stored, 0U) << table.type;
      EXPECT_LT(stored, stated) << table.type;
    }
  }
}

TEST_P(RealData, NothingIsDroppedButWhatIsKnownToBeWrong) {
  for (const TableReport& table : imported_.report.tables) {
    EXPECT_EQ(table.dropped(), dropped(table.title)) << table.title;
    EXPECT_EQ(table.rows, table.kept + table.dropped() + table.filtered + table.ignored);
  }
}

TEST_P(RealData, TheGraphPassesTheFullCheck) {
  EXPECT_NO_THROW(verify(HeteroGraph::open(folder_ / "graph")));
}

TEST_P(RealPapers, PapersPerYearAgreeWithTheStatsOfTheSet) {
  const auto stats = nlohmann::json::parse(std::ifstream(tables_ / "stats.json"));
  const auto graph = HeteroGraph::open(folder_ / "graph");
  std::map<std::string, uint64_t> found;
  for (const Time time : graph.times(graph.schema().node_type("paper"))) {
    ++found[std::to_string(time)];
  }
  EXPECT_EQ(found, (stats.at("papers_per_year").get<std::map<std::string, uint64_t>>()));
}

std::string test_name(const testing::TestParamInfo<DataSet>& set) {
  std::string name = set.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

const auto kAcademicSets = testing::Values(DataSet{"acl-anthology"}, DataSet{"ai-venues"},
                                           DataSet{"arxiv-cs"}, DataSet{"ieee-vis"});

INSTANTIATE_TEST_SUITE_P(Academic, RealPapers, kAcademicSets, test_name);
INSTANTIATE_TEST_SUITE_P(Academic, RealData, kAcademicSets, test_name);
// One rating of movielens-small has a web address in the middle of its time.
INSTANTIATE_TEST_SUITE_P(Others, RealData,
                         testing::Values(DataSet{"hgb-acm"}, DataSet{"hgb-dblp"},
                                         DataSet{"hgb-imdb"},
                                         DataSet{"movielens-small", {{"edges rates", 1}}}),
                         test_name);

TEST(RealHgb, LabelsAndSplitsAreThoseOfTheBenchmark) {
  const Path tables = Path(HGT_SHARED_DIR) / "data/hgb-imdb";
  if (!std::filesystem::exists(tables)) GTEST_SKIP() << "no data set at " << tables;
  const TestFolder folder;
  import_tables(read_manifest(Path(HGT_SOURCE_DIR) / "data/manifests/hgb-imdb.toml"),
                folder / "graph", {.tables = tables});
  const auto graph = HeteroGraph::open(folder / "graph");
  const NodeType movie = graph.schema().node_type("movie");
  const uint32_t label = graph.find_label(movie, "class").value();
  std::map<Split, uint64_t> splits;
  for (NodeId node = 0; node < graph.num_nodes(movie); ++node) {
    ++splits[graph.split(movie, label, node)];
  }
  EXPECT_EQ(splits[Split::train], 1371U);
  EXPECT_EQ(splits[Split::test], 3202U);
  const auto& spec = graph.schema().at(movie).labels[label];
  EXPECT_EQ(spec.classes, (std::vector<std::string>{"0", "1", "2", "3", "4"}));
  EXPECT_EQ(spec.class_names[0], "Romance");
  // labels_train.tsv: movie 1919 has the classes 2 and 0.
  const auto classes = graph.label_classes(movie, label, graph.find(movie, "1919").value());
  EXPECT_EQ(std::vector<uint32_t>(classes.begin(), classes.end()), (std::vector<uint32_t>{0, 2}));
}

}  // namespace
}  // namespace hgt
