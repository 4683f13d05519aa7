// Titles as BERT reads them: [CLS], the WordPiece ids of the text, [SEP].
//
// The rules for text are those of the published models: control characters go, white space
// separates words, every CJK character and every punctuation mark is a word of its own; uncased
// models also have lower case, and no accents (NFD without nonspacing marks). A word is cut into
// the longest pieces of the vocabulary from left to right, those inside a word beginning with "##";
// one that cannot be cut, or has more than 100 characters, is [UNK]. Names of special pieces, such
// as
// "[SEP]", are plain text when a title holds them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hgt/disk/file.h"

namespace hgt {

struct WordpieceRules {
  bool lower_case = true;
  bool strip_accents = true;
  bool split_cjk = true;
};

class WordpieceTokenizer {
 public:
  // The folder holds the pieces, vocab.txt (one per line) or tokenizer.json, and the rules:
  // tokenizer_config.json or tokenizer.json. sentence_bert_config.json may ask for lower case, too.
  // Throws Error when one is missing or damaged, or is of another kind than WordPiece.
  static WordpieceTokenizer open(const Path& folder);

  // At most `most` >= 2 of them: what is too much is cut off before [SEP]. Empty: the title has no
  // text. Bytes that are no UTF-8 are dropped.
  std::vector<int32_t> encode(std::string_view title, size_t most) const;

  size_t size() const { return size_; }       // the largest id of the vocabulary, and one
  const Path& file() const { return file_; }  // that has the vocabulary
  const WordpieceRules& rules() const { return rules_; }

 private:
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  WordpieceTokenizer() = default;
  void read_lines(std::string_view text);
  void read_json();
  void add(std::string_view piece, int64_t id);
  int32_t special(const char* name) const;
  void append_pieces(const std::string& word, std::vector<int32_t>& ids) const;

  Path file_;
  WordpieceRules rules_;
  std::unordered_map<std::string, int32_t, TextHash, std::equal_to<>> ids_;
  size_t size_ = 0;
  size_t longest_ = 0;  // piece, in bytes
  int32_t unknown_ = 0;
  int32_t classifier_ = 0;
  int32_t separator_ = 0;
};

// The words of a title by the rules above, ready to be cut into pieces.
std::vector<std::string> bert_words(std::string_view title, const WordpieceRules& rules);

}  // namespace hgt
