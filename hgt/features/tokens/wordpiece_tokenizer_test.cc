#include "hgt/features/tokens/wordpiece_tokenizer.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "hgt/graph/graph_test_folder.h"

namespace hgt {
namespace {

using Words = std::vector<std::string>;
using Ids = std::vector<int32_t>;

constexpr WordpieceRules kUncased;
constexpr WordpieceRules kCased = {.lower_case = false, .strip_accents = false};

TEST(BertWords, AreSeparatedByWhiteSpaceAndPunctuation) {
  EXPECT_EQ(bert_words("  Deep\tGraph\n\u00a0Learning\u3000", kUncased),
            (Words{"deep", "graph", "learning"}));
  EXPECT_EQ(bert_words("state-of-the-art: (10%)", kUncased),
            (Words{"state", "-", "of", "-", "the", "-", "art", ":", "(", "10", "%", ")"}));
  EXPECT_EQ(bert_words("a\u2014b$c", kUncased), (Words{"a", "\u2014", "b", "$", "c"}));
  EXPECT_EQ(bert_words("x\u00b1y", kUncased), (Words{"x\u00b1y"})) << "a symbol is no punctuation";
  EXPECT_EQ(bert_words("", kUncased), Words{});
  EXPECT_EQ(bert_words("[SEP]", kUncased), (Words{"[", "sep", "]"}));
}

TEST(BertWords, LoseControlCharactersAndBadBytes) {
  EXPECT_EQ(bert_words("a\u200b\u00ad\x01"
                       "b\xff"
                       "c\ufffd",
                       kUncased),
            (Words{"abc"}));
  EXPECT_EQ(bert_words(std::string_view("a\0b", 3), kUncased), (Words{"ab"}));
}

TEST(BertWords, OfUncasedModelsHaveNoAccents) {
  EXPECT_EQ(bert_words("Na\u00efve R\u00c9SUM\u00c9 \u0130 \u03a3\u03a3", kUncased),
            (Words{"naive", "resume", "i", "\u03c3\u03c3"}));
  EXPECT_EQ(bert_words("Na\u00efve R\u00c9", kCased), (Words{"Na\u00efve", "R\u00c9"}));
  const WordpieceRules lower = {.lower_case = true, .strip_accents = false};
  EXPECT_EQ(bert_words("\u00c9\u0130", lower), (Words{"\u00e9i\u0307"}));
  EXPECT_EQ(bert_words("\uac00", kUncased), (Words{"\u1100\u1161"})) << "Hangul comes apart";
  EXPECT_EQ(bert_words("\ufb01x\u00b2", kUncased), (Words{"\ufb01x\u00b2"}))
      << "compatible forms stay";
}

TEST(BertWords, EveryCjkCharacterIsOne) {
  EXPECT_EQ(bert_words("ab\u56fe\u8bbac", kUncased), (Words{"ab", "\u56fe", "\u8bba", "c"}));
  EXPECT_EQ(bert_words("\u304b\u306a", kCased), (Words{"\u304b\u306a"})) << "kana are letters";
  const WordpieceRules whole = {.split_cjk = false};
  EXPECT_EQ(bert_words("ab\u56fe\u8bba", whole), (Words{"ab\u56fe\u8bba"}));
}

class Wordpiece : public testing::Test {
 protected:
  Wordpiece() {
    write_bytes(folder_ / "vocab.txt",
                "[PAD]\n[UNK]\n[CLS]\n[SEP]\nun\n##aff\n##able\naf\n##f\n\u00fc\n##\u00fc\nu\n,\n");
    write_bytes(folder_ / "tokenizer_config.json", R"({"do_lower_case": true})");
  }
  WordpieceTokenizer opened() const { return WordpieceTokenizer::open(folder_.path()); }
  std::string error_with(const std::string& file, const std::string& text) const {
    write_bytes(folder_ / file, text);
    return error_of([&] { opened(); });
  }

  TestFolder folder_;
};

TEST_F(Wordpiece, TakesTheLongestPieces) {
  const WordpieceTokenizer tokenizer = opened();
  EXPECT_EQ(tokenizer.size(), 13U);
  EXPECT_EQ(tokenizer.encode("Unaffable, un", 64), (Ids{2, 4, 5, 6, 12, 4, 3}));
  EXPECT_EQ(tokenizer.encode("aff", 64), (Ids{2, 7, 8, 3}));
  EXPECT_EQ(tokenizer.encode("unx un", 64), (Ids{2, 1, 4, 3})) << "a word is unknown as a whole";
  EXPECT_EQ(tokenizer.encode(std::string(100, 'u'), 64), (Ids{2, 1, 3}));
  EXPECT_EQ(tokenizer.encode("af" + std::string(98, 'f'), 200).size(), 101U);
  EXPECT_EQ(tokenizer.encode("af" + std::string(99, 'f'), 200), (Ids{2, 1, 3})) << "too long";
  EXPECT_EQ(tokenizer.encode(" \t", 64), Ids{});
  EXPECT_EQ(tokenizer.encode(", , , ,", 4), (Ids{2, 12, 12, 3})) << "cut before [SEP]";
  EXPECT_EQ(tokenizer.encode("unaffable", 2), (Ids{2, 3}));
}

TEST_F(Wordpiece, FollowsTheConfigOfTheTokenizer) {
  EXPECT_EQ(opened().encode("\u00dc\u00fc", 64), (Ids{2, 1, 3})) << "uu";
  write_bytes(folder_ / "tokenizer_config.json",
              R"({"do_lower_case": true, "strip_accents": false})");
  EXPECT_EQ(opened().encode("\u00dc\u00fc", 64), (Ids{2, 9, 10, 3}));
  write_bytes(folder_ / "tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_EQ(opened().encode("un Un \u00fc", 64), (Ids{2, 4, 1, 9, 3}));
  write_bytes(folder_ / "sentence_bert_config.json", R"({"do_lower_case": true})");
  EXPECT_EQ(opened().encode("Un \u00dc", 64), (Ids{2, 4, 9, 3}));
}

TEST_F(Wordpiece, ReadsTokenizerJson) {
  std::filesystem::remove(folder_ / "vocab.txt");
  std::filesystem::remove(folder_ / "tokenizer_config.json");
  const std::string vocabulary =
      R"("vocab": {"[CLS]": 0, "[SEP]": 1, "[UNK]": 7, "un": 2, "##der": 3}})";
  const std::string normalizer = R"("normalizer": {"type": "BertNormalizer", "lowercase": true})";
  write_bytes(folder_ / "tokenizer.json",
              "{" + normalizer + R"(, "model": {"type": "WordPiece", )" + vocabulary + "}");
  EXPECT_EQ(opened().encode("Under x", 64), (Ids{0, 2, 3, 7, 1}));
  EXPECT_EQ(opened().size(), 8U);
  EXPECT_TRUE(contains(
      error_with("tokenizer.json", R"({"model": {"type": "WordPiece", )" + vocabulary + "}"),
      "tokenizer_config.json: nothing says whether the model is cased; write"));
  for (const char* bad : {"{}", R"({"model": 3})", R"({"model": {"type": "BPE", "vocab": {}}})",
                          R"({"model": {"vocab": []}})",
                          R"({"model": {"continuing_subword_prefix": "@", "vocab": {}}})"}) {
    EXPECT_TRUE(contains(error_with("tokenizer.json", bad), "has no WordPiece vocabulary")) << bad;
  }
  EXPECT_TRUE(contains(error_with("tokenizer.json", R"({"model": {"vocab": {"a": -1}}})"),
                       "an id is no whole number"));
  EXPECT_TRUE(contains(error_with("tokenizer.json", R"({"model": {"vocab": {"a": 2147483648}}})"),
                       "the id 2147483648 is too large"));
  EXPECT_TRUE(contains(error_with("tokenizer.json", "{"), "is not a JSON object"));
}

TEST_F(Wordpiece, RefusesDamagedFiles) {
  EXPECT_TRUE(contains(error_with("tokenizer_config.json", R"({"do_lower_case": 1})"),
                       "tokenizer_config.json: do_lower_case is 1; it must be true or false"));
  EXPECT_TRUE(contains(error_with("tokenizer_config.json", "{}"), "nothing says whether"));
  EXPECT_TRUE(contains(error_with("vocab.txt", ""), "vocab.txt: has no piece [UNK]; use the file"));
  write_bytes(folder_ / "vocab.txt", "[UNK]\r\n[CLS]\r\n[SEP]\r\nun");
  write_bytes(folder_ / "tokenizer_config.json", R"({"do_lower_case": true})");
  EXPECT_EQ(opened().encode("un", 64), (Ids{1, 3, 2})) << "line ends of other systems";
}

}  // namespace
}  // namespace hgt
