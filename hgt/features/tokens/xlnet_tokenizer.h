// Titles as XLNet reads them: SentencePiece ids of the text, then <sep> and <cls>.
//
// The rules for text are those of the published cased models: white space collapses to single
// spaces, `` and '' become ", letters lose their accents (NFKD without combining marks), case
// stays. A piece that ends in a digit and a comma is cut before the comma, and its number is cut
// anew. Names of special pieces, such as "<sep>", are plain text when a title holds them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hgt/disk/file.h"
#include "hgt/features/tokens/sentencepiece_model.h"

namespace hgt {

// More ids of a title are cut off at the end, <cls> and <sep> among them: so the vectors of the
// paper's data were made.
constexpr size_t kMaxTitleIds = 64;

class XlnetTokenizer {
 public:
  // A SentencePiece model; throws Error when it is none, or has no <sep> or <cls>.
  explicit XlnetTokenizer(const Path& model_file);

  // At most kMaxTitleIds. Empty: the title has no text. Bytes that are no UTF-8 count as U+FFFD.
  std::vector<int32_t> encode(std::string_view title) const;

  size_t size() const { return model_.size(); }  // of the vocabulary
  const std::string& piece(int32_t id) const { return model_.piece(id); }
  int32_t separator() const { return separator_; }    // <sep>
  int32_t classifier() const { return classifier_; }  // <cls>

 private:
  SentencepieceModel model_;
  int32_t separator_;
  int32_t classifier_;
};

// The title by the rules above, ready to be cut into pieces.
std::string xlnet_text(std::string_view title);

}  // namespace hgt
