// For the tests of the feature writer: a graph to write to, and processes that may be killed.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "hgt/graph/feature_writer.h"
#include "hgt/graph/graph_test_folder.h"
#include "hgt/graph/hetero_graph.h"

namespace hgt {

// Runs the work in a process of its own. Returns its exit code, or 128 + signal.
inline int in_child(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    int code = 99;
    try {
      code = work();
    } catch (...) {
      code = 98;
    }
    ::_exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

using Rows = std::vector<std::vector<float>>;  // an empty row: the node has none

class FeatureWriterTest : public testing::Test {
 protected:
  FeatureWriterTest() { build_small_graph(path()); }

  Path path() const { return folder_ / "graph"; }
  // With the set as it is so far, where there is one.
  HeteroGraph open() const {
    const std::string unfinished = "made.partial";
    const bool begun = find_feature_set(read_schema(path()), unfinished) != nullptr;
    return HeteroGraph::open(path(), begun ? unfinished : "");
  }
  static FeatureSetWriter begin(const FeatureLock& lock) {
    return {lock, {.name = "made", .key = "recipe"}};
  }
  static FeatureSpec spec(const std::string& key = "one", uint64_t width = 2,
                          FeatureType type = FeatureType::float32) {
    return {.width = width, .type = type, .origin = "a test", .until = 2014, .key = key};
  }
  // All rows at once; an empty row is a missing node.
  static void append(FeatureWriter& writer, const Rows& rows, uint64_t width = 2) {
    std::vector<float> numbers;
    std::vector<bool> missing;
    for (const auto& row : rows) {
      missing.push_back(row.empty());
      if (row.empty()) numbers.insert(numbers.end(), width, 77.0F);  // does not count
      numbers.insert(numbers.end(), row.begin(), row.end());
    }
    writer.append(numbers, missing);
  }
  FeatureSpec make(const std::string& type, const FeatureSpec& wanted, const Rows& rows) const {
    const FeatureLock lock(path());
    FeatureSetWriter set = begin(lock);
    FeatureWriter writer(set, type, wanted);
    append(writer, rows, wanted.width);
    return writer.finish();
  }
  static Rows rows_of(const HeteroGraph& graph, const std::string& name) {
    const NodeType type = graph.schema().node_type(name);
    Rows rows(graph.num_nodes(type), std::vector<float>(graph.features(type).width));
    for (NodeId node = 0; node < rows.size(); ++node) graph.copy_features(type, node, rows[node]);
    return rows;
  }
  FeatureSpec kept(const std::string& type) const {
    const HeteroGraph graph = open();
    return graph.schema().at(graph.schema().node_type(type)).features.value();
  }
  // Files of the type that have to do with features that were not imported.
  std::vector<std::string> feature_files(const std::string& type) const {
    std::vector<std::string> found;
    for (const std::string& name : names_in(path() / type)) {
      if (name.starts_with("features") && name != "features.npy") found.push_back(name);
    }
    return found;
  }

  const TestFolder folder_;
};

}  // namespace hgt
