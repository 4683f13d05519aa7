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
  std::string form = "shares";
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

// --- the trees ---

constexpr const char* kBothForms = "both";

std::vector<AttentionForm> chosen_forms(const ExplainFlags& flags) {
  if (flags.form == kBothForms) return {AttentionForm::shares, AttentionForm::means};
  return {from_word<AttentionForm>(flags.form)};
}

// "layers 3 and 2"
std::string layers_words(const AttentionTree& tree) {
  std::vector<uint32_t> layers;
  for (uint32_t i = 0; i < tree.layers; ++i) layers.push_back(tree.from_layer - i);
  return fmt::format("{} {}", layers.size() == 1 ? "layer" : "layers", fmt::join(layers, " and "));
}

void print_tree(const AttentionTree& tree, const Schema& schema, uint64_t top) {
  const bool shares = tree.form == AttentionForm::shares;
  fmt::print("{}, {}\n\n{}\n{}\n",
             shares ? "shares of the attention that reaches the target"
                    : "mean attention of the edges of each relation",
             layers_words(tree), to_text(shown_tree(tree, schema, top)),
             shares ? "the most attended paths" : "the paths with the largest products of means");
  TextTable table({shares ? ">share" : ">product", "path", "via"});
  for (const AttentionPath& path : top_paths(tree, schema, top)) {
    std::vector<std::string> edges;
    for (const RelationNames& step : path.steps) edges.push_back(step.edge);
    table.add({attention_text(tree.form, path.attention),
               to_text(path, schema.at(tree.target).name),
               fmt::format("{}", fmt::join(edges, ", "))});
  }
  fmt::print("{}", table.text());
}

void print_trees(const ExplainFlags& flags, const AttentionTrees& trees, const Schema& schema) {
  bool first = true;
  for (const AttentionForm form : chosen_forms(flags)) {
    if (!first) fmt::print("\n");
    first = false;
    print_tree(trees.of(form), schema, flags.options.top);
  }
}

// "tree.svg", or for each of both forms "tree-shares.svg".
Path picture_file(const ExplainFlags& flags, AttentionForm form) {
  if (flags.form != kBothForms) return flags.svg;
  const Path file = flags.svg;
  return file.parent_path() /
         fmt::format("{}-{}{}", file.stem().string(), to_string(form), file.extension().string());
}

void draw_trees(const ExplainFlags& flags, const AttentionTrees& trees, const Schema& schema) {
  if (flags.svg.empty()) return;
  for (const AttentionForm form : chosen_forms(flags)) {
    write_text(picture_file(flags, form),
               to_svg(shown_tree(trees.of(form), schema, flags.options.top)));
  }
}

// Leaves the chosen forms.
OrderedJson chosen_json(const ExplainFlags& flags, OrderedJson trees) {
  const auto chosen = chosen_forms(flags);
  for (const AttentionForm form : {AttentionForm::shares, AttentionForm::means}) {
    if (std::find(chosen.begin(), chosen.end(), form) == chosen.end()) {
      trees.erase(std::string(to_string(form)));
    }
  }
  return trees;
}

void explain_one_type(const ExplainFlags& flags, const Run& run, ProgressBar& bar) {
  const Schema& schema = run.task().graph().schema();
  ExplainOptions options = flags.options;
  if (!flags.type.empty()) options.type = schema.node_type(flags.type);
  const AttentionTrees trees = explain_type(run, options, bar.sink());
  draw_trees(flags, trees, schema);
  if (flags.json) {
    fmt::print("{}\n", json_text(chosen_json(flags, to_json(trees, schema, options.top)), 1));
    return;
  }
  const NodeType target = trees.shares.target;
  const bool examples = target == run.task().node_type();
  fmt::print("{}, model {}: where the attention of {} comes from, over {} {}\n\n", flags.run,
             to_string(run.options().training.model.kind), schema.at(target).name,
             with_commas(trees.shares.examples),
             examples ? fmt::format("{} examples", flags.split) : "nodes");
  print_trees(flags, trees, schema);
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
  draw_trees(flags, *answer.trees, graph.schema());
  if (flags.json) {
    OrderedJson json = to_json(answer, graph.schema(), flags.options.top);
    json["attention"] = chosen_json(flags, std::move(json["attention"]));
    fmt::print("{}\n", json_text(json, 1));
    return;
  }
  fmt::print("{}: {}, mean of {} sub-graphs\n\n", flags.run, described(answer.node),
             answer.samples);
  print_prediction(answer);
  fmt::print("\n");
  print_neighbors(answer);
  fmt::print("\n");
  print_trees(flags, *answer.trees, graph.schema());
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
  verb.add_option("--form", flags->form,
                  "Form of the tree: shares = the attention that reaches the target, followed from "
                  "the last layer back; means = as in the paper, the mean attention of the edges "
                  "of each relation in the first layers; or both")
      ->check(CLI::IsMember({"shares", "means", kBothForms}))
      ->capture_default_str();
  verb.add_option("--layers", flags->options.layers,
                  "Length of the paths of attention (default: 2, or 1 if the model has one layer)")
      ->check(CLI::Range(1, 1000))
      ->group(kAdvanced);
  verb.add_option("--top", flags->options.top, "Number of branches, neighbors and classes to show")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb.add_flag("--json", flags->json, "Print JSON instead of text");
  verb.add_option("--svg", flags->svg,
                  "Also draw the tree to this SVG file; both forms, to FILE with -shares and "
                  "-means added to its name")
      ->type_name("FILE");
  verb.add_option("--threads", flags->pipeline.threads, "Compute threads (0 = one per core)")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str()
      ->group(kAdvanced);
  verb.add_flag("--quiet", flags->quiet, "Do not show progress");
  verb.callback([flags] { run_explain(*flags); });
}

}  // namespace hgt::cli
