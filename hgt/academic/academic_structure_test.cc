// Is what the generator plants there to be found? All on the preset small, with tolerances wide
// enough for any seed; docs/generator.md states the figures.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "hgt/academic/academic_test_graph.h"

namespace hgt {
namespace {

using Counts = std::map<int64_t, uint64_t>;

int64_t most_frequent(const Counts& counts) {
  return std::max_element(counts.begin(), counts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

// Learns the most frequent venue of each key from the papers where train(paper), and returns for
// which share of the papers where test(paper) it is right.
template <typename Key, typename Train, typename Test>
double venue_accuracy(const AcademicGraph& academic, Key key, Train train, Test test) {
  std::map<std::pair<int64_t, int64_t>, Counts> seen;
  for (NodeId paper = 0; paper < academic.num_papers(); ++paper) {
    if (train(paper)) ++seen[key(paper)][academic.venues(paper)[0]];
  }
  uint64_t right = 0;
  uint64_t all = 0;
  for (NodeId paper = 0; paper < academic.num_papers(); ++paper) {
    if (!test(paper)) continue;
    ++all;
    const auto found = seen.find(key(paper));
    if (found == seen.end()) continue;
    right += most_frequent(found->second) == academic.venues(paper)[0] ? 1 : 0;
  }
  return static_cast<double>(right) / static_cast<double>(all);
}

TEST(AcademicStructure, PublicIdsTellNothingAboutTheYear) {
  const AcademicGraph& academic = small_graph();
  double early_half = 0;
  double late_half = 0;
  const auto papers = static_cast<NodeId>(academic.num_papers());
  for (NodeId paper = 0; paper < papers; ++paper) {
    (paper < papers / 2 ? early_half : late_half) += academic.year(paper);
  }
  EXPECT_NEAR(early_half / (papers / 2.0), late_half / (papers / 2.0), 0.5);
}

TEST(AcademicStructure, PapersDoubleEveryTwelveYears) {
  const AcademicGraph& academic = small_graph();
  std::map<Time, double> papers;
  for (NodeId paper = 0; paper < academic.num_papers(); ++paper) ++papers[academic.year(paper)];
  EXPECT_EQ(papers.size(), 30U);
  for (Time year = 1990; year <= 2007; ++year) {
    EXPECT_NEAR(papers[year + 12] / papers[year], 2.0, 0.1) << year;
  }
}

TEST(AcademicStructure, CitationCountsAreHeavyTailed) {
  const AcademicGraph& academic = small_graph();
  const auto& cites = academic.graph.schema().at(academic.relation("paper", "cites", "paper"));
  EXPECT_GT(static_cast<double>(cites.degrees.maximum), 20 * cites.degrees.mean);
  EXPECT_LT(cites.degrees.median, cites.degrees.mean);
  RecordProperty("max", std::to_string(cites.degrees.maximum));
}

TEST(AcademicStructure, ThreeQuartersOfTheCitationsStayInTheTopic) {
  const AcademicGraph& academic = small_graph();
  double own = 0;
  double family = 0;
  double all = 0;
  for (NodeId paper = 0; paper < academic.num_papers(); ++paper) {
    for (const NodeId cited : academic.references(paper)) {
      own += academic.topic(cited) == academic.topic(paper) ? 1 : 0;
      family += academic.topic(cited) / 3 == academic.topic(paper) / 3 ? 1 : 0;
      ++all;
    }
  }
  RecordProperty("own", std::to_string(own / all));
  RecordProperty("family", std::to_string(family / all));
  EXPECT_NEAR(own / all, 0.75, 0.03);
  EXPECT_NEAR(family / all, 0.91, 0.03);
}

TEST(AcademicStructure, NineOfTenPapersHaveTheL1FieldOfTheirTopic) {
  const AcademicGraph& academic = small_graph();
  const auto l1 = academic.truth.as<NodeId>("topic_l1");
  double right = 0;
  for (NodeId paper = 0; paper < academic.num_papers(); ++paper) {
    const auto fields = academic.around(paper, "field", {"rev_in_L1"});
    const NodeId own = l1[static_cast<size_t>(academic.topic(paper))];
    right += std::find(fields.begin(), fields.end(), own) != fields.end() ? 1 : 0;
  }
  const double share = right / static_cast<double>(academic.num_papers());
  RecordProperty("share", std::to_string(share));
  EXPECT_NEAR(share, 0.92, 0.03);
}

TEST(AcademicStructure, SwapPairsExchangeTheirTopics) {
  const AcademicGraph& academic = small_graph();
  const auto topics = academic.truth.as<int32_t>("venue_topic");
  const auto partners = academic.truth.as<NodeId>("venue_partner");
  const uint64_t years = academic.truth.shape("venue_topic")[1];
  uint64_t swapping = 0;
  for (NodeId venue = 0; venue < partners.size(); ++venue) {
    const NodeId partner = partners[venue];
    EXPECT_EQ(partners[partner], venue);
    swapping += partner != venue ? 1 : 0;
    const auto at = [&](NodeId v, uint64_t year) { return topics[v * years + year]; };
    EXPECT_EQ(at(venue, 0), at(partner, years - 1));
    EXPECT_EQ(at(venue, years - 1), at(partner, 0));
  }
  EXPECT_NEAR(static_cast<double>(swapping) / static_cast<double>(partners.size()), 0.70, 0.02);
}

// Years within 3 of the midpoint are left out: there a venue is between its topics.
TEST(AcademicStructure, PapersOfAVenueFollowItsTopicBeforeAndAfterTheMidpoint) {
  const AcademicGraph& academic = small_graph();
  const auto topics = academic.truth.as<int32_t>("venue_topic");
  const uint64_t years = academic.truth.shape("venue_topic")[1];
  std::map<std::pair<NodeId, int32_t>, Counts> seen;  // papers of (venue, its topic then), by topic
  for (NodeId paper = 0; paper < academic.num_papers(); ++paper) {
    const NodeId venue = academic.venues(paper)[0];
    const auto year = static_cast<uint64_t>(academic.year(paper) - academic.first_year());
    const int32_t* row = &topics[venue * years];
    const uint64_t from = year < 3 ? 0 : year - 3;
    const uint64_t to = std::min(year + 3, years - 1);
    if (row[from] == row[to]) ++seen[{venue, row[year]}][academic.topic(paper)];
  }
  uint64_t follow = 0;
  uint64_t groups = 0;
  for (const auto& [venue_and_topic, counts] : seen) {
    uint64_t papers = 0;
    for (const auto& [topic, count] : counts) papers += count;
    if (papers < 20) continue;
    ++groups;
    follow += most_frequent(counts) == venue_and_topic.second ? 1 : 0;
  }
  RecordProperty("groups", std::to_string(groups));
  RecordProperty("follow", std::to_string(follow));
  EXPECT_GT(groups, 100U);
  EXPECT_GT(static_cast<double>(follow), 0.97 * static_cast<double>(groups));
}

TEST(AcademicStructure, TheVenueDependsOnTopicAndYearTogether) {
  const AcademicGraph& academic = small_graph();
  const auto by_topic = [&](NodeId paper) {
    return std::pair<int64_t, int64_t>(academic.topic(paper), 0);
  };
  const auto by_topic_and_year = [&](NodeId paper) {
    return std::pair<int64_t, int64_t>(academic.topic(paper), academic.year(paper) / 3);
  };
  const auto even = [](NodeId paper) { return paper % 2 == 0; };
  const auto odd = [](NodeId paper) { return paper % 2 == 1; };
  const double without_year = venue_accuracy(academic, by_topic, even, odd);
  const double with_year = venue_accuracy(academic, by_topic_and_year, even, odd);
  RecordProperty("without_year", std::to_string(without_year));
  RecordProperty("with_year", std::to_string(with_year));
  EXPECT_GT(with_year, 1.2 * without_year);

  // The task of the paper: learn from the years before 2015, predict those after 2016.
  const auto past = [&](NodeId paper) { return academic.year(paper) < 2015; };
  const auto recent = [&](NodeId paper) {
    return academic.year(paper) == 2013 || academic.year(paper) == 2014;
  };
  const auto future = [&](NodeId paper) { return academic.year(paper) > 2016; };
  const double old_habits = venue_accuracy(academic, by_topic, past, future);
  const double latest = venue_accuracy(academic, by_topic, recent, future);
  RecordProperty("old_habits", std::to_string(old_habits));
  RecordProperty("latest", std::to_string(latest));
  EXPECT_GT(latest, 1.4 * old_habits);
}

TEST(AcademicStructure, EverySecondAuthorMovesToTheNextTopic) {
  const AcademicGraph& academic = small_graph();
  const auto early = academic.truth.as<int32_t>("author_topic_early");
  const auto late = academic.truth.as<int32_t>("author_topic_late");
  uint64_t moved = 0;
  for (size_t author = 0; author < early.size(); ++author) {
    EXPECT_EQ(early[author] / 3, late[author] / 3);
    moved += early[author] != late[author] ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(moved) / static_cast<double>(early.size()), 0.5, 0.01);
}

// The first affiliation starts with the career, so papers 10 or more years later are late ones.
TEST(AcademicStructure, AuthorsWriteOnTheTopicOfTheirTime) {
  const AcademicGraph& academic = small_graph();
  const auto early = academic.truth.as<int32_t>("author_topic_early");
  const auto late = academic.truth.as<int32_t>("author_topic_late");
  const Relation affiliated = academic.relation("institute", "rev_affiliated", "author");
  double right = 0;
  double all = 0;
  for (NodeId paper = 0; paper < academic.num_papers(); ++paper) {
    for (const NodeId author : academic.authors(paper)) {
      if (early[author] == late[author]) continue;
      const auto times = times_of(academic.graph.incoming(affiliated, author));
      const Time start = *std::min_element(times.begin(), times.end());
      const bool is_late = academic.year(paper) >= start + 10;
      right += academic.topic(paper) == (is_late ? late : early)[author] ? 1 : 0;
      ++all;
    }
  }
  RecordProperty("share", std::to_string(right / all));
  EXPECT_GT(right / all, 0.8);
}

TEST(AcademicStructure, CollaborationsRepeat) {
  const AcademicGraph& academic = small_graph();
  std::map<std::pair<NodeId, NodeId>, uint64_t> pairs;
  for (NodeId paper = 0; paper < academic.num_papers(); ++paper) {
    auto authors = academic.authors(paper);
    std::sort(authors.begin(), authors.end());
    for (size_t i = 0; i < authors.size(); ++i) {
      for (size_t j = i + 1; j < authors.size(); ++j) ++pairs[{authors[i], authors[j]}];
    }
  }
  const auto repeated =
      std::count_if(pairs.begin(), pairs.end(), [](const auto& pair) { return pair.second > 1; });
  const double share = static_cast<double>(repeated) / static_cast<double>(pairs.size());
  RecordProperty("share", std::to_string(share));
  EXPECT_GT(share, 0.03);
}

TEST(AcademicStructure, FewAuthorsHaveNoPaperAndSomeHaveMany) {
  const AcademicGraph& academic = small_graph();
  std::vector<uint64_t> papers(academic.nodes("author"));
  for (NodeId paper = 0; paper < academic.num_papers(); ++paper) {
    for (const NodeId author : academic.authors(paper)) ++papers[author];
  }
  const auto without = static_cast<double>(std::count(papers.begin(), papers.end(), 0U));
  RecordProperty("without", std::to_string(without));
  EXPECT_LT(without, 0.05 * static_cast<double>(papers.size()));
  const uint64_t most = *std::max_element(papers.begin(), papers.end());
  RecordProperty("most", std::to_string(most));
  EXPECT_GT(most, 25U);
}

TEST(AcademicStructure, MentionsAreTheAuthorshipsUnderSharedNames) {
  const AcademicGraph& academic = small_graph();
  const NodeType author = academic.type("author");
  std::map<std::string, std::set<NodeId>> bearers;
  for (NodeId node = 0; node < academic.nodes("author"); ++node) {
    bearers[std::string(academic.graph.name(author, node))].insert(node);
  }
  std::set<std::pair<NodeId, NodeId>> expected;
  for (NodeId paper = 0; paper < academic.num_papers(); ++paper) {
    for (const NodeId node : academic.authors(paper)) {
      const std::string name(academic.graph.name(author, node));
      if (bearers[name].size() > 1) expected.insert({paper, node});
    }
  }
  const auto papers = academic.truth.as<NodeId>("mention_paper");
  const auto authors = academic.truth.as<NodeId>("mention_author");
  const auto names = academic.truth.as<int32_t>("mention_name");
  std::set<std::pair<NodeId, NodeId>> mentions;
  std::map<int32_t, std::set<std::string>> spellings;
  for (size_t i = 0; i < papers.size(); ++i) {
    mentions.insert({papers[i], authors[i]});
    spellings[names[i]].insert(std::string(academic.graph.name(author, authors[i])));
  }
  EXPECT_EQ(mentions.size(), papers.size());
  EXPECT_EQ(mentions, expected);
  for (const auto& [name, spelled] : spellings) EXPECT_EQ(spelled.size(), 1U);
}

TEST(AcademicStructure, AThirdOfTheAuthorsShareNamesAlsoWithinTopics) {
  const AcademicGraph& academic = small_graph();
  const NodeType author = academic.type("author");
  const auto topics = academic.truth.as<int32_t>("author_topic_early");
  std::map<std::string, std::vector<NodeId>> bearers;
  for (NodeId node = 0; node < academic.nodes("author"); ++node) {
    bearers[std::string(academic.graph.name(author, node))].push_back(node);
  }
  double sharing = 0;
  double names = 0;
  double names_within_topic = 0;
  for (const auto& [name, nodes] : bearers) {
    if (nodes.size() < 2) continue;
    ++names;
    sharing += static_cast<double>(nodes.size());
    std::set<int32_t> distinct;
    for (const NodeId node : nodes) distinct.insert(topics[node]);
    names_within_topic += distinct.size() < nodes.size() ? 1 : 0;
  }
  RecordProperty("per_name", std::to_string(sharing / names));
  RecordProperty("within_topic", std::to_string(names_within_topic / names));
  EXPECT_NEAR(sharing / static_cast<double>(academic.nodes("author")), 0.30, 0.03);
  EXPECT_NEAR(sharing / names, 4.2, 0.5);
  EXPECT_GT(names_within_topic / names, 0.3);
}

std::vector<std::string> words_of(std::string_view title) {
  std::istringstream in{std::string(title)};
  std::vector<std::string> words;
  for (std::string word; in >> word;) {
    word[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(word[0])));
    words.push_back(word);
  }
  return words;
}

// Naive Bayes on the words of the titles: counts from the even papers, tested on the odd ones.
TEST(AcademicStructure, TitleWordsTellTheTopic) {
  const AcademicGraph& academic = small_graph();
  const uint64_t topics = academic.num_topics();
  std::map<std::string, std::vector<double>> counts;
  for (NodeId paper = 0; paper < academic.num_papers(); paper += 2) {
    for (const std::string& word : words_of(academic.graph.name(academic.paper, paper))) {
      auto& row = counts.try_emplace(word, topics, 0.1).first->second;
      ++row[static_cast<size_t>(academic.topic(paper))];
    }
  }
  double right = 0;
  for (NodeId paper = 1; paper < academic.num_papers(); paper += 2) {
    std::vector<double> scores(topics);
    for (const std::string& word : words_of(academic.graph.name(academic.paper, paper))) {
      const auto found = counts.find(word);
      if (found == counts.end()) continue;
      for (size_t topic = 0; topic < topics; ++topic)
        scores[topic] += std::log(found->second[topic]);
    }
    const auto best = std::max_element(scores.begin(), scores.end()) - scores.begin();
    right += best == academic.topic(paper) ? 1 : 0;
  }
  const double share = right / (static_cast<double>(academic.num_papers()) / 2);
  RecordProperty("share", std::to_string(share));
  EXPECT_GT(share, 0.8);
}

TEST(AcademicStructure, AffiliationsAreOrderedInTimeAndWithinTheYears) {
  const AcademicGraph& academic = small_graph();
  const Relation affiliated = academic.relation("institute", "rev_affiliated", "author");
  uint64_t movers = 0;
  for (NodeId author = 0; author < academic.nodes("author"); ++author) {
    const auto stays = academic.graph.incoming(affiliated, author);
    ASSERT_GE(stays.size(), 1U);
    movers += stays.size() > 1 ? 1 : 0;
    const std::vector<Time> times = times_of(stays);
    const auto [first, last] = std::minmax_element(times.begin(), times.end());
    EXPECT_GE(*first, 1990);
    EXPECT_LE(*last, 2019);
    EXPECT_LT(*last - *first, 20);
  }
  EXPECT_GT(movers, academic.nodes("author") / 10);
}

}  // namespace
}  // namespace hgt
