#include "hgt/run/search_space.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>

#include "hgt/disk/checksum.h"
#include "hgt/error.h"
#include "hgt/options/settings_file.h"
#include "hgt/random.h"
#include "hgt/run/idle_options.h"

namespace hgt {

namespace {

constexpr uint64_t kTrialStream = 0x7a1a1;

// --- what can be searched ---

// They say how a trial is scored or how fast that is, which a comparison must not leave to chance.
constexpr std::array<std::string_view, 14> kSameForAll = {"batches",
                                                          "validate-every",
                                                          "checkpoint-every",
                                                          "seed",
                                                          "repeats",
                                                          "threads",
                                                          "workers",
                                                          "instructions",
                                                          "validation-limit",
                                                          "validation-batch-size",
                                                          "validation-samples",
                                                          "validation-full",
                                                          "patience",
                                                          "time-bound"};

bool is_same_for_all(std::string_view key) {
  return std::find(kSameForAll.begin(), kSameForAll.end(), key) != kSameForAll.end();
}

const OptionTable::Entry& searchable(const OptionTable& table, const std::string& key) {
  const OptionTable::Entry* entry = table.find(key);
  if (is_same_for_all(key)) {
    throw Error(fmt::format("'{}' must be the same for all trials; give --{} on the command line",
                            key, key));
  }
  if (entry != nullptr) return *entry;
  std::vector<std::string> keys;
  for (const auto& known : table.entries()) {
    if (!is_same_for_all(known.key)) keys.push_back(known.key);
  }
  std::sort(keys.begin(), keys.end());
  throw Error(fmt::format("unknown option '{}'; the options that can be searched are {}", key,
                          fmt::join(keys, ", ")));
}

// --- from a file ---

double as_number(const std::string& text) {
  double number = std::numeric_limits<double>::quiet_NaN();
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

void read_member(const Setting& member, const OptionTable::Entry& entry, Dimension& dimension) {
  if (member.values.size() != 1) throw Error(fmt::format("{} must be one value", member.key));
  const std::string& text = member.values.front();
  if (member.key == "log") {
    if (text != "true" && text != "false") {
      throw Error(fmt::format("log is '{}'; it must be true or false", text));
    }
    dimension.log = text == "true";
    return;
  }
  if (member.key != "low" && member.key != "high") {
    throw Error(fmt::format("a range has no '{}'; it has low, high and log", member.key));
  }
  entry.set({text});  // throws: the option cannot be that
  (member.key == "low" ? dimension.low : dimension.high) = as_number(text);
}

void read_range(const SettingRange& range, const OptionTable::Entry& entry, Dimension& dimension) {
  if (entry.form != OptionTable::Form::number) {
    throw Error("it is not a number, so it has no range; give a list of values");
  }
  constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
  dimension.low = dimension.high = kMissing;
  dimension.whole = entry.whole;
  for (const Setting& member : range.members) read_member(member, entry, dimension);
  if (std::isnan(dimension.low) || std::isnan(dimension.high)) {
    throw Error("a range needs both ends, as in { low = 0.1, high = 1 }");
  }
  if (dimension.low >= dimension.high) {
    throw Error(
        fmt::format("low is {} and high is {}; low must be less", dimension.low, dimension.high));
  }
  if (dimension.log && dimension.low <= 0) {
    throw Error(
        fmt::format("low is {}; it must be greater than 0 where log is true", dimension.low));
  }
}

Dimension dimension_of(const SettingRange& range, const OptionTable& table) {
  const OptionTable::Entry& entry = searchable(table, range.key);
  Dimension dimension{.key = range.key, .choices = range.choices};
  try {
    if (range.choices.empty()) read_range(range, entry, dimension);
    for (const OptionTable::Values& choice : range.choices) entry.set(choice);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", range.key, error.what()));
  }
  return dimension;
}

std::string choice_text(const OptionTable::Values& choice, const OptionTable::Entry& entry) {
  const bool text = entry.words.empty() && !entry.range && entry.form != OptionTable::Form::flag;
  const auto quoted = [&](const std::string& value) {
    if (!text && entry.words.empty()) return value;
    const std::string line = setting_line("", value);
    return line.substr(3, line.size() - 4);  // without " = " and the end of the line
  };
  std::vector<std::string> parts;
  for (const std::string& value : choice) parts.push_back(quoted(value));
  const bool list = entry.form == OptionTable::Form::list;
  return fmt::format("{}{}{}", list ? "[" : "", fmt::join(parts, ", "), list ? "]" : "");
}

// --- what is worth trying ---

using Words = std::vector<std::string>;

Dimension one_of(const std::string& key, const Words& words) {
  Dimension dimension{.key = key};
  for (const std::string& word : words) dimension.choices.push_back({word});
  return dimension;
}

// Batches of at most a quarter of the examples, so that an epoch has a few steps.
Words batch_sizes(uint64_t training_examples) {
  Words sizes;
  for (const uint64_t size : {32U, 64U, 128U, 256U}) {
    if (sizes.empty() || size <= training_examples / 4) sizes.push_back(std::to_string(size));
  }
  return sizes;
}

void add_layers(const ModelRow& row, std::vector<Dimension>& dimensions) {
  dimensions.push_back(one_of("hidden", {"32", "64", "128"}));
  if (row.pays_attention || row.follows_meta_paths) {
    dimensions.push_back(one_of("heads", {"4", "8"}));
  }
  dimensions.push_back(one_of("layers", {"1", "2", "3"}));
  dimensions.push_back(one_of("dropout", {"0.1", "0.2", "0.3", "0.4", "0.5", "0.6"}));
  dimensions.push_back(one_of("tanh-adaptation", {"true", "false"}));
  dimensions.push_back(one_of("node-vectors", {"10000", "0"}));  // per node, or one
  if (!row.has_variants) return;
  for (const char* part : {"norm", "gated-skip"}) {
    dimensions.push_back(one_of(part, {"true", "false"}));
  }
}

void add_surroundings(std::vector<Dimension>& dimensions) {
  dimensions.push_back(one_of("strategy", {"hgsampling", "neighbors"}));
  dimensions.push_back(one_of("width", {"64", "128", "256", "512"}));
  dimensions.push_back(one_of("depth", {"2", "3", "4"}));
  dimensions.push_back(
      {.key = "fanout",
       .choices = {{"10", "10"}, {"20", "20"}, {"10", "10", "10"}, {"20", "20", "20"}}});
}

// --- draws ---

// What is drawn first, because other options depend on it; the others follow in the file's order.
constexpr std::array<std::string_view, 4> kFirst = {"model", "strategy", "heads", "learning-rate"};

std::vector<const Dimension*> drawing_order(const SearchSpace& space) {
  std::vector<const Dimension*> order;
  for (const std::string_view key : kFirst) {
    if (const Dimension* first = space.find(std::string(key))) order.push_back(first);
  }
  for (const Dimension& dimension : space.dimensions) {
    if (std::find(order.begin(), order.end(), &dimension) == order.end()) {
      order.push_back(&dimension);
    }
  }
  return order;
}

// As it is written in files: three digits are more than enough.
std::string number_text(double number, const Dimension& dimension) {
  if (dimension.whole) return fmt::format("{:.0f}", number);
  const double rounded = as_number(fmt::format("{:.3g}", number));
  return fmt::format("{}", std::clamp(rounded, dimension.low, dimension.high));
}

double within(const Dimension& range, double share) {
  if (range.log) return range.low * std::pow(range.high / range.low, share);
  return range.low + share * (range.high - range.low);
}

class TrialDraw {
 public:
  TrialDraw(const SearchSpace& space, const RunOptions& options, const Schema& schema)
      : space_(space), schema_(schema), trial_{.options = options} {}

  Trial draw(uint64_t seed, uint64_t number) {
    for (const Dimension* dimension : drawing_order(space_)) {
      if (find_idle_option(trial_.options, schema_, {dimension->key})) continue;
      // A dimension's draw does not depend on which others there are.
      Draws draws(hash(seed, kTrialStream, number, key_number(dimension->key)));
      const OptionTable::Values values = draw_values(*dimension, draws);
      training_table(trial_.options).set(dimension->key, values);
      trial_.drawn.emplace_back(dimension->key, fmt::format("{}", fmt::join(values, ",")));
    }
    sort_drawn();
    return std::move(trial_);
  }

 private:
  static uint64_t key_number(const std::string& key) {
    return checksum(std::as_bytes(std::span(key)));
  }

  void sort_drawn() {
    const auto place = [&](const auto& entry) { return space_.find(entry.first); };
    std::sort(trial_.drawn.begin(), trial_.drawn.end(),
              [&](const auto& a, const auto& b) { return place(a) < place(b); });
  }

  OptionTable::Values draw_values(const Dimension& dimension, Draws& draws) const {
    if (dimension.choices.empty()) {
      return {dimension.whole ? draw_whole(dimension, draws) : draw_real(dimension, draws)};
    }
    std::vector<const OptionTable::Values*> fitting;
    for (const OptionTable::Values& choice : dimension.choices) {
      if (choice.size() != 1 || fits(dimension.key, as_number(choice.front()))) {
        fitting.push_back(&choice);
      }
    }
    if (fitting.empty()) fail(dimension);
    return *fitting[draws.below(fitting.size())];
  }

  std::string draw_real(const Dimension& dimension, Draws& draws) const {
    const double drawn = within(dimension, draws.unit());
    const bool falls_to = dimension.key == "final-learning-rate";  // from the learning rate
    const double most = falls_to ? learning_rate() : dimension.high;
    if (drawn > most) return fmt::format("{}", most);
    return number_text(drawn, dimension);
  }

  std::string draw_whole(const Dimension& dimension, Draws& draws) const {
    if (dimension.key != "hidden" && dimension.key != "heads") {
      Dimension ends = dimension;  // every whole number has a share of its own
      ends.low -= dimension.log ? 0 : 0.5;
      ends.high += dimension.log ? 0 : 0.5;
      const double drawn = std::round(within(ends, draws.unit()));
      return number_text(std::clamp(drawn, dimension.low, dimension.high), dimension);
    }
    std::vector<double> fitting;
    for (double number = dimension.low; number <= dimension.high; ++number) {
      if (fits(dimension.key, number)) fitting.push_back(number);
    }
    if (fitting.empty()) fail(dimension);
    const double drawn = within(dimension, draws.unit());
    const auto nearest = std::min_element(fitting.begin(), fitting.end(), [&](double a, double b) {
      return std::abs(a - drawn) < std::abs(b - drawn);
    });
    return number_text(*nearest, dimension);
  }

  // Whether an option can have the value, given what was drawn before.
  bool fits(const std::string& key, double number) const {
    if (key == "hidden") return is_multiple(number, trial_.options.training.model.heads);
    if (key == "heads") return some_hidden_is_multiple(static_cast<int64_t>(number));
    if (key == "final-learning-rate") return number <= learning_rate();
    return true;
  }

  double learning_rate() const { return trial_.options.training.learning_rate; }

  bool is_multiple(double hidden, int64_t heads) const {
    const ModelRow& row = row_of(trial_.options.training.model.kind);
    return static_cast<int64_t>(hidden) % std::lcm(heads, row.hidden_multiple) == 0;
  }

  bool some_hidden_is_multiple(int64_t heads) const {
    const Dimension* hidden = space_.find("hidden");
    if (hidden == nullptr) {
      return is_multiple(static_cast<double>(trial_.options.training.model.hidden), heads);
    }
    if (!hidden->choices.empty()) {
      return std::any_of(hidden->choices.begin(), hidden->choices.end(), [&](const auto& choice) {
        return is_multiple(as_number(choice.front()), heads);
      });
    }
    const ModelRow& row = row_of(trial_.options.training.model.kind);
    const auto step = static_cast<double>(std::lcm(heads, row.hidden_multiple));
    return std::floor(hidden->high / step) * step >= hidden->low;
  }

  [[noreturn]] void fail(const Dimension& dimension) const {
    throw Error(fmt::format(
        "the search space has no value of '{}' that fits the others (model {}, hidden {}, heads "
        "{}, learning-rate {}); widen it",
        dimension.key, to_string(trial_.options.training.model.kind),
        trial_.options.training.model.hidden, trial_.options.training.model.heads,
        learning_rate()));
  }

  const SearchSpace& space_;
  const Schema& schema_;
  Trial trial_;
};

}  // namespace

const Dimension* SearchSpace::find(const std::string& key) const {
  const auto found = std::find_if(dimensions.begin(), dimensions.end(),
                                  [&](const Dimension& each) { return each.key == key; });
  return found == dimensions.end() ? nullptr : &*found;
}

SearchSpace read_space(const Path& file) {
  RunOptions options;
  const OptionTable table = training_table(options);
  SearchSpace space;
  for (const SettingRange& range : read_setting_ranges(file)) {
    try {
      space.dimensions.push_back(dimension_of(range, table));
    } catch (const Error& error) {
      throw Error(fmt::format("{}:{}: {}", file.string(), range.line, error.what()));
    }
  }
  if (!space.dimensions.empty()) return space;
  throw Error(
      fmt::format("{}: the file names nothing to search; add a line such as hidden = [64, 128]",
                  file.string()));
}

std::string to_toml(const SearchSpace& space) {
  RunOptions options;
  const OptionTable table = training_table(options);
  std::string text;
  for (const Dimension& dimension : space.dimensions) {
    if (dimension.choices.empty()) {
      text += fmt::format("{} = {{ low = {}, high = {}{} }}\n", dimension.key, dimension.low,
                          dimension.high, dimension.log ? ", log = true" : "");
      continue;
    }
    std::vector<std::string> choices;
    for (const OptionTable::Values& choice : dimension.choices) {
      choices.push_back(choice_text(choice, *table.find(dimension.key)));
    }
    text += fmt::format("{} = [{}]\n", dimension.key, fmt::join(choices, ", "));
  }
  return text;
}

SearchSpace default_space(const RunOptions& options, uint64_t training_examples) {
  const ModelRow& row = row_of(options.training.model.kind);
  SearchSpace space;
  if (row.reads_features) add_layers(row, space.dimensions);
  if (row.reads_neighbors) add_surroundings(space.dimensions);
  const bool hidden_labels = options.task.kind == TaskKind::label;  // links show themselves
  if (row.reads_neighbors && hidden_labels) {
    space.dimensions.push_back(one_of("label-inputs", {"false", "true"}));
  }
  space.dimensions.push_back(one_of("batch-size", batch_sizes(training_examples)));
  space.dimensions.push_back(one_of("epochs", {"5", "10", "20"}));  // without effect beside batches
  space.dimensions.push_back({.key = "learning-rate", .low = 3e-4, .high = 1e-2, .log = true});
  space.dimensions.push_back({.key = "weight-decay", .low = 1e-4, .high = 1e-1, .log = true});
  space.dimensions.push_back(one_of("average-weights", {"0", "0.9", "0.98"}));
  return space;
}

SearchSpace without(SearchSpace space, const std::vector<std::string>& keys) {
  std::erase_if(space.dimensions, [&](const Dimension& dimension) {
    return std::find(keys.begin(), keys.end(), dimension.key) != keys.end();
  });
  return space;
}

Trial draw_trial(const SearchSpace& space, const RunOptions& options, const Schema& schema,
                 uint64_t seed, uint64_t number) {
  Trial trial = TrialDraw(space, options, schema).draw(seed, number);
  adopt_meta_paths(trial.options);
  try {
    check(trial.options.training);
  } catch (const Error& error) {
    throw Error(fmt::format("trial {} of the search space: {}", number, error.what()));
  }
  return trial;
}

}  // namespace hgt
