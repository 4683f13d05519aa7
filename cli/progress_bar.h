// Shows Progress to a person: a bar with rate and time left on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "hgt/progress.h"

namespace hgt::cli {

class ProgressBar {
 public:
  explicit ProgressBar(bool quiet);
  // Draws to stderr. Throws Interrupted once Ctrl-C was pressed.
  void show(const Progress& progress);
  ProgressSink sink() {
    return [this](const Progress& progress) { show(progress); };
  }

 private:
  using Clock = std::chrono::steady_clock;
  void draw(const Progress& progress, double seconds) const;

  bool quiet_;
  bool terminal_;
  std::map<std::string, Clock::time_point> starts_;  // of stages that are not finished
  Clock::time_point last_drawn_;
};

// From here on Ctrl-C only sets a flag, which ProgressBar::show looks at; a second one ends the
// program at once.
void catch_interrupt();
bool was_interrupted();

}  // namespace hgt::cli
