#include "hgt/features/tokens/xlnet_tokenizer.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "hgt/features/tokens/trained_spiece_test.h"
#include "hgt/graph/graph_test_folder.h"

namespace hgt {
namespace {

using Json = nlohmann::json;

TEST(XlnetText, WhiteSpaceCollapses) {
  EXPECT_EQ(xlnet_text("  a \t\n b  "), "a b");
  EXPECT_EQ(xlnet_text("a\u00a0\u2003b\u3000"), "a b");
  EXPECT_EQ(xlnet_text("a\x1c\x0b\u0085"
                       "b"),
            "a b");
  EXPECT_EQ(xlnet_text("a\u200b"
                       "b"),
            "a\u200b"
            "b")
      << "a zero-width space is no space";
  EXPECT_EQ(xlnet_text(" \t\u2028"), "");
  EXPECT_EQ(xlnet_text(""), "");
}

TEST(XlnetText, DoubledQuotesBecomeOne) {
  EXPECT_EQ(xlnet_text("``Old'' quotes"), "\"Old\" quotes");
  EXPECT_EQ(xlnet_text("'' ``` '"), "\" \"` '");
  EXPECT_EQ(xlnet_text("`'"), "`'");
}

TEST(XlnetText, LettersLoseTheirAccentsAndKeepTheirCase) {
  EXPECT_EQ(xlnet_text("Na\u00efve R\u00c9SUM\u00c9"), "Naive RESUME");
  EXPECT_EQ(xlnet_text("e\u0301"), "e") << "accents that come by themselves";
  EXPECT_EQ(xlnet_text("\u0301"), "");
  EXPECT_EQ(xlnet_text("\ufb01x\u00b2 \u2460 \uff21"), "fix2 1 A") << "compatibility forms";
  EXPECT_EQ(xlnet_text("\uac00"), "\u1100\u1161") << "Hangul comes apart";
  EXPECT_EQ(xlnet_text("\u0fad\u0903"), "\u0fad\u0903") << "marks of combining class 0 stay";
  EXPECT_EQ(xlnet_text("\ufdfa").size(), 33U) << "the longest decomposition there is";
}

TEST(XlnetText, BadBytesBecomeReplacementCharacters) {
  EXPECT_EQ(xlnet_text("a\xff"
                       "b"),
            "a\ufffd"
            "b");
  EXPECT_EQ(xlnet_text("\xe2\x82"), "\ufffd\ufffd") << "cut off in a character";
  EXPECT_EQ(xlnet_text("\xed\xa0\x80"), "\ufffd\ufffd\ufffd") << "half of a surrogate pair";
  EXPECT_EQ(xlnet_text("\xc0\xaf"), "\ufffd\ufffd") << "overlong";
  EXPECT_EQ(xlnet_text(std::string_view("a\0b", 3)), std::string_view("a\0b", 3));
}

// A tokenizer of its own, trained here.
class XlnetTokenizerTest : public testing::Test {
 protected:
  XlnetTokenizer trained(const std::string& flags = kSpecialPieces) const {
    write_spiece(folder_ / "spiece.model", flags);
    return XlnetTokenizer(folder_ / "spiece.model");
  }
  std::string error_of_opening() const {
    return error_of([&] { XlnetTokenizer tokenizer(folder_ / "spiece.model"); });
  }
  static std::string joined(const XlnetTokenizer& tokenizer, std::string_view title) {
    std::string text;
    for (const int32_t id : tokenizer.encode(title)) text += tokenizer.piece(id) + "|";
    return text;
  }

  TestFolder folder_;
};

TEST_F(XlnetTokenizerTest, SpecialPiecesStandAtTheEnd) {
  const XlnetTokenizer tokenizer = trained();
  const std::vector<int32_t> ids = tokenizer.encode("graphs");
  ASSERT_GE(ids.size(), 3U);
  EXPECT_EQ(tokenizer.piece(ids[ids.size() - 2]), "<sep>");
  EXPECT_EQ(tokenizer.piece(ids[ids.size() - 1]), "<cls>");
  EXPECT_EQ(ids[ids.size() - 2], tokenizer.separator());
  EXPECT_EQ(ids[ids.size() - 1], tokenizer.classifier());
  EXPECT_NE(tokenizer.separator(), tokenizer.classifier());
}

TEST_F(XlnetTokenizerTest, TitlesWithoutTextHaveNoIds) {
  const XlnetTokenizer tokenizer = trained();
  for (const char* title : {"", " ", "\t\n \u00a0", "\u0301"}) {
    EXPECT_TRUE(tokenizer.encode(title).empty()) << "'" << title << "'";
  }
}

TEST_F(XlnetTokenizerTest, LongTitlesAreCutWithTheirSpecialPieces) {
  const XlnetTokenizer tokenizer = trained();
  std::string title;
  for (int i = 0; i < 61; ++i) title += "\u2603 \u2602 ";
  EXPECT_EQ(tokenizer.encode(title).size(), kMaxTitleIds);
  EXPECT_NE(tokenizer.encode(title).back(), tokenizer.classifier());
}

TEST_F(XlnetTokenizerTest, NamesOfSpecialPiecesInATitleAreText) {
  const XlnetTokenizer tokenizer = trained();
  const std::vector<int32_t> ids = tokenizer.encode("<sep>");
  EXPECT_NE(ids.front(), tokenizer.separator());
  EXPECT_GT(ids.size(), 3U);
}

TEST_F(XlnetTokenizerTest, PiecesThatEndInADigitAndACommaAreCutBeforeIt) {
  const std::string flags = R"(--user_defined_symbols="7,","▁9,","12","s,")";
  const XlnetTokenizer tokenizer = trained(kSpecialPieces + flags);
  EXPECT_EQ(joined(tokenizer, "7,"), "▁|7|,|<sep>|<cls>|");
  EXPECT_EQ(joined(tokenizer, "12 7, 127,"), "▁|12|▁|7|,|▁|12|7|,|<sep>|<cls>|");
  EXPECT_EQ(joined(tokenizer, "9, 9"), "▁|9|,|▁|9|<sep>|<cls>|") << "the space before it stays";
  EXPECT_NE(joined(tokenizer, "graphs,").find("|s,|"), std::string::npos) << "s is no digit";
}

TEST_F(XlnetTokenizerTest, BadBytesAreUnknownPieces) {
  const std::string plain = std::string(kSpecialPieces) + "--normalization_rule_name=identity";
  EXPECT_EQ(joined(trained(plain), "\xff"), "▁|<unk>|<sep>|<cls>|");
  EXPECT_EQ(joined(trained(), "\xff"), "") << "the usual rules make a space of U+FFFD";
}

TEST_F(XlnetTokenizerTest, ErrorsNameTheFileAndTheRemedy) {
  const std::string file = (folder_ / "spiece.model").string();
  EXPECT_EQ(error_of_opening(),
            file + ": there is no such file; it comes with the weights of XLNet");
  for (const std::string& bytes : {std::string("no model at all"), std::string(1, '\xff')}) {
    write_bytes(folder_ / "spiece.model", bytes);
    EXPECT_EQ(error_of_opening(),
              file + ": is not a SentencePiece model, or is damaged; download it again");
  }
  EXPECT_EQ(error_of([&] { trained("--control_symbols=<cls>"); }),
            file + ": has no piece <sep>; use the spiece.model that belongs to the weights");
  EXPECT_EQ(error_of([&] { trained("--control_symbols=<sep>"); }),
            file + ": has no piece <cls>; use the spiece.model that belongs to the weights");
}

TEST_F(XlnetTokenizerTest, EmptyModelIsRefused) {
  write_bytes(folder_ / "spiece.model", "");
  EXPECT_NE(error_of_opening(), "");
}

TEST(XlnetTokenizerGolden, IdsAndPieces) {
  const Path folder = Path(HGT_SHARED_DIR) / "golden/xlnet";
  std::ifstream in(folder / "titles.json");
  if (!in) GTEST_SKIP() << folder << " is not there";
  const Json golden = Json::parse(in);
  const XlnetTokenizer tokenizer(folder / "spiece.model");
  ASSERT_EQ(golden.at("cases").size(), 7U);
  for (const Json& title : golden.at("cases")) {
    const std::vector<int32_t> ids = tokenizer.encode(title.at("title").get<std::string>());
    EXPECT_EQ(ids, title.at("ids").get<std::vector<int32_t>>()) << title.at("title");
    std::vector<std::string> pieces;
    for (const int32_t id : ids) pieces.push_back(tokenizer.piece(id));
    EXPECT_EQ(pieces, title.at("pieces").get<std::vector<std::string>>()) << title.at("title");
  }
}

}  // namespace
}  // namespace hgt
