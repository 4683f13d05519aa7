// The routes of a run's viewer, asked over HTTP as a browser would.
#include "hgt/viewer/run_viewer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "hgt/http/raw_client_test.h"
#include "hgt/insight/insight_test_runs.h"

namespace hgt {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;
using Names = std::set<std::string>;

constexpr const char* kPage = "<html>page</html>";

Names members(const Json& json) {
  Names names;
  for (const auto& [name, unused] : json.items()) names.insert(name);
  return names;
}

ReportOptions quick_report() { return {.among = 8, .examples = 20, .batches = 2}; }

// A viewer that is served until it is destroyed.
class Viewed {
 public:
  explicit Viewed(const hgt::Run& run,
                  const ViewerOptions& options = {.report = quick_report(), .among = 20},
                  const HttpOptions& http = {})
      : viewer_(run, kPage, options),
        server_([&](HttpServer& server) { viewer_.add_routes(server); }, http) {}

  RawAnswer answer(const std::string& target) const { return get(server_.port(), target); }
  // The answer must be one.
  Json json(const std::string& target) const {
    const RawAnswer got = answer(target);
    EXPECT_EQ(got.status(), 200) << target << '\n' << got.text << got.trouble;
    EXPECT_TRUE(got.has("application/json; charset=utf-8")) << target;
    return Json::parse(got.body());
  }
  // The refusal's sentence, whose status must be that.
  std::string refusal(int status, const std::string& target) const {
    const RawAnswer got = answer(target);
    EXPECT_EQ(got.status(), status) << target << '\n' << got.text.substr(0, 300);
    EXPECT_NE(got.error(), "") << target;
    return got.error();
  }
  RunningServer& server() { return server_; }

 private:
  RunViewer viewer_;
  RunningServer server_;
};

// One for all tests that do not stop it.
class RunViewerRoutes : public testing::Test {
 protected:
  static void SetUpTestSuite() { viewed = new Viewed(tiny_run()); }
  static void TearDownTestSuite() { delete viewed; }

  static inline Viewed* viewed = nullptr;
  const hgt::Run& run_ = tiny_run();
  const HeteroGraph& graph_ = run_.task().graph();
};

// --- page and report ---

TEST_F(RunViewerRoutes, GiveThePageAsItIs) {
  const RawAnswer answer = viewed->answer("/");
  EXPECT_EQ(answer.status(), 200);
  EXPECT_EQ(answer.body(), kPage);
  EXPECT_TRUE(answer.has("text/html; charset=utf-8"));
  EXPECT_TRUE(answer.has("connect-src 'self'"));
  EXPECT_TRUE(answer.has("default-src 'none'"));
  EXPECT_EQ(viewed->answer("/api").status(), 404);
  EXPECT_EQ(viewed->answer("/index.html").status(), 404);
}

TEST_F(RunViewerRoutes, GiveAReportOfTheFiles) {
  const Json json = viewed->json("/api/report");
  EXPECT_EQ(members(json), (Names{"hgt", "made", "live", "runs"}));
  EXPECT_EQ(json.at("live"), true);
  ASSERT_EQ(json.at("runs").size(), 1U);
  EXPECT_EQ(json.at("runs").at(0), Json(RunReport(run_, quick_report()).from_files()));
}

TEST_F(RunViewerRoutes, GiveSectionsThatAreMadeOnce) {
  const RunReport report(run_, quick_report());
  const std::map<std::string, OrderedJson> expected = {{"/api/confusion", report.confusion()},
                                                       {"/api/attention", report.attention()},
                                                       {"/api/evolution", report.evolution()},
                                                       {"/api/balance", report.balance()}};
  for (const auto& [path, section] : expected) {
    EXPECT_EQ(viewed->json(path), Json(section)) << path;
    EXPECT_EQ(viewed->answer(path).body(), json_text(section)) << path;
    EXPECT_EQ(viewed->answer(path + "?a=1").status(), 400);
  }
}

// --- search ---

TEST_F(RunViewerRoutes, FindNodesByIdAndName) {
  const NodeType venue = type_in(run_, "venue");
  const std::string name(graph_.name(venue, 7));
  const Json found = viewed->json("/api/search?type=venue&q=" + graph_.id(venue, 7));
  ASSERT_FALSE(found.at("nodes").empty());
  EXPECT_EQ(found.at("nodes").at(0),
            (Json{{"type", "venue"}, {"id", graph_.id(venue, 7)}, {"name", name}, {"time", ""}}));
  EXPECT_EQ(members(found), (Names{"nodes", "stopped_early"}));
  const NodeType paper = type_in(run_, "paper");
  const Json papers = viewed->json("/api/search?type=paper&q=" + graph_.id(paper, 3));
  EXPECT_EQ(papers.at("nodes").at(0).at("time"), std::to_string(graph_.time(paper, 3)));
}

TEST_F(RunViewerRoutes, FindAtMostTwentyNodesOfAllTypes) {
  for (const char* query : {"/api/search", "/api/search?type=&q=", "/api/search?q=e"}) {
    EXPECT_EQ(viewed->json(query).at("nodes").size(), 20U) << query;
  }
  EXPECT_TRUE(viewed->json("/api/search?q=no-such-thing-at-all").at("nodes").empty());
}

TEST_F(RunViewerRoutes, StandAnyTextThatIsSearchedFor) {
  for (const char* text :
       {"%C3%A9t%C3%A9", "%E4%B8%AD%E6%96%87", "%22%3Cb%3E%26", "%F0%9F%98%80"}) {
    EXPECT_TRUE(viewed->json(fmt::format("/api/search?q={}", text)).at("nodes").empty()) << text;
  }
  const std::string much(3000, 'x');
  EXPECT_TRUE(viewed->json("/api/search?q=" + much).at("nodes").empty());
  EXPECT_GE(viewed->answer("/api/search?q=" + std::string(20000, 'x')).status(), 400);
  viewed->refusal(400, "/api/search?q=%FF");
  viewed->refusal(404, "/api/search?type=movie&q=x");
}

// --- nodes ---

TEST_F(RunViewerRoutes, ExplainANode) {
  const std::string id = graph_.id(type_in(run_, "paper"), 5);
  const Json json = viewed->json("/api/node?type=paper&id=" + id);
  for (const char* member : {"node", "prediction", "truth", "neighbors", "attention"}) {
    EXPECT_TRUE(json.contains(member)) << member;
  }
  EXPECT_EQ(members(json.at("node")), (Names{"type", "id", "name", "time"}));
  EXPECT_EQ(json.at("node").at("id"), id);
  EXPECT_EQ(members(json.at("prediction").at(0)), (Names{"class", "name", "probability"}));
  EXPECT_EQ(members(json.at("neighbors").at(0)), (Names{"node", "relations", "share", "without"}));
  for (const char* form : {"shares", "means"}) {
    EXPECT_EQ(json.at("attention").at(form).at("target"), "paper") << form;
  }
  EXPECT_FALSE(json.at("truth").empty());
}

TEST_F(RunViewerRoutes, ExplainNodesOfOtherTypesWithoutAPrediction) {
  for (const char* type : {"venue", "author", "field", "institute"}) {
    const std::string id = graph_.id(type_in(run_, type), 3);
    const Json json = viewed->json(fmt::format("/api/node?type={}&id={}", type, id));
    EXPECT_TRUE(json.at("prediction").is_null()) << type;
    EXPECT_EQ(json.at("node").at("type"), type);
    EXPECT_EQ(json.at("node").at("time"), "2019");
  }
}

TEST_F(RunViewerRoutes, RefuseNodesThatAreNone) {
  for (const char* route : {"/api/node", "/api/similar"}) {
    const auto with = [&](const char* query) { return std::string(route) + query; };
    EXPECT_EQ(viewed->refusal(404, with("?type=movie&id=1")), "there is no node type 'movie'");
    EXPECT_EQ(viewed->refusal(404, with("?type=venue&id=none")),
              "there is no node of type venue with the id 'none'");
    EXPECT_EQ(viewed->refusal(400, with("?type=venue")), "the parameter 'id' is missing");
    EXPECT_EQ(viewed->refusal(400, with("?type=venue&id=")), "the parameter 'id' is missing");
    EXPECT_EQ(viewed->refusal(400, with("?id=1")), "the parameter 'type' is missing");
    EXPECT_EQ(viewed->refusal(400, with("")), "the parameter 'type' is missing");
    viewed->refusal(400, with("?type=venue&id=1&more=2"));
  }
}

// --- similar ---

TEST_F(RunViewerRoutes, NameTheNodesThatAreAlike) {
  const NodeType venue = type_in(run_, "venue");
  const std::string query = "/api/similar?type=venue&id=" + graph_.id(venue, 2);
  const Json json = viewed->json(query + "&at=2010&top=3");
  EXPECT_EQ(members(json), (Names{"time", "among", "is_there", "recall", "nearest"}));
  EXPECT_EQ(json.at("time"), "2010");
  EXPECT_EQ(json.at("among"), "the 20 most cited of 60 nodes of type venue");
  Similarity similarity(run_, venue, {.among = 20});
  const auto expected = similarity.nearest(2, 2010, 3);
  ASSERT_EQ(json.at("nearest").size(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(json.at("nearest").at(i), (Json{{"id", graph_.id(venue, expected[i].node)},
                                              {"name", graph_.name(venue, expected[i].node)},
                                              {"distance", expected[i].distance},
                                              {"similarity", expected[i].similarity}}));
  }
  EXPECT_EQ(viewed->json(query + "&at=2010&top=3"), json);
  EXPECT_EQ(viewed->json(query).at("nearest").size(), 10U);
  EXPECT_EQ(viewed->json(query).at("time"), "2019");
  EXPECT_EQ(viewed->json(query + "&at=").at("time"), "2019");
  const NodeId known = most_prominent(graph_, venue, Standing::citations, 1)[0];
  const std::string one_of_them = "/api/similar?type=venue&id=" + graph_.id(venue, known);
  EXPECT_EQ(viewed->json(one_of_them + "&top=50").at("nearest").size(), 19U);
}

TEST_F(RunViewerRoutes, SayWhetherANodeIsThereYet) {
  const NodeType venue = type_in(run_, "venue");
  const std::vector<Time> first = first_times(graph_, venue);
  const auto late = std::find_if(first.begin(), first.end(), [](Time t) { return t > 2000; });
  ASSERT_NE(late, first.end());
  const std::string id = graph_.id(venue, static_cast<NodeId>(late - first.begin()));
  const std::string query = "/api/similar?type=venue&id=" + id + "&top=1&at=";
  EXPECT_EQ(viewed->json(query + std::to_string(*late - 1)).at("is_there"), false);
  EXPECT_EQ(viewed->json(query + std::to_string(*late)).at("is_there"), true);
  EXPECT_TRUE(viewed->json(query).at("recall").is_null());  // all were compared
}

TEST_F(RunViewerRoutes, NameThePapersThatAreAlikeWithoutATime) {
  const std::string query = "/api/similar?type=paper&id=" + graph_.id(type_in(run_, "paper"), 2);
  EXPECT_EQ(viewed->json(query).at("time"), "");
  EXPECT_EQ(viewed->json(query + "&top=2").at("nearest").size(), 2U);
  EXPECT_EQ(viewed->refusal(400, query + "&at=2010"),
            "nodes of this type cannot be given a time; leave it out");
}

TEST_F(RunViewerRoutes, RefuseTimesAndNumbersThatAreNone) {
  const std::string query = "/api/similar?type=venue&id=" + graph_.id(type_in(run_, "venue"), 2);
  for (const char* top : {"0", "-1", "51", "x", "3x", "", "99999999999999999999", "1.5", "+3"}) {
    const std::string error = viewed->refusal(400, query + "&top=" + top);
    EXPECT_TRUE(contains(error, "is not a number from 1 to 50")) << error;
  }
  for (const char* at : {"soon", "2010-13", "NaN", "2010;"}) {
    const std::string error = viewed->refusal(400, query + "&at=" + at);
    EXPECT_TRUE(contains(error, "is not a time in the unit year")) << error;
  }
  for (const char* at : {"0001", "9999", "1990-05-02"}) viewed->json(query + "&top=1&at=" + at);
}

// --- many at once ---

TEST_F(RunViewerRoutes, AnswerManyAtOnce) {
  const std::string paper = graph_.id(type_in(run_, "paper"), 1);
  const std::string venue = graph_.id(type_in(run_, "venue"), 1);
  const std::vector<std::string> targets = {"/",
                                            "/api/report",
                                            "/api/search?q=a",
                                            "/api/node?type=paper&id=" + paper,
                                            "/api/similar?type=venue&id=" + venue,
                                            "/api/balance",
                                            "/api/evolution",
                                            "/api/similar?type=venue&id=" + venue + "&at=2003"};
  std::vector<int> statuses(32);
  std::vector<std::thread> clients;
  for (size_t i = 0; i < statuses.size(); ++i) {
    clients.emplace_back(
        [&, i] { statuses[i] = viewed->answer(targets[i % targets.size()]).status(); });
  }
  for (std::thread& client : clients) client.join();
  for (size_t i = 0; i < statuses.size(); ++i) {
    EXPECT_TRUE(statuses[i] == 200 || statuses[i] == 503) << targets[i % 8] << ": " << statuses[i];
    if (i % targets.size() < 3) {
      EXPECT_EQ(statuses[i], 200) << targets[i % 8];
    }
  }
  EXPECT_EQ(viewed->answer("/api/balance").status(), 200);
}

// --- ends ---

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

TEST(RunViewer, EndsWhileARequestIsComputed) {
  ReportOptions much = quick_report();
  much.batches = 1000000;  // hours
  Viewed viewed(tiny_run(), {.report = much});
  RawAnswer answer;
  std::thread client([&] { answer = viewed.answer("/api/balance"); });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const auto start = Clock::now();
  viewed.server().end();
  client.join();
  EXPECT_LT(seconds_since(start), 5);
  EXPECT_TRUE(answer.status() == 503 || answer.status() == 0) << answer.text;
}

TEST(RunViewer, GivesUpWhatTakesTooLong) {
  ReportOptions much = quick_report();
  much.batches = 1000000;
  const Viewed viewed(tiny_run(), {.report = much, .patience = std::chrono::milliseconds(100)});
  const auto start = Clock::now();
  const std::string error = viewed.refusal(503, "/api/balance");
  EXPECT_TRUE(contains(error, "this takes longer than")) << error;
  EXPECT_LT(seconds_since(start), 5);
  EXPECT_EQ(viewed.answer("/api/report").status(), 200);
  viewed.refusal(503, "/api/balance");  // what was given up is not kept
}

TEST(RunViewer, GivesUpQuestionsAboutNodesThatTakeTooLong) {
  const hgt::Run& run = tiny_run();
  const Viewed viewed(run, {.report = quick_report(), .patience = std::chrono::milliseconds(0)});
  for (const char* type : {"paper", "venue"}) {
    const std::string id = run.task().graph().id(type_in(run, type), 5);
    for (const char* route : {"/api/node", "/api/similar"}) {
      viewed.refusal(503, fmt::format("{}?type={}&id={}", route, type, id));
    }
  }
}

TEST(RunViewer, ReadsTheModelOnceForAllNodes) {
  const TestFolder folder;
  hgt::Run run = hgt::Run::create(folder / "run", tiny_options({}));
  run.train();
  const Viewed viewed(run);
  const std::string query =
      "/api/node?type=paper&id=" + run.task().graph().id(type_in(run, "paper"), 5);
  const Json first = viewed.json(query);
  std::filesystem::remove(folder / "run" / "seed-1" / "best.safetensors");
  EXPECT_EQ(viewed.json(query), first);
}

TEST(RunViewer, GivesUpWhatNobodyWaitsForAnyMore) {
  ReportOptions much = quick_report();
  much.batches = 1000000;  // hours
  Viewed viewed(tiny_run(), {.report = much});
  {
    const RawClient client(viewed.server().port());
    client.send("GET /api/balance HTTP/1.1\r\nHost: localhost\r\n\r\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  const auto start = Clock::now();
  viewed.json("/api/confusion");
  EXPECT_LT(seconds_since(start), 20);
}

// --- other runs ---

TEST(RunViewer, KeepsTheSectionsThatItMade) {
  const TestFolder folder;
  hgt::Run run = hgt::Run::create(folder / "run", tiny_options({}));
  run.train();
  const Viewed viewed(run);
  const Json first = viewed.json("/api/confusion");
  std::filesystem::remove(folder / "run" / "seed-1" / "best.safetensors");
  EXPECT_EQ(viewed.json("/api/confusion"), first);
  viewed.refusal(500, "/api/attention");
}

TEST(RunViewer, AnswersForAModelThatPaysNoAttention) {
  const hgt::Run& run = tiny_run({.kind = ModelKind::gcn});
  const Viewed viewed(run);
  EXPECT_TRUE(viewed.json("/api/attention").is_null());
  const std::string id = run.task().graph().id(type_in(run, "paper"), 5);
  const Json json = viewed.json("/api/node?type=paper&id=" + id);
  EXPECT_TRUE(json.at("attention").is_null());
  EXPECT_FALSE(json.at("prediction").is_null());
  EXPECT_TRUE(json.at("neighbors").empty());
}

TEST(RunViewer, AnswersForAGraphWithoutTimesAndNamesOfAnyBytes) {
  const TestGraph graph = ratings(false);
  const hgt::Run& run =
      tiny_run({.task = "user:mood", .graph = graph.path(), .adjust = split_at_random});
  const Viewed viewed(run, {.report = quick_report()});
  EXPECT_TRUE(viewed.json("/api/evolution").is_null());
  const Json found = viewed.json("/api/search?type=user&q=u4");
  EXPECT_EQ(found.at("nodes").at(0).at("name"),
            "User \xEF\xBF\xBD"
            "4");
  const Json similar = viewed.json("/api/similar?type=user&id=u4&top=2");
  EXPECT_EQ(similar.at("time"), "");
  EXPECT_EQ(similar.at("nearest").size(), 2U);
  EXPECT_EQ(similar.at("among"), "all 30 of type user");
  viewed.refusal(400, "/api/similar?type=user&id=u4&at=2010");
  EXPECT_EQ(viewed.json("/api/node?type=user&id=u4").at("node").at("time"), "");
}

TEST(RunViewer, SaysThatAModelHasNoVectors) {
  const hgt::Run& run = tiny_run({.kind = ModelKind::majority});
  const Viewed viewed(run);
  EXPECT_TRUE(viewed.json("/api/evolution").is_null());
  const std::string id = run.task().graph().id(type_in(run, "paper"), 5);
  const std::string error = viewed.refusal(404, "/api/similar?type=paper&id=" + id);
  EXPECT_TRUE(contains(error, "has no vectors for nodes")) << error;
}

TEST(RunViewer, SaysWhatARunHasNotBeenTrainedFor) {
  const hgt::Run& shallow = tiny_run({.layers = 2});
  const Viewed viewed(shallow);
  const std::string id = shallow.task().graph().id(type_in(shallow, "venue"), 5);
  const RawAnswer venue = viewed.answer("/api/similar?type=venue&id=" + id);
  EXPECT_TRUE(contains(venue.error(), "makes no use of what nodes of type venue read"))
      << venue.text;
  EXPECT_GE(venue.status(), 400);
  const TestFolder folder;
  const hgt::Run fresh = hgt::Run::create(folder / "run", tiny_options({}));
  const Viewed untrained(fresh);
  EXPECT_TRUE(untrained.json("/api/report").at("runs").at(0).at("training").is_null());
  const RawAnswer confusion = untrained.answer("/api/confusion");
  EXPECT_TRUE(contains(confusion.error(), "has no trained weights yet")) << confusion.text;
}

}  // namespace
}  // namespace hgt
