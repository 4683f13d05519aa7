#include "hgt/features/tokens/wordpiece_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "hgt/disk/json_text.h"
#include "hgt/disk/whole_file.h"
#include "hgt/error.h"
#include "hgt/features/tokens/code_points.h"

namespace hgt {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr size_t kLongestWord = 100;  // in characters; longer ones are [UNK]
constexpr std::string_view kInsideWord = "##";

// --- text ---

bool is_control(CodePoint code) {
  if (code == '\t' || code == '\n' || code == '\r') return false;
  const utf8proc_category_t category = utf8proc_category(code);
  return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
         category == UTF8PROC_CATEGORY_CN || category == UTF8PROC_CATEGORY_CO ||
         category == UTF8PROC_CATEGORY_CS;
}

bool is_punctuation(CodePoint code) {
  if (code < 0x80) {  // also what Unicode calls symbols, such as $
    return (code >= '!' && code <= '/') || (code >= ':' && code <= '@') ||
           (code >= '[' && code <= '`') || (code >= '{' && code <= '~');
  }
  const utf8proc_category_t category = utf8proc_category(code);
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

struct CodeRange {
  CodePoint first;
  CodePoint last;
};
constexpr std::array<CodeRange, 8> kCjk = {{{0x4e00, 0x9fff},
                                            {0x3400, 0x4dbf},
                                            {0x20000, 0x2a6df},
                                            {0x2a700, 0x2b73f},
                                            {0x2b740, 0x2b81f},
                                            {0x2b820, 0x2ceaf},
                                            {0xf900, 0xfaff},
                                            {0x2f800, 0x2fa1f}}};

bool is_cjk(CodePoint code) {
  return std::any_of(kCjk.begin(), kCjk.end(), [&](const CodeRange& range) {
    return code >= range.first && code <= range.last;
  });
}

void append_lower(CodePoint code, std::vector<CodePoint>& to) {
  if (code == 0x130) {  // the only letter whose lower case is two
    to.insert(to.end(), {'i', 0x307});
  } else {
    to.push_back(utf8proc_tolower(code));
  }
}

// One character without accents, in lower case.
std::vector<CodePoint> normalized(CodePoint code, const WordpieceRules& rules) {
  std::vector<CodePoint> parts = {code};
  if (rules.strip_accents) {
    parts = decomposed(code);
    std::erase_if(parts,
                  [](CodePoint part) { return utf8proc_category(part) == UTF8PROC_CATEGORY_MN; });
  }
  if (!rules.lower_case) return parts;
  std::vector<CodePoint> lower;
  for (const CodePoint part : parts) append_lower(part, lower);
  return lower;
}

// Words in the making.
class WordList {
 public:
  void append(CodePoint code) {
    if (ended_) words_.emplace_back();
    ended_ = false;
    append_code(code, words_.back());
  }
  void end_word() { ended_ = true; }
  // Punctuation is a word of its own.
  void append_split(CodePoint code) {
    const bool alone = is_punctuation(code);
    if (alone) end_word();
    append(code);
    if (alone) end_word();
  }
  std::vector<std::string> take() { return std::move(words_); }

 private:
  std::vector<std::string> words_;
  bool ended_ = true;
};

// --- files ---

[[noreturn]] void refuse_tokenizer(const Path& file, const std::string& what) {
  throw Error(fmt::format("{}: {}; use the file that belongs to the weights", file.string(), what));
}

// The object in a file; null if there is no file.
Json object_in(const Path& file) {
  if (!fs::exists(file)) return {};
  Json json = parse_json<Json>(read_text(file), /*allow_exceptions=*/false);
  if (json.is_object()) return json;
  throw Error(fmt::format("{}: is not a JSON object; download the file again", file.string()));
}

// A field that is true or false, or left out or null: then `otherwise`.
bool truth(const Path& file, const Json& json, const char* field, bool otherwise) {
  const Json value = json.is_object() ? json.value(field, Json()) : Json();
  if (value.is_null()) return otherwise;
  if (value.is_boolean()) return value.get<bool>();
  throw Error(fmt::format("{}: {} is {}; it must be true or false", file.string(), field,
                          value.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

WordpieceRules rules_in(const Path& file, const Json& json, const char* lower_case,
                        const char* split_cjk) {
  WordpieceRules rules;
  rules.lower_case = truth(file, json, lower_case, true);
  rules.strip_accents = truth(file, json, "strip_accents", rules.lower_case);
  rules.split_cjk = truth(file, json, split_cjk, true);
  return rules;
}

WordpieceRules read_rules(const Path& folder) {
  const Path config_file = folder / "tokenizer_config.json";
  const Path full_file = folder / "tokenizer.json";
  const Path sentence_file = folder / "sentence_bert_config.json";
  const Json config = object_in(config_file);
  WordpieceRules rules;
  if (config.is_object() && config.contains("do_lower_case")) {
    rules = rules_in(config_file, config, "do_lower_case", "tokenize_chinese_chars");
  } else {
    const Json full = object_in(full_file);
    const Json normalizer = full.is_object() ? full.value("normalizer", Json()) : Json();
    if (!normalizer.is_object() || normalizer.value("type", Json()) != "BertNormalizer") {
      throw Error(fmt::format(
          "{}: nothing says whether the model is cased; write {{\"do_lower_case\": true}} into it "
          "for an uncased model, false for a cased one",
          config_file.string()));
    }
    rules = rules_in(full_file, normalizer, "lowercase", "handle_chinese_chars");
  }
  const Json sentence = object_in(sentence_file);
  rules.lower_case = rules.lower_case || truth(sentence_file, sentence, "do_lower_case", false);
  return rules;
}

void append(CodePoint code, const WordpieceRules& rules, WordList& words) {
  if (code == 0xfffd || is_control(code)) return;
  if (is_white_space(code)) return words.end_word();
  const bool alone = rules.split_cjk && is_cjk(code);
  if (alone) words.end_word();
  for (const CodePoint part : normalized(code, rules)) words.append_split(part);
  if (alone) words.end_word();
}

}  // namespace

std::vector<std::string> bert_words(std::string_view title, const WordpieceRules& rules) {
  WordList words;
  for (const CodePoint code : code_points(title)) append(code, rules, words);
  return words.take();
}

WordpieceTokenizer WordpieceTokenizer::open(const Path& folder) {
  WordpieceTokenizer tokenizer;
  tokenizer.file_ = folder / "vocab.txt";
  if (fs::exists(tokenizer.file_)) {
    tokenizer.read_lines(read_text(tokenizer.file_));
  } else {
    tokenizer.file_ = folder / "tokenizer.json";
    tokenizer.read_json();
  }
  tokenizer.unknown_ = tokenizer.special("[UNK]");
  tokenizer.classifier_ = tokenizer.special("[CLS]");
  tokenizer.separator_ = tokenizer.special("[SEP]");
  tokenizer.rules_ = read_rules(folder);
  return tokenizer;
}

void WordpieceTokenizer::read_lines(std::string_view text) {
  int64_t id = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    add(line, id++);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void WordpieceTokenizer::read_json() {
  const Json json = object_in(file_);
  const Json model = json.is_object() ? json.value("model", Json()) : Json();
  const Json vocabulary = model.is_object() ? model.value("vocab", Json()) : Json();
  const bool good = vocabulary.is_object() &&
                    model.value("type", Json("WordPiece")) == "WordPiece" &&
                    model.value("continuing_subword_prefix", Json(kInsideWord)) == kInsideWord;
  if (!good) refuse_tokenizer(file_, "has no WordPiece vocabulary");
  for (const auto& [piece, id] : vocabulary.items()) {
    if (!id.is_number_unsigned()) refuse_tokenizer(file_, "an id is no whole number");
    add(piece, static_cast<int64_t>(std::min<uint64_t>(id.get<uint64_t>(), 1ULL << 62U)));
  }
}

void WordpieceTokenizer::add(std::string_view piece, int64_t id) {
  if (id >= std::numeric_limits<int32_t>::max()) {
    refuse_tokenizer(file_, fmt::format("the id {} is too large", id));
  }
  ids_.insert_or_assign(std::string(piece), static_cast<int32_t>(id));
  size_ = std::max(size_, static_cast<size_t>(id) + 1);
  longest_ = std::max(longest_, piece.size());
}

int32_t WordpieceTokenizer::special(const char* name) const {
  const auto found = ids_.find(std::string_view(name));
  if (found == ids_.end()) refuse_tokenizer(file_, fmt::format("has no piece {}", name));
  return found->second;
}

void WordpieceTokenizer::append_pieces(const std::string& word, std::vector<int32_t>& ids) const {
  std::vector<size_t> ends;  // of the characters
  for (size_t i = 1; i <= word.size(); ++i) {
    const bool inside = i < word.size() && (static_cast<uint8_t>(word[i]) & 0xc0U) == 0x80U;
    if (!inside) ends.push_back(i);
  }
  const size_t before = ids.size();
  const auto give_up = [&] {
    ids.resize(before);
    ids.push_back(unknown_);
  };
  if (ends.size() > kLongestWord) return give_up();
  size_t start = 0;
  size_t character = 0;
  std::string piece;
  while (start < word.size()) {
    size_t last = ends.size();
    for (; last > character; --last) {
      piece.assign(start > 0 ? kInsideWord : "");
      if (piece.size() + ends[last - 1] - start > longest_) continue;
      piece.append(word, start, ends[last - 1] - start);
      const auto found = ids_.find(piece);
      if (found == ids_.end()) continue;
      ids.push_back(found->second);
      break;
    }
    if (last == character) return give_up();
    start = ends[last - 1];
    character = last;
  }
}

std::vector<int32_t> WordpieceTokenizer::encode(std::string_view title, size_t most) const {
  std::vector<int32_t> ids = {classifier_};
  for (const std::string& word : bert_words(title, rules_)) {
    append_pieces(word, ids);
    if (ids.size() >= most) break;
  }
  if (ids.size() == 1) return {};
  ids.resize(std::min(ids.size(), most - 1));
  ids.push_back(separator_);
  return ids;
}

}  // namespace hgt
