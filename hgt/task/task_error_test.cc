// Declarations that do not fit the graph are refused, with what would fit.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "hgt/graph/graph_test_folder.h"
#include "hgt/graph/time_text.h"
#include "hgt/task/split_dates.h"
#include "hgt/task/task_test_graph.h"

namespace hgt {
namespace {

class TaskErrorTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { graph_ = new TestGraph(library()); }
  static void TearDownTestSuite() { delete graph_; }

  // The error of the named task once it was changed.
  static std::string error(const std::string& name, const std::function<void(TaskSpec&)>& change) {
    TaskSpec spec = find_task(name, (*graph_)->schema());
    EXPECT_EQ(error_of([&] { open_task(**graph_, spec); }), "") << "it was right before";
    change(spec);
    return error_of([&] { open_task(**graph_, spec); });
  }

  static inline const TestGraph* graph_ = nullptr;
};

void expect_parts(const std::string& error, const std::vector<std::string>& parts) {
  EXPECT_FALSE(contains(error, "\n"));
  for (const std::string& part : parts) EXPECT_TRUE(contains(error, part)) << part << ": " << error;
}

TEST_F(TaskErrorTest, OfUnknownNamesListThoseThatAreThere) {
  expect_parts(error("paper-venue", [](TaskSpec& spec) { spec.node = "papers"; }),
               {"'papers'", "paper", "author", "venue", "field"});
  expect_parts(error("paper-venue", [](TaskSpec& spec) { spec.other = "journal"; }),
               {"'journal'", "venue"});
  expect_parts(error("paper-venue",
                     [](TaskSpec& spec) {
                       spec.edges = {"pub_journal", "in_L1"};
                     }),
               {"'in_L1'", "joins paper and venue", "pub_conference", "pub_journal", "sent_to"});
  expect_parts(error("paper-venue",
                     [](TaskSpec& spec) {
                       spec.node = "field";
                       spec.edges = {"pub_journal"};
                     }),
               {"'pub_journal'", "no edge type joins them"});
  expect_parts(error("paper:topic", [](TaskSpec& spec) { spec.label = "Topic"; }),
               {"'Topic'", "topic, shelf, tags"});
  expect_parts(error("paper:topic", [](TaskSpec& spec) { spec.node = "author"; }),
               {"'topic'", "author", "none"});
}

TEST_F(TaskErrorTest, OfFurtherEdgeTypesSayWhereTheyDoNotFit) {
  const auto hide = [](const char* edge) {
    return [edge](TaskSpec& spec) { spec.also_hide = {edge}; };
  };
  expect_parts(error("paper-venue", hide("follows")), {"'follows'", "paper"});
  expect_parts(error("paper:topic", hide("sent-to")), {"'sent-to'", "paper"});
  expect_parts(error("link:writes_first", hide("sent_to")), {"'sent_to'", "thanks"});
  expect_parts(error("author-disambiguation", hide("cites")), {"'cites'", "thanks"});
}

TEST_F(TaskErrorTest, OfSplitsSayWhatElseToChoose) {
  const auto given = [](TaskSpec& spec) { spec.split = SplitRule::given; };
  for (const char* name : {"paper:tags", "paper-venue", "author-disambiguation", "link:cites"}) {
    expect_parts(error(name, given), {"given", "time or random"});
  }
  expect_parts(error("paper-venue", [](TaskSpec& spec) { spec.train_end = "soon"; }),
               {"train-end", "'soon'", "2014"});
  expect_parts(error("paper-venue", [](TaskSpec& spec) { spec.validation_end = "2016-13"; }),
               {"validation-end", "'2016-13'", "2016"});
  expect_parts(error("paper-venue",
                     [](TaskSpec& spec) {
                       spec.train_end = "2016";
                       spec.validation_end = "2016";
                     }),
               {"2016", "later"});
}

TEST_F(TaskErrorTest, OfSharesThatLeaveNothing) {
  const auto shares = [&](const char* name, SplitRule rule, double validation, double test) {
    return error(name, [&](TaskSpec& spec) {
      spec.split = rule;
      spec.validation_share = validation;
      spec.test_share = test;
    });
  };
  for (const auto& [validation, test] : std::vector<std::pair<double, double>>{
           {0, 0.2}, {0.2, 0}, {0.5, 0.5}, {1, 0.1}, {-0.1, 0.2}, {0.2, -0.1}, {0.7, 0.7}}) {
    const std::string found = shares("paper-venue", SplitRule::random, validation, test);
    expect_parts(found, {"above 0", "training"});
    EXPECT_EQ(shares("paper-venue", SplitRule::time, validation, test), "") << "not looked at";
  }
  EXPECT_EQ(shares("paper-venue", SplitRule::random, 0.4, 0.5), "");
  expect_parts(shares("paper:topic", SplitRule::given, 1, 0.2), {"above 0", "training"});
  expect_parts(shares("paper:topic", SplitRule::given, 0, 0.2), {"above 0", "training"});
  EXPECT_EQ(shares("paper:topic", SplitRule::given, 0.5, 0.9), "") << "testing is given";
  EXPECT_EQ(shares("paper:topic", SplitRule::given, 0.5, 0), "") << "testing is given";
}

TEST_F(TaskErrorTest, OfLinksWithoutEdgesOrNegatives) {
  expect_parts(error("link:cites", [](TaskSpec& spec) { spec.negatives = 0; }), {"negatives"});
  expect_parts(error("link:cites", [](TaskSpec& spec) { spec.test_negatives = 0; }), {"negatives"});
  expect_parts(error("link:cites", [](TaskSpec& spec) { spec.edges.clear(); }), {"edge types"});
  expect_parts(error("paper-venue", [](TaskSpec& spec) { spec.edges.clear(); }), {"edge types"});
}

TEST_F(TaskErrorTest, OfNamesThatNobodySharesOrHas) {
  expect_parts(error("author-disambiguation",
                     [](TaskSpec& spec) {
                       spec.other = "field";
                       spec.edges = {"in_L1"};
                     }),
               {"field", "no names", "name ="});
  expect_parts(error("author-disambiguation",
                     [](TaskSpec& spec) {
                       spec.other = "venue";
                       spec.edges = {"pub_journal"};
                     }),
               {"no two nodes of type venue share a name"});
}

// --- splits without examples ---

// Dated things that each have one kind, were made by one of two people of the same name, and like
// one of two people; a few of them undated.
TestGraph dated_things(const std::vector<Time>& times, TimeUnit unit = TimeUnit::year) {
  Schema schema;
  schema.time_unit = unit;
  schema.add_node_type("thing", NodeKind::event);
  schema.at(schema.add_node_type("person", NodeKind::plain)).names = true;
  schema.add_relation({.source = "person", .edge = "makes", .target = "thing"});
  schema.number_relations();
  return TestGraph(schema, [&](GraphBuilder& builder) {
    const NodeType thing = builder.schema().node_type("thing");
    const NodeType person = builder.schema().node_type("person");
    const Relation makes = builder.schema().relation("person", "makes", "thing");
    for (int i = 0; i < 2; ++i) builder.add_node(person, {.name = "Same"});
    const uint32_t kind = builder.declare_label(thing, "kind");
    for (NodeId i = 0; i < times.size(); ++i) {
      builder.add_node(thing, {.time = times[i]});
      builder.add_label(thing, kind, i, "k");
      builder.add_edge(makes, {.source = i % 2, .target = i});
    }
  });
}

const std::vector<std::string> kThingTasks = {"thing:kind", "thing-person", "person-disambiguation",
                                              "link:makes"};

TEST(EmptySplit, OfThingsWithoutTimesSuggestsARandomSplit) {
  const TestGraph graph = dated_things(std::vector<Time>(60, kNoTime));
  for (const std::string& name : kThingTasks) {
    TaskSpec spec = find_task(name, graph->schema());
    expect_parts(error_of([&] { open_task(*graph, spec); }),
                 {name, "no example has a time", "random"});
    spec.split = SplitRule::random;
    EXPECT_EQ(error_of([&] { open_task(*graph, spec); }), "") << name;
  }
}

// Opens the task with dates long before all of its examples, then with those that the error
// suggests.
void open_as_suggested(const TestGraph& graph, const std::string& name) {
  TaskSpec spec = find_task(name, graph->schema());
  spec.min_links = 0;
  spec.train_end = "1950";
  spec.validation_end = "1951";
  const std::string error = error_of([&] { open_task(*graph, spec); });
  std::smatch dates;
  const std::regex pattern("there are no examples for (\\w+): .* for example to (.*) and (.*)$");
  ASSERT_TRUE(std::regex_search(error, dates, pattern)) << error;
  spec.train_end = dates[2];
  spec.validation_end = dates[3];
  EXPECT_EQ(error_of([&] { open_task(*graph, spec); }), "") << error;
}

// Every year once, then one of them over and over, and a thing without a time.
std::vector<Time> lopsided_years(int round, Draws& draws) {
  std::set<Time> years;
  while (years.size() < 3 + static_cast<size_t>(round % 4)) {
    years.insert(1990 + static_cast<Time>(draws.below(40)));
  }
  std::vector<Time> times(years.begin(), years.end());
  const Time usual = times[draws.below(times.size())];
  for (uint64_t i = draws.below(20); i > 0; --i) times.push_back(usual);
  times.push_back(kNoTime);
  return times;
}

TEST(EmptySplit, SuggestsDatesThatWork) {
  Draws draws(hash(1));
  for (int round = 0; round < 60; ++round) {
    const TestGraph graph = dated_things(lopsided_years(round, draws));
    open_as_suggested(graph, kThingTasks[static_cast<size_t>(round) / 4 % kThingTasks.size()]);
  }
}

TEST(EmptySplit, SuggestsMostForTraining) {
  std::vector<Time> years(100);
  std::iota(years.begin(), years.end(), 1900);
  const TestGraph graph = dated_things(years);
  TaskSpec spec = find_task("thing:kind", graph->schema());
  spec.train_end = "2014";
  spec.validation_end = "2016";
  expect_parts(error_of([&] { open_task(*graph, spec); }),
               {"no examples for validation", "1900 to 1999", "to 1969 and 1984"});
}

TEST(EmptySplit, SuggestsDatesInEveryUnit) {
  for (const TimeUnit unit :
       {TimeUnit::month, TimeUnit::day, TimeUnit::hour, TimeUnit::minute, TimeUnit::second}) {
    const Time start = parse_time("2003-02-27 22:30:58", TimeFormat::date, unit).value();
    const TestGraph graph = dated_things({start, start + 1, start + 2, start + 3}, unit);
    for (const std::string& name : kThingTasks) open_as_suggested(graph, name);
  }
}

// --- dates that nobody gave ---

TEST(SplitDates, AreTheUsualOnesWhereEachSplitHasAnExample) {
  const TestGraph graph = dated_things({2001, 2002, 2003, 2014, 2015, 2017, kNoTime});
  for (const std::string& name : kThingTasks) {
    TaskSpec spec = find_task(name, graph->schema());
    spec.min_links = 0;
    const auto task = open_task(*graph, spec);
    EXPECT_EQ(task->time_split(), default_time_split(TimeUnit::year)) << name;
    EXPECT_FALSE(task->chose_dates());
    EXPECT_EQ(task->spec().train_end, "") << "saved runs of before stay as they are";
    EXPECT_EQ(describe_split(*task),
              "by time: training until 2014, validation until 2016, then test");
  }
}

// A hundred years from `first` on, with a pause of `gap` years before the last ten.
std::vector<Time> hundred_years(Time first, Time gap) {
  std::vector<Time> years(100);
  std::iota(years.begin(), years.end(), first);
  for (size_t i = 90; i < years.size(); ++i) years[i] += gap;
  return years;
}

TEST(SplitDates, AreQuantilesWhereTheUsualOnesLeaveASplitEmpty) {
  for (const std::vector<Time>& years :
       {hundred_years(1901, 0), hundred_years(1915, 0), hundred_years(1920, 50),
        hundred_years(2015, 0), hundred_years(2050, 0)}) {
    const TestGraph graph = dated_things(years);
    for (const std::string& name : kThingTasks) {
      TaskSpec spec = find_task(name, graph->schema());
      spec.min_links = 0;
      const auto task = open_task(*graph, spec);
      EXPECT_TRUE(task->chose_dates()) << name;
      EXPECT_EQ(task->num_examples(Split::train), 70U) << name;
      EXPECT_EQ(task->num_examples(Split::validation), 15U) << name;
      EXPECT_EQ(task->num_examples(Split::test), 15U) << name;
      const std::string text = describe_split(*task);
      expect_parts(text, {"training until " + std::to_string(years[69]),
                          "validation until " + std::to_string(years[84]), "quantiles",
                          "2014 and 2016", "--train-end"});
    }
  }
}

TEST(SplitDates, AlwaysLeaveSomethingForEachSplitOfThreeTimes) {
  Draws draws(hash(2));
  for (int round = 0; round < 60; ++round) {
    const TestGraph graph = dated_things(lopsided_years(round, draws));
    TaskSpec spec = find_task(kThingTasks[static_cast<size_t>(round) / 4 % kThingTasks.size()],
                              graph->schema());
    spec.min_links = 0;
    EXPECT_EQ(error_of([&] { open_task(*graph, spec); }), "") << round;
  }
}

// A run keeps the spec, and opens the task with it again.
TEST(SplitDates, StandInTheSpecSoThatTheTaskIsTheSameWhenItIsOpenedWithIt) {
  for (const TimeUnit unit : {TimeUnit::year, TimeUnit::month, TimeUnit::day, TimeUnit::hour,
                              TimeUnit::minute, TimeUnit::second}) {
    const Time start = parse_time("1953-02-27 22:30:58", TimeFormat::date, unit).value();
    std::vector<Time> times(20);
    std::iota(times.begin(), times.end(), start);
    const TestGraph graph = dated_things(times, unit);
    const auto task = open_named(*graph, "thing:kind");
    ASSERT_TRUE(task->chose_dates());
    const auto again = open_task(*graph, task->spec());
    EXPECT_FALSE(again->chose_dates());
    EXPECT_EQ(again->time_split(), task->time_split()) << to_string(unit);
    EXPECT_EQ(again->spec(), task->spec());
    // What comes later does not move them.
    for (int i = 0; i < 20; ++i) times.push_back(start + 100 + i);
    const auto grown = open_task(*dated_things(times, unit), task->spec());
    EXPECT_EQ(grown->time_split(), task->time_split()) << to_string(unit);
  }
}

TEST(SplitDates, KeepTheOneThatIsGiven) {
  std::vector<Time> years(100);
  std::iota(years.begin(), years.end(), 1900);
  const TestGraph graph = dated_things(years);
  TaskSpec spec = find_task("thing:kind", graph->schema());
  spec.train_end = "1939";
  EXPECT_EQ(open_task(*graph, spec)->time_split(),
            (TimeSplit{.train_end = 1939, .validation_end = 1969}));
  spec.train_end = "";
  spec.validation_end = "1984";
  EXPECT_EQ(open_task(*graph, spec)->time_split(),
            (TimeSplit{.train_end = 1969, .validation_end = 1984}));
  spec.validation_end = "1999";  // nothing is left for testing
  expect_parts(error_of([&] { open_task(*graph, spec); }),
               {"no examples for", "1999", "1900 to 1999", "to 1969 and 1984"});
}

// Random and given splits have no dates.
TEST(SplitDates, AreChosenOnlyForSplitsByTime) {
  const TestGraph graph =
      dated_things({1901, 1902, 1903, 1904, 1905, 1906, 1907, 1908, 1909, 1910});
  TaskSpec spec = find_task("thing:kind", graph->schema());
  spec.split = SplitRule::random;
  spec.validation_share = 0.3;
  spec.test_share = 0.3;
  const auto task = open_task(*graph, spec);
  EXPECT_FALSE(task->chose_dates());
  EXPECT_EQ(task->spec().train_end, "");
}

TEST(EmptySplit, OfFewerThanThreeTimesSuggestsARandomSplit) {
  for (const Time second : {2001, 2002}) {
    std::vector<Time> times(60, 2001);
    for (size_t i = 0; i < 30; ++i) times[i] = second;
    const TestGraph graph = dated_things(times);
    for (const std::string& name : kThingTasks) {
      TaskSpec spec = find_task(name, graph->schema());
      expect_parts(error_of([&] { open_task(*graph, spec); }),
                   {name, "no examples for validation", "2001", "random"});
      spec.split = SplitRule::random;
      EXPECT_EQ(error_of([&] { open_task(*graph, spec); }), "") << name;
    }
  }
}

TEST(EmptySplit, OfOtherRulesIsNamed) {
  const TestGraph graph = dated_things({2001, 2002, 2003});
  TaskSpec spec = find_task("thing:kind", graph->schema());
  spec.split = SplitRule::random;
  spec.test_share = 1e-9;
  expect_parts(error_of([&] { open_task(*graph, spec); }), {"thing:kind", "no examples for test"});
}

TEST(EmptySplit, OfNothingAtAllSaysSo) {
  const TestGraph graph = dated_things({});
  expect_parts(error_of([&] { open_named(*graph, "thing-person"); }), {"thing", "no node"});
  expect_parts(error_of([&] { open_named(*graph, "link:makes"); }),
               {"no edges of the predicted types"});
}

}  // namespace
}  // namespace hgt
