// What a report says of the files of a run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>

#include "hgt/error.h"
#include "hgt/insight/report_test_members.h"
#include "hgt/insight/run_report.h"

namespace hgt {
namespace {

TEST(FilesReport, HasTheMembersThatThePageExpects) {
  const Json json = files_of(scored_run());
  EXPECT_EQ(members(json), declared("RunReport"));
  EXPECT_EQ(members(json.at("graph")), declared("Graph"));
  EXPECT_EQ(members(json.at("training")), declared("Training"));
  EXPECT_EQ(members(json.at("training").at("seeds").at(0)),
            (Names{"seed", "batches", "best_batch", "validation_loss", "seconds",
                   "seconds_per_batch", "stopped_early"}));
  EXPECT_EQ(members(json.at("curves").at(0)), declared("Curve"));
  EXPECT_EQ(members(json.at("results")), declared("Results"));
  EXPECT_EQ(members(json.at("results").at("metrics").at(0)), declared("Metric"));
  for (const char* section : {"confusion", "attention", "evolution", "balance"}) {
    EXPECT_TRUE(json.at(section).is_null()) << section;
  }
}

TEST(FilesReport, SaysWhatTheRunIs) {
  const hgt::Run& run = scored_run();
  const Json json = files_of(run);
  EXPECT_EQ(json.at("name"), run.folder().filename().string());
  EXPECT_EQ(json.at("model"), "hgt");
  EXPECT_EQ(json.at("task"), (Json{{"name", "paper-venue"},
                                   {"node", "paper"},
                                   {"other", "venue"},
                                   {"kind", "edge"},
                                   {"classes", run.task().num_classes()}}));
  const Json& graph = json.at("graph");
  EXPECT_EQ(graph.at("folder"), "graph");
  EXPECT_EQ(graph.at("time_unit"), "year");
  EXPECT_EQ(graph.at("times"), (Json{"1990", "2019"}));
  EXPECT_EQ(graph.at("steps").size(), 30U);
  ASSERT_EQ(graph.at("nodes").size(), 5U);
  EXPECT_EQ(graph.at("nodes").at(0), (Json{{"type", "paper"},
                                           {"nodes", 300},
                                           {"event", true},
                                           {"named", true},
                                           {"features", "hashed words of the title"},
                                           {"width", 8}}));
  EXPECT_TRUE(graph.at("nodes").at(1).at("features").is_null());
  EXPECT_EQ(graph.at("nodes").at(1).at("width"), 0);
  EXPECT_EQ(graph.at("nodes").at(1).at("event"), false);
}

TEST(FilesReport, ListsEachRelationInOneDirection) {
  const hgt::Run& run = scored_run();
  const Schema& schema = run.task().graph().schema();
  Names names;
  const Json json = files_of(run);
  for (const Json& relation : json.at("graph").at("relations")) {
    EXPECT_EQ(members(relation), (Names{"source", "edge", "target", "edges"}));
    const std::string edge = relation.at("edge");
    const Relation number = schema.relation(relation.at("source").get<std::string>(), edge,
                                            relation.at("target").get<std::string>());
    EXPECT_EQ(relation.at("edges"), schema.at(number).edges) << edge;
    EXPECT_TRUE(names.insert(edge).second) << edge;
    EXPECT_FALSE(edge.starts_with("rev_"));
  }
  EXPECT_TRUE(names.contains("cites") && names.contains("pub_journal"));
  EXPECT_EQ(names.size() * 2, schema.relations().size());
}

TEST(FilesReport, RepeatsWhatTheFilesSay) {
  const hgt::Run& run = scored_run();
  const Json json = files_of(run);
  std::istringstream options(read_bytes(run.folder() / "options.toml"));
  size_t count = 0;
  for (std::string line; std::getline(options, line); ++count) {
    ASSERT_LT(count, json.at("options").size());
    const Json& pair = json.at("options").at(count);
    std::erase_if(line, [](char c) { return c == '"' || c == '[' || c == ']'; });
    EXPECT_EQ(pair.at(0).get<std::string>() + " = " + pair.at(1).get<std::string>(), line);
  }
  EXPECT_EQ(json.at("options").size(), count);
  const Json about = Json::parse(read_bytes(run.folder() / "run.json"));
  EXPECT_EQ(json.at("environment").size() + 2, about.size());  // not the graph, not the format
  for (const Json& pair : json.at("environment")) {
    const Json& value = about.at(pair.at(0).get<std::string>());
    EXPECT_EQ(pair.at(1), value.is_string() ? value : Json(value.dump()));
    EXPECT_NE(pair.at(0), "graph");  // no folder of this machine
  }
  EXPECT_EQ(json.at("training"), Json::parse(read_bytes(run.folder() / "training.json")));
}

TEST(FilesReport, RepeatsTheCurveOfEverySeedAndTheResults) {
  const hgt::Run& run = scored_run();
  const Json json = files_of(run);
  ASSERT_EQ(json.at("curves").size(), 1U);
  EXPECT_EQ(json.at("curves").at(0).at("seed"), 1);
  const auto lines = json_lines(run.folder() / "seed-1" / "log.jsonl");
  const Json& points = json.at("curves").at(0).at("points");
  ASSERT_EQ(points.size(), lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(points[i], (Json{{"batch", lines[i].at("step")},
                               {"train_loss", lines[i].at("train_loss")},
                               {"validation_loss", lines[i].at("validation_loss")},
                               {"ndcg", lines[i].at("validation_ndcg")}}));
  }
  const Json summary = Json::parse(read_bytes(run.folder() / "test.json"));
  const Json& results = json.at("results");
  EXPECT_EQ(results.at("split"), "test");
  EXPECT_EQ(results.at("examples"), run.task().num_examples(Split::test));
  EXPECT_EQ(results.at("seeds"), 1);
  EXPECT_EQ(results.at("metrics").size(), summary.at("metrics").size());
  for (const Json& metric : results.at("metrics")) {
    const Json& expected = summary.at("metrics").at(metric.at("name").get<std::string>());
    EXPECT_EQ(metric.at("mean"), expected.at("mean"));
    EXPECT_EQ(metric.at("deviation"), expected.at("deviation"));
  }
  const Json other = Json(RunReport(run, {.split = Split::validation}).from_files());
  EXPECT_TRUE(other.at("results").is_null());
}

TEST(FilesReport, HasNothingOfARunThatIsNotTrained) {
  const TestFolder folder;
  RunOptions options = tiny_options({});
  options.repeats = 2;
  options.graph += "/";
  hgt::Run::create(folder / "new.run", options);
  const hgt::Run run = hgt::Run::open(folder / "new.run" / "");
  const Json json = files_of(run);
  EXPECT_EQ(json.at("name"), "new.run");
  EXPECT_EQ(json.at("graph").at("folder"), "graph");
  EXPECT_TRUE(json.at("training").is_null());
  EXPECT_TRUE(json.at("results").is_null());
  ASSERT_EQ(json.at("curves").size(), 2U);
  EXPECT_EQ(json.at("curves").at(1), (Json{{"seed", 2}, {"points", Json::array()}}));
  const RunReport report(run, quick_report());
  for (const auto& error :
       {error_of([&] { report.confusion(); }), error_of([&] { report.attention(); }),
        error_of([&] { report.evolution(); }), error_of([&] { report.whole(); })}) {
    EXPECT_TRUE(contains(error, "seed 1 has no trained weights yet")) << error;
  }
  EXPECT_EQ(files_of(hgt::Run::open(folder / "new.run" / ".")).at("name"), "new.run");
}

TEST(FilesReport, StandsDamagedFiles) {
  const TestFolder folder;
  const hgt::Run run = hgt::Run::create(folder / "run", tiny_options({}));
  std::filesystem::create_directories(folder / "run" / "seed-1");
  for (const char* text : {"", "{", "[]", "3", "{}", R"({"seeds": []})", R"({"metrics": {}})",
                           R"({"metrics": {}, "seeds": []})"}) {
    write_bytes(folder / "run" / "test.json", text);
    write_bytes(folder / "run" / "seed-1" / "log.jsonl", fmt::format("{}\n{{\"step\": 3}}", text));
    const Json json = files_of(run);
    EXPECT_TRUE(json.at("results").is_null()) << text;
    EXPECT_EQ(json.at("curves").at(0).at("points").back().at("batch"), 3) << text;
  }
}

}  // namespace
}  // namespace hgt
