// generate, import, export: the verbs that write graphs and tables.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "cli/number_ranges.h"
#include "cli/program.h"
#include "cli/progress_bar.h"
#include "cli/text_table.h"
#include "cli/verbs.h"
#include "hgt/academic/academic_generator.h"
#include "hgt/error.h"
#include "hgt/graph/time_text.h"
#include "hgt/graph/verified_arrays.h"
#include "hgt/tables/graph_export.h"
#include "hgt/tables/table_import.h"

namespace hgt::cli {

namespace {

using Clock = std::chrono::steady_clock;

// Options that all verbs share which write a graph.
struct BuildFlags {
  std::string out;
  uint64_t memory = uint64_t{4} << 30U;
  unsigned threads = 0;
  bool force = false;
  bool quiet = false;

  void add_to(CLI::App& verb) {
    verb.add_option("--out", out, "Folder of the new graph")->required()->type_name("GRAPH");
    verb.add_option("--memory", memory,
                    "Memory for sorting edges, such as 512M or 4G, at least 64M; larger graphs are "
                    "sorted through files on disk")
        ->transform(memory_size())
        ->default_str("4G")
        ->type_name("SIZE")
        ->group(kAdvanced);
    verb.add_option("--threads", threads,
                    "Threads (0 = one per core); the graph is the same with any number of them")
        ->capture_default_str();
    verb.add_flag("--force", force,
                  "Replace the graph if it already exists; nothing but a graph is ever replaced");
    verb.add_flag("--quiet", quiet, "Do not show progress");
  }
  BuildOptions options(ProgressBar& bar) const {
    if (!force && std::filesystem::exists(std::filesystem::symlink_status(out))) {
      throw Error(
          fmt::format("{} already exists; choose another name, or replace it with --force", out));
    }
    return {.memory = memory, .replace = force, .threads = threads, .progress = bar.sink()};
  }
};

uint64_t peak_memory() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

std::string time_span(const Schema& schema) {
  if (!schema.time_range) return "no times";
  return fmt::format("{} to {}", format_time(schema.time_range->first, schema.time_unit),
                     format_time(schema.time_range->second, schema.time_unit));
}

void print_result(const std::string& out, const Schema& schema, Clock::time_point start) {
  uint64_t nodes = 0;
  uint64_t edges = 0;
  for (const NodeTypeSpec& spec : schema.node_types()) nodes += spec.nodes;
  for (const RelationSpec& spec : schema.relations()) edges += spec.reverse ? 0 : spec.edges;
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  fmt::print("{}: {} node types, {} meta relations, {} nodes, {} edges and their reverses, {}\n",
             out, schema.node_types().size(), schema.relations().size(), with_commas(nodes),
             with_commas(edges), time_span(schema));
  fmt::print("{:.1f} s, peak memory {}\n", seconds, short_bytes(peak_memory()));
}

// What was kept and dropped, table by table.
void print_report(const ImportReport& report) {
  TextTable table({"table", ">rows", ">kept", ">left out", ">dropped"});
  for (const TableReport& item : report.tables) {
    table.add({item.title, with_commas(item.rows), with_commas(item.kept),
               with_commas(item.filtered + item.ignored), with_commas(item.dropped())});
  }
  fmt::print("{}", table.text());
  for (const TableReport& item : report.tables) {
    for (size_t i = 0; i < kNumDefects; ++i) {
      if (item.defects[i] == 0) continue;
      fmt::print("dropped from {}: {} {}\n", item.title, with_commas(item.defects[i]),
                 to_string(Defect(i)));
    }
    for (const std::string& example : item.examples) fmt::print("  {}\n", example);
  }
}

void print_repeated(const Schema& schema) {
  for (size_t i = 0; i < schema.relations().size(); ++i) {
    const RelationSpec& spec = schema.relations()[i];
    if (spec.repeated == 0 || spec.reverse) continue;
    fmt::print("{}: {} edges repeat another edge; {}\n", schema.describe(Relation(i)),
               with_commas(spec.repeated),
               spec.unique ? "dropped" : "kept (duplicates = \"drop\" would drop them)");
  }
}

std::string preset_help() {
  std::string help = "Which graph to generate:";
  for (const GraphPreset& preset : graph_presets()) {
    help += fmt::format("\n{}: {}", preset.name, preset.sentence);
  }
  return help;
}

}  // namespace

void add_generate(CLI::App& verb) {
  struct Flags : BuildFlags {
    GenerateOptions options;
  };
  auto flags = std::make_shared<Flags>();
  verb.add_option("--preset", flags->options.preset, preset_help())
      ->capture_default_str()
      ->check(CLI::IsMember(preset_names()));
  verb.add_option("--papers", flags->options.papers,
                  "Number of papers; all other counts scale with it (default: that of the preset)");
  verb.add_option("--seed", flags->options.seed,
                  "Seed of all random numbers; the same seed gives exactly the same graph")
      ->capture_default_str();
  verb.add_option("--features", flags->options.features,
                  "Width of the title vectors of papers, 0 for none (default: 64 for the presets "
                  "tiny and small, otherwise 0)")
      ->group(kAdvanced);
  verb.add_flag("--shortcuts", flags->options.shortcuts,
                "Add author-field, author-venue and coauthor edges")
      ->group(kAdvanced);
  flags->add_to(verb);
  verb.callback([flags] {
    const auto start = Clock::now();
    ProgressBar bar(flags->quiet);
    flags->options.build = flags->BuildFlags::options(bar);
    const Schema schema = generate_academic_graph(flags->out, flags->options);
    print_result(flags->out, schema, start);
    fmt::print("the planted truth is in {}/truth\n", flags->out);
  });
}

void add_import(CLI::App& verb) {
  struct Flags : BuildFlags {
    std::string manifest;
    std::string tables;
    bool strict = false;
    double max_dropped = ImportOptions{}.max_dropped;
  };
  auto flags = std::make_shared<Flags>();
  verb.add_option("manifest", flags->manifest, "Manifest, a TOML file that describes the tables")
      ->required()
      ->type_name("MANIFEST");
  verb.add_option("--tables", flags->tables,
                  "Folder of the tables (default: the folder of the manifest)")
      ->type_name("FOLDER");
  verb.add_flag("--strict", flags->strict,
                "Stop at the first defective row instead of dropping and counting such rows");
  verb.add_option("--max-dropped", flags->max_dropped,
                  "Fail if a table loses more than this share of its rows to defects, from 0 to 1")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0))
      ->type_name("SHARE");
  flags->add_to(verb);
  verb.callback([flags] {
    const auto start = Clock::now();
    ProgressBar bar(flags->quiet);
    ImportOptions options{
        .strict = flags->strict, .max_dropped = flags->max_dropped, .build = flags->options(bar)};
    if (!flags->tables.empty()) options.tables = flags->tables;
    const Imported imported = import_tables(read_manifest(flags->manifest), flags->out, options);
    print_report(imported.report);
    print_repeated(imported.schema);
    print_result(flags->out, imported.schema, start);
  });
}

void add_export(CLI::App& verb) {
  struct Flags {
    std::string graph;
    std::string out;
    std::string features;
    bool quiet = false;
  };
  auto flags = std::make_shared<Flags>();
  verb.add_option("graph", flags->graph, "Folder of the graph")->required()->type_name("GRAPH");
  verb.add_option("--out", flags->out, "New folder for the tables")
      ->required()
      ->type_name("FOLDER");
  verb.add_option("--features", flags->features,
                  "Feature set that is exported, as hgt inspect lists them (default: the newest)")
      ->type_name("NAME");
  verb.add_flag("--quiet", flags->quiet, "Do not show progress");
  verb.callback([flags] {
    ProgressBar bar(flags->quiet);
    const HeteroGraph graph = open_verified(flags->graph, bar.sink(), flags->features);
    export_tables(graph, flags->out, bar.sink());
    fmt::print("{}: feature set '{}'; import with 'hgt import {}/manifest.toml --out GRAPH'\n",
               flags->out, graph.feature_set(), flags->out);
  });
}

}  // namespace hgt::cli
