// Author disambiguation, for any types: a link between two nodes says only the name of one of them;
// which of all nodes of that name is it? (Paper, section 5.2: "we select all the authors with the
// same name and their associated papers".)
//
// An example is a mention: a paper and one of its authors whose name others have too. Its pairs are
// the paper with every author of that name (or max_candidates of them), at the paper's time.
// Authors with fewer than min_links training links are no candidates: a rule of ours, which the
// paper does not have. All predicted edges between the paper and its candidates are hidden.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "hgt/task/task.h"

namespace hgt {

class NameTask : public Task {
 public:
  NameTask(const HeteroGraph& graph, const TaskSpec& spec);
  // NODE-disambiguation: links of same-named nodes with the event type that they share most edge
  // types with; for authors that is the paper.
  static std::optional<TaskSpec> find(const Schema& schema, const std::string& name);
  static void append_names(const Schema& schema, std::vector<std::string>& names);
  uint64_t num_examples(Split split) const override { return mentions(split).size(); }
  uint64_t num_capped(Split split) const override;
  Time example_time(Split split, uint32_t example) const override {
    return graph_.time(node_, mentions(split)[example].node);
  }
  Question question(Split split, std::span<const uint32_t> examples,
                    uint64_t random_seed) const override;
  std::string describe_example(Split split, uint32_t example) const override;
  std::vector<std::string> metrics() const override;
  std::string answer_columns() const override;

 protected:
  void append_links(Split split, std::vector<HiddenEdge>& links) const override;

 private:
  struct Mention {
    NodeId node;   // the paper
    NodeId truth;  // the author
  };
  std::span<const Mention> mentions(Split split) const {
    return mentions_[static_cast<size_t>(split)];
  }
  void group_names();
  void count_links();
  // Throws Error: there is none.
  std::vector<Mention> mentions_of_shared_names() const;
  void add_if_answerable(const Mention& mention);
  // Nodes with the name of this one, itself included.
  std::span<const NodeId> namesakes(NodeId other) const;
  bool is_candidate(NodeId node, NodeId other) const;
  std::vector<NodeId> candidates(NodeId node, NodeId namesake) const;
  bool is_capped(size_t candidates) const;
  // All of them, or the true one and others that are drawn: a function of the mention and the seed
  // of the split. Ascending.
  std::vector<NodeId> compared(const Mention& mention) const;
  void append_mention(const Mention& mention, Question& question) const;

  std::vector<uint32_t> group_of_;       // by node of the other type; kAlone: the only one
  std::vector<uint32_t> group_offsets_;  // [groups + 1]
  std::vector<NodeId> members_;
  std::vector<uint32_t> links_;  // by node of the other type: training links
  std::array<std::vector<Mention>, 4> mentions_;
};

}  // namespace hgt
