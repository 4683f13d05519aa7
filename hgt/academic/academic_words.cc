#include "hgt/academic/academic_words.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "hgt/academic/apportionment.h"

namespace hgt {

namespace {

constexpr double kTopicWord = 0.45;
constexpr double kL1Word = 0.20;
constexpr uint64_t kLeastWords = 5;
constexpr uint64_t kMoreWords = 5;   // 0 to 4 of them
constexpr size_t kTitleBytes = 96;   // most titles are shorter
constexpr uint64_t kRankOffset = 2;  // topic words by 1 / (rank + 2)
constexpr uint64_t kCommonPercent = 30;
constexpr uint64_t kSharers = 4;      // of one common name, on average
constexpr double kNameOfTopic = 0.5;  // of the common names

constexpr std::array<std::string_view, 20> kConsonants = {"b", "d", "f", "g", "h",  "k", "l",
                                                          "m", "n", "p", "r", "s",  "t", "v",
                                                          "w", "z", "j", "c", "br", "tr"};
constexpr std::array<std::string_view, 5> kVowels = {"a", "e", "i", "o", "u"};
constexpr std::array<std::string_view, 8> kEndings = {"", "n", "r", "s", "l", "m", "t", "k"};
constexpr uint64_t kSyllables = kConsonants.size() * kVowels.size();
constexpr uint64_t kThreeSyllables = kSyllables * kSyllables * kSyllables;

constexpr std::array<std::string_view, 40> kPlainWords = {
    "of",        "for",      "with",      "analysis",   "model",    "study",      "using",
    "towards",   "approach", "system",    "methods",    "large",    "evaluation", "dynamic",
    "efficient", "theory",   "structure", "effects",    "learning", "design",     "networks",
    "adaptive",  "review",   "control",   "new",        "robust",   "problem",    "local",
    "global",    "bounds",   "selection", "process",    "on",       "optimal",    "measuring",
    "survey",    "fast",     "general",   "robustness", "revisited"};

constexpr std::array<std::string_view, 32> kGivenNames = {
    "Wei",   "Maria", "John",   "Li",   "Anna",   "David", "Yuki",   "Mohamed",
    "Elena", "Jun",   "Sara",   "Ivan", "Fatima", "Peter", "Ming",   "Laura",
    "Ravi",  "Emma",  "Carlos", "Hana", "Paul",   "Olga",  "Kenji",  "Grace",
    "Jan",   "Priya", "Thomas", "Mei",  "Ali",    "Julia", "Samuel", "Ines"};

constexpr uint64_t kInitials = 26;
constexpr uint64_t kOwnNames =
    kInitials * kGivenNames.size() * kEndings.size() * kThreeSyllables;  // 6.7 billion

// Different numbers below kSyllables^syllables give different words.
void append_spelled(uint64_t number, unsigned syllables, std::string& text) {
  for (unsigned i = 0; i < syllables; ++i, number /= kSyllables) {
    const uint64_t syllable = number % kSyllables;
    text += kConsonants[syllable / kVowels.size()];
    text += kVowels[syllable % kVowels.size()];
  }
}

std::string spelled(uint64_t number, unsigned syllables) {
  std::string word;
  append_spelled(number, syllables, word);
  return word;
}

std::string capitalized(std::string word) {
  if (!word.empty()) word[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(word[0])));
  return word;
}

}  // namespace

Words::Words(const FieldTree& fields, uint64_t seed)
    : fields_(fields),
      seed_(seed),
      scramble_(kThreeSyllables, hash(seed, Tag::word)),
      topic_ranks_(zipf_table(kWordsPerTopic, kRankOffset)),
      l1_ranks_(zipf_table(kWordsPerL1, kRankOffset)),
      general_ranks_(zipf_table(kGeneralWords, kRankOffset)) {}

// Three syllables for the first million numbers, five afterwards.
void Words::append_coined(uint64_t number, std::string& text) const {
  if (number < kThreeSyllables) return append_spelled(scramble_(number), 3, text);
  append_spelled(number, 5, text);
}

std::string Words::coined(uint64_t number) const {
  std::string word;
  append_coined(number, word);
  return word;
}

void Words::append_general(uint64_t rank, std::string& text) {
  if (rank >= kPlainWords.size()) return append_spelled(rank * 7, 2, text);
  text += kPlainWords[rank];
}

// The numbers of coined words: topics first, then L1 fields, then fields, venues and institutes.
uint64_t Words::first_field_word() const {
  return fields_.topics() * kWordsPerTopic + fields_.level(1).size() * kWordsPerL1;
}

std::string Words::title(uint64_t paper, uint64_t topic) const {
  Draws draws(hash(seed_, Tag::title, paper));
  const uint64_t count = kLeastWords + draws.below(kMoreWords);
  const uint64_t l1_words = fields_.topics() * kWordsPerTopic + topic / kTopicsPerL1 * kWordsPerL1;
  std::string title;
  title.reserve(kTitleBytes);
  for (uint64_t i = 0; i < count; ++i) {
    if (i > 0) title += ' ';
    const double place = draws.unit();
    if (place < kTopicWord) {
      append_coined(topic * kWordsPerTopic + topic_ranks_.draw(draws), title);
    } else if (place < kTopicWord + kL1Word) {
      append_coined(l1_words + l1_ranks_.draw(draws), title);
    } else {
      append_general(general_ranks_.draw(draws), title);
    }
  }
  return capitalized(std::move(title));
}

std::string Words::field_name(uint64_t field) const {
  const std::string own = capitalized(coined(first_field_word() + field));
  const unsigned level = fields_.level_of(field);
  if (level == 0) return own + " science";
  if (level == 1) return own + " studies";
  return own + " " + coined(first_field_word() + fields_.parent(field));
}

std::string Words::venue_name(uint64_t venue, const LatentVenue& latent) const {
  constexpr std::array<std::string_view, 3> kForms = {"Conference on {}", "Journal of {}",
                                                      "{} preprints"};
  const std::string own = capitalized(coined(first_field_word() + fields_.size() + venue));
  return fmt::format(fmt::runtime(kForms[static_cast<size_t>(latent.kind)]), own);
}

std::string Words::institute_name(uint64_t institute) const {
  // Institutes count down from the last word of three syllables.
  const std::string own = capitalized(coined(kThreeSyllables - 1 - institute));
  return institute % 3 == 0 ? own + " Institute" : "University of " + own;
}

AuthorNames::AuthorNames(const Authors& authors, uint64_t seed)
    : authors_(authors),
      seed_(seed),
      pool_(std::max<uint64_t>(1, authors.size() * kCommonPercent / (100 * kSharers))),
      own_names_(kOwnNames, hash(seed, Tag::own_name)) {}

std::optional<uint64_t> AuthorNames::common_name(uint64_t author, const Career& career) const {
  Draws draws(hash(seed_, Tag::common_name, author));
  if (draws.below(100) >= kCommonPercent) return {};
  if (!draws.chance(kNameOfTopic)) return draws.below(pool_);
  const Range topic = authors_.of_topic(career.topic);
  const Range names = {scaled(topic.begin, pool_, authors_.size()),
                       scaled(topic.end, pool_, authors_.size())};
  return names.empty() ? draws.below(pool_) : draw_from(names, draws);
}

std::string AuthorNames::name(uint64_t author, const Career& career) const {
  if (const auto common = common_name(author, career)) {
    const uint64_t family = *common / kGivenNames.size();
    return fmt::format("{} {}", kGivenNames[*common % kGivenNames.size()],
                       capitalized(spelled(family, family < kSyllables * kSyllables ? 2 : 4)));
  }
  uint64_t number = own_names_(author);
  const auto digit = [&](uint64_t base) { return std::exchange(number, number / base) % base; };
  const auto initial = static_cast<char>('A' + digit(kInitials));
  const std::string_view given = kGivenNames[digit(kGivenNames.size())];
  const std::string_view ending = kEndings[digit(kEndings.size())];
  return fmt::format("{} {}. {}{}", given, initial, capitalized(spelled(number, 3)), ending);
}

}  // namespace hgt
