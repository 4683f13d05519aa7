// For tests: a temporary folder with tables and a manifest, their import, and the graph as text.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "hgt/disk/temporary_test_folder.h"
#include "hgt/error.h"
#include "hgt/graph/graph_check.h"
#include "hgt/graph/hetero_graph.h"
#include "hgt/tables/table_import.h"

namespace hgt {

// The names of the files in which two folders differ.
inline std::vector<std::string> differing_files(const Path& a, const Path& b) {
  const auto left = folder_bytes(a);
  const auto right = folder_bytes(b);
  std::vector<std::string> names;
  for (const auto& [name, bytes] : left) {
    const auto found = right.find(name);
    if (found == right.end() || found->second != bytes) names.push_back(name);
  }
  for (const auto& [name, bytes] : right) {
    if (!left.contains(name)) names.push_back(name);
  }
  return names;
}

// The text of the Error that `work` throws; no Error is a failure.
inline std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no Error was thrown";
  return "";
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}
// EXPECT_TRUE(contains(...)) that shows the text.
inline void expect_contains(std::string_view text, std::string_view part) {
  EXPECT_TRUE(contains(text, part)) << "'" << part << "' is not in: " << text;
}

// The bytes of a .npy file, as numpy.save would write it.
inline std::string npy_bytes(const std::string& header, const std::string& data, char version = 1) {
  std::string text = "\x93NUMPY";
  text += version;
  text += '\0';
  const auto length = static_cast<uint32_t>(header.size());
  char bytes[4];
  std::memcpy(bytes, &length, 4);
  text.append(bytes, version == 1 ? 2 : 4);
  return text + header + data;
}
inline std::string npy_header(const std::string& dtype, const std::string& shape,
                              const std::string& fortran = "False") {
  return "{'descr': '" + dtype + "', 'fortran_order': " + fortran + ", 'shape': (" + shape +
         "), }\n";
}
template <typename Number>
std::string number_bytes(const std::vector<Number>& numbers) {
  std::string bytes(numbers.size() * sizeof(Number), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

class ImportTestFolder : public TestFolder {
 public:
  // By default any loss is allowed: one bad row of two is what many tests are about.
  double max_dropped = 1;

  Path write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((path() / file).parent_path());
    std::ofstream out(path() / file, std::ios::binary);
    out << text;
    out.close();
    if (!out) throw std::runtime_error("cannot write " + file);
    return path() / file;
  }

  // Imports the tables here as the manifest's text says; the graph is checked byte by byte.
  Imported import(const std::string& manifest, const std::string& graph = "graph",
                  const ImportOptions& options = {}) const {
    ImportOptions chosen = options;
    chosen.max_dropped = max_dropped;
    Imported imported =
        import_tables(read_manifest(write("manifest.toml", manifest)), path() / graph, chosen);
    verify(HeteroGraph::open(path() / graph));
    return imported;
  }
  HeteroGraph graph(const std::string& folder = "graph") const {
    return HeteroGraph::open(path() / folder);
  }

  // The Error of an import that must fail and must leave nothing behind.
  std::string import_error(const std::string& manifest, const ImportOptions& options = {}) const {
    const std::string text = error_of([&] { import(manifest, "failed", options); });
    expect_nothing_left("failed");
    return text;
  }
  void expect_nothing_left(const std::string& graph) const {
    EXPECT_FALSE(std::filesystem::exists(path() / graph));
    EXPECT_FALSE(std::filesystem::exists(path() / (graph + ".partial")));
  }
};

// --- a graph as text ---

using Texts = std::vector<std::string>;

// "id", with "|name" where the type has names and "@time" where the node has one.
inline Texts nodes_of(const HeteroGraph& graph, std::string_view type_name) {
  const NodeType type = graph.schema().node_type(type_name);
  Texts texts;
  for (NodeId node = 0; node < graph.num_nodes(type); ++node) {
    std::string text = graph.id(type, node);
    if (graph.schema().at(type).names) text += "|" + std::string(graph.name(type, node));
    if (graph.time(type, node) != kNoTime) text += "@" + std::to_string(graph.time(type, node));
    texts.push_back(text);
  }
  return texts;
}

// "source>target", with "@time" and "*weight" where edges have them; sorted.
inline Texts edges_of(const HeteroGraph& graph, std::string_view source, std::string_view edge,
                      std::string_view target) {
  const Relation relation = graph.schema().relation(source, edge, target);
  const RelationSpec& spec = graph.schema().at(relation);
  Texts texts;
  for (NodeId node = 0; node < graph.num_nodes(spec.target); ++node) {
    const Neighbors neighbors = graph.incoming(relation, node);
    for (size_t i = 0; i < neighbors.size(); ++i) {
      std::string text =
          graph.id(spec.source, neighbors.sources[i]) + ">" + graph.id(spec.target, node);
      if (spec.times && neighbors.times[i] != kNoTime) {
        text += "@" + std::to_string(neighbors.times[i]);
      }
      if (spec.weights) {
        std::string weight = std::to_string(neighbors.weights[i]);
        text += "*" + weight.substr(0, weight.find('.') + 3);
      }
      texts.push_back(text);
    }
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

// "id=class+class", with "/n" for the split number n; nodes with neither are left out.
inline Texts labels_of(const HeteroGraph& graph, std::string_view type_name,
                       std::string_view label_name) {
  const NodeType type = graph.schema().node_type(type_name);
  const uint32_t label = graph.find_label(type, label_name).value();
  Texts texts;
  for (NodeId node = 0; node < graph.num_nodes(type); ++node) {
    std::string classes;
    for (const uint32_t number : graph.label_classes(type, label, node)) {
      classes +=
          (classes.empty() ? "" : "+") + graph.schema().at(type).labels[label].classes[number];
    }
    const Split split = graph.split(type, label, node);
    if (classes.empty() && split == Split::none) continue;
    std::string text = graph.id(type, node) + "=" + classes;
    if (split != Split::none) text += "/" + std::to_string(static_cast<int>(split));
    texts.push_back(text);
  }
  return texts;
}

inline std::vector<float> features_of(const HeteroGraph& graph, std::string_view type_name,
                                      std::string_view id) {
  const NodeType type = graph.schema().node_type(type_name);
  std::vector<float> row(graph.features(type).width);
  graph.copy_features(type, graph.find(type, id).value(), row);
  return row;
}

// Pieces of manifests. `more` goes into the entry.
inline std::string nodes(const std::string& type, const std::string& more = "") {
  return "[[nodes]]\ntype = '" + type + "'\nid = 'id'\n" +
         (contains(more, "files =") ? "" : "files = '" + type + ".tsv'\n") + more + "\n";
}
inline std::string edges(const std::string& source, const std::string& type,
                         const std::string& target, const std::string& more = "") {
  return "[[edges]]\ntype = '" + type + "'\nsource = { type = '" + source +
         "', column = 's' }\ntarget = { type = '" + target + "', column = 't' }\n" +
         (contains(more, "files =") ? "" : "files = '" + type + ".tsv'\n") + more + "\n";
}

class TableImportTest : public testing::Test {
 protected:
  // Most tests need no more nodes than these.
  TableImportTest() {
    folder_.write("paper.tsv", "id\np1\np2\np3\n");
    folder_.write("author.tsv", "id\na1\na2\na3\na4\n");
  }
  HeteroGraph import(const std::string& manifest) {
    report_ = folder_.import(manifest).report;
    return folder_.graph();
  }

  ImportTestFolder folder_;
  ImportReport report_;
};

}  // namespace hgt
