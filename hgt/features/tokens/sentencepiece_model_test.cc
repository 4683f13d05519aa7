// Our reading of SentencePiece models against libsentencepiece's.
#include "hgt/features/tokens/sentencepiece_model.h"

#include <gtest/gtest.h>
#include <sentencepiece_processor.h>

#include <cstring>
#include <random>

#include "hgt/features/tokens/sentencepiece_normalizer.h"
#include "hgt/features/tokens/trained_spiece_test.h"
#include "hgt/graph/graph_test_folder.h"

namespace hgt {
namespace {

// Words and characters of all sorts, in any order.
std::string random_text(std::mt19937& random) {
  static const std::vector<std::string> kParts = {
      " ",       "  ",        "\t",     "a",      "graph",  "s",      "learning ", "Het",
      "erogen",  "12",        "7,",     "8,",     ",",      "\"",     "-",         "\u00e9",
      "e\u0301", "caf\u00e9", "\u2603", "\u65e5", "\u672c", "\uff21", "\u00b2",    "\ufb01",
      "\u00a0",  "\u3000",    "\u200b", "\u2581", "\uac00", "\xff",   "\xe2\x82",  "\ufffd",
      "<sep>",   "<unk>",     "nodes ", "\u00a8"};
  std::string text;
  for (size_t count = random() % 12; count > 0; --count) text += kParts[random() % kParts.size()];
  return text;
}

void expect_the_same(const Path& file, const std::string& what) {
  sentencepiece::SentencePieceProcessor expected;
  ASSERT_TRUE(expected.Load(file.string()).ok()) << what;
  const SentencepieceModel found = SentencepieceModel::open(file);
  ASSERT_EQ(found.size(), static_cast<size_t>(expected.GetPieceSize()));
  for (int id = 0; id < expected.GetPieceSize(); ++id) {
    ASSERT_EQ(found.piece(id), expected.IdToPiece(id)) << what;
    ASSERT_EQ(found.id(found.piece(id)), expected.PieceToId(expected.IdToPiece(id))) << what;
  }
  EXPECT_EQ(found.id("no piece"), expected.unk_id());
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    const std::string text = random_text(random);
    std::vector<std::string> pieces;
    std::vector<int32_t> ids;
    for (const TextPiece& piece : found.cut(text)) {
      pieces.push_back(piece.text);
      ids.push_back(piece.id);
    }
    ASSERT_EQ(pieces, expected.EncodeAsPieces(text)) << what << ": '" << text << "'";
    ASSERT_EQ(ids, expected.EncodeAsIds(text)) << what << ": '" << text << "'";
  }
}

TEST(SentencepieceModel, CutsAsLibsentencepieceDoes) {
  const TestFolder folder;
  for (const char* flags :
       {"", "--normalization_rule_name=identity", "--normalization_rule_name=nfkc_cf",
        "--add_dummy_prefix=false", "--remove_extra_whitespaces=false",
        "--remove_extra_whitespaces=false --add_dummy_prefix=false",
        R"(--user_defined_symbols="7,",-,cafe,\u00e9,graph,gra)",
        "--user_defined_symbols=\u00b2,\u2603,12 --split_digits=true"}) {
    write_spiece(folder / "spiece.model", flags);
    expect_the_same(folder / "spiece.model", flags);
  }
}

TEST(SentencepieceModel, CutsTheGoldenModelAsLibsentencepieceDoes) {
  const Path file = Path(HGT_SHARED_DIR) / "golden/xlnet/spiece.model";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not there";
  expect_the_same(file, "golden");
}

// A piece of a model; types: 1 normal, 2 unknown.
std::string piece_bytes(const std::string& text, float score, char type) {
  std::string bits(sizeof(score), '\0');
  std::memcpy(bits.data(), &score, sizeof(score));
  const std::string piece = "\x0a" + std::string(1, static_cast<char>(text.size())) + text +
                            "\x15" + bits + "\x18" + type;
  return "\x0a" + std::string(1, static_cast<char>(piece.size())) + piece;
}

// Only what is ten below the least likely piece is worse than two such pieces.
TEST(SentencepieceModel, UnknownCharactersAreTheLastResort) {
  const TestFolder folder;
  const Path file = folder / "spiece.model";
  write_bytes(file, piece_bytes("<unk>", 0, '\x02') + piece_bytes("\u2581", -1, '\x01') +
                        piece_bytes("ab", -9, '\x01') + piece_bytes("c", -9, '\x01') +
                        piece_bytes("bc", -0.1F, '\x01'));
  const std::vector<TextPiece> pieces = SentencepieceModel::open(file).cut("abc");
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_EQ(pieces[1].text, "ab");
  EXPECT_EQ(pieces[2].id, 3);
}

// A rule whose place lies far outside: its bytes are damaged.
TEST(SentencepieceNormalizer, RulesOutsideTheTrieAreNoRules) {
  std::vector<uint32_t> trie(256);
  trie[0] = 1U << 10U;
  trie[1U ^ 'a'] = 'a' | 0x100U | (0x1fffffU << 10U);
  const auto bytes = static_cast<uint32_t>(trie.size() * sizeof(uint32_t));
  std::string precompiled(sizeof(bytes) + bytes, '\0');
  std::memcpy(precompiled.data(), &bytes, sizeof(bytes));
  std::memcpy(precompiled.data() + sizeof(bytes), trie.data(), bytes);
  SentencepieceNormalizer normalizer;
  EXPECT_FALSE(normalizer.read_rules(precompiled)) << "no replacements behind the trie";
  ASSERT_TRUE(normalizer.read_rules(precompiled + '\0'));
  EXPECT_EQ(normalizer.normalize("a b"), "\u2581a\u2581b");
}

TEST(SentencepieceModel, OtherKindsAreRefused) {
  const TestFolder folder;
  const Path file = folder / "spiece.model";
  for (const char* flags :
       {"--model_type=bpe", "--model_type=char", "--byte_fallback=true --vocab_size=400",
        "--treat_whitespace_as_suffix=true"}) {
    write_spiece(file, flags);
    EXPECT_EQ(error_of([&] { SentencepieceModel::open(file); }),
              file.string() +
                  ": is not the kind of SentencePiece model that XLNet has (unigram, spaces before "
                  "words, no bytes as pieces); use the spiece.model that belongs to the "
                  "weights")
        << flags;
  }
}

// Whatever is damaged, reading it ends in an Error or in a model that can be used.
TEST(SentencepieceModel, DamageIsHarmless) {
  const TestFolder folder;
  const Path file = folder / "spiece.model";
  write_spiece(file, kSpecialPieces);
  const std::string whole = read_bytes(file);
  std::mt19937 random(9);
  size_t refused = 0;
  for (int i = 0; i < 400; ++i) {
    std::string damaged = whole;
    if (i % 2 == 0) damaged.resize(random() % whole.size());
    for (int change = 0; change < 3 && !damaged.empty(); ++change) {
      const size_t reach = i % 3 == 0 ? damaged.size() : std::min<size_t>(damaged.size(), 2000);
      damaged[random() % reach] = static_cast<char>(random());
    }
    write_bytes(file, damaged);
    try {
      const SentencepieceModel model = SentencepieceModel::open(file);
      for (int text = 0; text < 5; ++text) model.cut(random_text(random));
    } catch (const Error& error) {
      EXPECT_TRUE(contains(error.what(), file.string() + ": is ")) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 100U);
}

}  // namespace
}  // namespace hgt
