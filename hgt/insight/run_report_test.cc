// What a report holds: the members that the page expects, with what the model says.
#include "hgt/insight/run_report.h"

#include <gtest/gtest.h>

#include <limits>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "hgt/error.h"
#include "hgt/graph/time_text.h"
#include "hgt/insight/batch_balance.h"
#include "hgt/insight/confusion.h"
#include "hgt/insight/evolution.h"
#include "hgt/insight/report_test_members.h"

namespace hgt {
namespace {

// --- times ---

Schema schema_of(TimeUnit unit, Time first, Time last) {
  Schema schema;
  schema.time_unit = unit;
  schema.time_range = {first, last};
  return schema;
}

TEST(TimeSteps, AreAllTimesOrSixtySpreadOnes) {
  EXPECT_TRUE(time_steps(Schema()).empty());
  EXPECT_EQ(time_steps(schema_of(TimeUnit::year, 2007, 2007)), (Words{"2007"}));
  EXPECT_EQ(time_steps(schema_of(TimeUnit::year, 2007, 2010)),
            (Words{"2007", "2008", "2009", "2010"}));
  EXPECT_EQ(time_steps(schema_of(TimeUnit::year, 1951, 2010)).size(), 60U);
  constexpr Time kMost = std::numeric_limits<Time>::max();
  const std::vector<Schema> schemas = {
      schema_of(TimeUnit::year, 1900, 2010), schema_of(TimeUnit::month, 23000, 23061),
      schema_of(TimeUnit::day, -20000, 20000), schema_of(TimeUnit::second, -kMost, kMost)};
  for (const Schema& schema : schemas) {
    const Words steps = time_steps(schema);
    ASSERT_EQ(steps.size(), 60U);
    EXPECT_EQ(steps.front(), format_time(schema.time_range->first, schema.time_unit));
    EXPECT_EQ(steps.back(), format_time(schema.time_range->second, schema.time_unit));
    for (size_t i = 1; i < steps.size(); ++i) EXPECT_LT(steps[i - 1], steps[i]);
  }
}

// --- the type that evolves ---

TEST(EvolvingType, IsThatOfTheAnswersElseTheSmallestWithAHistory) {
  const auto name = [](const TinyRun& what) {
    const TestFolder folder;
    const hgt::Run run = hgt::Run::create(folder / "run", tiny_options(what));
    const auto type = evolving_type(run);
    return type ? run.task().graph().schema().at(*type).name : "";
  };
  EXPECT_EQ(name({.task = "paper-venue", .layers = 3}), "venue");
  EXPECT_EQ(name({.task = "paper-venue", .layers = 2}), "author");  // venues are not trained
  EXPECT_EQ(name({.task = "paper-venue", .layers = 1}), "");
  EXPECT_EQ(name({.task = "paper-field-L1", .layers = 2}), "field");
  EXPECT_EQ(name({.task = "author-disambiguation", .layers = 1}), "author");
  EXPECT_EQ(name({.task = "link:cites", .layers = 2}), "venue");  // papers are events
  EXPECT_EQ(name({.task = "venue:kind", .layers = 1, .adjust = split_at_random}), "venue");
  EXPECT_EQ(name({.task = "link:affiliated", .layers = 1}), "author");  // institutes: no papers
  EXPECT_EQ(name({.task = "field:level", .layers = 3, .adjust = split_at_random}), "venue");
  for (const bool dated : {false, true}) {
    const TestGraph graph = ratings(dated);
    EXPECT_EQ(name({.task = "user:mood", .graph = graph.path(), .adjust = split_at_random}), "");
  }
}

// --- sections ---

TEST(ReportSections, HaveTheMembersThatThePageExpectsAndTheRightNumbers) {
  const hgt::Run& run = scored_run();
  const RunReport report(run, quick_report());
  const Json confusion = Json(report.confusion());
  EXPECT_EQ(members(confusion), declared("Confusion"));
  const auto counted = count_confusion(run, Split::test, {.examples = 20, .classes = 4});
  EXPECT_EQ(confusion.at("split"), "test");
  EXPECT_EQ(confusion.at("counts"), Json(counted->counts));
  EXPECT_EQ(confusion.at("classes"), Json(counted->classes));
  EXPECT_EQ(confusion.at("examples"), 20);
  const Json attention = Json(report.attention());
  EXPECT_EQ(members(attention), declared("Attention"));
  for (const auto& [form, tree] : attention.items()) {
    Names names = members(tree);
    names.erase("others");  // which may be there, as in branches
    EXPECT_EQ(names, declared("AttentionTree"));
    EXPECT_EQ(tree.at("form"), form);
    EXPECT_EQ(tree.at("target"), "paper");
    EXPECT_EQ(tree.at("children").size(), 4U);
  }
  const Json balance = Json(report.balance());
  EXPECT_EQ(members(balance), declared("Balance"));
  const BatchBalance means = mean_balance(run, 2);
  ASSERT_EQ(balance.at("nodes").size(), means.nodes.size());
  ASSERT_EQ(balance.at("edges").size(), means.edges.size());
  EXPECT_EQ(balance.at("batches"), 2);
  EXPECT_EQ(balance.at("nodes").at(0), (Json{{"type", "paper"}, {"mean", means.nodes[0]}}));
  EXPECT_EQ(balance.at("edges").at(0),
            (Json{{"relation", run.task().graph().schema().describe(Relation(0))},
                  {"mean", means.edges[0]}}));
}

TEST(ReportSections, TellTheEvolutionAsItIs) {
  const hgt::Run& run = scored_run();
  const HeteroGraph& graph = run.task().graph();
  const NodeType venue = type_in(run, "venue");
  const Json json = Json(RunReport(run, quick_report()).evolution());
  EXPECT_EQ(members(json), declared("Evolution"));
  EXPECT_EQ(json.at("type"), "venue");
  EXPECT_EQ(json.at("layer"), 1);
  EXPECT_EQ(json.at("among"), "the 8 most cited of 60 nodes of type venue");
  Similarity similarity(run, venue, {.among = 8});
  const Evolution expected = evolve(similarity, {});
  ASSERT_EQ(json.at("times").size(), expected.times.size());
  ASSERT_EQ(json.at("focus").size(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    const Json& focus = json.at("focus").at(i);
    EXPECT_EQ(members(focus), declared("Focus"));
    EXPECT_EQ(focus.at("id"), graph.id(venue, expected.focus[i].node));
    EXPECT_EQ(focus.at("name"), graph.name(venue, expected.focus[i].node));
    ASSERT_EQ(focus.at("lines").size(), expected.focus[i].lines.size());
    for (size_t k = 0; k < focus.at("lines").size(); ++k) {
      const Json& line = focus.at("lines").at(k);
      const EvolutionLine& own = expected.focus[i].lines[k];
      EXPECT_EQ(members(line), (Names{"id", "name", "similarity"}));
      EXPECT_EQ(line.at("id"), graph.id(venue, own.node));
      EXPECT_EQ(line.at("similarity"), Json(own.similarity));
    }
  }
  for (size_t i = 0; i < expected.times.size(); ++i) {
    const Json& step = json.at("map").at(i);
    EXPECT_EQ(members(step), declared("MapStep"));
    EXPECT_EQ(step.at("time"), std::to_string(expected.times[i]));
    EXPECT_EQ(json.at("times").at(i), step.at("time"));
    ASSERT_EQ(step.at("points").size(), expected.map[i].size());
    const auto& [node, place] = expected.map[i][0];
    EXPECT_EQ(step.at("points").at(0), (Json{{"id", graph.id(venue, node)},
                                             {"name", graph.name(venue, node)},
                                             {"x", place[0]},
                                             {"y", place[1]}}));
  }
}

TEST(ReportSections, FollowTheNodesAndTimesThatTheyAreTold) {
  const hgt::Run& run = scored_run();
  const NodeType author = type_in(run, "author");
  ReportOptions options = quick_report();
  const auto authors = most_prominent(run.task().graph(), author, Standing::citations, 12);
  options.focus = {{.type = author, .node = authors[0]}, {.type = author, .node = authors[11]}};
  options.times = {1960, 2015};
  const Json json = Json(RunReport(run, options).evolution());
  EXPECT_EQ(json.at("type"), "author");
  EXPECT_EQ(json.at("times"), (Json{"1960", "2015"}));
  EXPECT_EQ(json.at("focus").size(), 2U);
  EXPECT_TRUE(json.at("map").at(0).at("points").empty());  // nobody is there yet
  const Json& line = json.at("focus").at(0).at("lines").at(0);
  EXPECT_TRUE(line.at("similarity").at(0).is_null());
  EXPECT_TRUE(line.at("similarity").at(1).is_number());
  options.focus.push_back({.type = type_in(run, "venue"), .node = 1});
  const std::string error = error_of([&] { RunReport(run, options); });
  EXPECT_TRUE(contains(error, "must be of one type")) << error;
}

TEST(ReportSections, HaveNoEvolutionOfAModelThatReadsNoNeighbors) {
  const hgt::Run& run = tiny_run({.kind = ModelKind::mlp});
  ReportOptions options = quick_report();
  options.focus = {{.type = type_in(run, "venue"), .node = 1}};
  EXPECT_FALSE(RunReport(run, options).has_evolution());
  EXPECT_TRUE(RunReport(run, options).evolution().is_null());
  EXPECT_TRUE(RunReport(tiny_run(), options).has_evolution());
}

TEST(ReportSections, AreTextWhateverBytesNamesHave) {
  const TestGraph graph = ratings(true);
  const hgt::Run& run =
      tiny_run({.task = "user:mood", .graph = graph.path(), .adjust = split_at_random});
  ReportOptions options = quick_report();
  options.focus = {{.type = type_in(run, "user"), .node = 4}};
  options.times = {2015};
  const Json json = Json::parse(json_text(RunReport(run, options).evolution()));
  EXPECT_EQ(json.at("focus").at(0).at("name"),
            "User \xEF\xBF\xBD"
            "4");
}

// --- the whole ---

TEST(WholeReport, HasEverySection) {
  const hgt::Run& run = scored_run();
  const RunReport report(run, quick_report());
  const Json json = Json(report.whole());
  EXPECT_EQ(members(json), declared("RunReport"));
  Json files = Json(report.from_files());
  files["confusion"] = Json(report.confusion());
  files["attention"] = Json(report.attention());
  files["evolution"] = Json(report.evolution());
  files["balance"] = Json(report.balance());
  EXPECT_EQ(json, files);
  for (const auto& [name, value] : json.items()) EXPECT_FALSE(value.is_null()) << name;
}

TEST(WholeReport, OfPairsHasNoConfusion) {
  const hgt::Run& run = tiny_run({.task = "author-disambiguation", .layers = 2});
  const Json json = Json(RunReport(run, quick_report()).whole());
  EXPECT_TRUE(json.at("confusion").is_null());
  EXPECT_EQ(json.at("evolution").at("type"), "author");
  EXPECT_EQ(json.at("attention").at("shares").at("target"), "paper");
  EXPECT_EQ(json.at("task").at("kind"), "name");
  EXPECT_EQ(json.at("task").at("classes"), 0);
}

TEST(WholeReport, OfAnyModelHasAttentionWhereItPaysAny) {
  for (const std::string& name : all_words<ModelKind>()) {
    const ModelKind kind = from_word<ModelKind>(name);
    const hgt::Run& run = tiny_run({.kind = kind});
    const Json json = Json(RunReport(run, quick_report()).whole());
    EXPECT_EQ(json.at("model"), name);
    EXPECT_EQ(json.at("attention").is_null(), !row_of(kind).pays_attention) << name;
    EXPECT_EQ(json.at("evolution").is_null(), !row_of(kind).reads_neighbors) << name;
    EXPECT_FALSE(json.at("confusion").is_null()) << name;
    EXPECT_FALSE(json.at("balance").is_null()) << name;
  }
}

TEST(WholeReport, OfAGraphWithoutEventsHasNoEvolution) {
  for (const bool dated : {false, true}) {
    const TestGraph graph = ratings(dated);
    const hgt::Run& run =
        tiny_run({.task = "user:mood", .graph = graph.path(), .adjust = split_at_random});
    const Json json = Json(RunReport(run, quick_report()).whole());
    EXPECT_TRUE(json.at("evolution").is_null());
    EXPECT_EQ(json.at("graph").at("times").is_null(), !dated);
    EXPECT_EQ(json.at("graph").at("steps").empty(), !dated);
    EXPECT_EQ(json.at("task").at("kind"), "label");
    EXPECT_EQ(json.at("task").at("other"), "");
    EXPECT_EQ(json.at("confusion").at("classes").size(), 2U);
  }
}

// --- pages ---

TEST(ReportJson, HasTheMembersThatThePageExpects) {
  const Json json = report_json({OrderedJson{{"a", 1}}, OrderedJson{{"b", 2}}}, false);
  EXPECT_EQ(members(json), declared("Report"));
  EXPECT_EQ(json.at("live"), false);
  EXPECT_EQ(json.at("runs"), (Json{{{"a", 1}}, {{"b", 2}}}));
  EXPECT_TRUE(std::regex_match(json.at("made").get<std::string>(),
                               std::regex("20\\d\\d-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ")));
  EXPECT_TRUE(
      std::regex_match(json.at("hgt").get<std::string>(), std::regex("\\d+\\.\\d+\\.\\d+")));
  EXPECT_EQ(report_json({}, true).at("live"), true);
}

constexpr const char* kBefore = "<html><body><script>x = '<b>';</script>";
constexpr const char* kOpening = R"(<script id="report" type="application/json">)";
constexpr const char* kAfter = "</script><p>end</p></body></html>";

TEST(FilledPage, HoldsTheReportSoThatNoNameCanEndItsElement) {
  const Json report = {{"name", "</script><b>bold</b><!-- \\u003c \" \n"}, {"null", nullptr}};
  const std::string page = filled_page(std::string(kBefore) + kOpening + "null" + kAfter, report);
  ASSERT_TRUE(page.starts_with(std::string(kBefore) + kOpening));
  ASSERT_TRUE(page.ends_with(kAfter));
  const size_t first = std::string_view(kBefore).size() + std::string_view(kOpening).size();
  const std::string inside =
      page.substr(first, page.size() - first - std::string_view(kAfter).size());
  EXPECT_EQ(inside.find('<'), std::string::npos);
  EXPECT_EQ(Json::parse(inside), report);
}

TEST(FilledPage, NeedsAPlaceForTheReport) {
  for (const std::string& page :
       {std::string(), std::string("<html></html>"), std::string(kOpening) + "{}" + kAfter}) {
    const std::string error = error_of([&] { filled_page(page, OrderedJson::object()); });
    EXPECT_TRUE(contains(error, "the page has no place for a report")) << page;
  }
}

}  // namespace
}  // namespace hgt
