#include "hgt/features/tokens/sentencepiece_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <unordered_map>

#include "hgt/error.h"
#include "hgt/features/tokens/protobuf_fields.h"
#include "hgt/features/tokens/sentencepiece_normalizer.h"

namespace hgt {

namespace {

// The numbers of the format.
enum class PieceType : uint64_t {
  normal = 1,
  unknown = 2,
  control = 3,
  user_defined = 4,
  unused = 5
};
constexpr uint64_t kUnigram = 1;

constexpr float kUnknownPenalty = 10;  // below the least likely piece

struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
using PieceIds = std::unordered_map<std::string, int32_t, TextHash, std::equal_to<>>;

struct Piece {
  std::string text;
  float score = 0;
  PieceType type = PieceType::normal;
};

// All of a model.
struct Unigram {
  std::vector<Piece> pieces;
  PieceIds ids;        // of all
  PieceIds cut_ids;    // of those that text is cut into
  size_t longest = 0;  // of these, in bytes
  int32_t unknown = -1;
  float least_score = 0;  // of normal pieces
  float best_score = 0;
  SentencepieceNormalizer normalizer;
};

class ModelReader {
 public:
  explicit ModelReader(const Path& file) : file_(file) {}

  Unigram read(std::string_view bytes) const {
    Unigram model;
    ProtobufFields fields(bytes);
    while (const auto field = fields.next()) {
      if (field->number == 1) model.pieces.push_back(piece(field->bytes));
      if (field->number == 2) check_trainer(field->bytes);
      if (field->number == 3) read_normalizer(field->bytes, model.normalizer);
    }
    if (fields.damaged() || model.pieces.empty()) fail();
    index(model);
    return model;
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(fmt::format("{}: is not a SentencePiece model, or is damaged; download it again",
                            file_.string()));
  }

  Piece piece(std::string_view bytes) const {
    Piece read;
    ProtobufFields fields(bytes);
    while (const auto field = fields.next()) {
      if (field->number == 1) read.text = field->bytes;
      if (field->number == 2) read.score = field->as_float();
      if (field->number == 3) read.type = static_cast<PieceType>(field->value);
    }
    if (fields.damaged() || read.text.empty()) fail();
    return read;
  }

  void check_trainer(std::string_view bytes) const {
    ProtobufFields fields(bytes);
    while (const auto field = fields.next()) {
      const bool other_kind = field->number == 3 && field->value != kUnigram;
      const bool suffix = field->number == 24 && field->value != 0;    // treat_whitespace_as_suffix
      const bool fallback = field->number == 35 && field->value != 0;  // byte_fallback
      if (!other_kind && !suffix && !fallback) continue;
      throw Error(fmt::format(
          "{}: is not the kind of SentencePiece model that XLNet has (unigram, spaces before "
          "words, no bytes as pieces); use the spiece.model that belongs to the weights",
          file_.string()));
    }
    if (fields.damaged()) fail();
  }

  void read_normalizer(std::string_view bytes, SentencepieceNormalizer& normalizer) const {
    ProtobufFields fields(bytes);
    while (const auto field = fields.next()) {
      if (field->number == 2 && !normalizer.read_rules(field->bytes)) fail();
      if (field->number == 3) normalizer.add_dummy_prefix = field->value != 0;
      if (field->number == 4) normalizer.remove_extra_whitespaces = field->value != 0;
      if (field->number == 5) normalizer.escape_whitespaces = field->value != 0;
    }
    if (fields.damaged()) fail();
  }

  void index(Unigram& model) const {
    float least = std::numeric_limits<float>::max();
    float best = std::numeric_limits<float>::lowest();
    for (size_t i = 0; i < model.pieces.size(); ++i) {
      const Piece& piece = model.pieces[i];
      const auto id = static_cast<int32_t>(i);
      if (!model.ids.emplace(piece.text, id).second) fail();
      if (piece.type == PieceType::unknown) model.unknown = id;
      if (piece.type == PieceType::normal) {
        least = std::min(least, piece.score);
        best = std::max(best, piece.score);
      }
      if (piece.type == PieceType::user_defined) model.normalizer.kept.push_back(piece.text);
      if (piece.type != PieceType::normal && piece.type != PieceType::user_defined) continue;
      model.cut_ids.emplace(piece.text, id);
      model.longest = std::max(model.longest, piece.text.size());
    }
    if (model.unknown < 0) fail();
    model.least_score = least;
    model.best_score = best;
    std::sort(model.normalizer.kept.begin(), model.normalizer.kept.end(),
              [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
  }

  const Path& file_;
};

// The likeliest way to a place in the text.
struct PathEnd {
  size_t start = 0;  // of the last piece
  int32_t id = -1;   // of the last piece; -1: no way yet
  float score = 0;   // of all pieces
};

// A piece that the user defined is always taken: its score beats all others of its length.
double score_of(const Unigram& model, int32_t id) {
  const Piece& piece = model.pieces[static_cast<size_t>(id)];
  if (piece.type != PieceType::user_defined) return piece.score;
  return static_cast<float>(piece.text.size()) * model.best_score - 0.1;
}

void improve(PathEnd& end, size_t start, int32_t id, double score) {
  if (end.id >= 0 && score <= end.score) return;
  end = {.start = start, .id = id, .score = static_cast<float>(score)};
}

// Viterbi: the likeliest way to every place, places from left to right. A character that is no
// piece by itself may be unknown.
std::vector<PathEnd> likeliest_paths(const Unigram& model, std::string_view text) {
  std::vector<PathEnd> ends(text.size() + 1);
  for (size_t start = 0; start < text.size();) {
    const double so_far = ends[start].score;
    const size_t character = std::max<size_t>(1, character_bytes(text.substr(start)));
    bool known = false;
    for (size_t bytes = 1; bytes <= std::min(model.longest, text.size() - start); ++bytes) {
      const auto found = model.cut_ids.find(text.substr(start, bytes));
      if (found == model.cut_ids.end()) continue;
      improve(ends[start + bytes], start, found->second, so_far + score_of(model, found->second));
      known = known || bytes == character;
    }
    if (!known) {
      improve(ends[start + character], start, model.unknown,
              so_far + (model.least_score - kUnknownPenalty));
    }
    start += character;
  }
  return ends;
}

}  // namespace

struct SentencepieceModel::State {
  Unigram model;
};

SentencepieceModel SentencepieceModel::open(const Path& file) {
  if (!std::filesystem::is_regular_file(file)) {
    throw Error(fmt::format("{}: there is no such file; it comes with the weights of XLNet",
                            file.string()));
  }
  std::ifstream in(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  return SentencepieceModel(std::make_unique<const State>(State{ModelReader(file).read(bytes)}));
}

SentencepieceModel::SentencepieceModel(std::unique_ptr<const State> state)
    : state_(std::move(state)) {}
SentencepieceModel::SentencepieceModel(SentencepieceModel&& other) noexcept = default;
SentencepieceModel& SentencepieceModel::operator=(SentencepieceModel&& other) noexcept = default;
SentencepieceModel::~SentencepieceModel() = default;

std::vector<TextPiece> SentencepieceModel::cut(std::string_view text) const {
  const Unigram& model = state_->model;
  const std::string normalized = model.normalizer.normalize(text);
  const std::vector<PathEnd> ends = likeliest_paths(model, normalized);
  std::vector<TextPiece> pieces;  // from right to left
  for (size_t end = normalized.size(); end > 0; end = ends[end].start) {
    const auto [start, id, score] = ends[end];
    const std::string piece = normalized.substr(start, end - start);
    if (id == model.unknown && !pieces.empty() && pieces.back().id == id) {
      pieces.back().text.insert(0, piece);
    } else {
      pieces.push_back({.text = piece, .id = id});
    }
  }
  std::reverse(pieces.begin(), pieces.end());
  return pieces;
}

size_t SentencepieceModel::size() const { return state_->model.pieces.size(); }

int32_t SentencepieceModel::id(std::string_view piece) const {
  const auto found = state_->model.ids.find(piece);
  return found == state_->model.ids.end() ? state_->model.unknown : found->second;
}

const std::string& SentencepieceModel::piece(int32_t id) const {
  return state_->model.pieces.at(static_cast<size_t>(id)).text;
}

}  // namespace hgt
