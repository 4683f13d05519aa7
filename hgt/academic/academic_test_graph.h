// For tests: a generated academic graph, opened together with its planted truth.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "hgt/academic/academic_generator.h"
#include "hgt/graph/array_file.h"
#include "hgt/graph/hetero_graph.h"

namespace hgt {

// A new folder for the test program, removed at its end.
class Workplace {
 public:
  Workplace() : path_(std::filesystem::temp_directory_path() / "hgt_academic") {
    path_ += std::to_string(::getpid());
    std::filesystem::create_directories(path_);
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  ~Workplace() { std::filesystem::remove_all(path_); }
  Path operator/(const std::string& name) const { return path_ / name; }

 private:
  Path path_;
};

inline const Workplace& workplace() {
  static const Workplace place;
  return place;
}

inline std::string bytes_of(const Path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline std::vector<Time> times_of(const Neighbors& list) {
  std::vector<Time> times;
  for (size_t i = 0; i < list.times.size(); ++i) times.push_back(list.times[i]);
  return times;
}

inline Path truth_of(const Path& graph) { return graph / "truth"; }

// The arrays of a truth folder, by name.
class Truth {
 public:
  explicit Truth(const Path& folder) {
    const auto json = nlohmann::json::parse(bytes_of(folder / "truth.json"));
    about_ = json.at("graph");
    for (const auto& array : json.at("arrays")) {
      ArrayRecord record;
      record.file = array.at("file");
      record.dtype = array.at("dtype");
      record.shape = array.at("shape").get<std::vector<uint64_t>>();
      shapes_[record.file] = record.shape;
      arrays_.emplace(record.file, MappedArray(folder, record));
    }
  }

  template <typename T>
  std::span<const T> as(const std::string& name) const {
    return arrays_.at(name + ".npy").as<T>();
  }
  const std::vector<uint64_t>& shape(const std::string& name) const {
    return shapes_.at(name + ".npy");
  }
  std::string about(const std::string& key) const { return about_.at(key); }

 private:
  nlohmann::json about_;
  std::map<std::string, std::vector<uint64_t>> shapes_;
  std::map<std::string, MappedArray> arrays_;
};

struct AcademicGraph {
  explicit AcademicGraph(const Path& folder)
      : graph(HeteroGraph::open(folder)), truth(truth_of(folder)), paper(type("paper")) {}

  NodeType type(const std::string& name) const { return graph.schema().node_type(name); }
  uint64_t nodes(const std::string& name) const { return graph.num_nodes(type(name)); }
  Relation relation(const std::string& source, const std::string& edge,
                    const std::string& target) const {
    return graph.schema().relation(source, edge, target);
  }
  uint64_t edges(const std::string& source, const std::string& edge,
                 const std::string& target) const {
    return graph.num_edges(relation(source, edge, target));
  }
  // Over several edge types.
  uint64_t edges(const std::string& source, const std::vector<std::string>& names,
                 const std::string& target) const {
    uint64_t sum = 0;
    for (const std::string& edge : names) sum += edges(source, edge, target);
    return sum;
  }

  Time year(NodeId node) const { return graph.time(paper, node); }
  int32_t topic(NodeId node) const { return truth.as<int32_t>("paper_topic")[node]; }
  uint64_t num_papers() const { return graph.num_nodes(paper); }
  uint64_t num_topics() const { return truth.as<NodeId>("topic_l1").size(); }
  Time first_year() const { return std::stoi(truth.about("first_year")); }

  // The sources of all edges of these types that enter a paper.
  std::vector<NodeId> around(NodeId node, const std::string& source,
                             const std::vector<std::string>& names) const {
    std::vector<NodeId> found;
    for (const std::string& edge : names) {
      const auto part = graph.incoming(relation(source, edge, "paper"), node).sources;
      found.insert(found.end(), part.begin(), part.end());
    }
    return found;
  }
  std::vector<NodeId> authors(NodeId node) const {
    return around(node, "author", {"writes_first", "writes_other", "writes_last"});
  }
  std::vector<NodeId> venues(NodeId node) const {
    return around(node, "venue", {"rev_pub_conference", "rev_pub_journal", "rev_pub_preprint"});
  }
  std::vector<NodeId> references(NodeId node) const { return around(node, "paper", {"rev_cites"}); }

  HeteroGraph graph;
  Truth truth;
  NodeType paper;
};

inline const std::vector<std::string> writes_edges = {"writes_first", "writes_other",
                                                      "writes_last"};
inline const std::vector<std::string> field_edges = {"in_L0", "in_L1", "in_L2",
                                                     "in_L3", "in_L4", "in_L5"};
inline const std::vector<std::string> venue_edges = {"pub_conference", "pub_journal",
                                                     "pub_preprint"};

// The preset small with seed 1, generated once per test program.
inline const AcademicGraph& small_graph() {
  static const AcademicGraph graph = [] {
    generate_academic_graph(workplace() / "small", {});
    return AcademicGraph(workplace() / "small");
  }();
  return graph;
}

}  // namespace hgt
