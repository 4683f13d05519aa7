#include "hgt/features/tokens/xlnet_tokenizer.h"

#include <fmt/format.h>

#include <utility>

#include "hgt/error.h"
#include "hgt/features/tokens/code_points.h"

namespace hgt {

namespace {

constexpr std::string_view kSpaceMark = "\u2581";  // stands before the first piece of a word
// Words with single spaces between them.
std::vector<CodePoint> single_spaced(const std::vector<CodePoint>& codes) {
  std::vector<CodePoint> words;
  bool space = false;
  for (const CodePoint code : codes) {
    if (is_white_space(code)) {
      space = !words.empty();
      continue;
    }
    if (space) words.push_back(' ');
    space = false;
    words.push_back(code);
  }
  return words;
}

// Two of the same quote become ", from left to right; ` and ' do not mix.
std::vector<CodePoint> plain_quotes(const std::vector<CodePoint>& codes) {
  std::vector<CodePoint> plain;
  for (size_t i = 0; i < codes.size(); ++i) {
    const bool quote = codes[i] == '`' || codes[i] == '\'';
    const bool pair = quote && i + 1 < codes.size() && codes[i + 1] == codes[i];
    plain.push_back(pair ? '"' : codes[i]);
    if (pair) ++i;
  }
  return plain;
}

// NFKD without the characters that combine with others.
void append_without_marks(CodePoint code, std::string& text) {
  for (const CodePoint part : decomposed(code, UTF8PROC_COMPAT)) {
    if (utf8proc_get_property(part)->combining_class == 0) append_code(part, text);
  }
}

bool ends_in_digit_and_comma(std::string_view piece) {
  if (!piece.ends_with(',')) return false;
  const std::vector<CodePoint> codes = code_points(piece);
  return codes.size() > 1 && utf8proc_category(codes[codes.size() - 2]) == UTF8PROC_CATEGORY_ND;
}

std::string without_space_marks(std::string_view piece) {
  std::string text;
  while (!piece.empty()) {
    const size_t mark = piece.find(kSpaceMark);
    text += piece.substr(0, mark);
    if (mark == std::string_view::npos) break;
    piece.remove_prefix(mark + kSpaceMark.size());
  }
  return text;
}

// The ids of a number that had a comma behind it. Inside a word no piece begins with the mark of a
// space.
std::vector<int32_t> cut_before_comma(const SentencepieceModel& model, std::string_view piece) {
  const std::vector<TextPiece> pieces =
      model.cut(without_space_marks(piece.substr(0, piece.size() - 1)));
  std::vector<int32_t> ids;
  for (size_t i = 0; i < pieces.size(); ++i) {
    std::string_view text = pieces[i].text;
    if (i == 0 && !piece.starts_with(kSpaceMark) && text.starts_with(kSpaceMark)) {
      text.remove_prefix(kSpaceMark.size());
    }
    if (!text.empty()) ids.push_back(model.id(text));
  }
  ids.push_back(model.id(","));
  return ids;
}

int32_t special_id(const SentencepieceModel& model, const Path& file, std::string_view name) {
  const int32_t id = model.id(name);
  if (model.piece(id) == name) return id;
  throw Error(fmt::format("{}: has no piece {}; use the spiece.model that belongs to the weights",
                          file.string(), name));
}

}  // namespace

std::string xlnet_text(std::string_view title) {
  std::string text;
  for (const CodePoint code : plain_quotes(single_spaced(code_points(title)))) {
    append_without_marks(code, text);
  }
  return text;
}

XlnetTokenizer::XlnetTokenizer(const Path& model_file)
    : model_(SentencepieceModel::open(model_file)),
      separator_(special_id(model_, model_file, "<sep>")),
      classifier_(special_id(model_, model_file, "<cls>")) {}

std::vector<int32_t> XlnetTokenizer::encode(std::string_view title) const {
  std::vector<int32_t> ids;
  for (const TextPiece& piece : model_.cut(xlnet_text(title))) {
    if (!ends_in_digit_and_comma(piece.text)) {
      ids.push_back(piece.id);
      continue;
    }
    const std::vector<int32_t> parts = cut_before_comma(model_, piece.text);
    ids.insert(ids.end(), parts.begin(), parts.end());
  }
  if (ids.empty()) return ids;
  ids.insert(ids.end(), {separator_, classifier_});
  if (ids.size() > kMaxTitleIds) ids.resize(kMaxTitleIds);
  return ids;
}

}  // namespace hgt
