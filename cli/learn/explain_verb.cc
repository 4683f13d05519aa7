// explain: what a trained model attends to.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>

#include "cli/node_words.h"
#include "cli/program.h"
#include "cli/progress_bar.h"
#include "cli/text_table.h"
#include "cli/verbs.h"
#include "hgt/disk/whole_file.h"
#include "hgt/error.h"
#include "hgt/insight/explain.h"
#include "hgt/insight/insight_json.h"
#include "hgt/model/machine.h"
#include "hgt/training/run.h"

namespace hgt::cli {

namespace {

struct ExplainFlags {
  std::string run;
  std::string type;
  std::string node;
  std::string split = "test";
  std::string svg;
  ExplainOptions options;
  PipelineOptions pipeline;
  bool json = false;
  bool quiet = false;
};

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

// Fit for a cell of a table: on one line, and not too long.
std::string title(std::string text) {
  constexpr size_t kWidth = 40;
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20U; }, ' ');
  if (text.size() <= kWidth) return text;
  size_t end = kWidth;
  while ((static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;  // within a character
  return text.substr(0, end) + "...";
}

// --- the tree ---

void print_tree(const AttentionTree& tree, const Schema& schema, uint64_t top) {
  fmt::print("{}\nthe most attended paths\n", to_text(shown_tree(tree, schema, top)));
  TextTable table({">share", "path", "via"});
  for (const AttentionPath& path : top_paths(tree, schema, top)) {
    std::vector<std::string> edges;
    for (const RelationNames& step : path.steps) edges.push_back(step.edge);
    table.add({percent(path.share), to_text(path, schema.at(tree.target).name),
               fmt::format("{}", fmt::join(edges, ", "))});
  }
  fmt::print("{}", table.text());
}

void explain_one_type(const ExplainFlags& flags, const Run& run, ProgressBar& bar) {
  const Schema& schema = run.task().graph().schema();
  ExplainOptions options = flags.options;
  if (!flags.type.empty()) options.type = schema.node_type(flags.type);
  const AttentionTree tree = explain_type(run, options, bar.sink());
  const ShownTree shown = shown_tree(tree, schema, options.top);
  if (!flags.svg.empty()) write_text(flags.svg, to_svg(shown));
  if (flags.json) {
    fmt::print("{}\n", json_text(to_json(shown), 1));
    return;
  }
  const bool examples = tree.target == run.task().node_type();
  fmt::print("{}, model {}: where the attention of {} comes from, mean of {} {}\n\n", flags.run,
             to_string(run.options().training.model.kind), shown.root.type,
             with_commas(tree.examples),
             examples ? fmt::format("{} examples", flags.split) : "nodes");
  print_tree(tree, schema, options.top);
}

// --- one node ---

std::string described(const InstanceWords& node) {
  std::string text = fmt::format("{} {}", node.type, node.id);
  if (!node.name.empty()) text += fmt::format(" \"{}\"", title(node.name));
  if (!node.time.empty()) text += fmt::format(", {}", node.time);
  return text;
}

double chance_of(const std::string& id, const ClassChances& chances) {
  const auto found = std::find_if(chances.begin(), chances.end(),
                                  [&](const ClassChance& chance) { return chance.id == id; });
  return found == chances.end() ? 0 : found->probability;
}

void print_prediction(const NodeExplanation& answer) {
  if (!answer.no_prediction.empty()) {
    fmt::print("no prediction: {}\n", answer.no_prediction);
    return;
  }
  const bool removed = !answer.without_all.empty();
  TextTable table({"class", "name", ">probability", removed ? ">without these neighbors" : ""});
  for (const ClassChance& chance : answer.prediction) {
    table.add({chance.id, title(chance.name), fmt::format("{:.4f}", chance.probability),
               removed ? fmt::format("{:.4f}", chance_of(chance.id, answer.without_all)) : ""});
  }
  fmt::print(
      "prediction{}\n{}",
      answer.truth.empty() ? "" : fmt::format("; correct: {}", fmt::join(answer.truth, ", ")),
      table.text());
}

// What the prediction becomes, told by the class that was the most likely one.
std::string change(const NodeExplanation& answer, const ClassChances& without) {
  if (without.empty()) return "";
  const ClassChance& best = answer.prediction.front();
  const double chance = chance_of(best.id, without);
  std::string text = fmt::format("{} {:.4f} ({:+.4f})", best.id, chance, chance - best.probability);
  if (without.front().id == best.id) return text;
  return text + fmt::format(", now {} {:.4f}", without.front().id, without.front().probability);
}

void print_neighbors(const NodeExplanation& answer) {
  if (answer.neighbors.empty()) {
    fmt::print("it has no neighbors in its sub-graphs\n");
    return;
  }
  fmt::print("the most attended neighbors in the last layer; self gets {}\n",
             percent(answer.own_share));
  TextTable table({">share", "type", "id", "name", "time", "via",
                   answer.no_prediction.empty() ? "prediction without it" : ""});
  for (const NeighborExplanation& neighbor : answer.neighbors) {
    const auto& [type, id, name, time] = neighbor.node;
    table.add({percent(neighbor.share), type, id, title(name), time,
               fmt::format("{}", fmt::join(neighbor.relations, ", ")),
               change(answer, neighbor.without)});
  }
  fmt::print("{}", table.text());
}

void explain_one_node(const ExplainFlags& flags, const Run& run, ProgressBar& bar) {
  const HeteroGraph& graph = run.task().graph();
  const NodeExplanation answer =
      explain_node(run, parse_seed(graph, flags.node), flags.options, bar.sink());
  const uint64_t top = flags.options.top;
  if (!flags.svg.empty()) {
    write_text(flags.svg, to_svg(shown_tree(*answer.tree, graph.schema(), top)));
  }
  if (flags.json) {
    fmt::print("{}\n", json_text(to_json(answer, graph.schema(), top), 1));
    return;
  }
  fmt::print("{}: {}, mean of {} sub-graphs\n\n", flags.run, described(answer.node),
             answer.samples);
  print_prediction(answer);
  fmt::print("\n");
  print_neighbors(answer);
  fmt::print("\n");
  print_tree(*answer.tree, graph.schema(), top);
}

void run_explain(ExplainFlags& flags) {
  keep_tensor_memory();
  ProgressBar bar(flags.quiet);
  Run run = Run::open(flags.run, bar.sink());
  run.set_pipeline(flags.pipeline);
  flags.options.split = from_word<Split>(flags.split);
  if (flags.node.empty()) {
    explain_one_type(flags, run, bar);
  } else {
    explain_one_node(flags, run, bar);
  }
}

void add_targets(CLI::App& verb, ExplainFlags& flags) {
  verb.add_option(
          "--type", flags.type,
          "Node type to explain, from randomly chosen nodes (default: the task's type, from "
          "its examples)")
      ->type_name("TYPE");
  verb.add_option(
          "--node", flags.node,
          "Explain one node by its id, such as paper:P19-1001; nodes without a time of their "
          "own can be given one")
      ->type_name("TYPE:ID[@TIME]")
      ->excludes("--type");
  verb.add_option("--split", flags.split,
                  "Split whose examples are explained; nothing later than its end is used")
      ->check(CLI::IsMember(all_words<Split>()))
      ->capture_default_str();
  verb.add_option("--batches", flags.options.batches,
                  "Largest number of batches of examples to average over")
      ->check(CLI::Range(1, 1 << 20))
      ->excludes("--node")
      ->capture_default_str()
      ->group(kAdvanced);
  verb.add_option("--batch-size", flags.options.batch_size, "Examples that share a sub-graph")
      ->check(CLI::Range(1, 1 << 20))
      ->excludes("--node")
      ->capture_default_str()
      ->group(kAdvanced);
  verb.add_option("--samples", flags.options.samples,
                  "Number of sub-graphs to average over (only with --node)")
      ->check(CLI::Range(1, 10000))
      ->needs("--node")
      ->capture_default_str()
      ->group(kAdvanced);
}

}  // namespace

void add_explain(CLI::App& verb) {
  auto flags = std::make_shared<ExplainFlags>();
  verb.add_option("run", flags->run, "Folder of the run")->required()->type_name("RUN");
  add_targets(verb, *flags);
  verb.add_option("--layers", flags->options.layers,
                  "Length of the paths of attention, from the last layer back (default: 2, or 1 if "
                  "the model has one layer)")
      ->check(CLI::Range(1, 1000))
      ->group(kAdvanced);
  verb.add_option("--top", flags->options.top, "Number of branches, neighbors and classes to show")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb.add_flag("--json", flags->json, "Print JSON instead of text");
  verb.add_option("--svg", flags->svg, "Also draw the tree to this SVG file")->type_name("FILE");
  verb.add_option("--threads", flags->pipeline.threads, "Compute threads (0 = one per core)")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str()
      ->group(kAdvanced);
  verb.add_flag("--quiet", flags->quiet, "Do not show progress");
  verb.callback([flags] { run_explain(*flags); });
}

}  // namespace hgt::cli
