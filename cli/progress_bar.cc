#include "cli/progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>

#include "cli/streams.h"
#include "cli/text_table.h"
#include "hgt/error.h"

namespace hgt::cli {

namespace {

constexpr int kBarWidth = 24;
constexpr std::chrono::milliseconds kTerminalInterval(100);
constexpr std::chrono::seconds kLineInterval(10);
constexpr double kLongEnoughToTell = 1;  // seconds, for the time left

volatile std::sig_atomic_t interrupted = 0;

void on_interrupt(int signal) {
  interrupted = 1;
  std::signal(signal, SIG_DFL);
}

std::string short_number(double value) {
  if (value >= 1e9) return fmt::format("{:.2f}G", value / 1e9);
  if (value >= 1e6) return fmt::format("{:.2f}M", value / 1e6);
  if (value >= 1e3) return fmt::format("{:.1f}k", value / 1e3);
  return fmt::format("{:.0f}", value);
}

}  // namespace

void catch_interrupt() {
  if (interrupted != 0) return;  // the next signal is to end the program
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  const auto before = std::signal(SIGHUP, on_interrupt);
  if (before == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // nohup
}

bool was_interrupted() { return interrupted != 0; }

ProgressBar::ProgressBar(bool quiet) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1) {
  catch_interrupt();
}

void ProgressBar::show(const Progress& progress) {
  if (interrupted != 0) throw Interrupted();
  if (quiet_) return;
  const auto now = Clock::now();
  const auto known = stages_.find(progress.stage);
  if (known == stages_.end() || progress.count < known->second.count) {
    stages_[progress.stage] = {
        .start = now, .first_count = progress.count, .first_fraction = progress.fraction};
    last_drawn_ = terminal_ ? Clock::time_point{} : now;  // no line for a mere moment
  }
  note_whole(progress, now);
  Stage& stage = stages_[progress.stage];
  stage.count = progress.count;
  const Clock::duration interval =
      terminal_ ? Clock::duration(kTerminalInterval) : Clock::duration(kLineInterval);
  if (!progress.finished && now - last_drawn_ < interval) return;
  last_drawn_ = now;
  draw(progress, stage, std::chrono::duration<double>(now - stage.start).count());
  if (progress.finished) stages_.erase(progress.stage);
}

void ProgressBar::note_whole(const Progress& progress, Clock::time_point now) {
  if (!progress.whole) {
    whole_.reset();
    return;
  }
  if (!whole_ || *progress.whole < whole_->share) whole_ = {.start = now, .first = *progress.whole};
  whole_->share = *progress.whole;
}

std::string ProgressBar::rest_of_all(Clock::time_point now) const {
  if (!whole_ || whole_->share >= 1) return "";
  std::string text = fmt::format("; {:.0f}% of all", std::floor(whole_->share * 100));
  const double seconds = std::chrono::duration<double>(now - whole_->start).count();
  const double seen = whole_->share - whole_->first;
  if (seen > 0 && seconds > kLongEnoughToTell) {
    text += ", " + short_duration(seconds * (1 - whole_->share) / seen) + " left";
  }
  return text;
}

void ProgressBar::draw(const Progress& progress, const Stage& stage, double seconds) const {
  const uint64_t done = progress.count - stage.first_count;
  const double share = progress.fraction - stage.first_fraction;
  std::string line = fmt::format("{:<28}", progress.stage);
  if (terminal_ && !progress.finished) {
    const int filled = static_cast<int>(std::clamp(progress.fraction, 0.0, 1.0) * kBarWidth);
    line += fmt::format(" [{}{}]", std::string(filled, '#'), std::string(kBarWidth - filled, '.'));
  }
  line += fmt::format(" {:3.0f}% {:>8} {}", progress.fraction * 100,
                      short_number(static_cast<double>(progress.count)), progress.unit);
  if (done > 0) {
    const double rate = static_cast<double>(done) / std::max(seconds, 1e-3);
    line += fmt::format(", {}/s", short_number(rate));
  }
  if (progress.finished) {
    line += fmt::format(", {:.1f} s", seconds);
  } else if (!whole_ && share > 0 && seconds > kLongEnoughToTell) {
    line += ", " + short_duration(seconds * (1 - progress.fraction) / share) + " left";
  }
  line += rest_of_all(Clock::now());
  if (!progress.detail.empty()) line += "  " + progress.detail;
  if (terminal_) {
    tell(fmt::format("\r\x1b[K{}{}", line, progress.finished ? "\n" : ""));
  } else {
    tell(line + "\n");
  }
}

}  // namespace hgt::cli
