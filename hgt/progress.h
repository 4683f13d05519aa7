// How long-running work tells its caller how far it is. The library never prints.
//
//   run.train([](const Progress& done) { std::cerr << done.stage << ' ' << done.count << '\n'; });
//
// A sink may throw Interrupted to stop the work.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace hgt {

struct Progress {
  std::string stage;        // what is being done, e.g. "papers.tsv" or "writing paper"
  std::string unit;         // what `count` counts: rows, edges, nodes
  uint64_t count = 0;       // units done so far in this stage
  double fraction = 0.0;    // share of the stage that is done, 0..1
  bool finished = false;    // the last report of this stage
  std::string detail = {};  // how it goes, in a few words
  // Share of the time of all work that is over, 0..1, where this stage is only a part of it.
  std::optional<double> whole = {};
};

// Called every few thousand units, always from the thread that called the library. May throw
// (Interrupted, for Ctrl-C): the work then cleans up after itself and passes the exception on.
using ProgressSink = std::function<void(const Progress&)>;

// Nobody listens.
inline void no_progress(const Progress& /*unused*/) {}

// Puts the parts of a long piece of work together: tells with each report how much of the whole
// is done.
//
//   WholeWork work(progress);
//   work.begin(0.75);
//   read_tables(work.sink());
//   work.begin(0.25);
//   write_arrays(work.sink());
class WholeWork {
 public:
  explicit WholeWork(ProgressSink sink) : sink_(std::move(sink)) {}
  WholeWork(const WholeWork&) = delete;
  WholeWork& operator=(const WholeWork&) = delete;

  // The reports from here on are of a part that takes this share of the time. All shares sum to 1.
  void begin(double share) {
    done_ += share_;
    share_ = share;
  }
  // For the parts. A part that has parts of its own may tell how much of it is done as `whole`.
  // Keeps a reference to this object.
  ProgressSink sink() {
    return [this](const Progress& part) {
      Progress progress = part;
      progress.whole = done_ + share_ * part.whole.value_or(part.fraction);
      sink_(progress);
    };
  }

 private:
  ProgressSink sink_;
  double done_ = 0;
  double share_ = 0;
};

}  // namespace hgt
