// Run::predict and Run::embed.
//
// Tables, one line per answer, tab-separated, with the user's own ids:
//   classes   node, rank, class, name, probability
//   mentions  node, truth, rank, candidate, probability
//   links     node, rank, other, name, score
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "hgt/error.h"
#include "hgt/graph/array_file.h"
#include "hgt/graph/staged_folder.h"
#include "hgt/graph/time_text.h"
#include "hgt/random.h"
#include "hgt/training/example_stream.h"
#include "hgt/training/run_state.h"
#include "hgt/training/vectors.h"

namespace hgt {

namespace fs = std::filesystem;

namespace {

constexpr uint64_t kPredictStream = 0x94ed;
constexpr uint64_t kPredictBatch = 256;

// A table that appears whole or not at all.
class TableFile {
 public:
  TableFile(const Path& file, const std::string& header)
      : file_(file), partial_(file.string() + ".partial"), out_(partial_, std::ios::binary) {
    if (!out_) throw Error(fmt::format("{}: cannot be written", file.string()));
    out_ << header << '\n';
  }
  TableFile(const TableFile&) = delete;
  TableFile& operator=(const TableFile&) = delete;
  ~TableFile() {
    std::error_code ignored;
    if (!committed_) fs::remove(partial_, ignored);
  }
  void write(const std::string& line) { out_ << line << '\n'; }
  void commit() {
    out_.close();
    if (!out_) throw Error(fmt::format("{}: cannot be written; is the disk full?", file_.string()));
    fs::rename(partial_, file_);
    committed_ = true;
  }

 private:
  Path file_;
  Path partial_;
  std::ofstream out_;
  bool committed_ = false;
};

// A cell may hold no tab and no end of line.
std::string cell(std::string_view text) {
  std::string clean(text);
  std::replace_if(
      clean.begin(), clean.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return clean;
}

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
          "{}\t{}\t{}\t{}\t{:.6f}", cell(task.graph().id(task.node_type(), nodes[i])), ++rank,
          cell(task.class_id(number)), cell(task.class_name(number)), row[number]));
    }
  }
}

// Batches of questions through sampled sub-graphs, as evaluation does it.
template <typename Use>
void ask(const RunState& run, TaskModel& model, Split split, uint64_t batches,
         const std::function<Question(uint64_t)>& question, Use use) {
  const torch::NoGradGuard no_gradient;
  ExampleStream stream({.graph = run.task->graph(),
                        .sampling = run.task->sampling(run.options.training.sampling, split),
                        .encoder = model->encoder()},
                       [&](uint64_t i) {
                         return BatchPlan{
                             .question = question(i),
                             .random_seed = hash(run.options.training.seed, kPredictStream, i)};
                       },
                       {.count = batches, .workers = run.options.training.pipeline.workers});
  for (ReadyBatch batch; stream.next(batch);) {
    use(batch.question, model->scores(batch.graph, batch.question).contiguous());
  }
}

void check_types(const Task& task, const std::vector<Seed>& nodes) {
  for (const Seed& seed : nodes) {
    if (seed.type == task.node_type()) continue;
    throw Error(fmt::format("task {} is about nodes of type {}, not {}", task.spec().name,
                            task.spec().node, task.graph().schema().at(seed.type).name));
  }
}

uint64_t predict_nodes(const RunState& run, TaskModel& model, const PredictOptions& options,
                       TableFile& table) {
  const Task& task = *run.task;
  const auto batch_of = [&](uint64_t i) {
    const uint64_t first = i * kPredictBatch;
    return std::span(options.nodes)
        .subspan(first, std::min<uint64_t>(kPredictBatch, options.nodes.size() - first));
  };
  const uint64_t batches = (options.nodes.size() + kPredictBatch - 1) / kPredictBatch;
  ask(
      run, model, Split::test, batches,
      [&](uint64_t i) { return task.question_about(batch_of(i)); },
      [&](const Question& question, const at::Tensor& scores) {
        std::vector<NodeId> nodes;
        for (const Seed& seed : question.request.seeds) nodes.push_back(seed.node);
        write_classes(task, nodes, scores, options.top, table);
      });
  return options.nodes.size();
}

uint64_t predict_all_classes(const RunState& run, TaskModel& model, const PredictOptions& options,
                             TableFile& table, const ProgressSink& progress) {
  const Task& task = *run.task;
  WholeGraphOptions whole{.inference = options.inference, .hidden = task.left_out()};
  for (const auto& relations : {task.predicted(), task.also_hidden()}) {
    whole.hidden.insert(whole.hidden.end(), relations.begin(), relations.end());
  }
  uint64_t count = 0;
  embed_all(
      run, model->encoder(), whole, {task.node_type()},
      [&](NodeType, std::span<const NodeId> nodes, const at::Tensor& vectors) {
        write_classes(task, nodes, model->class_scores(vectors), options.top, table);
        count += nodes.size();
      },
      progress);
  return count;
}

// Every mention, with the candidates of its name.
uint64_t predict_mentions(const RunState& run, TaskModel& model, const PredictOptions& options,
                          TableFile& table, const ProgressSink& progress) {
  const Task& task = *run.task;
  uint64_t count = 0;
  for (const Split split : kSplits) {
    const uint64_t examples = task.num_examples(split);
    const uint64_t batches = (examples + kPredictBatch - 1) / kPredictBatch;
    uint64_t written = 0;
    ask(
        run, model, split, batches,
        [&](uint64_t i) {
          std::vector<uint32_t> numbers(
              std::min<uint64_t>(kPredictBatch, examples - i * kPredictBatch));
          std::iota(numbers.begin(), numbers.end(), static_cast<uint32_t>(i * kPredictBatch));
          return task.question(split, numbers, Task::kNoDraw);
        },
        [&](const Question& question, const at::Tensor& scores) {
          for (uint64_t i = 0; i < question.num_examples(); ++i, ++written) {
            const uint32_t first = question.pair_offsets[i];
            const int64_t length = int64_t{question.pair_offsets[i + 1]} - first;
            const at::Tensor chances = at::softmax(scores.narrow(0, first, length), 0).contiguous();
            const std::span row(chances.data_ptr<float>(), static_cast<size_t>(length));
            uint64_t rank = 0;
            for (const uint32_t place : best(row, options.top)) {
              const Seed& seed = question.request.seeds[question.right[first + place]];
              table.write(fmt::format("{}\t{}\t{}\t{:.6f}",
                                      task.describe_example(split, static_cast<uint32_t>(written)),
                                      ++rank, cell(task.graph().id(seed.type, seed.node)),
                                      row[place]));
            }
          }
          progress({.stage = fmt::format("mentions, {}", to_string(split)),
                    .unit = "mentions",
                    .count = written,
                    .fraction = static_cast<double>(written) / static_cast<double>(examples),
                    .finished = written == examples});
        });
    count += examples;
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

// For each node the others that it is not linked to yet, best first.
uint64_t predict_links(const RunState& run, TaskModel& model, const PredictOptions& options,
                       TableFile& table, const ProgressSink& progress) {
  const Task& task = *run.task;
  const HeteroGraph& graph = task.graph();
  std::array<std::vector<NodeId>, 2> nodes;
  std::array<std::vector<at::Tensor>, 2> blocks;
  const std::vector<NodeType> types = {task.node_type(), task.other_type()};
  embed_all(
      run, model->encoder(), {.inference = options.inference, .hidden = task.left_out()}, types,
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
  uint64_t count = 0;
  for (size_t i = 0; i < left.nodes.size(); ++i) {
    const NodeId node = left.nodes[i];
    const bool asked =
        options.nodes.empty() || std::any_of(options.nodes.begin(), options.nodes.end(),
                                             [&](const Seed& seed) { return seed.node == node; });
    if (!asked) continue;
    ++count;
    const at::Tensor own = left.vectors[static_cast<int64_t>(i)].expand_as(right.vectors);
    const at::Tensor scores = model->pair_scores(own, right.vectors).contiguous();
    const std::span row(scores.data_ptr<float>(), right.nodes.size());
    uint64_t rank = 0;
    for (const uint32_t place : best(row, row.size())) {
      if (rank == options.top) break;
      if (task.is_linked(node, right.nodes[place])) continue;
      table.write(fmt::format("{}\t{}\t{}\t{}\t{:.6f}", cell(graph.id(task.node_type(), node)),
                              ++rank, cell(graph.id(task.other_type(), right.nodes[place])),
                              cell(graph.name(task.other_type(), right.nodes[place])), row[place]));
    }
  }
  return count;
}

}  // namespace

std::string_view to_string(Instances instances) {
  return instances == Instances::own ? "own" : "single";
}

Instances instances_named(std::string_view name) {
  if (name == "own") return Instances::own;
  if (name == "single") return Instances::single;
  throw Error(fmt::format("instances '{}' is unknown; known are own, single", name));
}

uint64_t Run::predict(const PredictOptions& options, const Path& out,
                      const ProgressSink& progress) {
  const TaskSpec& spec = state_->task->spec();
  TaskModel model = state_->best_model(state_->options.training.seed);
  model->eval();
  const bool links = spec.kind == TaskKind::link;
  const bool names = spec.kind == TaskKind::name;
  if (names && !options.nodes.empty()) {
    throw Error("mentions are predicted all together; leave --node out and take --all");
  }
  check_types(*state_->task, options.nodes);
  if (!links && !options.nodes.empty() && options.inference != InferenceOptions{}) {
    throw Error(
        "--at and --instances are for --all; single nodes are asked for at their own time, "
        "through sampled sub-graphs");
  }
  TableFile table(out, links ? fmt::format("{}\trank\t{}\tname\tscore", spec.node, spec.other)
                       : names
                           ? fmt::format("{}\ttruth\trank\tcandidate\tprobability", spec.node)
                           : fmt::format("{}\trank\t{}\tname\tprobability", spec.node,
                                         spec.kind == TaskKind::label ? spec.label : spec.other));
  uint64_t count = 0;
  if (links) {
    count = predict_links(*state_, model, options, table, progress);
  } else if (names) {
    count = predict_mentions(*state_, model, options, table, progress);
  } else if (options.nodes.empty()) {
    count = predict_all_classes(*state_, model, options, table, progress);
  } else {
    count = predict_nodes(*state_, model, options, table);
  }
  table.commit();
  return count;
}

uint64_t Run::embed(NodeType type, const InferenceOptions& options, const Path& out,
                    const ProgressSink& progress) {
  const HeteroGraph& graph = state_->task->graph();
  TaskModel model = state_->best_model(state_->options.training.seed);
  model->eval();
  const auto hidden = static_cast<uint64_t>(state_->options.training.model.hidden);
  const Time last = options.at == kNoTime ? std::numeric_limits<Time>::max() : options.at;
  constexpr uint64_t kUnseen = std::numeric_limits<uint64_t>::max();
  std::vector<uint64_t> row_of_node(graph.num_nodes(type), kUnseen);
  uint64_t rows = 0;
  for (NodeId node = 0; node < row_of_node.size(); ++node) {
    if (graph.time(type, node) <= last) row_of_node[node] = rows++;
  }
  StagedFolder folder(out, false);
  GrowingArray vectors(folder.path(), "vectors.npy", dtype_of<float>());
  vectors.resize(rows * hidden);
  embed_all(
      *state_, model->encoder(),
      {.inference = options, .hidden = state_->task->left_out(), .scratch = folder.path()}, {type},
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
    table += fmt::format("{}\t{}\t{}\n", cell(graph.id(type, node)),
                         time == kNoTime ? "" : format_time(time, graph.schema().time_unit),
                         cell(graph.name(type, node)));
  }
  folder.write_text("nodes.tsv", table);
  folder.commit();
  return rows;
}

}  // namespace hgt
