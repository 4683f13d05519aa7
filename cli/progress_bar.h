// Shows Progress to a person: a bar with rate and time left, of the whole work if that is known, on
// a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "hgt/progress.h"

namespace hgt::cli {

class ProgressBar {
 public:
  // From here on the program can be interrupted without damage: see catch_interrupt().
  explicit ProgressBar(bool quiet);
  // Draws to stderr. Throws Interrupted once the program was interrupted.
  void show(const Progress& progress);
  ProgressSink sink() {
    return [this](const Progress& progress) { show(progress); };
  }

 private:
  using Clock = std::chrono::steady_clock;
  // A stage that is not finished: since when, from where (work that is resumed does not begin at
  // 0), and how far. If its count falls, it has started again.
  struct Stage {
    Clock::time_point start;
    uint64_t first_count = 0;
    double first_fraction = 0;
    uint64_t count = 0;
  };
  // The work of which the stages are parts, as far as Progress tells.
  struct Whole {
    Clock::time_point start;
    double first = 0;
    double share = 0;
  };
  void note_whole(const Progress& progress, Clock::time_point now);
  void draw(const Progress& progress, const Stage& stage, double seconds) const;
  // "; 12% of all, 40 s left", as far as it is known.
  std::string rest_of_all(Clock::time_point now) const;

  bool quiet_;
  bool terminal_;
  std::map<std::string, Stage> stages_;
  std::optional<Whole> whole_;
  Clock::time_point last_drawn_;
};

// From here on Ctrl-C, SIGTERM and SIGHUP only set a flag, which ProgressBar::show looks at; a
// second signal of the kind ends the program at once. Verbs that never look are ended by the first.
// A program that was told to ignore SIGHUP (nohup) goes on doing so.
void catch_interrupt();
bool was_interrupted();

}  // namespace hgt::cli
