// For the tests of training: a small academic graph, and options that train on it in a moment.
#pragma once

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "hgt/academic/academic_generator.h"
#include "hgt/disk/temporary_test_folder.h"
#include "hgt/disk/tensor_file.h"
#include "hgt/graph/graph_test_folder.h"
#include "hgt/graph/hetero_graph.h"
#include "hgt/run/train_options.h"
#include "hgt/task/task.h"

namespace hgt {

// Generated once per test program.
inline const Path& training_graph() {
  static const TestFolder folder;
  static const Path path = [] {
    generate_academic_graph(folder / "graph", {.preset = "small", .papers = 300, .features = 8});
    return folder / "graph";
  }();
  return path;
}

inline std::unique_ptr<const Task> training_task(const std::string& name) {
  const HeteroGraph graph = HeteroGraph::open(training_graph());
  return open_task(graph, find_task(name, graph.schema()));
}

// Nine batches, three validations.
inline TrainOptions quick_options() {
  TrainOptions options;
  options.model.hidden = 8;
  options.model.heads = 2;
  options.model.layers = 2;
  options.model.dropout = 0.2;
  options.slices = 2;
  options.sampling.width = 6;
  options.sampling.depth = 2;
  options.batch_size = 24;
  options.batches = 9;
  options.validate_every = 3;
  options.learning_rate = 0.02;
  options.checkpoint_every = 1000;
  options.validation.batch_size = 20;
  options.pipeline = {.threads = 1, .workers = 0};
  return options;
}

// --- what a training leaves behind ---

// Every tensor of a file as bytes, and its metadata; of the state all but the time it took.
inline std::map<std::string, std::string> tensor_bytes(const Path& path) {
  const TensorFile file = TensorFile::open(path);
  std::map<std::string, std::string> all = file.metadata();
  if (all.contains("state")) {
    auto state = nlohmann::json::parse(all.at("state"));
    state.erase("seconds");
    state.erase("batch_seconds");
    all["state"] = state.dump();
  }
  for (const TensorView& tensor : file.tensors()) {
    all["tensor " + tensor.name].assign(reinterpret_cast<const char*>(tensor.data.data()),
                                        tensor.data.size());
  }
  return all;
}

inline std::vector<nlohmann::json> json_lines(const Path& file) {
  std::vector<nlohmann::json> lines;
  std::istringstream in(read_bytes(file));
  for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

// Whatever a run of one seed ends with, without times.
struct TrainingResult {
  std::map<std::string, std::string> checkpoint;
  std::map<std::string, std::string> best;
  std::vector<nlohmann::json> log;

  friend bool operator==(const TrainingResult&, const TrainingResult&) = default;
};

inline TrainingResult training_result(const Path& folder) {
  TrainingResult result{.checkpoint = tensor_bytes(folder / "checkpoint.safetensors"),
                        .best = tensor_bytes(folder / "best.safetensors"),
                        .log = json_lines(folder / "log.jsonl")};
  for (auto& line : result.log) {
    for (const char* key : {"seconds", "edges_per_second", "waiting"}) {
      EXPECT_EQ(line.erase(key), 1U) << key;
    }
  }
  return result;
}

// Says what differs.
inline void expect_same(const TrainingResult& got, const TrainingResult& expected,
                        const std::string& where) {
  EXPECT_EQ(got.log, expected.log) << where;
  const auto compare = [&](const auto& a, const auto& b, const char* file) {
    ASSERT_EQ(a.size(), b.size()) << where << ", " << file;
    for (const auto& [name, bytes] : a) {
      ASSERT_TRUE(b.contains(name)) << where << ", " << file << ", " << name;
      if (!name.starts_with("tensor ")) {
        EXPECT_EQ(bytes, b.at(name)) << where << ", " << file << ", " << name;
      }
      EXPECT_TRUE(bytes == b.at(name)) << where << ", " << file << ", " << name;
    }
  };
  compare(got.checkpoint, expected.checkpoint, "checkpoint");
  compare(got.best, expected.best, "best");
}

}  // namespace hgt
