// What a run was made of, as its folder keeps it: options, task, graph, and the program and machine
// that made it.
//
//   const SavedRun run = read_run(RunFolder("venue.run"));
//   run.options.training.model.layers, run.environment.commit ...
#pragma once

#include <cstdint>
#include <string>

#include "hgt/graph/hetero_graph.h"
#include "hgt/run/run_folder.h"
#include "hgt/run/run_options.h"

namespace hgt {

// run.json
struct RunEnvironment {
  std::string graph = {};           // folder, as an absolute path
  std::string graph_checksum = {};  // of its schema with the run's features and no others, which
                                    // holds the checksums of all arrays
  std::string structure_checksum = {};  // of its schema without features; empty: not known
  std::string options_checksum = {};
  std::string task_checksum = {};
  std::string hgt = {};  // version
  std::string commit = {};
  std::string libtorch = {};
  std::string blas = {};
  std::string kernels = {};  // instruction set
  uint64_t cores = 0;
  uint64_t threads = 0;

  friend bool operator==(const RunEnvironment&, const RunEnvironment&) = default;
};

struct SavedRun {
  RunFolder folder;
  RunOptions options = {};  // its graph is that of the environment, its features are named
  RunEnvironment environment = {};
};

// Of a graph as it was opened: other feature sets do not count.
std::string graph_checksum(const HeteroGraph& graph);
std::string structure_checksum(const HeteroGraph& graph);  // nor do any features

// Writes options, task and, last, the environment with the checksums of both: from then on it is a
// run. The folder exists.
void write_run(const RunFolder& folder, const RunOptions& options, RunEnvironment environment);

// Throws Error: there is no run, or a file is damaged, was edited, or is of another version. The
// graph is not looked at.
SavedRun read_run(const RunFolder& folder);

// Whether both would be written as the same run.
bool same_run(const RunOptions& a, const RunOptions& b);

// What the weights of all seeds depend on, as a checksum; not how fast they are computed.
std::string run_identity(const RunOptions& options, const std::string& graph_checksum);

}  // namespace hgt
