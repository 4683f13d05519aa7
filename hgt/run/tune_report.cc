#include "hgt/run/tune_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <ranges>

#include "hgt/run/saved_run.h"
#include "hgt/run/search_space.h"

namespace hgt {

namespace {

// --- the table ---

std::vector<TuneRow> rows_of(const std::vector<TuneScore>& log, const Halving& halving) {
  std::map<uint64_t, TuneRow> rows;
  std::map<std::pair<uint64_t, uint64_t>, double> seconds;  // by trial and draw
  for (const TuneScore& score : log) {
    if (score.split != Split::validation) continue;
    TuneRow& row = rows[score.trial];
    row.trial = score.trial;
    row.batches = std::max(row.batches, score.batches);
    row.drawn = score.drawn;
    double& latest = seconds[{score.trial, score.draw}];
    row.seconds += score.seconds - latest;
    latest = score.seconds;
  }
  for (const auto& [job, mean] : mean_scores(log, halving)) rows[job.trial].scores.push_back(mean);
  std::vector<TuneRow> sorted;
  for (auto& [trial, row] : rows) sorted.push_back(std::move(row));
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  const auto place = [&](const TuneRow& row) {
    const bool failed = !row.last_score().has_value();
    return std::make_tuple(failed, -static_cast<double>(row.scores.size()),
                           -row.last_score().value_or(kNone));
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const TuneRow& a, const TuneRow& b) { return place(a) < place(b); });
  return sorted;
}

std::string drawn_value(const TuneRow& row, const std::string& key) {
  for (const auto& [own, value] : row.drawn) {
    if (own == key) return value;
  }
  return "";
}

std::string trial_line(const TuneReport& report, const TuneRow& row) {
  const auto score = row.last_score();
  const std::string number =
      !score.has_value() ? (row.scores.empty() ? "" : "failed") : fmt::format("{:.4f}", *score);
  const bool first = &row == report.rows.data() && score.has_value();
  std::string line = fmt::format("| {} | {} | {} of {} | {} | {:.0f} s |", row.trial,
                                 first ? "**" + number + "**" : number, row.scores.size(),
                                 report.plan.options.rungs, row.batches, row.seconds);
  for (const std::string& key : report.keys) line += " " + drawn_value(row, key) + " |";
  return line + '\n';
}

// --- the picture ---

constexpr const char* kPlain = "#90aac4";
constexpr const char* kWinner = "#2b6cb0";

// What an axis shows: what is beyond is drawn at its ends.
struct Ends {
  double low = 0;
  double high = 0;

  double place(double value) const {
    return high > low ? std::clamp((value - low) / (high - low), 0.0, 1.0) : 0.5;
  }
};

// Trials that learned nothing would leave no room for the others.
Ends ends_of(std::vector<double> scores) {
  if (scores.empty()) return {};
  std::sort(scores.begin(), scores.end());
  constexpr double kBelow = 2;  // times as far below the median as the best is above it
  const double median = scores[scores.size() / 2];
  return {.low = std::max(scores.front(), median - kBelow * (scores.back() - median)),
          .high = scores.back()};
}

struct Panel {
  double left = 0;
  double top = 0;
  double width = 0;
  double height = 0;

  double x(double share) const { return left + 8 + share * (width - 16); }
  double y(double share) const { return top + height - 8 - share * (height - 16); }
  std::string frame(const std::string& title) const {
    return fmt::format(
        "<text x=\"{}\" y=\"{}\">{}</text>\n<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" "
        "fill=\"none\" stroke=\"#ccc\"/>\n",
        left, top - 6, title, left, top, width, height);
  }
  std::string label(double share, const std::string& text) const {
    return fmt::format(
        "<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"{}\" font-size=\"10\">{}</text>\n", x(share),
        top + height + 13,
        share == 0   ? "start"
        : share == 1 ? "end"
                     : "middle",
        text);
  }
};

std::string dot(double x, double y, bool winner, const TuneRow& row, double score) {
  return fmt::format(
      "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\"><title>trial {}: {:.4f}</title>"
      "</circle>\n",
      x, y, winner ? 5 : 3.5, winner ? kWinner : kPlain, row.trial, score);
}

std::string rungs_panel(const TuneReport& report, const Panel& panel) {
  std::vector<double> scores;
  for (const TuneRow& row : report.rows) {
    for (const auto& score : row.scores) {
      if (score) scores.push_back(*score);
    }
  }
  const Ends ends = ends_of(scores);
  const Halving halving = halving_of(report.plan.options);
  const auto x = [&](uint64_t rung) {
    return halving.rungs == 1 ? 0.5
                              : static_cast<double>(rung) / static_cast<double>(halving.rungs - 1);
  };
  std::string svg =
      panel.frame(report.plan.options.metric +
                  (scores.empty() ? "" : fmt::format(", {:.4f} to {:.4f}", ends.low, ends.high)));
  for (uint64_t rung = 0; rung < halving.rungs; ++rung) {
    svg += panel.label(x(rung), fmt::format("{:.0f} %", 100 * share_of_rung(halving, rung)));
  }
  for (auto row = report.rows.rbegin(); row != report.rows.rend(); ++row) {  // the best on top
    const bool winner = &*row == report.rows.data();
    std::string points;
    std::string dots;
    for (uint64_t rung = 0; rung < row->scores.size(); ++rung) {
      if (!row->scores[rung]) continue;
      const double at = panel.x(x(rung));
      const double height = panel.y(ends.place(*row->scores[rung]));
      points += fmt::format("{:.1f},{:.1f} ", at, height);
      dots += dot(at, height, winner, *row, *row->scores[rung]);
    }
    svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\"/>\n{}", points,
                       winner ? kWinner : kPlain, dots);
  }
  return svg;
}

std::optional<double> numeric(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size()) return number;
  return std::nullopt;
}

// Where the values of an option are, from 0 to 1: few of them side by side, many numbers by size.
class ValueAxis {
 public:
  explicit ValueAxis(std::vector<std::string> values) : values_(std::move(values)) {
    const auto before = [](const std::string& a, const std::string& b) {
      const auto left = numeric(a);
      const auto right = numeric(b);
      return left && right ? *left < *right : a < b;
    };
    std::sort(values_.begin(), values_.end(), before);
    values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
    constexpr size_t kMostWords = 6;
    by_size_ = values_.size() > kMostWords &&
               std::all_of(values_.begin(), values_.end(),
                           [](const std::string& value) { return numeric(value).has_value(); });
    if (!by_size_) return;
    ends_ = {.low = *numeric(values_.front()), .high = *numeric(values_.back())};
    constexpr double kWide = 10;
    log_ = ends_.low > 0 && ends_.high / ends_.low > kWide;
    if (log_) ends_ = {.low = std::log(ends_.low), .high = std::log(ends_.high)};
  }

  double place(const std::string& value) const {
    if (by_size_) {
      const double number = *numeric(value);
      return ends_.place(log_ ? std::log(number) : number);
    }
    const auto found = std::find(values_.begin(), values_.end(), value) - values_.begin();
    return (static_cast<double>(found) + 0.5) / static_cast<double>(values_.size());
  }

  std::string labels(const Panel& panel) const {
    std::string text;
    for (const std::string& value : values_) {
      const bool shown = !by_size_ || value == values_.front() || value == values_.back();
      if (shown) text += panel.label(place(value), value);
    }
    return text;
  }

 private:
  std::vector<std::string> values_;
  bool by_size_ = false;
  bool log_ = false;
  Ends ends_;
};

// Of the first rung, which all trials were scored on.
std::string option_panel(const TuneReport& report, const std::string& key, const Panel& panel) {
  std::vector<const TuneRow*> shown;
  std::vector<std::string> values;
  std::vector<double> scores;
  for (const TuneRow& row : std::views::reverse(report.rows)) {
    const std::string value = drawn_value(row, key);
    if (value.empty() || row.scores.empty() || !row.scores.front()) continue;
    shown.push_back(&row);
    values.push_back(value);
    scores.push_back(*row.scores.front());
  }
  const Ends ends = ends_of(scores);
  const ValueAxis axis(values);
  std::string svg = panel.frame(key) + axis.labels(panel);
  for (size_t i = 0; i < shown.size(); ++i) {
    svg += dot(panel.x(axis.place(values[i])), panel.y(ends.place(scores[i])),
               shown[i] == report.rows.data(), *shown[i], scores[i]);
  }
  return svg;
}

}  // namespace

TuneReport read_tune(const TuneFolder& folder) {
  TuneReport report{.plan = read_plan(folder)};
  const std::vector<TuneScore> log = TuneLog(folder.log_file()).read();
  report.task = read_run(folder.base()).options.task.name;
  report.rows = rows_of(log, halving_of(report.plan.options));
  for (const Dimension& dimension : read_space(folder.space_file()).dimensions) {
    report.keys.push_back(dimension.key);
  }
  for (const TuneScore& score : log) {
    if (score.split == Split::test) report.test = score.metrics;
  }
  return report;
}

std::string to_markdown(const TuneReport& report) {
  const TuneOptions& options = report.plan.options;
  std::string text = fmt::format("{}: {} trials, {} on {}\n\n", report.task, report.rows.size(),
                                 options.metric, report.plan.draws_reason);
  text += fmt::format("| trial | {} | rung | batches | time |", options.metric);
  std::string rule = "| ---: | ---: | ---: | ---: | ---: |";
  for (const std::string& key : report.keys) {
    text += " " + key + " |";
    rule += " --- |";
  }
  text += '\n' + rule + '\n';
  for (const TuneRow& row : report.rows) text += trial_line(report, row);
  if (report.test.empty()) return text;
  std::vector<std::string> parts;
  for (const auto& [name, value] : report.test)
    parts.push_back(fmt::format("{} {:.4f}", name, value));
  return text + fmt::format("\nwinner on the test examples: {}\n", fmt::join(parts, ", "));
}

std::string to_svg(const TuneReport& report) {
  constexpr double kSmall = 170;
  constexpr double kGap = 30;
  constexpr size_t kPanelsInALine = 4;
  const size_t lines = (report.keys.size() + kPanelsInALine - 1) / kPanelsInALine;
  const double width = kGap + static_cast<double>(kPanelsInALine) * (kSmall + kGap);
  const double height = 300 + static_cast<double>(lines) * (110 + 2 * kGap);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" font-size=\"13\">\n"
      "<title>Trials of a search</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      width, height);
  svg += rungs_panel(report, {.left = kGap, .top = 30, .width = width - 2 * kGap, .height = 220});
  for (size_t i = 0; i < report.keys.size(); ++i) {
    const auto column = static_cast<double>(i % kPanelsInALine);
    const auto line = std::floor(static_cast<double>(i) / kPanelsInALine);
    svg += option_panel(report, report.keys[i],
                        {.left = kGap + column * (kSmall + kGap),
                         .top = 310 + line * (110 + 2 * kGap),
                         .width = kSmall,
                         .height = 110});
  }
  return svg + "</svg>\n";
}

}  // namespace hgt
