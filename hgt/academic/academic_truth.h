// The planted truth of a generated graph: a folder "truth" inside that of the graph, of .npy arrays
// and truth.json, which says what each array is. It appears with the graph or not at all.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "hgt/graph/array_file.h"
#include "hgt/graph/graph_builder.h"
#include "hgt/graph/types.h"

namespace hgt {

class TruthFolder {
 public:
  explicit TruthFolder(const GraphBuilder& graph);

  // An array to append to; hand it to add() when it is complete.
  ArrayStream stream(const std::string& name, std::string_view dtype) const;
  void add(ArrayStream& complete, std::string meaning);
  // A whole array at once, of this shape.
  template <typename T>
  void add(const std::string& name, std::span<const T> items, std::vector<uint64_t> shape,
           std::string meaning) {
    GrowingArray array(path_, name + ".npy", dtype_of<T>());
    array.append(items);
    entries_.push_back({array.close(std::move(shape)), std::move(meaning)});
  }

  // Writes truth.json, with what `about` says of the graph. To be called before the graph's
  // finish().
  void finish(const std::map<std::string, std::string>& about);

 private:
  struct Entry {
    ArrayRecord record;
    std::string meaning;
  };
  Path path_;
  std::vector<Entry> entries_;
};

// The arrays that every generated graph has, with the meaning that truth.json gives them. One item
// per public id, unless said otherwise.
class AcademicTruth {
 public:
  explicit AcademicTruth(const GraphBuilder& graph);

  // Nodes, in the order of their public ids.
  void add_paper(uint64_t topic) { paper_topic_.append(static_cast<int32_t>(topic)); }
  void add_author(uint64_t early_topic, uint64_t late_topic);
  // An author with a shared name on a paper.
  void add_mention(NodeId paper, NodeId author, uint64_t name);
  void set_topics(std::span<const NodeId> l1_fields);
  // `topics`: [venues * years], `partners`: [venues].
  void set_venues(std::span<const int32_t> topics, std::span<const NodeId> partners);

  void finish(const std::map<std::string, std::string>& about);

 private:
  TruthFolder folder_;
  ArrayStream paper_topic_, author_topic_early_, author_topic_late_;
  ArrayStream mention_paper_, mention_author_, mention_name_;
};

}  // namespace hgt
