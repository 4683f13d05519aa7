// Text to pieces with a SentencePiece model of the unigram kind (Kudo, ACL 2018), which XLNet has.
//
// Read and computed here: Debian's libsentencepiece carries a protobuf of its own that clashes with
// the one LibTorch loads, and a program with both dies before main(). The tests compare with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hgt/disk/file.h"

namespace hgt {

struct TextPiece {
  std::string text;  // with U+2581 for a space
  int32_t id = 0;
};

class SentencepieceModel {
 public:
  // Throws Error if the file is not a model, or is one of another kind.
  static SentencepieceModel open(const Path& file);
  SentencepieceModel(SentencepieceModel&& other) noexcept;
  SentencepieceModel& operator=(SentencepieceModel&& other) noexcept;
  ~SentencepieceModel();

  // The likeliest pieces of the text, after the model's own rules for it (white space, forms of
  // characters). Neighboring characters that no piece has are one unknown piece.
  std::vector<TextPiece> cut(std::string_view text) const;

  size_t size() const;
  int32_t id(std::string_view piece) const;  // that of the unknown piece if there is no such piece
  const std::string& piece(int32_t id) const;

 private:
  struct State;
  explicit SentencepieceModel(std::unique_ptr<const State> state);

  std::unique_ptr<const State> state_;
};

}  // namespace hgt
