#include "hgt/features/word_vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hgt/error.h"
#include "hgt/tables/byte_source.h"

namespace hgt {

namespace {

constexpr size_t kShortestGram = 3;
constexpr size_t kLongestGram = 6;

std::optional<float> number_of(std::string_view text) {
  float value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> parts_of(std::string_view line) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return parts;
    const size_t end = std::min(line.find_first_of(" \t", begin), line.size());
    parts.push_back(line.substr(begin, end - begin));
    line.remove_prefix(end);
  }
}

// The lines of a file, one after another.
class LineReader {
 public:
  explicit LineReader(const Path& file) : source_(open_byte_source(file)), buffer_(1U << 20U) {}

  // False: there is no more. The view lives until the next call.
  bool next(std::string_view& line) {
    line_.clear();
    while (true) {
      const auto* begin = buffer_.data() + place_;
      const auto* end = buffer_.data() + filled_;
      const auto* stop = std::find(begin, end, '\n');
      line_.append(begin, stop);
      place_ = static_cast<size_t>(stop - buffer_.data()) + 1;
      if (stop != end) break;
      filled_ = source_->read(buffer_);
      place_ = 0;
      if (filled_ == 0 && line_.empty()) return false;
      if (filled_ == 0) break;
    }
    if (!line_.empty() && line_.back() == '\r') line_.pop_back();
    line = line_;
    return true;
  }
  double fraction() const {
    const auto total = static_cast<double>(source_->stored_bytes_total());
    return total > 0 ? static_cast<double>(source_->stored_bytes_read()) / total : 0;
  }

 private:
  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;
  size_t place_ = 0;
  size_t filled_ = 0;
  std::string line_;
};

// Reads words with their vectors.
class VectorFile {
 public:
  using Visit = std::function<void(std::string_view word, std::span<const float> vector)>;

  explicit VectorFile(Path file) : file_(std::move(file)) {}

  uint64_t width() const { return width_; }

  void read(const std::string& stage, const ProgressSink& progress, const Visit& visit) {
    LineReader lines(file_);
    std::string_view line;
    uint64_t number = 0;
    for (; lines.next(line); ++number) {
      if (number % kLinesBetweenReports == 0) {
        progress({.stage = stage, .unit = "words", .count = number, .fraction = lines.fraction()});
      }
      read_line(line, number + 1, visit);
    }
    if (width_ == 0) fail(number, "contains no vectors");
    progress({.stage = stage, .unit = "words", .count = number, .fraction = 1, .finished = true});
  }

 private:
  static constexpr uint64_t kLinesBetweenReports = 1U << 14U;

  [[noreturn]] void fail(uint64_t line, const std::string& what) const {
    throw Error(
        fmt::format("{}:{}: {}; a line must be a word followed by its numbers, separated by "
                    "spaces, as in GloVe's files",
                    file_.string(), line, what));
  }

  void read_line(std::string_view line, uint64_t number, const Visit& visit) {
    const auto parts = parts_of(line);
    if (parts.empty()) return;
    const bool numbers = parts.size() == 2 && is_count(parts[0]) && is_count(parts[1]);
    if (number == 1 && numbers) return;  // how many words, how wide
    // A few words of GloVe's largest file have spaces in them; ours never do.
    if (width_ > 0 && parts.size() > width_ + 1 && !number_of(parts[1])) return;
    values_.clear();
    for (size_t i = 1; i < parts.size(); ++i) {
      const auto value = number_of(parts[i]);
      if (!value || !std::isfinite(*value)) {
        fail(number, fmt::format("'{}' is not a finite number", parts[i]));
      }
      values_.push_back(*value);
    }
    if (values_.empty()) fail(number, fmt::format("the word '{}' has no numbers", parts[0]));
    if (width_ == 0) width_ = values_.size();
    if (values_.size() != width_) {
      fail(number,
           fmt::format("has {} numbers, but the lines before it have {}", values_.size(), width_));
    }
    visit(parts[0], values_);
  }
  static bool is_count(std::string_view text) {
    return text.find_first_not_of("0123456789") == std::string_view::npos;
  }

  Path file_;
  uint64_t width_ = 0;
  std::vector<float> values_;
};

// Calls visit for each character n-gram of "<word>"; characters are those of UTF-8.
template <typename Visit>
void for_each_gram(std::string_view word, Visit visit) {
  const std::string text = fmt::format("<{}>", word);
  std::vector<size_t> starts;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0U) != 0x80U) starts.push_back(i);
  }
  starts.push_back(text.size());
  for (size_t first = 0; first + kShortestGram < starts.size(); ++first) {
    const size_t longest = std::min(kLongestGram, starts.size() - 1 - first);
    for (size_t length = kShortestGram; length <= longest; ++length) {
      visit(std::string_view(text).substr(starts[first], starts[first + length] - starts[first]));
    }
  }
}

// The n-grams of words that the file lacks.
class GramTable {
 public:
  explicit GramTable(uint64_t width) : width_(width) {}

  void ask_for(std::string_view word) {
    for_each_gram(word, [&](std::string_view gram) {
      if (numbers_.emplace(gram, counts_.size()).second) counts_.push_back(0);
    });
  }
  void add(std::string_view word, std::span<const float> vector) {
    sums_.resize(counts_.size() * width_);
    for_each_gram(word, [&](std::string_view gram) {
      const auto found = numbers_.find(std::string(gram));
      if (found == numbers_.end()) return;
      ++counts_[found->second];
      double* sum = sums_.data() + found->second * width_;
      for (size_t j = 0; j < width_; ++j) sum[j] += vector[j];
    });
  }
  // False: no n-gram of the word is known.
  bool read(std::string_view word, std::span<float> row) const {
    std::vector<double> mean(width_, 0.0);
    uint64_t grams = 0;
    for_each_gram(word, [&](std::string_view gram) {
      const size_t number = numbers_.at(std::string(gram));
      if (counts_[number] == 0) return;
      ++grams;
      for (size_t j = 0; j < width_; ++j) {
        mean[j] += sums_[number * width_ + j] / static_cast<double>(counts_[number]);
      }
    });
    for (size_t j = 0; j < width_ && grams > 0; ++j) {
      row[j] = static_cast<float>(mean[j] / static_cast<double>(grams));
    }
    return grams > 0;
  }
  bool empty() const { return counts_.empty(); }

 private:
  uint64_t width_;
  std::unordered_map<std::string, size_t> numbers_;
  std::vector<uint64_t> counts_;  // words of the file that have the n-gram
  std::vector<double> sums_;      // [n-grams, width] of their vectors
};

void add_unknown_words(VectorFile& file, const Vocabulary& vocabulary, WordTable& table,
                       const ProgressSink& progress) {
  GramTable grams(table.width);
  for (uint32_t number = 0; number < vocabulary.size(); ++number) {
    if (!table.known[number]) grams.ask_for(vocabulary.word(number));
  }
  if (grams.empty()) return;
  file.read("reading vectors for unknown words", progress,
            [&](std::string_view word, std::span<const float> vector) { grams.add(word, vector); });
  for (uint32_t number = 0; number < vocabulary.size(); ++number) {
    if (table.known[number]) continue;
    const std::span<float> row(table.vectors.data() + number * table.width, table.width);
    table.known[number] = grams.read(vocabulary.word(number), row);
  }
}

}  // namespace

WordTable read_word_vectors(const Path& file, const Vocabulary& vocabulary,
                            const ProgressSink& progress) {
  VectorFile vectors(file);
  WordTable table;
  table.known.resize(vocabulary.size());
  vectors.read("reading vectors", progress,
               [&](std::string_view word, std::span<const float> vector) {
                 table.vectors.resize(vocabulary.size() * vector.size());
                 const auto number = vocabulary.find(word);
                 if (!number || table.known[*number]) return;
                 table.known[*number] = true;
                 std::copy(vector.begin(), vector.end(),
                           table.vectors.begin() + static_cast<ptrdiff_t>(*number * vector.size()));
               });
  table.width = vectors.width();
  const bool any = std::any_of(table.known.begin(), table.known.end(), [](bool k) { return k; });
  if (vocabulary.size() > 0 && !any) {
    throw Error(fmt::format(
        "{}: contains none of the words in the titles; it must contain words in lower case",
        file.string()));
  }
  add_unknown_words(vectors, vocabulary, table, progress);
  return table;
}

}  // namespace hgt
