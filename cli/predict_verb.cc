// predict and embed: what a trained model says about nodes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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
  verb.add_option("--at", flags.at,
                  "Nothing later is seen, and nodes without a time are asked for then. Default: "
                  "the graph's last time")
      ->type_name("TIME");
  verb.add_option("--instances", flags.instances,
                  "Nodes without a time: own: at every time at which others meet them; single: all "
                  "at one time, which is cheaper")
      ->check(CLI::IsMember({"own", "single"}))
      ->capture_default_str();
  verb.add_option("--threads", flags.pipeline.threads, "That compute; 0: one for each core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  verb.add_flag("--quiet", flags.quiet, "No progress");
}

struct PredictFlags : InferenceFlags {
  std::vector<std::string> nodes;
  bool all = false;
  uint64_t top = 5;
};

void run_predict(const PredictFlags& flags) {
  if (flags.nodes.empty() != flags.all) throw CLI::RequiredError("either --node or --all");
  keep_tensor_memory();
  Run run = Run::open(flags.run);
  run.set_pipeline(flags.pipeline);
  const HeteroGraph& graph = run.task().graph();
  PredictOptions options{.top = flags.top, .inference = flags.options(graph.schema())};
  for (const std::string& word : flags.nodes) options.nodes.push_back(parse_seed(graph, word));
  ProgressBar bar(flags.quiet);
  const uint64_t count = run.predict(options, flags.out, bar.sink());
  fmt::print("{}: the best {} answers for each of {}\n", flags.out, flags.top, with_commas(count));
}

struct EmbedFlags : InferenceFlags {
  std::string type;
  uint32_t layer = 0;
};

void run_embed(const EmbedFlags& flags) {
  keep_tensor_memory();
  Run run = Run::open(flags.run);
  run.set_pipeline(flags.pipeline);
  const Schema& schema = run.task().graph().schema();
  ProgressBar bar(flags.quiet);
  const uint64_t count =
      run.embed(schema.node_type(flags.type),
                {.inference = flags.options(schema), .layer = flags.layer}, flags.out, bar.sink());
  fmt::print("{}: vectors.npy [{}, {}] and nodes.tsv\n", flags.out, count,
             run.options().training.model.hidden);
}

}  // namespace

void add_predict(CLI::App& program) {
  auto flags = std::make_shared<PredictFlags>();
  CLI::App* verb = program.add_subcommand("predict", kPredictHelp);
  add_inference_flags(*verb, *flags);
  verb->add_option("--node", flags->nodes,
                   "A node by its own id, such as paper:P19-1001; may be repeated")
      ->allow_extra_args(false)
      ->type_name("TYPE:ID");
  verb->add_flag("--all", flags->all,
                 "All nodes of the task's type, layer by layer over the whole graph; no predicted "
                 "link is seen");
  verb->add_option("--top", flags->top, "Answers per node")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_option("--out", flags->out, "Table (TSV)")->required()->type_name("FILE");
  verb->callback([flags] { run_predict(*flags); });
}

void add_embed(CLI::App& program) {
  auto flags = std::make_shared<EmbedFlags>();
  CLI::App* verb = program.add_subcommand("embed", kEmbedHelp);
  add_inference_flags(*verb, *flags);
  verb->add_option("--type", flags->type, "Node type")->required()->type_name("TYPE");
  verb->add_option("--layer", flags->layer,
                   "Whose output is taken; 0: the last that was trained for the type")
      ->capture_default_str();
  verb->add_option("--out", flags->out, "Folder for vectors.npy and nodes.tsv")
      ->required()
      ->type_name("DIR");
  verb->callback([flags] { run_embed(*flags); });
}

}  // namespace hgt::cli
