// Run::predict and Run::embed.
//
// Tables, one line per answer, tab-separated, with the user's own ids:
//   classes   node, rank, class, name, probability
//   mentions  node, truth, rank, candidate, probability: pairs that bring their candidates
//   links     node, rank, other, name, score: pairs with any node of the other type
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "hgt/disk/staged_folder.h"
#include "hgt/disk/whole_file.h"
#include "hgt/error.h"
#include "hgt/graph/array_file.h"
#include "hgt/graph/time_text.h"
#include "hgt/task/table_cell.h"
#include "hgt/training/trained_model.h"
#include "hgt/training/vectors.h"

namespace hgt {

namespace {

constexpr uint64_t kPredictBatch = 256;

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

void check_types(const Task& task, const std::vector<Seed>& nodes) {
  for (const Seed& seed : nodes) {
    if (seed.type == task.node_type()) continue;
    throw Error(fmt::format("task {} is about nodes of type {}, not {}", task.spec().name,
                            task.spec().node, task.graph().schema().at(seed.type).name));
  }
}

uint64_t predict_nodes(const TrainedModel& trained, const PredictOptions& options, TableFile& table,
                       const ProgressSink& progress) {
  const Task& task = trained.task();
  uint64_t done = 0;
  const auto batch_of = [&](uint64_t i) {
    const uint64_t first = i * kPredictBatch;
    return std::span(options.nodes)
        .subspan(first, std::min<uint64_t>(kPredictBatch, options.nodes.size() - first));
  };
  const uint64_t batches = (options.nodes.size() + kPredictBatch - 1) / kPredictBatch;
  trained.ask(
      Split::test, batches, [&](uint64_t i) { return task.question_about(batch_of(i)); },
      [&](const Question& question, const at::Tensor& scores) {
        std::vector<NodeId> nodes;
        for (const Seed& seed : question.request.seeds) nodes.push_back(seed.node);
        write_classes(task, nodes, scores, options.top, table);
        done += nodes.size();
        report(progress, "answers", task.spec().node, done, options.nodes.size());
      });
  return done;
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

// Every mention of a split, with the candidates of its name.
void predict_mentions(const TrainedModel& trained, Split split, uint64_t top, TableFile& table,
                      const ProgressSink& progress) {
  const Task& task = trained.task();
  const uint64_t examples = task.num_examples(split);
  uint64_t written = 0;
  trained.ask(
      split, (examples + kPredictBatch - 1) / kPredictBatch,
      [&](uint64_t i) {
        std::vector<uint32_t> numbers(
            std::min<uint64_t>(kPredictBatch, examples - i * kPredictBatch));
        std::iota(numbers.begin(), numbers.end(), static_cast<uint32_t>(i * kPredictBatch));
        return task.question(split, numbers, Task::kNoDraw);
      },
      [&](const Question& question, const at::Tensor& scores) {
        for (uint64_t i = 0; i < question.num_examples(); ++i, ++written) {
          const auto mention = task.describe_example(split, static_cast<uint32_t>(written));
          const auto lines = candidate_lines(task.graph(), question, i, scores, top);
          for (const auto& line : lines) table.write(fmt::format("{}\t{}", mention, line));
        }
        report(progress, fmt::format("mentions, {}", to_string(split)), "mentions", written,
               examples);
      });
}

uint64_t predict_mentions(const TrainedModel& trained, const PredictOptions& options,
                          TableFile& table, const ProgressSink& progress) {
  uint64_t count = 0;
  for (const Split split : kSplits) {
    predict_mentions(trained, split, options.top, table, progress);
    count += trained.task().num_examples(split);
  }
  return count;
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
  std::vector<size_t> rows;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const bool wanted =
        asked.empty() || std::any_of(asked.begin(), asked.end(),
                                     [&](const Seed& seed) { return seed.node == nodes[i]; });
    if (wanted) rows.push_back(i);
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

}  // namespace

uint64_t Run::predict(const PredictOptions& options, const Path& out,
                      const ProgressSink& progress) {
  const Task& task = this->task();
  const TrainedModel trained(*this);
  const bool links = task.draws_negatives();
  const bool mentions = task.answers() == Answers::pairs && !links;
  if (mentions && !options.nodes.empty()) {
    throw Error("mentions are predicted all together; use --all instead of --node");
  }
  check_types(task, options.nodes);
  if (!links && !options.nodes.empty() && options.inference != InferenceOptions{}) {
    throw Error(
        "--at and --instances are for --all; single nodes are predicted at their own time, from "
        "sampled sub-graphs");
  }
  TableFile table(out, task.answer_columns());
  uint64_t count = 0;
  if (links) {
    count = predict_links(trained, options, table, progress);
  } else if (mentions) {
    count = predict_mentions(trained, options, table, progress);
  } else if (options.nodes.empty()) {
    count = predict_all_classes(trained, options, table, progress);
  } else {
    count = predict_nodes(trained, options, table, progress);
  }
  table.commit();
  return count;
}

uint64_t Run::embed(NodeType type, const EmbedOptions& options, const Path& out,
                    const ProgressSink& progress) {
  const HeteroGraph& graph = task().graph();
  const uint32_t layer = layer_to_embed(*this, type, options.layer);
  const TrainedModel trained(*this);
  const auto hidden = static_cast<uint64_t>(this->options().training.model.hidden);
  const Time at = options.inference.at;
  const Time last = at == kNoTime ? std::numeric_limits<Time>::max() : at;
  constexpr uint64_t kUnseen = std::numeric_limits<uint64_t>::max();
  std::vector<uint64_t> row_of_node(graph.num_nodes(type), kUnseen);
  uint64_t rows = 0;
  for (NodeId node = 0; node < row_of_node.size(); ++node) {
    if (graph.time(type, node) <= last) row_of_node[node] = rows++;
  }
  StagedFolder folder(out);
  GrowingArray vectors(folder.path(), "vectors.npy", dtype_of<float>());
  vectors.resize(rows * hidden);
  embed_all(
      trained,
      {.inference = options.inference,
       .hidden = task().left_out(),
       .layers = layer,
       .scratch = folder.path()},
      {type},
      [&](NodeType, std::span<const NodeId> nodes, const at::Tensor& block) {
        const at::Tensor values = block.contiguous();
        const auto* from = values.data_ptr<float>();
        for (const NodeId node : nodes) {
          std::copy_n(from, hidden, vectors.as<float>().data() + row_of_node[node] * hidden);
          from += hidden;
        }
      },
      progress);
  vectors.close({rows, hidden});
  std::string table = "id\ttime\tname\n";
  for (NodeId node = 0; node < row_of_node.size(); ++node) {
    if (row_of_node[node] == kUnseen) continue;
    const Time time = graph.time(type, node);
    table += fmt::format("{}\t{}\t{}\n", table_cell(graph.id(type, node)),
                         time == kNoTime ? "" : format_time(time, graph.schema().time_unit),
                         table_cell(graph.name(type, node)));
  }
  folder.write_text("nodes.tsv", table);
  folder.commit();
  return rows;
}

}  // namespace hgt
