#include "hgt/features/word_vectors.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "hgt/features/titled_test_graph.h"
#include "hgt/graph/graph_test_folder.h"
#include "hgt/tables/compressed_test_text.h"

namespace hgt {
namespace {

using Vector = std::vector<float>;

class WordVectorsTest : public testing::Test {
 protected:
  // A vocabulary of these words.
  static Vocabulary words(const std::string& title) {
    const TestGraph graph = titled_graph({{title, 2010}});
    return {*graph, graph.type("paper"), 2014, no_progress};
  }
  WordTable read(const std::string& title, const std::string& text) const {
    write_bytes(file_, text);
    return read_word_vectors(file_, words(title), no_progress);
  }
  // The vector of the only word; empty: it has none.
  Vector vector_of(const std::string& word, const std::string& text) const {
    const std::string title = word + " a";  // so that a word is known
    const Vocabulary vocabulary = words(title);
    const WordTable table = read(title, text);
    const uint32_t number = vocabulary.find(word).value();
    if (!table.known[number]) return {};
    const auto first = table.vectors.begin() + static_cast<ptrdiff_t>(number * table.width);
    return {first, first + static_cast<ptrdiff_t>(table.width)};
  }
  std::string error_for(const std::string& text) const {
    return error_of([&] { read("a b", text); });
  }
  std::string at_line(int line) const { return file_.string() + ":" + std::to_string(line) + ": "; }
  void expect_error(const std::string& text, int line, const std::string& what) const {
    EXPECT_TRUE(error_for(text).starts_with(at_line(line) + what)) << error_for(text);
  }

  const TestFolder folder_;
  const Path file_ = folder_ / "vectors.txt";
};

TEST_F(WordVectorsTest, ReadsTheFormatOfGlove) {
  const WordTable table = read("a b", "the 9 9 9\nb -0.5 1e-3 2\na 1 2 3\n");
  EXPECT_EQ(table.width, 3U);
  EXPECT_EQ(table.vectors, (Vector{1, 2, 3, -0.5F, 1e-3F, 2}));
  EXPECT_EQ(table.known, (std::vector<bool>{true, true}));
}

TEST_F(WordVectorsTest, PassesOverTheFirstLineOfWord2vec) {
  EXPECT_EQ(vector_of("b", "2 3\na 1 2 3\nb 4 5 6\n"), (Vector{4, 5, 6}));
  EXPECT_EQ(vector_of("b", "a 7\nb 8\n"), Vector{8}) << "vectors of one number";
  EXPECT_EQ(vector_of("a", "a 7\nb 8\n"), Vector{7}) << "no header: a word and a number";
}

TEST_F(WordVectorsTest, TakesWhateverEndsALine) {
  EXPECT_EQ(vector_of("b", "a 1 2 \nb 3 4 \t \n"), (Vector{3, 4}));
  EXPECT_EQ(vector_of("b", "2 2\r\na 1 2\r\nb 3 4\r\n"), (Vector{3, 4}));
  EXPECT_EQ(vector_of("b", "a 1 2\n\n \nb 3 4"), (Vector{3, 4}));
  EXPECT_EQ(vector_of("b", "a\t1\t2\nb  3   4\n"), (Vector{3, 4}));
}

TEST_F(WordVectorsTest, ReadsCompressedFiles) {
  EXPECT_EQ(vector_of("b", gzip("a 1 2\nb 3 4\n")), (Vector{3, 4}));
  EXPECT_EQ(vector_of("b", zstd("a 1 2\nb 3 4\n")), (Vector{3, 4}));
}

TEST_F(WordVectorsTest, ReadsLinesThatCrossABuffer) {
  std::string text = "a 1 2\n";
  for (int i = 0; text.size() < (3U << 20U); ++i) {
    text += "longwordnumber" + std::to_string(i) + " 0.125 -0.25\n";
  }
  EXPECT_EQ(vector_of("b", text + "b 3 4\n"), (Vector{3, 4}));
}

TEST_F(WordVectorsTest, TakesTheFirstOfTwoLinesForAWord) {
  EXPECT_EQ(vector_of("b", "b 1\nb 2\na 3\n"), Vector{1});
}

TEST_F(WordVectorsTest, PassesOverWordsWithSpaces) {  // GloVe's largest file has some
  EXPECT_EQ(vector_of("b", "a 1 2\n. . . 7 7\nat name@domain.com 8 8\nb 3 4\n"), (Vector{3, 4}));
}

// --- words that the file lacks ---

TEST_F(WordVectorsTest, MakesUpUnknownWordsFromTheirNGrams) {
  // <abd> has <ab abd bd> <abd abd> <abd>. Of them, abc and abz have <ab; qabd has abd, bd> and
  // abd>; zzz has none.
  const std::string text = "a 7 7\nabc 1 0\nabz 3 0\nqabd 0 4\nzzz 50 50\n";
  EXPECT_EQ(vector_of("abd", text), (Vector{(2 + 0 + 0 + 0) / 4.0F, (0 + 4 + 4 + 4) / 4.0F}));
  EXPECT_EQ(vector_of("abc", text), (Vector{1, 0})) << "a known word is taken as it is";
  EXPECT_EQ(vector_of("xyv", text), Vector{}) << "no n-gram of it is known";
}

TEST_F(WordVectorsTest, NGramsHaveThreeToSixCharacters) {
  // <abcdefgh> and <xabcdefy> share abc .. def, abcd .. cdef, abcde, bcdef, abcdef: 4 + 3 + 2 + 1.
  // The longer one that they do not share would change nothing; pieces of two would: h> is shared.
  const std::string text = "a 0\nxabcdefy 10\nqqh 99\n";
  EXPECT_EQ(vector_of("abcdefgh", text), Vector{10});
  // Seven characters in common: the n-gram of seven must not count again. wabcdefgv 4 has the ten
  // n-grams above as well, so that each is the mean (10 + 4) / 2; efg, defg, cdefg, bcdefg and
  // fgh.. : only the former are known, with 4.
  const Vector mean = vector_of("abcdefgh", text + "wabcdefgv 4\n");
  EXPECT_FLOAT_EQ(mean[0], (10 * 7 + 4 * 4) / 14.0F);
}

TEST_F(WordVectorsTest, CharactersAreThoseOfUtf8) {
  // By bytes, <\xc3\xa9 would be an n-gram that both share.
  const std::string text = "a 0\n\xc3\xa9z 100\n\xc3\xa9xb 6\n";
  EXPECT_EQ(vector_of("\xc3\xa9xa", text), Vector{6}) << "<\xc3\xa9x is shared with one";
  EXPECT_EQ(vector_of("\xc3\xa9q", text), Vector{});
}

TEST_F(WordVectorsTest, ShortWordsHaveOneNGram) {
  EXPECT_EQ(vector_of("b", "a 3\nab 5\n"), Vector{}) << "<b> is no part of <ab>";
  EXPECT_EQ(vector_of("b", "a 3\n<b> 5\n"), Vector{5}) << "but of <<b>>";
}

// --- errors ---

TEST_F(WordVectorsTest, ErrorsNameFileAndLine) {
  expect_error("a 1 2\nb\n", 2, "the word 'b' has no numbers");
  expect_error("a 1 2\n\nb 1 2 3\n", 3, "has 3 numbers, but the lines before it have 2");
  expect_error("a 1 2\nb 1\n", 2, "has 1 numbers, but the lines before it have 2");
  expect_error("4 2\na 1 2\nb 1 x2\n", 3, "'x2' is not a finite number");
  for (const char* number : {"nan", "-inf", "1e99", "0x10", "1,5", "--1"}) {
    expect_error(std::string("a 1 ") + number + "\n", 1,
                 "'" + std::string(number) + "' is not a finite number");
  }
  EXPECT_TRUE(contains(error_for("a 1 2\nb\n"), "GloVe")) << "says what a line should be";
}

TEST_F(WordVectorsTest, WantsWordsOfTheTitles) {
  EXPECT_TRUE(contains(error_for(""), "contains no vectors")) << error_for("");
  EXPECT_TRUE(contains(error_for("5 300\n"), "contains no vectors")) << "a header alone";
  const std::string error = error_for("A 1 2\nB 3 4\n");
  EXPECT_TRUE(contains(error, "contains none of the words") && contains(error, file_.string()))
      << error;
  EXPECT_TRUE(contains(error, "lower case")) << error;
}

TEST_F(WordVectorsTest, AMissingFileIsNamed) {
  const std::string error =
      error_of([&] { read_word_vectors(folder_ / "none.txt", words("a"), no_progress); });
  EXPECT_TRUE(contains(error, "none.txt")) << error;
}

TEST_F(WordVectorsTest, CanBeStopped) {
  write_bytes(file_, "a 1\n");
  EXPECT_THROW(read_word_vectors(file_, words("a b"), StopAt(1)), Interrupted);
  EXPECT_THROW(read_word_vectors(file_, words("a b"), StopAt(3)), Interrupted) << "second time";
}

}  // namespace
}  // namespace hgt
