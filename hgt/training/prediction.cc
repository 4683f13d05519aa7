// Run::predict.
//
// Tables, one line per answer, tab-separated, with the user's own ids:
//   classes   node, rank, class, name, probability
//   mentions  node, truth, rank, candidate, probability: pairs that bring their candidates
//   links     node, rank, other, name, score: pairs with any node of the other type
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "hgt/disk/whole_file.h"
#include "hgt/error.h"
#include "hgt/task/audit.h"
#include "hgt/task/table_cell.h"
#include "hgt/training/trained_model.h"
#include "hgt/training/vectors.h"

namespace hgt {

namespace {

// A table that appears whole or not at all.
class TableFile {
 public:
  TableFile(const Path& file, const std::string& header) : folder_(folder_of(file)), out_(file) {
    write(header);
  }
  const Path& folder() const { return folder_; }
  void write(const std::string& line) {
    out_.write(line);
    out_.write("\n");
  }
  void commit() { out_.commit(); }

 private:
  Path folder_;
  WholeFile out_;
};

// The places of the k highest scores, highest first.
std::vector<uint32_t> best(std::span<const float> scores, uint64_t k) {
  std::vector<uint32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto count = static_cast<ptrdiff_t>(std::min<uint64_t>(k, order.size()));
  std::partial_sort(order.begin(), order.begin() + count, order.end(), [&](uint32_t a, uint32_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  });
  order.resize(static_cast<size_t>(count));
  return order;
}

std::span<const float> row_of(const at::Tensor& table, int64_t row) {
  return {table.data_ptr<float>() + row * table.size(1), static_cast<size_t>(table.size(1))};
}

void write_classes(const Task& task, std::span<const NodeId> nodes, const at::Tensor& scores,
                   uint64_t top, TableFile& table) {
  const at::Tensor chances =
      (task.spec().loss == Loss::binary ? scores.sigmoid() : at::softmax(scores, 1)).contiguous();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const auto row = row_of(chances, static_cast<int64_t>(i));
    uint64_t rank = 0;
    for (const uint32_t number : best(row, top)) {
      table.write(fmt::format(
          "{}\t{}\t{}\t{}\t{:.6f}", table_cell(task.graph().id(task.node_type(), nodes[i])), ++rank,
          table_cell(task.class_id(number)), table_cell(task.class_name(number)), row[number]));
    }
  }
}

void report(const ProgressSink& progress, const std::string& stage, const std::string& unit,
            uint64_t done, uint64_t all) {
  progress({.stage = stage,
            .unit = unit,
            .count = done,
            .fraction = static_cast<double>(done) / static_cast<double>(all),
            .finished = done == all});
}

std::vector<NodeId> asked_nodes(const Question& question) {
  std::vector<NodeId> nodes;
  for (const Seed& seed : question.request.seeds) nodes.push_back(seed.node);
  return nodes;
}

uint64_t predict_nodes(const TrainedModel& trained, std::span<const Seed> seeds, uint64_t top,
                       TableFile& table, const ProgressSink& progress) {
  if (seeds.empty()) return 0;
  const Task& task = trained.task();
  trained.ask(
      {.stage = "answers",
       .unit = task.spec().node,
       .count = seeds.size(),
       .about = [&](uint64_t first,
                    uint64_t count) { return task.question_about(seeds.subspan(first, count)); }},
      [&](const Question& question, const at::Tensor& scores) {
        write_classes(task, asked_nodes(question), scores, top, table);
      },
      progress);
  return seeds.size();
}

uint64_t predict_all_classes(const TrainedModel& trained, const PredictOptions& options,
                             TableFile& table, const ProgressSink& progress) {
  const Task& task = trained.task();
  WholeGraphOptions whole{
      .inference = options.inference, .hidden = task.left_out(), .scratch = table.folder()};
  for (const auto& relations : {task.predicted(), task.also_hidden()}) {
    whole.hidden.insert(whole.hidden.end(), relations.begin(), relations.end());
  }
  uint64_t count = 0;
  embed_all(
      trained, whole, {task.node_type()},
      [&](NodeType, std::span<const NodeId> nodes, const at::Tensor& vectors) {
        write_classes(task, nodes, trained.model()->class_scores(vectors), options.top, table);
        count += nodes.size();
      },
      progress);
  return count;
}

// The best candidates of example i: rank, id and probability, a line each.
std::vector<std::string> candidate_lines(const HeteroGraph& graph, const Question& question,
                                         uint64_t i, const at::Tensor& scores, uint64_t top) {
  const uint32_t first = question.pair_offsets[i];
  const int64_t length = int64_t{question.pair_offsets[i + 1]} - first;
  const at::Tensor chances = at::softmax(scores.narrow(0, first, length), 0).contiguous();
  const std::span row(chances.data_ptr<float>(), static_cast<size_t>(length));
  std::vector<std::string> lines;
  for (const uint32_t place : best(row, top)) {
    const Seed& seed = question.request.seeds[question.right[first + place]];
    lines.push_back(fmt::format("{}\t{}\t{:.6f}", lines.size() + 1,
                                table_cell(graph.id(seed.type, seed.node)), row[place]));
  }
  return lines;
}

// The examples of a split, in their order and as evaluation scores them.
uint64_t predict_split(const TrainedModel& trained, Split split, uint64_t top, TableFile& table,
                       const ProgressSink& progress) {
  const Task& task = trained.task();
  uint64_t written = 0;
  const auto write = [&](const Question& question, const at::Tensor& scores) {
    if (task.answers() == Answers::classes) {
      write_classes(task, asked_nodes(question), scores, top, table);
      return;
    }
    for (uint64_t i = 0; i < question.num_examples(); ++i, ++written) {
      const auto mention = task.describe_example(split, static_cast<uint32_t>(written));
      const auto lines = candidate_lines(task.graph(), question, i, scores, top);
      for (const auto& line : lines) table.write(fmt::format("{}\t{}", mention, line));
    }
  };
  trained.ask({.stage = fmt::format("answers, {}", to_string(split)),
               .unit = "examples",
               .split = split,
               .count = task.num_examples(split),
               .about =
                   [&](uint64_t first, uint64_t count) {
                     std::vector<uint32_t> numbers(count);
                     std::iota(numbers.begin(), numbers.end(), static_cast<uint32_t>(first));
                     return task.question(split, numbers, Task::kNoDraw);
                   }},
              write, progress);
  return task.num_examples(split);
}

uint64_t predict_splits(const TrainedModel& trained, uint64_t top, TableFile& table,
                        const ProgressSink& progress) {
  uint64_t count = 0;
  for (const Split split : kSplits) count += predict_split(trained, split, top, table, progress);
  return count;
}

// The nodes of the task's type that are no example of any split.
std::vector<Seed> nodes_beyond_examples(const Task& task) {
  std::vector<bool> is_example(task.graph().num_nodes(task.node_type()));
  for (const Split split : kSplits) {
    const auto count = static_cast<uint32_t>(task.num_examples(split));
    for (uint32_t i = 0; i < count; ++i) {
      const Question question = task.question(split, std::span(&i, 1), Task::kNoDraw);
      is_example[question.request.seeds[0].node] = true;
    }
  }
  std::vector<Seed> others;
  for (NodeId node = 0; node < is_example.size(); ++node) {
    if (!is_example[node]) others.push_back({.type = task.node_type(), .node = node});
  }
  return others;
}

// Layer by layer over the whole graph, a node would see what is later than itself; and what is to
// be left out, of a mean or of known labels, would have to differ from node to node.
bool must_be_sampled(const Run& run) {
  const NodeType type = run.task().node_type();
  return is_bound_to_own_times(run, type) || hides_own_labels(run, type) ||
         leaves_out_of_means(run.task());
}

// All nodes at their own times.
uint64_t predict_all_sampled(const TrainedModel& trained, uint64_t top, TableFile& table,
                             const ProgressSink& progress) {
  const uint64_t examples = predict_splits(trained, top, table, progress);
  const std::vector<Seed> others = nodes_beyond_examples(trained.task());
  return examples + predict_nodes(trained, others, top, table, progress);
}

// --- links ---

struct NodeVectors {
  std::vector<NodeId> nodes;
  at::Tensor vectors;
};

NodeVectors gathered(std::vector<NodeId> nodes, const std::vector<at::Tensor>& blocks) {
  return {std::move(nodes), blocks.empty() ? at::Tensor() : at::cat(blocks)};
}

// The rows of the nodes that are asked about.
std::vector<size_t> asked_rows(const std::vector<NodeId>& nodes, const std::vector<Seed>& asked) {
  std::set<NodeId> wanted;
  for (const Seed& seed : asked) wanted.insert(seed.node);
  std::vector<size_t> rows;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (asked.empty() || wanted.contains(nodes[i])) rows.push_back(i);
  }
  return rows;
}

struct ScoredNodes {
  const NodeVectors& others;
  const at::Tensor& scores;  // [others]
};

void write_links(const Task& task, NodeId node, const ScoredNodes& scored, uint64_t top,
                 TableFile& table) {
  const HeteroGraph& graph = task.graph();
  const std::span row(scored.scores.data_ptr<float>(), scored.others.nodes.size());
  uint64_t rank = 0;
  for (const uint32_t place : best(row, row.size())) {
    if (rank == top) break;
    const NodeId other = scored.others.nodes[place];
    if (task.is_linked(node, other)) continue;
    table.write(fmt::format("{}\t{}\t{}\t{}\t{:.6f}", table_cell(graph.id(task.node_type(), node)),
                            ++rank, table_cell(graph.id(task.other_type(), other)),
                            table_cell(graph.name(task.other_type(), other)), row[place]));
  }
}

// For each node the others that it is not linked to yet, best first.
uint64_t predict_links(const TrainedModel& trained, const PredictOptions& options, TableFile& table,
                       const ProgressSink& progress) {
  const Task& task = trained.task();
  std::array<std::vector<NodeId>, 2> nodes;
  std::array<std::vector<at::Tensor>, 2> blocks;
  const std::vector<NodeType> types = {task.node_type(), task.other_type()};
  embed_all(
      trained,
      {.inference = options.inference, .hidden = task.left_out(), .scratch = table.folder()}, types,
      [&](NodeType type, std::span<const NodeId> some, const at::Tensor& vectors) {
        for (size_t side = 0; side < types.size(); ++side) {
          if (types[side] != type) continue;
          nodes[side].insert(nodes[side].end(), some.begin(), some.end());
          blocks[side].push_back(vectors.clone());
        }
      },
      progress);
  const NodeVectors left = gathered(std::move(nodes[0]), blocks[0]);
  const NodeVectors right = gathered(std::move(nodes[1]), blocks[1]);
  const torch::NoGradGuard no_gradient;
  const std::vector<size_t> asked = asked_rows(left.nodes, options.nodes);
  uint64_t count = 0;
  for (const size_t row : asked) {
    const at::Tensor own = left.vectors[static_cast<int64_t>(row)].expand_as(right.vectors);
    const at::Tensor scores = trained.model()->pair_scores(own, right.vectors).contiguous();
    write_links(task, left.nodes[row], {right, scores}, options.top, table);
    report(progress, "ranking", task.spec().node, ++count, asked.size());
  }
  return count;
}

// --- what can be asked ---

void check_nodes(const Task& task, const std::vector<Seed>& nodes) {
  for (const Seed& seed : nodes) {
    if (seed.type != task.node_type()) {
      throw Error(fmt::format("task {} is about nodes of type {}, not {}", task.spec().name,
                              task.spec().node, task.graph().schema().at(seed.type).name));
    }
    if (task.draws_negatives() && seed.time != kNoTime) {
      throw Error(
          "links are ranked for all nodes at one time; leave out the times of single nodes, and "
          "choose one for all with --at");
    }
  }
}

void check_request(const Run& run, const PredictOptions& options) {
  const Task& task = run.task();
  const bool links = task.draws_negatives();
  const bool some = !options.nodes.empty() || options.split;
  if (!options.nodes.empty() && options.split) {
    throw Error("either nodes or a split can be predicted, not both");
  }
  if (links && options.split) {
    throw Error(
        "links are ranked against all nodes, not example by example; use --node, --nodes or --all "
        "instead of --split");
  }
  if (task.answers() == Answers::pairs && !links && !options.nodes.empty()) {
    throw Error(
        "mentions are predicted all together; use --all or --split instead of --node and --nodes");
  }
  check_nodes(task, options.nodes);
  if (links || options.inference == InferenceOptions{}) return;
  if (some || task.answers() == Answers::pairs) {
    throw Error(
        "--at and --instances are for inference over the whole graph; nodes that are named and "
        "examples are predicted at their own time, from sampled sub-graphs");
  }
  if (is_bound_to_own_times(run, task.node_type())) {
    throw Error(
        "--at and --instances are for inference over the whole graph, but the time bound of this "
        "run is seed: each node is predicted at its own time, from sampled sub-graphs; leave them "
        "out");
  }
  if (must_be_sampled(run)) {
    throw Error(
        "--at and --instances are for inference over the whole graph, but features of this run "
        "leave out the links or the label of each node asked about: nodes are predicted from "
        "sampled sub-graphs; leave them out");
  }
}

}  // namespace

uint64_t Run::predict(const PredictOptions& options, const Path& out,
                      const ProgressSink& progress) {
  const Task& task = this->task();
  const TrainedModel trained(*this);
  check_request(*this, options);
  TableFile table(out, task.answer_columns());
  uint64_t count = 0;
  if (task.draws_negatives()) {
    count = predict_links(trained, options, table, progress);
  } else if (options.split) {
    count = predict_split(trained, *options.split, options.top, table, progress);
  } else if (!options.nodes.empty()) {
    count = predict_nodes(trained, options.nodes, options.top, table, progress);
  } else if (task.answers() == Answers::pairs) {
    count = predict_splits(trained, options.top, table, progress);
  } else if (must_be_sampled(*this)) {
    count = predict_all_sampled(trained, options.top, table, progress);
  } else {
    count = predict_all_classes(trained, options, table, progress);
  }
  table.commit();
  return count;
}

}  // namespace hgt
