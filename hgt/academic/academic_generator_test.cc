#include "hgt/academic/academic_generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "hgt/academic/academic_sizes.h"
#include "hgt/academic/academic_test_graph.h"
#include "hgt/disk/checksum.h"
#include "hgt/error.h"
#include "hgt/graph/graph_check.h"
#include "hgt/graph/half.h"
#include "hgt/graph/text_features.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;

// Every file below a folder, by its relative name.
std::map<std::string, std::string> contents(const Path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) {
      files[fs::relative(entry.path(), folder).string()] = bytes_of(entry.path());
    }
  }
  return files;
}

AcademicGraph generate(const std::string& name, GenerateOptions options) {
  options.build.replace = true;
  generate_academic_graph(workplace() / name, options);
  return AcademicGraph(workplace() / name);
}

// --- Table 1 of the paper, row by row: papers, authors, fields, venues, institutes;
// P-A, P-F, P-V, A-I, P-P ---

struct Row {
  std::string preset;
  std::array<uint64_t, 5> nodes;
  std::array<uint64_t, 5> edges;
  uint64_t all_nodes, all_edges;
};

const std::vector<Row> table1 = {
    {"cs",
     {5597605, 5985759, 119537, 27433, 16931},
     {15571614, 47462559, 5597606, 7190480, 31441552},
     11732027 + 15238,  // the paper's total is 15,238 less than the sum of its own columns
     107263811},
    {"med",
     {21931587, 28779507, 289930, 25044, 18256},
     {85620479, 149728483, 21931588, 28779507, 165408318},
     51044324,
     451468375},
    {"oag",
     {89606257, 88364081, 615228, 53073, 25288},
     {300853688, 657049405, 89606258, 167449933, 1021237518},
     178663927,
     2236196802},
};

uint64_t in_proportion(const Row& row, uint64_t count, uint64_t papers) {
  return static_cast<uint64_t>(
      std::floor(static_cast<long double>(count) * static_cast<long double>(papers) /
                     static_cast<long double>(row.nodes[0]) +
                 0.5L));
}

void expect_counts(const AcademicGraph& academic, const Row& row, uint64_t papers) {
  const auto share = [&](uint64_t count) { return in_proportion(row, count, papers); };
  EXPECT_EQ(academic.nodes("paper"), papers);
  EXPECT_EQ(academic.nodes("author"), share(row.nodes[1]));
  EXPECT_EQ(academic.nodes("field"), std::max<uint64_t>(500, share(row.nodes[2])));
  EXPECT_EQ(academic.nodes("venue"), std::max<uint64_t>(60, share(row.nodes[3])));
  EXPECT_EQ(academic.nodes("institute"), std::max<uint64_t>(80, share(row.nodes[4])));
  EXPECT_EQ(academic.edges("author", writes_edges, "paper"), share(row.edges[0]));
  EXPECT_EQ(academic.edges("paper", field_edges, "field"), share(row.edges[1]));
  EXPECT_EQ(academic.edges("paper", venue_edges, "venue"), share(row.edges[2]));
  EXPECT_EQ(academic.edges("author", "affiliated", "institute"), share(row.edges[3]));
  EXPECT_EQ(academic.edges("paper", "cites", "paper"), share(row.edges[4]));
}

TEST(AcademicSizes, AreThoseOfTable1ForTheFullPresets) {
  for (const Row& row : table1) {
    const auto presets = academic_presets();
    const auto preset = std::find_if(presets.begin(), presets.end(),
                                     [&](const auto& p) { return p.name == row.preset; });
    ASSERT_NE(preset, presets.end());
    const AcademicSizes sizes = academic_sizes(*preset, {});
    EXPECT_EQ(sizes.papers + sizes.authors + sizes.fields + sizes.venues + sizes.institutes,
              row.all_nodes);
    EXPECT_EQ(sizes.paper_author + sizes.paper_field + sizes.paper_venue + sizes.author_institute +
                  sizes.citations,
              row.all_edges);
    EXPECT_EQ(sizes.paper_venue, sizes.papers + 1);
  }
}

TEST(AcademicGenerator, CountsOfSmallAreExact) { expect_counts(small_graph(), table1[0], 20000); }

TEST(AcademicGenerator, CountsOfScaledCsAreExact) {
  const AcademicGraph academic = generate("cs", {.preset = "cs", .papers = 30000, .seed = 5});
  expect_counts(academic, table1[0], 30000);
  EXPECT_EQ(academic.graph.features(academic.paper).width, 0U);
  EXPECT_EQ(academic.graph.schema().time_range->second, 2019);
  EXPECT_LT(academic.graph.schema().time_range->first, 1920);
}

TEST(AcademicGenerator, CountsAreExactEvenWhereThereIsHardlyRoom) {
  for (const Row& row : table1) {
    for (const uint64_t papers : {100U, 137U, 1000U}) {
      const AcademicGraph academic = generate("few", {.preset = row.preset, .papers = papers});
      expect_counts(academic, row, papers);
    }
  }
}

TEST(AcademicGenerator, WritesAGraphThatVerifies) { verify(small_graph().graph); }

// --- determinism ---

TEST(AcademicGenerator, GivesTheSameBytesForTheSameSeed) {
  generate("one", {.papers = 2000, .seed = 3, .shortcuts = true});
  generate("two", {.papers = 2000, .seed = 3, .shortcuts = true});
  EXPECT_EQ(contents(workplace() / "one"), contents(workplace() / "two"));
  EXPECT_TRUE(fs::exists(truth_of(workplace() / "one") / "truth.json")) << "it is compared, too";
}

TEST(AcademicGenerator, GivesTheSameBytesWithAnyNumberOfThreads) {
  // Little room: quotas are handed on, and chunks drawn again.
  for (const uint64_t papers : {100, 9000}) {
    GenerateOptions options = {.preset = "med", .papers = papers, .seed = 3, .features = 8};
    options.build.threads = 1;
    generate("one", options);
    for (const unsigned threads : {2, 5}) {
      options.build.threads = threads;
      generate("several", options);
      EXPECT_EQ(contents(workplace() / "one"), contents(workplace() / "several")) << threads;
    }
  }
}

// Figures in docs/results.md and README.md are of these very bytes.
TEST(AcademicGenerator, WritesTheSameTitlesAndEdgesAsEarlierVersions) {
  const Path paper = small_graph().graph.folder() / "paper";
  EXPECT_EQ(text_checksum(bytes_of(paper / "name_bytes.npy")), "150414206c312daa");
  EXPECT_EQ(text_checksum(bytes_of(paper / "incoming_sources.npy")), "790077ca2803f0ce");
}

TEST(AcademicGenerator, GivesAnotherGraphForAnotherSeed) {
  const AcademicGraph one = generate("one", {.papers = 2000, .seed = 3});
  const AcademicGraph two = generate("two", {.papers = 2000, .seed = 4});
  uint64_t same_references = 0;
  uint64_t same_titles = 0;
  for (NodeId paper = 0; paper < 2000; ++paper) {
    const auto references = one.references(paper);
    same_references += !references.empty() && references == two.references(paper) ? 1 : 0;
    same_titles += one.graph.name(one.paper, paper) == two.graph.name(two.paper, paper) ? 1 : 0;
  }
  EXPECT_LT(same_references, 20U);
  EXPECT_EQ(same_titles, 0U);
}

// --- what every graph must satisfy ---

TEST(AcademicGenerator, GivesEveryPaperAnAuthorAVenueAnL0AndAnL1Field) {
  const AcademicGraph& academic = small_graph();
  for (NodeId paper = 0; paper < academic.num_papers(); ++paper) {
    EXPECT_EQ(academic.around(paper, "author", {"writes_first"}).size(), 1U);
    EXPECT_EQ(academic.venues(paper).size(), 1U);
    EXPECT_GE(academic.around(paper, "field", {"rev_in_L0"}).size(), 1U);
    EXPECT_GE(academic.around(paper, "field", {"rev_in_L1"}).size(), 1U);
  }
}

TEST(AcademicGenerator, LinksFieldsOfTheRightLevelAndVenuesOfTheRightKind) {
  const AcademicGraph& academic = small_graph();
  const auto& graph = academic.graph;
  const auto classes_of = [&](const std::string& type, const std::string& edge) {
    std::set<std::string> found;
    const NodeType target = academic.type(type);
    const auto& label = graph.schema().at(target).labels.at(0);
    for (NodeId node = 0; node < graph.num_nodes(target); ++node) {
      if (graph.incoming(academic.relation("paper", edge, type), node).size() == 0) continue;
      for (const uint32_t c : graph.label_classes(target, 0, node)) found.insert(label.classes[c]);
    }
    return found;
  };
  for (const std::string& edge : field_edges) {
    EXPECT_EQ(classes_of("field", edge), std::set<std::string>{edge.substr(4)});
  }
  for (const std::string& edge : venue_edges) {
    EXPECT_EQ(classes_of("venue", edge), std::set<std::string>{edge.substr(4)});
  }
}

TEST(AcademicGenerator, LetsNoPaperCiteItsOwnYearOrALaterOne) {
  const AcademicGraph& academic = small_graph();
  for (NodeId paper = 0; paper < academic.num_papers(); ++paper) {
    for (const NodeId cited : academic.references(paper)) {
      ASSERT_LT(academic.year(cited), academic.year(paper));
    }
  }
}

TEST(AcademicGenerator, RepeatsNoPairWithinARelation) {
  const HeteroGraph& graph = small_graph().graph;
  for (uint32_t r = 0; r < graph.schema().relations().size(); ++r) {
    const NodeType target = graph.schema().at(Relation(r)).target;
    for (NodeId node = 0; node < graph.num_nodes(target); ++node) {
      const auto sources = graph.incoming(Relation(r), node).sources;
      ASSERT_EQ(std::adjacent_find(sources.begin(), sources.end()), sources.end())
          << graph.schema().describe(Relation(r)) << " " << node;
    }
  }
}

TEST(AcademicGenerator, GivesEveryFieldBelowL0OneParentOfTheLevelAbove) {
  const AcademicGraph& academic = small_graph();
  const NodeType field = academic.type("field");
  const auto level = [&](NodeId node) {
    const auto& classes = academic.graph.schema().at(field).labels.at(0).classes;
    return std::stoi(classes[academic.graph.label_classes(field, 0, node)[0]]);
  };
  const Relation parents = academic.relation("field", "rev_within", "field");
  for (NodeId node = 0; node < academic.nodes("field"); ++node) {
    const auto above = academic.graph.incoming(parents, node).sources;
    ASSERT_EQ(above.size(), level(node) == 0 ? 0U : 1U);
    if (level(node) == 0) continue;
    EXPECT_EQ(level(above[0]) + 1, level(node));
  }
}

TEST(AcademicGenerator, PutsTheHashedTitleInTheFeatures) {
  const AcademicGraph& academic = small_graph();
  std::vector<float> expected(64);
  std::vector<float> row(64);
  for (const NodeId paper : {0U, 77U, 19999U}) {
    hashed_words(academic.graph.name(academic.paper, paper), expected);
    academic.graph.copy_features(academic.paper, paper, row);
    for (size_t i = 0; i < row.size(); ++i) EXPECT_EQ(row[i], from_half(to_half(expected[i])));
  }
}

// --- shortcuts ---

TEST(AcademicGenerator, DerivesShortcutsFromEachPaper) {
  const AcademicGraph academic = generate("short", {.papers = 1000, .shortcuts = true});
  uint64_t author_l2 = 0;
  uint64_t author_venue = 0;
  uint64_t coauthors = 0;
  for (NodeId paper = 0; paper < academic.num_papers(); ++paper) {
    const uint64_t authors = academic.authors(paper).size();
    author_l2 += authors * academic.around(paper, "field", {"rev_in_L2"}).size();
    author_venue += authors * academic.venues(paper).size();
    coauthors += authors * (authors - 1);
  }
  EXPECT_EQ(academic.edges("author", "in_L2", "field"), author_l2);
  EXPECT_EQ(academic.edges("author", venue_edges, "venue"), author_venue);
  EXPECT_EQ(academic.edges("author", "coauthor", "author"), coauthors);
  EXPECT_GT(academic.edges("institute", "coauthor", "institute"), 0U);
  verify(academic.graph);
}

// --- options and failures ---

std::string error_of(const GenerateOptions& options) {
  try {
    generate_academic_graph(workplace() / "wrong", options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(AcademicGenerator, NamesThePresetsWhenAskedForAnUnknownOne) {
  EXPECT_EQ(error_of({.preset = "huge"}),
            "there is no preset 'huge'; the presets are tiny, small, cs, med, oag");
}

TEST(AcademicGenerator, RefusesTooFewAndTooManyPapers) {
  EXPECT_NE(error_of({.papers = 99}).find("--papers 99 is too few"), std::string::npos);
  EXPECT_NE(error_of({.papers = uint64_t{1} << 40U}).find("too many"), std::string::npos);
  EXPECT_NE(error_of({.papers = 4200000000}).find("authors"), std::string::npos);
}

TEST(AcademicGenerator, RefusesToReplaceAGraphUnasked) {
  generate("kept", {.papers = 200});
  EXPECT_THROW(generate_academic_graph(workplace() / "kept", {.papers = 200}), Error);
}

TEST(AcademicGenerator, ReplacesGraphAndTruthAsOne) {
  generate("replaced", {.papers = 200, .seed = 1});
  const auto before = contents(workplace() / "replaced");
  GenerateOptions options = {.papers = 200, .seed = 2};
  options.build.replace = true;
  options.build.progress = [](const Progress& progress) {
    if (progress.stage.starts_with("writing")) throw Interrupted();
  };
  EXPECT_THROW(generate_academic_graph(workplace() / "replaced", options), Interrupted);
  EXPECT_EQ(contents(workplace() / "replaced"), before) << "the old graph and the old truth";
  options.build.progress = no_progress;
  generate_academic_graph(workplace() / "replaced", options);
  generate("fresh", {.papers = 200, .seed = 2});
  EXPECT_EQ(contents(workplace() / "replaced"), contents(workplace() / "fresh"));
}

TEST(AcademicGenerator, LeavesNothingBehindWhenStopped) {
  for (const std::string stop_at : {"authors", "edges of papers"}) {
    GenerateOptions options = {.papers = 200};
    options.build.progress = [&](const Progress& progress) {
      if (progress.stage == stop_at) throw Interrupted();
    };
    EXPECT_THROW(generate_academic_graph(workplace() / "stopped", options), Interrupted);
    for (const char* name : {"stopped", "stopped.partial", "stopped.partial.lock"}) {
      EXPECT_FALSE(fs::exists(workplace() / name)) << name;
    }
  }
}

TEST(AcademicGenerator, ReportsTheEndOfEveryStage) {
  std::vector<std::string> finished;
  GenerateOptions options = {.papers = 200};
  options.build.replace = true;
  options.build.progress = [&](const Progress& progress) {
    if (progress.finished) finished.push_back(progress.stage);
  };
  generate_academic_graph(workplace() / "told", options);
  const std::vector<std::string> own = {"papers", "authors", "planning", "edges of papers",
                                        "edges of authors"};
  ASSERT_GE(finished.size(), own.size());
  EXPECT_TRUE(std::equal(own.begin(), own.end(), finished.begin()));
}

TEST(AcademicGenerator, TellsHowMuchOfTheWholeIsDone) {
  double last = 0;
  GenerateOptions options = {.papers = 5000};
  options.build.replace = true;
  options.build.progress = [&](const Progress& progress) {
    ASSERT_TRUE(progress.whole);
    EXPECT_GE(*progress.whole, last - 1e-9) << progress.stage;
    last = *progress.whole;
  };
  generate_academic_graph(workplace() / "told", options);
  EXPECT_NEAR(last, 1, 1e-9);
}

}  // namespace
}  // namespace hgt
