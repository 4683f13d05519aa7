#include "hgt/graph/graph_check.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hgt/error.h"
#include "hgt/graph/array_file.h"
#include "hgt/graph/graph_test_folder.h"
#include "hgt/graph/hetero_graph.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;

// Calls everything that a graph offers for every node, relation and id.
void use_nodes(const HeteroGraph& graph, NodeType type) {
  const Schema& schema = graph.schema();
  std::vector<float> row(graph.features(type).width);
  for (NodeId node = 0; node < graph.num_nodes(type); ++node) {
    error_of([&] { graph.name(type, node); });
    error_of([&] { graph.find(type, graph.id(type, node)); });
    error_of([&] { graph.copy_features(type, node, row); });
    error_of([&] { graph.time(type, node); });
    error_of([&] {
      std::vector<EdgePosition> buffer;
      graph.incoming_offsets(type, node, buffer);
      EXPECT_LE(buffer.back(), graph.num_entries(type));
    });
    for (uint32_t label = 0; label < schema.at(type).labels.size(); ++label) {
      error_of([&] { graph.split(type, label, node); });
      error_of([&] {
        uint64_t sum = 0;
        for (const uint32_t number : graph.label_classes(type, label, node)) sum += number;
        EXPECT_LT(sum, std::numeric_limits<uint64_t>::max());
      });
    }
  }
  for (const char* id : {"P19-1001", "07", "ada", "bob", "7", "8", "", "none"}) {
    error_of([&] { graph.find(type, id); });
  }
}

void use_edges(const HeteroGraph& graph, Relation relation) {
  const RelationSpec& spec = graph.schema().at(relation);
  for (NodeId node = 0; node < graph.num_nodes(spec.target); ++node) {
    error_of([&] {
      const Neighbors list = graph.incoming(relation, node);
      double sum = 0;
      for (const NodeId source : list.sources) sum += source;
      for (size_t i = 0; i < list.times.size(); ++i) sum += list.times[i];
      for (const float weight : list.weights) sum += weight;
      EXPECT_EQ(list.sources.size(), list.size()) << sum;
    });
  }
}

void use_everything(const HeteroGraph& graph) {
  for (size_t type = 0; type < graph.schema().node_types().size(); ++type) {
    use_nodes(graph, NodeType(type));
  }
  for (size_t r = 0; r < graph.schema().relations().size(); ++r) {
    use_edges(graph, Relation(r));
  }
}

// The small graph, with ways to damage it and to mend it again.
class DamagedGraph : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    original_ = std::make_unique<TestFolder>();
    build_small_graph(*original_ / "small.graph");
  }
  static void TearDownTestSuite() { original_.reset(); }
  DamagedGraph() {
    fs::copy(*original_ / "small.graph", graph_, fs::copy_options::recursive);
    schema_ = HeteroGraph::open(graph_).schema();
    good_ = folder_bytes(graph_);
  }

  Path file(const std::string& name) const { return graph_ / name; }
  void mend(const std::string& name) const { write_bytes(file(name), good_.at(name)); }
  std::string open_error() const {
    return error_of([&] { HeteroGraph::open(graph_); });
  }
  std::string verify_error() const {
    return error_of([&] { verify(HeteroGraph::open(graph_)); });
  }

  static std::unique_ptr<TestFolder> original_;
  TestFolder folder_;
  Path graph_ = folder_ / "small.graph";
  Schema schema_;
  std::map<std::string, std::string> good_;
};
std::unique_ptr<TestFolder> DamagedGraph::original_;

TEST(Verify, AcceptsGoodGraphs) {
  const TestFolder folder;
  build_small_graph(folder / "small.graph");
  GraphBuilder(folder / "empty.graph", small_schema()).finish();
  int reports = 0;
  verify(HeteroGraph::open(folder / "small.graph"), [&](const Progress&) { ++reports; });
  verify(HeteroGraph::open(folder / "empty.graph"));
  EXPECT_GT(reports, 0);
}

TEST_F(DamagedGraph, ListsEveryFileButItsSchema) {
  EXPECT_EQ(good_.size(), schema_.arrays.size() + 1);
  for (const ArrayRecord& array : schema_.arrays) EXPECT_EQ(good_.count(array.file), 1U);
  use_everything(HeteroGraph::open(graph_));
}

TEST_F(DamagedGraph, IsNotOpenedWhenAFileIsCutEmptiedLongerOrGone) {
  for (const auto& [name, bytes] : good_) {
    // The last byte of schema.json is the end of its last line, which means nothing.
    const size_t cut = name == "schema.json" ? 2 : 1;
    for (const std::string& damaged :
         {bytes.substr(0, bytes.size() - cut), std::string(), bytes + "x"}) {
      write_bytes(file(name), damaged);
      EXPECT_TRUE(contains(open_error(), file(name).string())) << name << ": " << open_error();
    }
    fs::remove(file(name));
    const std::string path = name == "schema.json" ? graph_.string() : file(name).string();
    EXPECT_TRUE(contains(open_error(), path)) << name << ": " << open_error();
    fs::create_directory(file(name));
    EXPECT_NE(open_error(), "") << name << " is a folder";
    fs::remove(file(name));
    mend(name);
  }
  EXPECT_EQ(verify_error(), "");
}

TEST_F(DamagedGraph, NamesFeaturesThatAreCutWhileItIsOpen) {
  int found = 0;
  for (uint32_t type = 0; type < schema_.node_types().size(); ++type) {
    const auto& spec = schema_.at(NodeType(type)).features;
    if (!spec) continue;
    ++found;
    const std::string name = schema_.at(NodeType(type)).name + "/" + spec->file;
    const HeteroGraph graph = HeteroGraph::open(graph_);
    fs::resize_file(file(name), fs::file_size(file(name)) - 1);
    std::vector<float> row(spec->width);
    const auto last = static_cast<NodeId>(graph.num_nodes(NodeType(type)) - 1);
    const std::string error = error_of([&] { graph.copy_features(NodeType(type), last, row); });
    EXPECT_TRUE(contains(error, file(name).string())) << error;
    mend(name);
  }
  EXPECT_GT(found, 0);
}

// One bit of a byte at a time. The headers are alike and the id index is mostly empty: both are
// sampled, the data is taken whole.
TEST_F(DamagedGraph, NeverPassesVerifyWithAFlippedBit) {
  size_t number = 0;
  for (const auto& [name, bytes] : good_) {
    if (name == "schema.json") continue;
    const size_t stride = contains(name, "id_index") ? 19 : 1;
    for (size_t at = ++number % 7; at < bytes.size();
         at += at + 7 < kArrayHeaderBytes ? 7 : stride) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ static_cast<char>(1U << at % 8));
      write_bytes(file(name), damaged);
      ASSERT_TRUE(contains(verify_error(), file(name).string())) << name << " byte " << at;
    }
    mend(name);
  }
  EXPECT_EQ(verify_error(), "");
}

TEST_F(DamagedGraph, NeverPassesVerifyWithAFlippedBitInItsSchema) {
  const std::string& bytes = good_.at("schema.json");
  for (size_t at = 0; at < bytes.size(); at += 11) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ static_cast<char>(1U << at % 8));
    if (std::isspace(static_cast<unsigned char>(damaged[at])) != 0) continue;
    write_bytes(file("schema.json"), damaged);
    ASSERT_TRUE(contains(verify_error(), "schema.json")) << "byte " << at;
  }
}

TEST_F(DamagedGraph, NeverCrashesWhenUsedWithoutVerify) {
  for (const auto& [name, bytes] : good_) {
    if (name == "schema.json") continue;
    const size_t stride = contains(name, "id_index") ? 43 : 1;
    for (size_t at = kArrayHeaderBytes; at < bytes.size(); at += stride) {
      std::string damaged = bytes;
      // The first and last bits of a byte: small steps and signs.
      damaged[at] = static_cast<char>(damaged[at] ^ static_cast<char>(at % 2 == 0 ? 0x01 : 0x80));
      write_bytes(file(name), damaged);
      use_everything(HeteroGraph::open(graph_));
    }
    std::string all = bytes;
    for (const char fill : {'\xff', '\x7f', '\x01', '\x80'}) {
      std::fill(all.begin() + kArrayHeaderBytes, all.end(), fill);
      write_bytes(file(name), all);
      use_everything(HeteroGraph::open(graph_));
    }
    mend(name);
  }
}

// --- damage whose checksum was made to fit ---

class ForgedGraph : public DamagedGraph {
 protected:
  // Changes the items of an array, and its checksum in schema.json along with it.
  template <typename T>
  void change(const std::string& name, const std::function<void(std::span<T>)>& edit) {
    std::string bytes = read_bytes(file(name));
    std::vector<T> items((bytes.size() - kArrayHeaderBytes) / sizeof(T));
    std::memcpy(items.data(), bytes.data() + kArrayHeaderBytes, items.size() * sizeof(T));
    edit(items);
    std::memcpy(bytes.data() + kArrayHeaderBytes, items.data(), items.size() * sizeof(T));
    write_bytes(file(name), bytes);
    for (ArrayRecord& array : schema_.arrays) {
      if (array.file == name) array.checksum = checksum(std::as_bytes(std::span(items)));
    }
    write_schema();
  }
  template <typename T>
  void set(const std::string& name, size_t at, T value) {
    change<T>(name, [&](std::span<T> items) {
      ASSERT_LT(at, items.size());
      ASSERT_NE(items[at], value) << "no change at all";
      items[at] = value;
    });
  }
  void mend(const std::string& name) {
    DamagedGraph::mend(name);
    schema_ = good_schema_;
    write_schema();
  }
  void write_schema() const { write_bytes(file("schema.json"), schema_.to_json()); }

  Relation relation(const char* source, const char* edge, const char* target) const {
    return schema_.relation(source, edge, target);
  }
  const Schema good_schema_ = schema_;

  // Where the list of a node begins in the arrays of its target type.
  size_t first(Relation relation, NodeId node) const {
    return HeteroGraph::open(graph_).incoming(relation, node).first;
  }
};

TEST_F(ForgedGraph, WithoutAChangeIsGood) {
  write_schema();
  EXPECT_EQ(verify_error(), "");
}

TEST_F(ForgedGraph, WithASourceOutOfRangeIsRefused) {
  const size_t last = first(relation("author", "writes", "paper"), 3);
  set<NodeId>("paper/incoming_sources.npy", last, 3);  // there are 3 authors and 4 papers
  EXPECT_TRUE(contains(verify_error(), "paper/incoming_sources.npy")) << verify_error();
}

TEST_F(ForgedGraph, WithAnUnsortedListIsRefused) {
  const size_t at = first(relation("paper", "appears_in", "venue"), 1);
  change<NodeId>("venue/incoming_sources.npy",
                 [&](std::span<NodeId> sources) { std::swap(sources[at], sources[at + 2]); });
  EXPECT_TRUE(contains(verify_error(), "venue/incoming_sources.npy")) << verify_error();
}

TEST_F(ForgedGraph, WithStrayStartsOfListsIsRefused) {
  const std::string name = "paper/incoming_starts.npy";
  for (size_t at = 0; at < 2; ++at) {
    for (const int64_t value : {int64_t{-1}, int64_t{100}, std::numeric_limits<int64_t>::min(),
                                std::numeric_limits<int64_t>::max()}) {
      set<int64_t>(name, at, value);
      ASSERT_TRUE(contains(verify_error(), name)) << at << ": " << verify_error();
      mend(name);
    }
  }
}

TEST_F(ForgedGraph, WithAnyListLongerOrShorterIsRefused) {
  for (const char* lists :
       {"paper/incoming", "author/incoming", "venue/incoming", "paper/incoming_time",
        "paper/incoming_weight", "paper/name", "author/id", "paper/label_topic"}) {
    const std::string name = std::string(lists) + "_lengths.npy";
    const size_t count = good_.at(name).size() - kArrayHeaderBytes;
    for (size_t at = 0; at < count; ++at) {
      for (const uint8_t step : {1, 255}) {
        change<uint8_t>(name, [&](std::span<uint8_t> lengths) { lengths[at] += step; });
        ASSERT_TRUE(contains(verify_error(), lists)) << name << " " << at << " " << step;
        mend(name);
      }
    }
  }
}

TEST_F(ForgedGraph, WithATimeOutsideTheRangeIsRefused) {
  set<Time>("paper/time.npy", 0, 2022);
  EXPECT_TRUE(contains(verify_error(), "paper/time.npy")) << verify_error();
}

TEST_F(ForgedGraph, WithAnEdgeTimeOutsideTheRangeIsRefused) {
  set<int16_t>("venue/incoming_times.npy", 0, 2015);
  EXPECT_TRUE(contains(verify_error(), "venue/incoming_times.npy")) << verify_error();
}

TEST_F(ForgedGraph, WithATimeButNoRangeIsRefused) {
  schema_.time_range.reset();
  write_schema();
  EXPECT_NE(verify_error(), "");
}

TEST_F(ForgedGraph, WithANumberThatIsNotFiniteIsRefused) {
  const float inf = std::numeric_limits<float>::infinity();
  set<float>("author/features.npy", 3, -inf);
  EXPECT_TRUE(contains(verify_error(), "author/features.npy")) << verify_error();
  mend("author/features.npy");
  set<float>("author/features.npy", 0, std::numeric_limits<float>::quiet_NaN());
  EXPECT_TRUE(contains(verify_error(), "author/features.npy")) << verify_error();
}

TEST_F(ForgedGraph, WithAHalfThatIsNotFiniteIsRefused) {
  for (const uint16_t half : {0x7c00, 0xfc00, 0x7c01, 0xffff}) {
    set<uint16_t>("paper/features.npy", 11, half);
    EXPECT_TRUE(contains(verify_error(), "paper/features.npy")) << verify_error();
    mend("paper/features.npy");
  }
}

TEST_F(ForgedGraph, WithAWeightThatIsNotFiniteIsRefused) {
  set<float>("author/incoming_weights.npy", 0, std::numeric_limits<float>::quiet_NaN());
  EXPECT_TRUE(contains(verify_error(), "author/incoming_weights.npy")) << verify_error();
}

TEST_F(ForgedGraph, WithAnEdgeThatItsReverseDoesNotHaveIsRefused) {
  const size_t at = first(relation("author", "writes", "paper"), 3);
  set<NodeId>("paper/incoming_sources.npy", at, 1);  // 2 before: in range and still sorted
  const std::string error = verify_error();
  EXPECT_TRUE(contains(error, "writes") && contains(error, "rev_writes")) << error;
}

TEST_F(ForgedGraph, WithATimeThatItsReverseDoesNotHaveIsRefused) {
  set<int16_t>("venue/incoming_times.npy", 0, 2018);  // 2017 before
  EXPECT_TRUE(contains(verify_error(), "appears_in")) << verify_error();
}

TEST_F(ForgedGraph, WithAWeightThatItsReverseDoesNotHaveIsRefused) {
  const size_t at = first(relation("author", "knows", "author"), 0);
  set<float>("author/incoming_weights.npy", at, 1.25F);
  EXPECT_TRUE(contains(verify_error(), "knows")) << verify_error();
}

TEST_F(ForgedGraph, WithAClassOutOfRangeIsRefused) {
  set<uint32_t>("paper/label_topic_classes.npy", 1, 3);
  EXPECT_TRUE(contains(verify_error(), "label_topic_classes.npy")) << verify_error();
}

TEST_F(ForgedGraph, WithAnUnknownSplitIsRefused) {
  set<uint8_t>("paper/label_topic_split.npy", 2, 4);
  EXPECT_TRUE(contains(verify_error(), "label_topic_split.npy")) << verify_error();
}

TEST_F(ForgedGraph, WithABrokenIdIndexIsRefused) {
  std::vector<size_t> used;
  change<uint32_t>("paper/id_index.npy", [&](std::span<uint32_t> slots) {
    for (size_t at = 0; at < slots.size(); ++at) {
      if (slots[at] != 0) used.push_back(at);
    }
  });
  ASSERT_EQ(used.size(), 4U);
  for (const size_t at : used) {
    for (const uint32_t value : {0U, 5U, 0xffffffffU}) {
      set<uint32_t>("paper/id_index.npy", at, value);
      EXPECT_TRUE(contains(verify_error(), "paper/id_index.npy")) << verify_error();
      mend("paper/id_index.npy");
    }
  }
  change<uint32_t>("paper/id_index.npy",
                   [&](std::span<uint32_t> slots) { std::swap(slots[used[0]], slots[used[1]]); });
  EXPECT_NE(verify_error(), "");
}

TEST_F(ForgedGraph, WithAnIdTwiceIsRefused) {
  change<char>("author/id_bytes.npy", [](std::span<char> bytes) {  // "adabobcy"
    std::copy_n("ada", 3, bytes.begin() + 3);
  });
  EXPECT_NE(verify_error(), "");
}

TEST_F(ForgedGraph, WithWrongEdgeCountsIsRefused) {
  // The sum over the relations that enter a type stays what it was.
  ++schema_.at(relation("author", "writes", "paper")).edges;
  --schema_.at(relation("paper", "cites", "paper")).edges;
  write_schema();
  EXPECT_NE(verify_error(), "") << "edge counts of schema.json are not those of the lists";
}

TEST_F(ForgedGraph, WithWrongDegreesIsRefused) {
  const auto refuse = [&](const std::function<void(DegreeSummary&)>& edit) {
    schema_ = good_schema_;
    edit(schema_.at(relation("paper", "cites", "paper")).degrees);
    write_schema();
    EXPECT_TRUE(contains(verify_error(), "schema.json")) << verify_error();
  };
  refuse([](DegreeSummary& degrees) { degrees.mean += 1e-9; });
  refuse([](DegreeSummary& degrees) { degrees.median += 0.5; });
  refuse([](DegreeSummary& degrees) { ++degrees.maximum; });
  refuse([](DegreeSummary& degrees) { --degrees.without; });
}

TEST_F(ForgedGraph, WithOtherNumbersOfNodesOrEdgesIsNotOpened) {
  for (size_t type = 0; type < 3; ++type) {
    for (const uint64_t nodes : {uint64_t{0}, uint64_t{1}, uint64_t{5}, kMaxNodes}) {
      schema_ = good_schema_;
      schema_.at(NodeType(type)).nodes = nodes;
      write_schema();
      EXPECT_TRUE(contains(open_error(), "schema.json")) << type << " " << nodes;
    }
  }
  for (const uint64_t edges : {uint64_t{0}, ~uint64_t{0}, uint64_t{1} << 62U}) {
    schema_ = good_schema_;
    schema_.at(Relation(0)).edges = edges;
    write_schema();
    EXPECT_TRUE(contains(open_error(), "schema.json")) << edges;
  }
}

TEST_F(ForgedGraph, WithoutTheRecordOfAnArrayIsNotOpened) {
  for (size_t i = 0; i < good_schema_.arrays.size(); ++i) {
    schema_ = good_schema_;
    schema_.arrays.erase(schema_.arrays.begin() + static_cast<ptrdiff_t>(i));
    write_schema();
    EXPECT_TRUE(contains(open_error(), good_schema_.arrays[i].file)) << good_schema_.arrays[i].file;
  }
}

TEST_F(ForgedGraph, NamesTheFileOfDamagedTextAndLabelStarts) {
  for (const char* name :
       {"paper/name_starts.npy", "paper/id_starts.npy", "paper/label_topic_starts.npy"}) {
    set<int64_t>(name, 1, 1'000'000);
    EXPECT_TRUE(contains(verify_error(), name)) << name << ": " << verify_error();
    mend(name);
  }
}

}  // namespace
}  // namespace hgt
