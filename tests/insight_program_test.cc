// `hgt similar`, `hgt report` and `hgt view` as a stranger meets them.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "hgt/graph/graph_test_folder.h"
#include "hgt/graph/hetero_graph.h"
#include "hgt/http/raw_client_test.h"
#include "tests/run_program.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

// One graph with a run of three layers for all tests.
class InsightProgram : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared = new TestFolder;
    const Words generate = {"generate",   "--preset", "small", "--papers",    "300",
                            "--features", "8",        "--out", graph_folder()};
    ASSERT_EQ(run_program(shared->path(), generate).exit_code, 0);
    const Words train = {"train",     graph_folder(),
                         "--task",    "paper-venue",
                         "--run",     run(),
                         "--hidden",  "8",
                         "--heads",   "2",
                         "--layers",  "3",
                         "--width",   "6",
                         "--depth",   "2",
                         "--batches", "3",
                         "--threads", "1",
                         "--quiet"};
    const Outcome outcome = run_program(shared->path(), train);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  static void TearDownTestSuite() { delete shared; }

  static std::string graph_folder() { return (*shared / "graph").string(); }
  static std::string run() { return (*shared / "tiny.run").string(); }

  static Words verb(const char* name, const Words& more) {
    Words words = {name, run(), "--threads", "1", "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  static Words similar(const Words& more) { return verb("similar", more); }

  std::string text(const Words& words) {
    const Outcome outcome = run_program(folder_.path(), words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return outcome.out;
  }
  void expect_failure(const Words& words, int exit_code, const std::string& message) {
    const Outcome outcome = run_program(folder_.path(), words);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, message)) << message << "\nis not in\n" << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
  NodeType type(const char* name) const { return graph_.schema().node_type(name); }
  // A venue whose name nobody else has.
  NodeId venue() const { return 3; }
  std::string venue_name() const { return std::string(graph_.name(type("venue"), venue())); }

  static inline TestFolder* shared = nullptr;
  const HeteroGraph graph_ = HeteroGraph::open(graph_folder());
  TestFolder folder_;
};

// --- similar ---

TEST_F(InsightProgram, NamesWhatIsAlikeAtEachTime) {
  const std::string table = text(similar({"--node", "venue:" + venue_name(), "--at", "2000,2010",
                                          "--top", "2", "--among", "20", "--samples", "2"}));
  ASSERT_TRUE(contains(venue_name(), " ")) << venue_name();
  for (const std::string& part :
       {venue_name(), std::string("most similar, nearest first"), std::string("2000"),
        std::string("2010"),
        std::string("among the 20 most cited of 60 nodes of type venue, at 2000, 2010; "
                    "euclidean distance of the outputs of layer 1, mean of 2 "
                    "sub-graphs\n")}) {
    EXPECT_TRUE(contains(table, part)) << part << "\nis not in\n" << table;
  }
  EXPECT_EQ(text(similar({"--node", "venue:" + venue_name(), "--at", "2000,2010", "--top", "2",
                          "--among", "20", "--samples", "2"})),
            table);
}

TEST_F(InsightProgram, NamesWhatIsAlikeForPrograms) {
  const Json json = Json::parse(
      text(similar({"--node", "venue:" + graph_.id(type("venue"), venue()), "--node",
                    "venue:" + graph_.id(type("venue"), 5), "--at", "1970", "--at", "2019",
                    "--distance", "cosine", "--top", "4", "--json", "--until"})));
  EXPECT_EQ(json.at("type"), "venue");
  EXPECT_EQ(json.at("layer"), 1);
  EXPECT_EQ(json.at("among"), "all 60 of type venue");
  EXPECT_EQ(json.at("distance"), "cosine");
  EXPECT_EQ(json.at("recall"), 1.0);
  ASSERT_EQ(json.at("nodes").size(), 4U);
  EXPECT_EQ(json.at("nodes").at(0).at("time"), "1970");
  EXPECT_EQ(json.at("nodes").at(0).at("is_there"), false);
  const Json& last = json.at("nodes").at(1);
  EXPECT_EQ(last.at("id"), graph_.id(type("venue"), venue()));
  EXPECT_EQ(last.at("name"), venue_name());
  EXPECT_EQ(last.at("time"), "2019");
  ASSERT_EQ(last.at("nearest").size(), 4U);
  double distance = 0;
  for (const Json& other : last.at("nearest")) {
    EXPECT_NE(other.at("id"), last.at("id"));
    EXPECT_GE(other.at("distance"), distance);
    distance = other.at("distance");
    EXPECT_GT(other.at("similarity"), 0);
  }
}

// Case studies that leave the last year out show less than the data has.
TEST_F(InsightProgram, ComparesUpToTheLastTimeUnlessToldOtherwise) {
  const Words words = {"--node", "venue:1", "--samples", "1", "--json"};
  const Json json = Json::parse(text(similar(words)));
  const Json& times = json.at("times");
  ASSERT_EQ(times.size(), 3U);
  EXPECT_EQ(times.at(2), "2019");
  EXPECT_LT(times.at(0), times.at(1));
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(json.at("nodes").at(i).at("time"), times.at(i));
  const std::string table = text(similar({"--node", "venue:1", "--samples", "1"}));
  const std::string stated = ", at " + times.at(0).get<std::string>() + ", " +
                             times.at(1).get<std::string>() + ", 2019; euclidean";
  EXPECT_TRUE(contains(table, stated)) << stated << "\nis not in\n" << table;
}

TEST_F(InsightProgram, ComparesOnlyWithWhatCarriesALabel) {
  const auto label = graph_.find_label(type("venue"), "kind");
  ASSERT_TRUE(label.has_value());
  const auto& classes = graph_.schema().at(type("venue")).labels[*label].classes;
  const auto kind_of = [&](const std::string& id) {
    return classes[graph_.label_classes(type("venue"), *label, *graph_.find(type("venue"), id))[0]];
  };
  Words words = {"--node", "venue:1", "--at",   "2019",    "--samples",      "1",
                 "--top",  "60",      "--json", "--where", "kind=conference"};
  const auto kinds = [&](const Json& json) {
    std::map<std::string, size_t> counts;
    for (const Json& other : json.at("nodes").at(0).at("nearest"))
      ++counts[kind_of(other.at("id"))];
    return counts;
  };
  const Json conferences = Json::parse(text(similar(words)));
  EXPECT_TRUE(conferences.at("among").get<std::string>().ends_with("venue with kind=conference"));
  EXPECT_EQ(kinds(conferences).size(), 1U);
  EXPECT_GT(kinds(conferences)["conference"], 5U);
  words.insert(words.end(), {"--where", "kind=journal"});
  const Json both = Json::parse(text(similar(words)));
  EXPECT_EQ(kinds(both).size(), 2U);
  EXPECT_GT(kinds(both)["journal"], 5U);
  words.insert(words.end(), {"--among", "6"});
  const Json few = Json::parse(text(similar(words)));
  EXPECT_TRUE(few.at("among").get<std::string>().starts_with("the 6 most cited of "));
  EXPECT_LE(few.at("nodes").at(0).at("nearest").size(), 6U);
}

TEST_F(InsightProgram, NamesTheLabelsAndClassesThatThereAre) {
  const auto where = [](const char* condition) {
    return similar({"--node", "venue:1", "--where", condition});
  };
  expect_failure(where("conference"), 1, "'conference' is not LABEL=CLASS");
  expect_failure(where("type=conference"), 1,
                 "nodes of type venue have no label 'type'; their labels: kind");
  expect_failure(where("kind=Conference"), 1,
                 "label 'kind' of type venue has no class 'Conference'; its classes: conference, "
                 "journal, preprint");
}

TEST_F(InsightProgram, ComparesPapersAtTheirOwnTime) {
  const std::string node = "paper:" + graph_.id(type("paper"), 9);
  const Json json = Json::parse(text(similar({"--node", node, "--among", "30", "--json"})));
  EXPECT_EQ(json.at("layer"), 3);
  EXPECT_EQ(json.at("nodes").at(0).at("time"), "");
  EXPECT_EQ(json.at("nodes").at(0).at("nearest").size(), 5U);
  expect_failure(similar({"--node", node, "--at", "2010"}), 1, "they have a time of their own");
}

TEST_F(InsightProgram, RefusesNodesThatItCannotTell) {
  expect_failure(similar({"--node", "venue:No such venue"}), 1,
                 "there is no node of type venue with the id 'No such venue'");
  expect_failure(similar({"--node", "movie:Alien"}), 1, "movie");
  expect_failure(similar({"--node", "KDD"}), 1, "'KDD' is not TYPE:ID");
  expect_failure(similar({"--node", "venue:1", "--node", "author:1"}), 1,
                 "--node: all nodes must be of one type");
  expect_failure(similar({"--node", "venue:1@2010"}), 1, "--node: give times with --at");
  std::map<std::string, NodeId> authors;
  std::string shared_name;
  for (NodeId node = 0; node < graph_.num_nodes(type("author")); ++node) {
    const std::string name(graph_.name(type("author"), node));
    if (!authors.emplace(name, node).second) shared_name = name;
  }
  ASSERT_NE(shared_name, "");
  const std::string first = graph_.id(type("author"), authors.at(shared_name));
  expect_failure(similar({"--node", "author:" + shared_name}), 1,
                 "nodes of type author have the name '" + shared_name + "', the first two with " +
                     "the ids " + first + " and ");
}

TEST_F(InsightProgram, RefusesTimesAndNumbersThatAreNone) {
  expect_failure(similar({"--node", "venue:1", "--at", "2010,soon"}), 1,
                 "--at: 'soon' is not a time in the unit year; an example is 2019");
  expect_failure(similar({"--node", "venue:1", "--top", "0"}), 2, "--top");
  expect_failure(similar({"--node", "venue:1", "--layer", "4"}), 1,
                 "layer is 4; the model has layers 1 to 3");
}

TEST_F(InsightProgram, RefusesOptionsThatWouldDoNothing) {
  expect_failure(similar({"--node", "venue:1", "--by", "links"}), 1, "--among");
  text(similar({"--node", "venue:1", "--by", "links", "--among", "5", "--samples", "1"}));
  const Words report = {"--json", "--out", (folder_ / "report.json").string()};
  const auto with = [&](const char* flag, const char* value) {
    Words words = verb("report", report);
    words.insert(words.end(), {flag, value});
    return words;
  };
  expect_failure(with("--node", "venue:1@2010"), 1, "--node: give times with --at");
  const std::string floor = (folder_ / "floor.run").string();
  const Words train = {"train",     graph_folder(),
                       "--task",    "paper-venue",
                       "--run",     floor,
                       "--model",   "majority",
                       "--hidden",  "8",
                       "--heads",   "2",
                       "--width",   "6",
                       "--depth",   "2",
                       "--batches", "1",
                       "--threads", "1",
                       "--quiet"};
  EXPECT_EQ(run_program(folder_.path(), train).exit_code, 0);
  expect_failure({"similar", floor, "--node", "paper:1"}, 1, "has no vectors for nodes");
  for (const auto& [flag, value] : std::map<const char*, const char*>{
           {"--node", "venue:1"}, {"--at", "2010"}, {"--among", "5"}}) {
    Words words = with(flag, value);
    words[1] = floor;
    expect_failure(words, 1, "are about evolution over time, which " + floor + " does not have");
  }
  EXPECT_FALSE(fs::exists(folder_ / "report.json"));
}

// --- report ---

std::string page_file() {
  return (Path(HGT_PROGRAM).parent_path() / "share" / "hgt" / "page.html").string();
}

#define SKIP_WITHOUT_A_PAGE() \
  if (!fs::exists(page_file())) GTEST_SKIP() << page_file() << " was not built (HGT_PAGE, npm)"

TEST_F(InsightProgram, WritesAPageWithTheReportInIt) {
  SKIP_WITHOUT_A_PAGE();
  const std::string out = (folder_ / "report.html").string();
  EXPECT_EQ(text(verb("report", {"--out", out, "--among", "8"})), out + "\n");
  const std::string page = read_bytes(out);
  const std::string opening = R"(<script id="report" type="application/json">)";
  const size_t first = page.find(opening);
  ASSERT_NE(first, std::string::npos);
  const size_t from = first + opening.size();
  const Json json = Json::parse(page.substr(from, page.find('<', from) - from));
  EXPECT_EQ(json.at("live"), false);
  EXPECT_EQ(json.at("runs").at(0).at("name"), "tiny.run");
  EXPECT_FALSE(json.at("runs").at(0).at("evolution").is_null());
  EXPECT_FALSE(holds_partial(folder_.path()));
}

TEST_F(InsightProgram, WritesTheDataAlone) {
  const std::string out = (folder_ / "report.json").string();
  const Words words = {"report",
                       run(),
                       run(),
                       "--json",
                       "--quiet",
                       "--threads",
                       "1",
                       "--out",
                       out,
                       "--node",
                       "venue:" + venue_name(),
                       "--at",
                       "2010,2019",
                       "--among",
                       "10",
                       "--split",
                       "validation"};
  EXPECT_EQ(text(words), out + "\n");
  const Json json = Json::parse(read_bytes(out));
  ASSERT_EQ(json.at("runs").size(), 2U);
  const Json& report = json.at("runs").at(0);
  EXPECT_EQ(report.at("confusion").at("split"), "validation");
  EXPECT_EQ(report.at("evolution").at("times"), (Json{"2010", "2019"}));
  EXPECT_EQ(report.at("evolution").at("focus").at(0).at("name"), venue_name());
  EXPECT_EQ(json.at("runs").at(1), report);
}

TEST_F(InsightProgram, SaysWhereAReportCannotBeWrittenOrMade) {
  const std::string nowhere = (folder_ / "no" / "report.json").string();
  expect_failure(verb("report", {"--json", "--out", nowhere}), 1, nowhere + ": cannot be written");
  expect_failure(verb("report", {"--json", "--out", folder_.path().string()}), 1,
                 folder_.path().string() + ": is a folder");
  EXPECT_FALSE(holds_partial(folder_.path()));
  const std::string file = (folder_ / "report.json").string();
  expect_failure({"report", (folder_ / "none").string(), "--json", "--out", file}, 1, "not a run");
  EXPECT_FALSE(fs::exists(file) || holds_partial(folder_.path()));
}

// --- view ---

// The port in the line that the program prints once it listens.
uint16_t printed_port(const fs::path& out) {
  const std::string before = "http://127.0.0.1:";
  const auto end = Clock::now() + std::chrono::seconds(30);
  while (Clock::now() < end) {
    const std::string line = read_bytes(out);
    const size_t at = line.find(before);
    if (at != std::string::npos && line.ends_with('\n')) {
      return static_cast<uint16_t>(std::stoi(line.substr(at + before.size())));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return 0;
}

TEST_F(InsightProgram, ShowsARunUntilItIsInterrupted) {
  SKIP_WITHOUT_A_PAGE();
  Clock::time_point interrupted;
  fs::remove(folder_ / "stdout");
  const Outcome outcome = run_program(
      folder_.path(), {"view", run(), "--port", "0", "--threads", "1"}, [&](pid_t process) {
        const uint16_t port = printed_port(folder_ / "stdout");
        EXPECT_NE(port, 0);
        EXPECT_EQ(get(port, "/").body(), read_bytes(page_file()));
        const Json report = Json::parse(get(port, "/api/report").body());
        EXPECT_EQ(report.at("live"), true);
        EXPECT_EQ(get(port, "/api/node?type=venue&id=1").status(), 200);
        EXPECT_EQ(get(port, "/api/similar?type=venue&id=1&top=2").status(), 200);
        interrupted = Clock::now();
        ::kill(process, SIGINT);
      });
  EXPECT_LT(Clock::now() - interrupted, std::chrono::seconds(5));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_TRUE(contains(outcome.out, " shows " + run() + "; press Ctrl-C to stop\n")) << outcome.out;
}

TEST_F(InsightProgram, RefusesToShowWhatItCannot) {
  SKIP_WITHOUT_A_PAGE();
  expect_failure({"view", (folder_ / "none").string()}, 1, "not a run");
  expect_failure({"view", run(), "--port", "70000"}, 2, "--port");
  expect_failure({"view", run(), "--address", "8.8.8.8", "--port", "0"}, 1, "8.8.8.8");
}

}  // namespace
}  // namespace hgt
