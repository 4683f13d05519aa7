// How long-running work tells its caller how far it is. The library never prints.
//
//   run.train([](const Progress& done) { std::cerr << done.stage << ' ' << done.count << '\n'; });
//
// A sink may throw Interrupted to stop the work.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace hgt {

struct Progress {
  std::string stage;        // what is being done, e.g. "papers.tsv" or "writing paper"
  std::string unit;         // what `count` counts: rows, edges, nodes
  uint64_t count = 0;       // units done so far in this stage
  double fraction = 0.0;    // share of the stage that is done, 0..1
  bool finished = false;    // the last report of this stage
  std::string detail = {};  // how it goes, in a few words
};

// Called every few thousand units, always from the thread that called the library. May throw
// (Interrupted, for Ctrl-C): the work then cleans up after itself and passes the exception on.
using ProgressSink = std::function<void(const Progress&)>;

// Nobody listens.
inline void no_progress(const Progress& /*unused*/) {}

}  // namespace hgt
