#include "hgt/insight/attention_rendering.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "hgt/graph/graph_test_folder.h"
#include "hgt/insight/explain.h"
#include "hgt/insight/insight_json.h"

namespace hgt {
namespace {

using DrawnJson = nlohmann::ordered_json;

// Papers of small_schema(): what enters them, by the names of the edge and its source.
class AttentionRendering : public testing::Test {
 protected:
  Relation relation(const char* source, const char* edge, const char* target) const {
    return schema_.relation(source, edge, target);
  }
  Relation self(const char* type) const {
    return Relation(schema_.relations().size() + index(schema_.node_type(type)));
  }
  AttentionTree tree() const {
    return {
        .target = schema_.node_type("paper"),
        .layers = 2,
        .from_layer = 3,
        .examples = 3,
        .children = {
            {.relation = relation("author", "writes", "paper"),
             .attention = 0.3,
             .children = {{.relation = relation("author", "knows", "author"), .attention = 0.05},
                          {.relation = self("author"), .attention = 0.25}}},
            {.relation = relation("paper", "cites", "paper"),
             .attention = 0.5,
             .children = {{.relation = relation("author", "writes", "paper"), .attention = 0.1},
                          {.relation = relation("paper", "cites", "paper"), .attention = 0.28},
                          {.relation = self("paper"), .attention = 0.12}}},
            {.relation = self("paper"), .attention = 0.2, .children = {{self("paper"), 0.2}}}}};
  }

  // Means sum to nothing: they are large where a node has few edges.
  AttentionTree means() const {
    return {
        .form = AttentionForm::means,
        .target = schema_.node_type("paper"),
        .layers = 2,
        .from_layer = 2,
        .examples = 3,
        .children = {
            {.relation = relation("author", "writes", "paper"),
             .attention = 0.9,
             .children = {{.relation = relation("author", "knows", "author"), .attention = 0.25},
                          {.relation = self("author"), .attention = 0.75}}},
            {.relation = relation("paper", "cites", "paper"),
             .attention = 0.0625,
             .children = {{.relation = self("paper"), .attention = 1}}},
            {.relation = self("paper"),
             .attention = 0.5,
             .children = {{.relation = self("paper"), .attention = 1}}}}};
  }

  Schema schema_ = small_schema();
};

TEST_F(AttentionRendering, ShowsTheLargestBranchesAndTheSumOfTheOthers) {
  const ShownTree shown = shown_tree(tree(), schema_, 2);
  EXPECT_EQ(shown.layers, 2U);
  EXPECT_EQ(shown.examples, 3U);
  EXPECT_EQ(shown.root.type, "paper");
  EXPECT_EQ(shown.root.attention, 1);
  ASSERT_EQ(shown.root.children.size(), 2U);
  EXPECT_EQ(shown.root.left_out, 1U);
  EXPECT_EQ(shown.root.others, 0.2);
  const ShownBranch& cites = shown.root.children[0];
  EXPECT_EQ(cites.relation, "cites");
  EXPECT_EQ(cites.type, "paper");
  ASSERT_EQ(cites.children.size(), 2U);
  EXPECT_EQ(cites.children[0].relation, "cites");
  EXPECT_EQ(cites.children[1].relation, "self");
  EXPECT_EQ(cites.children[1].type, "paper");
  EXPECT_EQ(cites.left_out, 1U);
  EXPECT_EQ(cites.others, 0.1);
  const ShownBranch& writes = shown.root.children[1];
  EXPECT_EQ(writes.type, "author");
  EXPECT_EQ(writes.left_out, 0U);
  EXPECT_EQ(writes.children[0].relation, "self");
  const ShownTree narrow = shown_tree(tree(), schema_, 1);
  EXPECT_EQ(narrow.root.left_out, 2U);
  EXPECT_DOUBLE_EQ(narrow.root.others, 0.5);
}

TEST_F(AttentionRendering, DrawsTheTreeWithItsSharesInAColumn) {
  EXPECT_EQ(to_text(shown_tree(tree(), schema_, 2)),
            "paper                   100.0 %\n"
            "├─ paper via cites       50.0 %\n"
            "│  ├─ paper via cites    28.0 %\n"
            "│  ├─ paper via self     12.0 %\n"
            "│  └─ 1 other            10.0 %\n"
            "├─ author via writes     30.0 %\n"
            "│  ├─ author via self    25.0 %\n"
            "│  └─ author via knows    5.0 %\n"
            "└─ 1 other               20.0 %\n");
}

TEST_F(AttentionRendering, ListsTheLargestOfAllPaths) {
  const auto paths = top_paths(tree(), schema_, 3);
  ASSERT_EQ(paths.size(), 3U);
  EXPECT_EQ(to_text(paths[0], "paper"), "paper <- paper <- paper");
  EXPECT_EQ(paths[0].attention, 0.28);
  EXPECT_EQ(to_text(paths[1], "paper"), "paper <- author <- author");
  EXPECT_EQ(paths[1].steps[0].edge, "writes");
  EXPECT_EQ(paths[1].steps[1].edge, "self");
  EXPECT_EQ(paths[2].attention, 0.2);
  EXPECT_EQ(top_paths(tree(), schema_, 100).size(), 6U);
}

TEST_F(AttentionRendering, TellsTheLargestOfTheMeansThatAreLeftOutNotTheirSum) {
  const ShownTree shown = shown_tree(means(), schema_, 1);
  EXPECT_EQ(shown.form, AttentionForm::means);
  EXPECT_EQ(shown.root.left_out, 2U);
  EXPECT_EQ(shown.root.others, 0.5);
  EXPECT_EQ(to_text(shown),
            "paper\n"
            "├─ author via writes     0.9000\n"
            "│  ├─ author via self    0.7500\n"
            "│  └─ 1 other, at most   0.2500\n"
            "└─ 2 others, at most     0.5000\n");
}

TEST_F(AttentionRendering, ListsPathsByTheProductOfTheirMeans) {
  const auto paths = top_paths(means(), schema_, 3);
  ASSERT_EQ(paths.size(), 3U);
  EXPECT_DOUBLE_EQ(paths[0].attention, 0.9 * 0.75);
  EXPECT_EQ(to_text(paths[0], "paper"), "paper <- author <- author");
  EXPECT_EQ(paths[0].steps[1].edge, "self");
  EXPECT_DOUBLE_EQ(paths[1].attention, 0.5);
  EXPECT_DOUBLE_EQ(paths[2].attention, 0.9 * 0.25);
}

// --- JSON ---

ShownBranch branch_from(const DrawnJson& json) {
  ShownBranch branch{.relation = json.value("relation", ""),
                     .type = json.value("type", ""),
                     .attention = json.value("attention", 1.0),
                     .others = json.value("others", 0.0)};
  for (const DrawnJson& child : json.at("children")) branch.children.push_back(branch_from(child));
  return branch;
}

void forget_counts(ShownBranch& branch) {
  branch.left_out = 0;
  for (ShownBranch& child : branch.children) forget_counts(child);
}

TEST_F(AttentionRendering, SaysTheSameInJson) {
  using Case = std::pair<AttentionTree, uint64_t>;
  for (const auto& [whole, top] :
       {Case{tree(), 1}, Case{tree(), 2}, Case{tree(), 9}, Case{means(), 2}}) {
    ShownTree shown = shown_tree(whole, schema_, top);
    const DrawnJson json = DrawnJson(to_json(shown));
    EXPECT_FALSE(json.contains("svg"));
    EXPECT_EQ(json.contains("others"), top < 3);
    ShownTree back{.form = from_word<AttentionForm>(json.at("form").get<std::string>()),
                   .root = branch_from(json),
                   .layers = json.at("layers").get<uint32_t>(),
                   .from_layer = json.at("from_layer").get<uint32_t>(),
                   .examples = json.at("examples").get<uint64_t>()};
    back.root.type = json.at("target").get<std::string>();
    forget_counts(shown.root);
    EXPECT_EQ(back, shown);
    const DrawnJson with = DrawnJson(to_json(shown, WithSvg::yes));
    EXPECT_EQ(with.at("svg"), to_svg(shown));
  }
}

// --- SVG ---

// The first way in which a text is no well-formed XML; "": it is. Knows what to_svg() may write.
std::string xml_defect(const std::string& text) {
  static const std::regex token(
      R"(<(/?)([a-z]+)((?: [A-Za-z-]+="[^"<]*")*)(/?)>|[^<>&]+|&(?:lt|gt|amp|quot);)");
  static const std::regex entity("&(?!(?:lt|gt|amp|quot);)");
  std::vector<std::string> open;
  auto at = text.cbegin();
  for (std::smatch match; at != text.cend(); at = match[0].second) {
    if (!std::regex_search(at, text.cend(), match, token, std::regex_constants::match_continuous)) {
      return "at " + std::string(at, std::min(at + 40, text.cend()));
    }
    if (std::regex_search(match[3].first, match[3].second, entity)) return "& in " + match.str();
    if (!match[2].matched || match[4].length() > 0) continue;
    if (match[1].length() == 0) {
      open.push_back(match[2]);
    } else if (open.empty() || open.back() != match[2]) {
      return "unexpected " + match.str();
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back() + " is not closed";
}

struct Rectangle {
  double x, y, width, height;
};

std::vector<Rectangle> rectangles_in(const std::string& svg) {
  static const std::regex pattern(
      R"re(<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)")re");
  std::vector<Rectangle> found;
  for (std::sregex_iterator i(svg.begin(), svg.end(), pattern); i != std::sregex_iterator(); ++i) {
    found.push_back(
        {std::stod((*i)[1]), std::stod((*i)[2]), std::stod((*i)[3]), std::stod((*i)[4])});
  }
  return found;
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// A tree with few large and many small branches, three levels deep.
ShownBranch bushy(const std::string& type, double share, int depth) {
  ShownBranch branch{.relation = "to_" + type, .type = type, .attention = share};
  for (int i = 0; depth > 0 && i < 4; ++i) {
    const double part = i == 0 ? 0.9 : 0.02;
    branch.children.push_back(
        bushy(type + std::string(static_cast<size_t>(3 * i), 'W'), part * share, depth - 1));
  }
  if (depth > 0) branch.left_out = 7;
  branch.others = depth > 0 ? 0.04 * share : 0;
  return branch;
}

TEST_F(AttentionRendering, DrawsBoxesThatDoNotOverlap) {
  for (int depth = 1; depth <= 3; ++depth) {
    ShownTree shown{.root = bushy("paper", 1, depth), .layers = 3, .examples = 1};
    shown.root.relation.clear();
    const std::string svg = to_svg(shown);
    EXPECT_EQ(xml_defect(svg), "");
    const auto boxes = rectangles_in(svg);
    ASSERT_EQ(boxes.size(), count_of(svg, "<text "));
    EXPECT_EQ(boxes.size(), count_of(svg, "class=\"attention-link\"") + 1);
    static const std::regex view(R"(viewBox="0 0 (\d+) (\d+)\")");
    std::smatch size;
    ASSERT_TRUE(std::regex_search(svg, size, view));
    for (size_t i = 0; i < boxes.size(); ++i) {
      const Rectangle& a = boxes[i];
      EXPECT_GE(a.height, 22);
      EXPECT_GE(a.y, 0);
      EXPECT_LE(a.x + a.width, std::stod(size[1]));
      EXPECT_LE(a.y + a.height, std::stod(size[2]));
      for (size_t j = 0; j < i; ++j) {
        const Rectangle& b = boxes[j];
        const bool apart = a.x + a.width < b.x || b.x + b.width < a.x || a.y + a.height < b.y ||
                           b.y + b.height < a.y;
        EXPECT_TRUE(apart) << depth << ": boxes " << i << " and " << j;
      }
    }
  }
}

TEST_F(AttentionRendering, MakesBandsAsWideAsShares) {
  const std::string svg = to_svg(shown_tree(tree(), schema_, 2));
  static const std::regex pattern(
      R"(d="M[\d.]+ ([\d.]+)C[^V]* ([\d.]+)V([\d.]+)C[^Z]* ([\d.]+)Z")");
  std::vector<double> widths;
  for (std::sregex_iterator i(svg.begin(), svg.end(), pattern); i != std::sregex_iterator(); ++i) {
    widths.push_back(std::stod((*i)[3]) - std::stod((*i)[2]));
    EXPECT_NEAR(widths.back(), std::stod((*i)[4]) - std::stod((*i)[1]), 0.03);
  }
  const std::vector<double> shares = {0.5, 0.28, 0.12, 0.1, 0.3, 0.25, 0.05, 0.2};
  ASSERT_EQ(widths.size(), shares.size());
  for (size_t i = 0; i < shares.size(); ++i) {
    EXPECT_NEAR(widths[i] / widths[0], shares[i] / shares[0], 1e-3);
  }
  for (const char* part : {">paper 50.0 % via cites</text>", ">1 other 10.0 %</text>",
                           "<title>paper &lt;- paper &lt;- paper: 28.0 %</title>",
                           "<title>Meta relation attention of paper</title>", "<desc>"}) {
    EXPECT_TRUE(contains(svg, part)) << part;
  }
}

TEST_F(AttentionRendering, DrawsMeansInBoxesThatHoldAllBands) {
  const ShownTree shown = shown_tree(means(), schema_, 9);
  const std::string svg = to_svg(shown);
  EXPECT_EQ(xml_defect(svg), "");
  const auto boxes = rectangles_in(svg);
  ASSERT_EQ(boxes.size(), 8U);
  EXPECT_NEAR(boxes[0].height, 160 * (0.9 + 0.5 + 0.0625), 0.1);  // more than a whole
  EXPECT_NEAR(boxes[1].height, 160 * (0.75 + 0.25), 0.1);         // writes: more than its own
  for (const char* part : {">author 0.9000 via writes</text>", "<title>paper</title>",
                           "<title>paper &lt;- author &lt;- author: 0.7500</title>",
                           "<desc>The mean attention of the edges of each meta relation, over 2 "
                           "layers, 3 examples."}) {
    EXPECT_TRUE(contains(svg, part)) << part;
  }
  EXPECT_FALSE(contains(svg, "%<"));
}

TEST_F(AttentionRendering, EscapesNamesInSvg) {
  const ShownTree shown{
      .root = {.type = "<a&b>",
               .attention = 1,
               .children = {{.relation = "\"x\"</text>", .type = "a\x01&lt;", .attention = 1}}},
      .layers = 1,
      .examples = 2};
  const std::string svg = to_svg(shown);
  EXPECT_EQ(xml_defect(svg), "");
  EXPECT_TRUE(contains(svg, ">&lt;a&amp;b&gt;</text>"));
  EXPECT_TRUE(contains(svg, "a &amp;lt; 100.0 % via &quot;x&quot;&lt;/text&gt;</text>"));
  EXPECT_NE(xml_defect("<a>&b</a>"), "");
  EXPECT_NE(xml_defect("<a><b></a></b>"), "");
  EXPECT_NE(xml_defect("<a x=\"&\"></a>"), "");
  EXPECT_NE(xml_defect("<a>"), "");
}

// --- one node ---

TEST_F(AttentionRendering, TellsAProgramAboutANode) {
  NodeExplanation answer{
      .node = {.type = "paper", .id = "P1", .name = "bad \xff name", .time = "2019"},
      .samples = 2,
      .trees = AttentionTrees{.shares = tree(), .means = means()},
      .own_share = 0.125,
      .neighbors = {{.node = {.type = "author", .id = "a"},
                     .relations = {"writes"},
                     .share = 0.25,
                     .without = {{.id = "v2", .name = "W", .probability = 0.75}}}},
      .prediction = {{.id = "v1", .name = "V", .probability = 0.5}},
      .without_all = {{.id = "v1", .name = "V", .probability = 0.125}},
      .truth = {"V"}};
  const DrawnJson json = DrawnJson::parse(json_text(to_json(answer, schema_, 2)));
  EXPECT_EQ(json.at("node").at("id"), "P1");
  EXPECT_EQ(json.at("node").at("name"), "bad \xef\xbf\xbd name");
  EXPECT_EQ(json.at("prediction"),
            DrawnJson::parse(R"([{"class":"v1","name":"V","probability":0.5}])"));
  EXPECT_EQ(json.at("truth"), DrawnJson::parse(R"(["V"])"));
  EXPECT_EQ(json.at("self"), 0.125);
  EXPECT_TRUE(json.at("no_prediction").is_null());
  EXPECT_EQ(json.at("neighbors"), DrawnJson::parse(R"([{
      "node": {"type": "author", "id": "a", "name": "", "time": ""}, "relations": ["writes"],
      "share": 0.25, "without": [{"class": "v2", "name": "W", "probability": 0.75}]}])"));
  EXPECT_EQ(json.at("without_all").at(0).at("probability"), 0.125);
  EXPECT_EQ(json.at("attention").size(), 2U);
  EXPECT_EQ(json.at("attention").at("shares"), DrawnJson(to_json(shown_tree(tree(), schema_, 2))));
  EXPECT_EQ(json.at("attention").at("means"), DrawnJson(to_json(shown_tree(means(), schema_, 2))));
  const DrawnJson drawn = DrawnJson(to_json(answer, schema_, 2, WithSvg::yes));
  for (const auto& [form, tree] : drawn.at("attention").items()) {
    EXPECT_TRUE(tree.contains("svg")) << form;
  }
  answer = {.node = answer.node, .no_prediction = "none"};
  const DrawnJson poor = DrawnJson(to_json(answer, schema_, 2));
  EXPECT_EQ(poor.at("no_prediction"), "none");
  for (const char* key : {"prediction", "self", "without_all", "attention"}) {
    EXPECT_TRUE(poor.at(key).is_null()) << key;
  }
  EXPECT_EQ(poor.at("neighbors"), DrawnJson::array());
  EXPECT_EQ(poor.at("truth"), DrawnJson::array());
}

}  // namespace
}  // namespace hgt
