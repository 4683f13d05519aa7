// predict and embed: what a trained model says about nodes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/learn/node_file.h"
#include "cli/node_words.h"
#include "cli/progress_bar.h"
#include "cli/text_table.h"
#include "cli/verbs.h"
#include "hgt/error.h"
#include "hgt/graph/time_text.h"
#include "hgt/model/machine.h"
#include "hgt/training/run.h"

namespace hgt::cli {

namespace {

struct InferenceFlags {
  std::string run;
  std::string at;
  std::string instances = "own";
  std::string out;
  PipelineOptions pipeline;
  bool quiet = false;

  InferenceOptions options(const Schema& schema) const {
    InferenceOptions result{.instances = from_word<Instances>(instances)};
    if (at.empty()) return result;
    const auto time = parse_time(at, TimeFormat::date, schema.time_unit);
    if (!time) report_time(schema, "--at", at);
    result.at = *time;
    return result;
  }
};

void add_inference_flags(CLI::App& verb, InferenceFlags& flags) {
  verb.add_option("run", flags.run, "Folder of the run")->required()->type_name("RUN");
  verb.add_option(
          "--at", flags.at,
          "Use nothing later than this time, which is also the time of nodes without a time "
          "of their own (default: the last time of the graph)")
      ->type_name("TIME");
  verb.add_option(
          "--instances", flags.instances,
          "Nodes without a time of their own: own = one instance at every time at which they "
          "are neighbors of others, single = one instance only, which is faster")
      ->check(CLI::IsMember(all_words<Instances>()))
      ->capture_default_str();
  verb.add_option("--threads", flags.pipeline.threads, "Compute threads (0 = one per core)")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  verb.add_flag("--quiet", flags.quiet, "Do not show progress");
}

struct PredictFlags : InferenceFlags {
  std::vector<std::string> nodes;
  std::string node_file;
  std::string split;
  bool all = false;
  uint64_t top = 5;
};

void run_predict(const PredictFlags& flags) {
  const int ways = int{!flags.nodes.empty()} + int{!flags.node_file.empty()} +
                   int{!flags.split.empty()} + int{flags.all};
  if (ways != 1) throw CLI::RequiredError("one of --node, --nodes, --split and --all");
  keep_tensor_memory();
  ProgressBar bar(flags.quiet);
  Run run = Run::open(flags.run, bar.sink());
  run.set_pipeline(flags.pipeline);
  const HeteroGraph& graph = run.task().graph();
  PredictOptions options{.top = flags.top, .inference = flags.options(graph.schema())};
  for (const std::string& word : flags.nodes) options.nodes.push_back(parse_seed(graph, word));
  if (!flags.node_file.empty()) {
    options.nodes = read_node_file(flags.node_file, graph, run.task().node_type());
  }
  if (!flags.split.empty()) options.split = from_word<Split>(flags.split);
  const uint64_t count = run.predict(options, flags.out, bar.sink());
  fmt::print("{}: the best {} answers for each of {}\n", flags.out, flags.top, with_commas(count));
}

struct EmbedFlags : InferenceFlags {
  std::string type;
  uint32_t layer = 0;
};

void run_embed(const EmbedFlags& flags) {
  keep_tensor_memory();
  ProgressBar bar(flags.quiet);
  Run run = Run::open(flags.run, bar.sink());
  run.set_pipeline(flags.pipeline);
  const Schema& schema = run.task().graph().schema();
  const uint64_t count =
      run.embed(schema.node_type(flags.type),
                {.inference = flags.options(schema), .layer = flags.layer}, flags.out, bar.sink());
  fmt::print("{}: vectors.npy [{}, {}] and nodes.tsv\n", flags.out, count,
             run.options().training.model.hidden);
}

}  // namespace

void add_predict(CLI::App& verb) {
  auto flags = std::make_shared<PredictFlags>();
  add_inference_flags(verb, *flags);
  verb.add_option("--node", flags->nodes,
                  "Node to predict for, by its id, such as paper:P19-1001; can be repeated")
      ->allow_extra_args(false)
      ->type_name("TYPE:ID");
  verb.add_option("--nodes", flags->node_file,
                  "File with many nodes: one id per line, or a table with a column 'id' and, for "
                  "nodes without a time of their own, perhaps one 'time'")
      ->type_name("FILE");
  verb.add_option("--split", flags->split,
                  "Predict for the examples of this split, with the scores that hgt evaluate gives "
                  "them")
      ->check(CLI::IsMember(all_words<Split>()));
  verb.add_flag(
      "--all", flags->all,
      "Predict for all nodes of the task's type, with all predicted links hidden: layer by layer "
      "over the whole graph, or, where the run's time bound is seed, each node at its own time as "
      "hgt evaluate does");
  verb.add_option("--top", flags->top, "Number of predictions per node")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  verb.add_option("--out", flags->out, "TSV file to write")->required()->type_name("FILE");
  verb.callback([flags] { run_predict(*flags); });
}

void add_embed(CLI::App& verb) {
  auto flags = std::make_shared<EmbedFlags>();
  add_inference_flags(verb, *flags);
  verb.add_option("--type", flags->type, "Node type whose vectors are written")
      ->required()
      ->type_name("TYPE");
  verb.add_option(
          "--layer", flags->layer,
          "Layer whose output is written (0 = the last layer that was trained for the type)")
      ->capture_default_str();
  verb.add_option("--out", flags->out, "Folder to write vectors.npy and nodes.tsv to")
      ->required()
      ->type_name("DIR");
  verb.callback([flags] { run_embed(*flags); });
}

}  // namespace hgt::cli
