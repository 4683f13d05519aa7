// `hgt sample` as a stranger meets it. What it prints is held against the library and the graph.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "hgt/disk/temporary_test_folder.h"
#include "hgt/graph/hetero_graph.h"
#include "hgt/sampling/sampler.h"
#include "tests/run_program.h"

namespace hgt {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

// People who know each other, without times; their ids hold what separates words elsewhere.
constexpr const char* kPeople = "id\tname\na@b.org\tAnn\na@b.org@2010\tBo\nx:1\tCy\nd\tDee\n";
constexpr const char* kKnows = "who\twhom\na@b.org\tx:1\na@b.org@2010\td\nx:1\td\n";
constexpr const char* kPeopleManifest =
    "[[nodes]]\ntype = 'person'\nfiles = 'people.tsv'\nid = 'id'\nname = 'name'\n"
    "[[edges]]\ntype = 'knows'\nfiles = 'knows.tsv'\n"
    "source = { type = 'person', column = 'who' }\n"
    "target = { type = 'person', column = 'whom' }\n";

// Letters by day, one of them without a day.
constexpr const char* kLetters =
    "id\ttitle\tday\tfrom\n"
    "l1\tAn early letter\t2014-01-05\tAnn\n"
    "l2\tÄnderungen für ÄÖÜ, viel länger als vierzig Zeichen\t2014-12-31\tAnn\n"
    "l3\tA late letter\t2015-01-01\tAnn\n"
    "l4\tUndated\t\tBo\n";
constexpr const char* kLettersManifest =
    "time_unit = 'day'\n"
    "[[nodes]]\ntype = 'letter'\nfiles = 'letters.tsv'\nid = 'id'\nname = 'title'\ntime = 'day'\n"
    "missing_time = 'keep'\n"
    "[[nodes]]\ntype = 'writer'\nfiles = 'letters.tsv'\nid = 'from'\nduplicates = 'ignore'\n"
    "[[edges]]\ntype = 'written_by'\nfiles = 'letters.tsv'\n"
    "source = { type = 'letter', column = 'id' }\n"
    "target = { type = 'writer', column = 'from' }\n";

class SampleProgram : public testing::Test {
 protected:
  Outcome sample(const std::string& graph, const Words& words) {
    Words all = {"sample", path(graph)};
    all.insert(all.end(), words.begin(), words.end());
    return run_program(folder_.path(), all);
  }
  std::string text(const std::string& graph, const Words& words) {
    const Outcome outcome = sample(graph, words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return outcome.out;
  }
  Json json(const std::string& graph, Words words) {
    words.emplace_back("--json");
    return Json::parse(text(graph, words));
  }
  HeteroGraph opened(const std::string& graph) { return HeteroGraph::open(path(graph)); }

  // The folder of a graph by its name; it is made when it is first asked for.
  std::string path(const std::string& graph) {
    const std::string folder = (folder_ / graph).string();
    if (std::filesystem::exists(folder)) return folder;
    Words words = {"generate", "--preset", graph, "--out", folder};
    if (graph == "people") {
      write_bytes(folder_ / "people.tsv", kPeople);
      write_bytes(folder_ / "knows.tsv", kKnows);
      words = import_words(kPeopleManifest, folder);
    } else if (graph == "letters") {
      write_bytes(folder_ / "letters.tsv", kLetters);
      words = import_words(kLettersManifest, folder);
    }
    const Outcome made = run_program(folder_.path(), words);
    EXPECT_EQ(made.exit_code, 0) << made.err;
    return folder;
  }
  Words import_words(const std::string& manifest, const std::string& folder) {
    write_bytes(folder + ".toml", manifest);
    return {"import", folder + ".toml", "--out", folder};
  }

  TestFolder folder_;
};

std::string instance_name(const Json& instance) {
  const Json& time = instance.at("time");
  return instance.at("type").get<std::string>() + ":" + instance.at("id").get<std::string>() +
         (time.is_null() ? "" : "@" + time.dump());
}

std::set<std::string> instance_names(const Json& json, uint32_t max_hop) {
  std::set<std::string> names;
  for (const Json& instance : json.at("instances")) {
    if (instance.at("hop") <= max_hop) names.insert(instance_name(instance));
  }
  return names;
}

Words seed_names(const Json& json) {
  Words names;
  for (const Json& row : json.at("seed_rows")) {
    names.push_back(instance_name(json.at("instances").at(row.get<size_t>())));
  }
  return names;
}

uint64_t edges_of(const Json& json, const std::string& edge_type) {
  const Json& edges = json.at("edges");
  return static_cast<uint64_t>(std::count_if(edges.begin(), edges.end(), [&](const Json& edge) {
    return edge.at("relation")[1] == edge_type;
  }));
}

std::string without_seconds(const std::string& text) {
  static const std::regex seconds(R"( edges, [0-9.]+ s|"seconds": [0-9.e-]+)");
  return std::regex_replace(text, seconds, "");
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// --- the two forms ---

TEST_F(SampleProgram, ShowsWhatWasAskedTheBalanceAndTheInstances) {
  const std::string out =
      text("tiny", {"--node", "paper:1", "--strategy", "full", "--depth", "1", "--verify"});
  for (const char* expected :
       {": full, depth 1, random seed 0\n",
        "time bound: split, nothing later than 2014, the end of training\n",
        "\n  0  paper           1  10.0%      1  2005 to 2005            9.00        9\n",
        "\n  1  paper           3  30.0%      3  2000 to 2010            5.67        7\n",
        "\nall  paper           4  40.0%      4  2000 to 2010            6.50        9\n",
        "\npaper   cites               paper       5   8.9%        2            2.50     -7.00\n",
        "\nauthor  self                author      2   3.6%        2            1.00      0.00\n",
        "\n  0    0  paper   1   Sampling neighbors of large graphs  2005          9             "
        "9\n",
        "\n10 instances, 56 edges, ", "\nverified: "}) {
    EXPECT_TRUE(contains(out, expected)) << expected << "\nis not in\n" << out;
  }
  EXPECT_FALSE(contains(out, "rev_pub_journal")) << "relations without edges are left out";
}

TEST_F(SampleProgram, ListsAsManyInstancesAsAsked) {
  const Words words = {"--node", "paper:1", "--node", "venue:1"};
  const auto with_rows = [&](const char* rows) {
    Words all = words;
    all.insert(all.end(), {"--rows", rows});
    return text("tiny", all);
  };
  EXPECT_FALSE(contains(with_rows("0"), "\ninstances\n"));
  const std::string two = with_rows("2");
  EXPECT_TRUE(contains(two, "Sampling neighbors of large graphs")) << two;
  EXPECT_TRUE(contains(two, "Journal of Data Systems")) << "seeds come first\n" << two;
  EXPECT_TRUE(contains(two, " more; --rows")) << two;
  EXPECT_FALSE(contains(with_rows("1000"), " more; --rows"));
}

TEST_F(SampleProgram, CutsLongNamesByCharacters) {
  const std::string out = text("letters", {"--node", "letter:l2"});
  EXPECT_TRUE(contains(out, " Änderungen für ÄÖÜ, viel länger als vier...  2014-12-31 ")) << out;
}

TEST_F(SampleProgram, JsonIsTheSubgraphOfTheLibrary) {
  const Json json =
      this->json("small", {"--node", "paper:17", "--node", "venue:3@2010", "--width", "16",
                           "--depth", "3", "--neighbor-cap", "9", "--seed", "5"});
  const HeteroGraph graph = opened("small");
  const Schema& schema = graph.schema();
  const std::vector<Seed> seeds = {{schema.node_type("paper"), 17},
                                   {schema.node_type("venue"), 3, 2010}};
  const Time split_end = json.at("options").at("split_end").is_null()
                             ? std::numeric_limits<Time>::max()
                             : json.at("options").at("split_end").get<Time>();
  const Subgraph expected =
      hgt::sample(graph, seeds,
                  {.width = 16, .depth = 3, .neighbor_cap = 9, .split_end = split_end, .seed = 5});
  EXPECT_EQ(json.at("seed_rows").get<std::vector<uint32_t>>(), expected.seed_rows);
  ASSERT_EQ(json.at("instances").size(), expected.num_rows());
  ASSERT_EQ(json.at("edges").size(), expected.num_edges());
  size_t next = 0;
  for (uint32_t row = 0; row < expected.num_rows(); ++row) {
    const Json& instance = json.at("instances")[row];
    const NodeType type = schema.node_type(instance.at("type").get<std::string>());
    EXPECT_GE(row, expected.type_offsets[index(type)]);
    EXPECT_LT(row, expected.type_offsets[index(type) + 1]);
    EXPECT_EQ(graph.find(type, instance.at("id").get<std::string>()), expected.nodes[row]);
    EXPECT_EQ(instance.at("time"), expected.times[row]);
    EXPECT_EQ(instance.at("hop"), expected.hops[row]);
    EXPECT_EQ(instance.at("component"), 0);
    for (const uint64_t edge : expected.incoming(row)) {
      const Json& shown = json.at("edges")[next++];
      EXPECT_EQ(shown.at("source"), expected.sources[edge]);
      EXPECT_EQ(shown.at("target"), row);
      EXPECT_EQ(shown.at("gap"), expected.gaps[edge]);
      if (shown.at("position").is_null()) {
        EXPECT_EQ(expected.positions[edge], kSelfEdge);
        EXPECT_EQ(shown.at("relation"), Json({schema.at(type).name, "self", schema.at(type).name}));
        continue;
      }
      const auto& [source, name, target] = shown.at("relation").get<std::array<std::string, 3>>();
      EXPECT_EQ(shown.at("position"), expected.positions[edge]);
      EXPECT_EQ(schema.relation(source, name, target), expected.relations[edge]);
    }
  }
}

TEST_F(SampleProgram, JsonCountsAgreeWithItsLists) {
  const Json json = this->json("small", {"--random", "paper:4", "--width", "20"});
  std::map<Json, uint64_t> instances;
  std::map<Json, std::set<Json>> nodes;
  for (const Json& instance : json.at("instances")) {
    ++instances[{instance.at("hop"), instance.at("type")}];
    nodes[{instance.at("hop"), instance.at("type")}].insert(instance.at("id"));
  }
  ASSERT_EQ(json.at("counts_by_hop_and_type").size(), instances.size());
  for (const Json& count : json.at("counts_by_hop_and_type")) {
    const Json key = {count.at("hop"), count.at("type")};
    EXPECT_EQ(count.at("instances"), instances[key]) << key;
    EXPECT_EQ(count.at("nodes"), nodes[key].size()) << key;
  }
  std::map<Json, std::vector<Json>> edges;
  std::map<Json, std::set<Json>> targets;
  for (const Json& edge : json.at("edges")) {
    edges[edge.at("relation")].push_back(edge.at("gap"));
    targets[edge.at("relation")].insert(edge.at("target"));
  }
  ASSERT_EQ(json.at("counts_by_relation").size(), edges.size());
  for (const Json& count : json.at("counts_by_relation")) {
    const auto& gaps = edges[count.at("relation")];
    double sum = 0;
    for (const Json& gap : gaps) sum += gap.get<double>();
    EXPECT_EQ(count.at("edges"), gaps.size());
    EXPECT_EQ(count.at("targets"), targets[count.at("relation")].size());
    EXPECT_NEAR(count.at("mean_gap").get<double>(), sum / static_cast<double>(gaps.size()), 1e-9);
  }
}

TEST_F(SampleProgram, IsAFunctionOfTheSeed) {
  const Words words = {"--random", "author:3", "--width", "8", "--seed"};
  for (const Words& form : std::vector<Words>{{}, {"--json"}}) {
    const auto with_seed = [&](const char* seed) {
      Words all = words;
      all.emplace_back(seed);
      all.insert(all.end(), form.begin(), form.end());
      return without_seconds(text("small", all));
    };
    EXPECT_EQ(with_seed("7"), with_seed("7"));
    EXPECT_NE(with_seed("7"), with_seed("8"));
  }
}

// --- seeds ---

TEST_F(SampleProgram, TakesSeedsOfAnyTypesAndTimesAndTheSameTwice) {
  const Json json = this->json(
      "tiny", {"--node", "venue:0@2010", "--node", "paper:2", "--node", "venue:0@2005", "--node",
               "author:1", "--node", "paper:2@2010", "--node", "venue:0@2010", "--verify"});
  EXPECT_EQ(seed_names(json), (Words{"venue:0@2010", "paper:2@2010", "venue:0@2005", "author:1",
                                     "paper:2@2010", "venue:0@2010"}));
  EXPECT_EQ(instance_names(json, 0).size(), 4);
  EXPECT_EQ(json.at("seed_rows")[0], json.at("seed_rows")[5]);
  EXPECT_EQ(json.at("verified"), true);
}

TEST_F(SampleProgram, TakesIdsThatHoldColonsAndAts) {
  const Json json = this->json(
      "people", {"--node", "person:a@b.org", "--node", "person:a@b.org@2010", "--node",
                 "person:a@b.org@2011", "--node", "person:x:1", "--node", "person:x:1@2012"});
  EXPECT_EQ(seed_names(json), (Words{"person:a@b.org", "person:a@b.org@2010", "person:a@b.org@2011",
                                     "person:x:1", "person:x:1@2012"}));
  const Json& instances = json.at("instances");
  EXPECT_TRUE(instances[1].at("time").is_null()) << "the whole text is an id: Bo's";
  EXPECT_EQ(instances[2].at("time"), 2011);
}

TEST_F(SampleProgram, DrawsDistinctSeedsFromTheSplit) {
  const auto drawn = [&](const Words& words) {
    Words all = {"--random", "paper:50", "--depth", "0"};
    all.insert(all.end(), words.begin(), words.end());
    const Json json = this->json("small", all);
    EXPECT_EQ(instance_names(json, 0).size(), 50);
    Time first = std::numeric_limits<Time>::max();
    Time last = kNoTime;
    for (const Json& instance : json.at("instances")) {
      first = std::min(first, instance.at("time").get<Time>());
      last = std::max(last, instance.at("time").get<Time>());
    }
    return std::pair(first, last);
  };
  EXPECT_LE(drawn({"--split", "train"}).second, 2014);
  EXPECT_EQ(drawn({"--split", "validation"}), std::pair(2015, 2016));
  EXPECT_EQ(drawn({"--split", "validation", "--validation-end", "2018", "--seed", "1"}),
            std::pair(2015, 2018));
  EXPECT_GE(drawn({"--split", "test", "--time-bound", "seed"}).first, 2017);
  const auto any = drawn({});
  EXPECT_LT(any.first, 2015);
  EXPECT_GT(any.second, 2016);
}

TEST_F(SampleProgram, CanDrawAllNodesOfATypeAndPlainOnesHaveNoTime) {
  const Json json = this->json("tiny", {"--random", "author:3", "--depth", "0"});
  EXPECT_EQ(instance_names(json, 0), (std::set<std::string>{"author:0", "author:1", "author:2"}));
}

// --- bound and hidden edges ---

TEST_F(SampleProgram, VerifiesEveryStrategyUnderEveryBound) {
  for (const Words& strategy :
       std::vector<Words>{{"--width", "12", "--depth", "3", "--neighbor-cap", "5"},
                          {"--width", "12", "--depth", "3", "--neighbor-cap", "0"},
                          {"--strategy", "neighbors", "--fanout", "3,2"},
                          {"--strategy", "neighbors", "--fanout", "3,2", "--recent"},
                          {"--strategy", "neighbors", "--fanout", "0"},
                          {"--strategy", "neighbors", "--fanout", "3,2", "--same-time"},
                          {"--strategy", "full", "--depth", "1"}}) {
    for (const char* bound : {"split", "seed", "none"}) {
      for (const char* graph : {"tiny", "small"}) {
        Words words = {"--node",       "paper:1", "--node", "author:2@2012", "--node",  "venue:1",
                       "--time-bound", bound,     "--hide", "writes_first",  "--verify"};
        words.insert(words.end(), strategy.begin(), strategy.end());
        EXPECT_TRUE(contains(text(graph, words), "\nverified: ")) << graph << ' ' << bound;
      }
    }
  }
}

TEST_F(SampleProgram, BoundsTimesByTheSplitOfTheLatestSeed) {
  const auto bound = [&](const Words& words) {
    return json("tiny", words).at("options").at("split_end");
  };
  EXPECT_EQ(bound({"--node", "paper:0"}), 2014);
  EXPECT_EQ(bound({"--node", "venue:0@2015", "--node", "paper:0"}), 2016);
  EXPECT_TRUE(bound({"--node", "venue:0@2017", "--node", "paper:0"}).is_null());
  EXPECT_TRUE(bound({"--node", "venue:0"}).is_null()) << "no time, no bound";
  EXPECT_EQ(bound({"--node", "paper:0", "--train-end", "2004"}), 2004);
  EXPECT_EQ(bound({"--node", "paper:1", "--train-end", "2004", "--validation-end", "2006"}), 2006);

  const Json before = json("tiny", {"--node", "paper:1", "--train-end", "2005"});
  for (const Json& instance : before.at("instances")) EXPECT_LE(instance.at("time"), 2005);
  EXPECT_TRUE(contains(text("tiny", {"--node", "paper:1", "--train-end", "2005"}),
                       "time bound: split, nothing later than 2005, the end of training"));
  EXPECT_TRUE(contains(text("tiny", {"--node", "venue:0"}), "no seed has a time"));
}

TEST_F(SampleProgram, BoundsTimesBySeedsInComponents) {
  const Words words = {"--node", "paper:2", "--node", "paper:0", "--time-bound", "seed"};
  const Json json = this->json("tiny", words);
  std::set<Json> components;
  for (const Json& instance : json.at("instances")) {
    components.insert(instance.at("component"));
    EXPECT_LE(instance.at("time"), instance.at("component") == 0 ? 2000 : 2010);
  }
  EXPECT_EQ(components.size(), 2);
  EXPECT_TRUE(contains(text("tiny", words), "component\n"));
}

TEST_F(SampleProgram, HidesAnEdgeTypeAtTheSeedsInBothDirections) {
  const Words words = {"--node", "paper:1", "--strategy", "full", "--depth", "1"};
  for (const char* hidden : {"pub_conference", "rev_pub_conference"}) {
    Words hiding = words;
    hiding.insert(hiding.end(), {"--hide", hidden, "--hide", "cites"});
    const Json open = this->json("tiny", words);
    const Json json = this->json("tiny", hiding);
    EXPECT_GT(edges_of(open, "pub_conference"), 0);
    EXPECT_EQ(edges_of(json, "pub_conference"), 0) << "the venue cannot be reached any more";
    EXPECT_EQ(edges_of(json, "rev_pub_conference"), 0);
    EXPECT_EQ(edges_of(json, "cites"), 0);
    EXPECT_EQ(edges_of(json, "writes_first"), 1) << "others stay";
    EXPECT_TRUE(contains(text("tiny", hiding),
                         "hidden at the seeds, in both directions: " + std::string(hidden)));
  }
  const Json elsewhere =
      this->json("tiny", {"--node", "paper:1", "--node", "author:2", "--strategy", "full",
                          "--depth", "2", "--hide", "cites"});
  EXPECT_GT(edges_of(elsewhere, "cites"), 0) << "between papers that are no seeds";
  for (const Json& edge : elsewhere.at("edges")) {
    const bool at_seed = edge.at("source") == 0 || edge.at("target") == 0;
    EXPECT_FALSE(at_seed && contains(edge.at("relation")[1], "cites")) << edge;
  }
}

// --- other graphs ---

TEST_F(SampleProgram, SamplesAGraphWithoutTimes) {
  const Json json =
      this->json("people", {"--node", "person:x:1", "--strategy", "full", "--depth", "1"});
  EXPECT_EQ(instance_names(json, 1),
            (std::set<std::string>{"person:a@b.org", "person:d", "person:x:1"}));
  for (const Json& edge : json.at("edges")) EXPECT_EQ(edge.at("gap"), 0);
  for (const Json& count : json.at("counts_by_relation")) {
    EXPECT_TRUE(count.at("mean_gap").is_null());
  }
  EXPECT_TRUE(json.at("counts_by_type")[0].at("times").is_null());
  const std::string out = text("people", {"--random", "person:2", "--verify"});
  EXPECT_TRUE(contains(out, "no seed has a time")) << out;
}

TEST_F(SampleProgram, ReadsAndShowsTimesInTheUnitOfTheGraph) {
  const Words words = {"--node", "writer:Ann@2014-03-01", "--train-end"};
  const auto letters = [&](const char* train_end) {
    Words all = words;
    all.emplace_back(train_end);
    const Json json = this->json("letters", all);
    Words names;
    for (const Json& instance : json.at("instances")) {
      if (instance.at("type") == "letter") names.push_back(instance.at("id"));
    }
    std::sort(names.begin(), names.end());
    return names;
  };
  EXPECT_EQ(letters("2014"), (Words{"l1", "l2"})) << "the whole year";
  EXPECT_EQ(letters("2014-11"), (Words{"l1"}));
  EXPECT_EQ(letters("2015-01-01"), (Words{"l1", "l2", "l3"}));
  const std::string out = text("letters", {"--node", "writer:Ann@2014-03-01"});
  EXPECT_TRUE(contains(out, "nothing later than 2014-12-31")) << out;
  EXPECT_TRUE(contains(out, "2014-03-01")) << out;
  const Outcome wrong = sample("letters", {"--node", "writer:Ann@March"});
  EXPECT_TRUE(contains(wrong.err, "not a time in the unit day; an example is 2015-01-01"))
      << wrong.err;
}

TEST_F(SampleProgram, TreatsAnEventWithoutATimeLikeAPlainNode) {
  EXPECT_EQ(seed_names(json("letters", {"--node", "letter:l4"})), Words{"letter:l4"});
  const Json json = this->json("letters", {"--node", "letter:l4@2014-02-01"});
  EXPECT_EQ(seed_names(json), Words{"letter:l4@16102"}) << "days since 1970";
  EXPECT_EQ(sample("letters", {"--random", "letter:3", "--split", "train"}).exit_code, 1)
      << "it lies in no split";
  EXPECT_EQ(sample("letters", {"--random", "letter:4"}).exit_code, 0);
}

// --- complaints ---

TEST_F(SampleProgram, ErrorsSayWhatIsWrongAndWhatThereIs) {
  const std::vector<std::pair<Words, std::string>> cases = {
      {{"--node", "papers:1"}, "the node types are paper, author, field, venue, institute"},
      {{"--node", "paper:P9"},
       "there is no node of type paper with the id 'P9'; the first node of type paper "
       "has the id '0'"},
      {{"--node", "paper:"}, "there is no node of type paper with the id ''"},
      {{"--node", "venue:9@2010"}, "there is no node of type venue with the id '9'"},
      {{"--node", "venue:9@soon"}, "there is no node of type venue with the id '9@soon'"},
      {{"--node", "venue:0@soon"}, "'soon' is not a time in the unit year; an example is 2010"},
      {{"--node", "paper:1@2010"}, "its own time is 2005"},
      {{"--node", "paper:1", "--hide", "pub"},
       "there is no edge type 'pub'; the edge types are affiliated"},
      {{"--node", "paper:1", "--hide", "self"}, "there is no edge type 'self'"},
      {{"--node", "paper:1", "--train-end", "late"}, "--train-end: 'late' is not a time"},
      {{"--node", "paper:1", "--train-end", "2017"}, "validation must end later than training"},
      {{"--node", "paper:1", "--validation-end", "2014"}, "validation must end later"},
      {{"--node", "paper:1", "--width", "0"}, "width is 0"},
      {{"--node", "paper:1", "--strategy", "neighbors"}, "fan-outs"},
      {{"--random", "papers:1"}, "there is no node type 'papers'"},
      {{"--random", "paper:5"}, "--random paper:5: there are only 4"},
      {{"--random", "paper:1", "--split", "test"}, "there are only 0 in the split test"},
      {{"--random", "venue:1", "--split", "train"}, "nodes of type venue have no time"},
  };
  for (const auto& [words, expected] : cases) {
    const Outcome outcome = sample("tiny", words);
    EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(contains(outcome.err, expected)) << outcome.err << "instead of: " << expected;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

TEST_F(SampleProgram, WrongUsageExitsWithTwo) {
  const std::vector<std::pair<Words, std::string>> cases = {
      {{}, "--node or --random is required"},
      {{"--node", "paper"}, "'paper' is not TYPE:ID"},
      {{"--random", "paper:many"}, "'paper:many' is not TYPE:N"},
      {{"--random", "paper:0"}, "'paper:0' is not TYPE:N"},
      {{"--random", "paper:1", "--node", "paper:1"}, "excludes"},
      {{"--node", "paper:1", "paper:2"}, "paper:2"},
      {{"--node", "paper:1", "--strategy", "deep"}, "hgsampling"},
      {{"--node", "paper:1", "--time-bound", "late"}, "split"},
      {{"--random", "paper:1", "--split", "all"}, "validation"},
      {{"--node", "paper:1", "--depth", "-1"}, "--depth"},
      {{"--node", "paper:1", "--strategy", "neighbors", "--fanout", "5,x"}, "--fanout"},
      {{"--node", "paper:1", "--fanout", "5"}, "only --strategy neighbors has fan-outs"},
      {{"--node", "paper:1", "--recent"}, "only --strategy neighbors takes"},
      {{"--node", "paper:1", "--seed-width", "5"}, "with --time-bound seed"},
      {{"--node", "paper:1", "--strategy", "full", "--width", "5"}, "only --strategy hgsampling"},
      {{"--node", "paper:1", "--split", "train"}, "--random"},
      {{"--node", "paper:1", "--time-bound", "none", "--train-end", "2010"}, "--time-bound"},
      {{"--node", "paper:1", "--json", "--rows", "5"}, "excludes"},
  };
  for (const auto& [words, expected] : cases) {
    const Outcome outcome = sample("tiny", words);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, expected)) << outcome.err << "instead of: " << expected;
    EXPECT_TRUE(contains(outcome.err, "--help")) << outcome.err;
  }
}

}  // namespace
}  // namespace hgt
