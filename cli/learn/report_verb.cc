// report: everything about runs on one page.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/learn/page.h"
#include "cli/node_words.h"
#include "cli/program.h"
#include "cli/progress_bar.h"
#include "cli/verbs.h"
#include "hgt/disk/whole_file.h"
#include "hgt/error.h"
#include "hgt/graph/time_text.h"
#include "hgt/insight/run_report.h"
#include "hgt/model/machine.h"

namespace hgt::cli {

namespace {

struct ReportFlags {
  std::vector<std::string> runs;
  std::string out;
  std::vector<std::string> nodes;
  std::vector<std::string> at;
  std::string split = "test";
  std::optional<uint64_t> among;
  PipelineOptions pipeline;
  bool json = false;
  bool quiet = false;
};

ReportOptions options_of(const ReportFlags& flags, const HeteroGraph& graph) {
  ReportOptions options{.split = from_word<Split>(flags.split)};
  if (flags.among) options.among = *flags.among;
  for (const std::string& word : flags.nodes) {
    options.focus.push_back(named_node(graph, word));
    if (options.focus.back().time != kNoTime) throw Error("--node: give times with --at");
  }
  for (const std::string& text : flags.at) {
    const auto time = parse_time(text, TimeFormat::date, graph.schema().time_unit);
    if (!time) report_time(graph.schema(), "--at", text);
    options.times.push_back(*time);
  }
  return options;
}

// Options of the evolution must be of use to one of the runs at least.
void check_evolution(const ReportFlags& flags, const std::vector<RunReport>& reports) {
  const bool asked = !flags.nodes.empty() || !flags.at.empty() || flags.among;
  if (!asked || std::ranges::any_of(reports, &RunReport::has_evolution)) return;
  throw Error(
      fmt::format("--node, --at and --among are about evolution over time, which {} does not have; "
                  "leave them out",
                  flags.runs.front()));
}

void run_report(const ReportFlags& flags) {
  keep_tensor_memory();
  const std::string page = flags.json ? "" : read_page();
  WholeFile file(flags.out);  // before the work begins: it may be impossible
  ProgressBar bar(flags.quiet);
  std::vector<Run> runs;
  for (const std::string& folder : flags.runs) {
    runs.push_back(Run::open(folder, bar.sink()));
    runs.back().set_pipeline(flags.pipeline);
  }
  std::vector<RunReport> reports;
  for (const Run& run : runs) reports.emplace_back(run, options_of(flags, run.task().graph()));
  check_evolution(flags, reports);
  std::vector<OrderedJson> wholes;
  for (const RunReport& report : reports) wholes.push_back(report.whole(bar.sink()));
  const OrderedJson report = report_json(std::move(wholes), false);
  file.write(flags.json ? json_text(report) : filled_page(page, report));
  file.commit();
  fmt::print("{}\n", flags.out);
}

}  // namespace

void add_report(CLI::App& verb) {
  auto flags = std::make_shared<ReportFlags>();
  verb.add_option("runs", flags->runs, "Folders of one or more runs")->required()->type_name("RUN");
  verb.add_option("--out", flags->out, "HTML file to write; it opens without a network connection")
      ->required()
      ->type_name("FILE");
  verb.add_option(
          "--node", flags->nodes,
          "Node whose evolution over time is shown, by id or name; can be repeated for nodes "
          "of the same type (default: the three most prominent nodes)")
      ->allow_extra_args(false)
      ->type_name("TYPE:NAME");
  verb.add_option("--at", flags->at, "Times at which the evolution is shown, separated by commas")
      ->delimiter(',')
      ->type_name("TIME");
  verb.add_option("--among", flags->among,
                  "Number of most prominent nodes that are compared over time (default: 40)")
      ->check(CLI::Range(1, 1'000'000))
      ->group(kAdvanced);
  verb.add_option("--split", flags->split, "Split whose examples are shown")
      ->check(CLI::IsMember(all_words<Split>()))
      ->capture_default_str()
      ->group(kAdvanced);
  verb.add_option("--threads", flags->pipeline.threads, "Compute threads (0 = one per core)")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str()
      ->group(kAdvanced);
  verb.add_flag("--json", flags->json, "Write the data as JSON, without the page");
  verb.add_flag("--quiet", flags->quiet, "Do not show progress");
  verb.callback([flags] { run_report(*flags); });
}

}  // namespace hgt::cli
