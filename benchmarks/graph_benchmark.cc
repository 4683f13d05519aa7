// The store: generate, import, open, look up. Every fast path is first checked against the obvious
// way of doing it, which is then timed in the same run; ratios between the two are printed last.
//
//   graph_benchmark [--papers=200000] [--benchmark_filter=...]
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "benchmarks/ratio_reporter.h"
#include "hgt/academic/academic_generator.h"
#include "hgt/graph/array_file.h"
#include "hgt/graph/graph_check.h"
#include "hgt/graph/hetero_graph.h"
#include "hgt/random.h"
#include "hgt/tables/graph_export.h"
#include "hgt/tables/table_import.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;

struct Workspace {
  explicit Workspace(uint64_t number_of_papers) : papers(number_of_papers) {
    std::string pattern = (fs::temp_directory_path() / "hgt-benchmark-XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
    generate_academic_graph(folder / "graph", {.preset = "cs", .papers = papers});
    generate_academic_graph(folder / "tenth", {.preset = "cs", .papers = papers / 10});
    export_tables(HeteroGraph::open(folder / "graph"), folder / "tables");
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace() { fs::remove_all(folder); }

  uint64_t papers;
  Path folder;
};

Workspace* workspace = nullptr;

uint64_t total_edges(const Schema& schema) {
  uint64_t edges = 0;
  for (const RelationSpec& spec : schema.relations()) edges += spec.reverse ? 0 : spec.edges;
  return edges;
}

// --- generate ---

void generate(benchmark::State& state) {
  uint64_t edges = 0;
  for (auto _ : state) {
    const Path out = workspace->folder / "generated";
    edges += total_edges(generate_academic_graph(
        out, {.preset = "cs", .papers = workspace->papers, .build = {.replace = true}}));
  }
  state.counters["edges/s"] =
      benchmark::Counter(static_cast<double>(edges), benchmark::Counter::kIsRate);
}

// --- import ---

// Citations as a table of text ids, imported by this program and by the obvious one.
struct CitationTables {
  CitationTables() {
    const auto graph = HeteroGraph::open(workspace->folder / "graph");
    const NodeType paper = graph.schema().node_type("paper");
    const Relation cites = graph.schema().relation("paper", "cites", "paper");
    folder = workspace->folder / "citations";
    fs::create_directories(folder);
    std::ofstream nodes(folder / "papers.tsv");
    std::ofstream edges(folder / "cites.tsv");
    nodes << "id\n";
    edges << "citing\tcited\n";
    const auto id = [](uint64_t node) { return fmt::format("W{:x}", mix64(node) >> 24U); };
    for (uint64_t node = 0; node < graph.num_nodes(paper); ++node) {
      nodes << id(node) << '\n';
      for (const NodeId citing : graph.incoming(cites, static_cast<NodeId>(node)).sources) {
        edges << id(citing) << '\t' << id(node) << '\n';
        ++rows;
      }
    }
    rows += graph.num_nodes(paper);
    std::ofstream(folder / "manifest.toml")
        << "[[nodes]]\ntype = 'paper'\nfiles = 'papers.tsv'\nid = 'id'\n"
           "[[edges]]\ntype = 'cites'\nfiles = 'cites.tsv'\n"
           "source = { type = 'paper', column = 'citing' }\n"
           "target = { type = 'paper', column = 'cited' }\n";
    edges.close();
    nodes.close();
    bytes = fs::file_size(folder / "papers.tsv") + fs::file_size(folder / "cites.tsv");
  }

  Path folder;
  uint64_t rows = 0;
  uint64_t bytes = 0;
};

const CitationTables& citation_tables() {
  static const CitationTables tables;
  return tables;
}

// The obvious import: streams, a hash map of strings, std::sort, all in memory, both directions.
std::vector<std::pair<uint32_t, uint32_t>> obvious_import(const Path& folder) {
  std::unordered_map<std::string, uint32_t> nodes;
  std::ifstream papers(folder / "papers.tsv");
  std::string line;
  std::getline(papers, line);
  while (std::getline(papers, line)) nodes.emplace(line, static_cast<uint32_t>(nodes.size()));
  std::ifstream cites(folder / "cites.tsv");
  std::getline(cites, line);
  std::vector<std::pair<uint32_t, uint32_t>> into;  // (target, source)
  std::vector<std::pair<uint32_t, uint32_t>> back;
  while (std::getline(cites, line)) {
    std::istringstream cells(line);
    std::string citing;
    std::string cited;
    std::getline(cells, citing, '\t');
    std::getline(cells, cited, '\t');
    into.emplace_back(nodes.at(cited), nodes.at(citing));
    back.emplace_back(nodes.at(citing), nodes.at(cited));
  }
  std::sort(into.begin(), into.end());
  std::sort(back.begin(), back.end());
  std::ofstream out(folder / "obvious.bin", std::ios::binary);
  for (const auto* edges : {&into, &back}) {
    out.write(reinterpret_cast<const char*>(edges->data()),
              static_cast<std::streamsize>(edges->size() * sizeof(edges->front())));
  }
  return into;
}

void count_import(benchmark::State& state, uint64_t rows, uint64_t bytes) {
  const auto per_run = [&](uint64_t n) {
    return benchmark::Counter(static_cast<double>(n),
                              benchmark::Counter::kIsIterationInvariantRate);
  };
  state.counters["rows/s"] = per_run(rows);
  state.counters["MB/s"] = per_run(bytes / 1'000'000);
}

void import_text_ids(benchmark::State& state) {
  const CitationTables& tables = citation_tables();
  const Manifest manifest = read_manifest(tables.folder / "manifest.toml");
  for (auto _ : state) {
    import_tables(manifest, tables.folder / "graph", {.build = {.replace = true}});
  }
  count_import(state, tables.rows, tables.bytes);
  const auto graph = HeteroGraph::open(tables.folder / "graph");
  const Relation cites = graph.schema().relation("paper", "cites", "paper");
  size_t at = 0;
  const auto expected = obvious_import(tables.folder);
  for (NodeId node = 0; node < graph.num_nodes(graph.schema().node_type("paper")); ++node) {
    for (const NodeId source : graph.incoming(cites, node).sources) {
      if (expected[at++] != std::pair(node, source)) state.SkipWithError("wrong edges");
    }
  }
  if (at != expected.size()) state.SkipWithError("edges are missing");
}

void import_obvious_in_memory(benchmark::State& state) {
  const CitationTables& tables = citation_tables();
  for (auto _ : state) benchmark::DoNotOptimize(obvious_import(tables.folder));
  count_import(state, tables.rows, tables.bytes);
}

// All tables of the generated graph: numbered ids, 15 edge tables, names, labels.
void import_academic(benchmark::State& state) {
  const Path tables = workspace->folder / "tables";
  const Manifest manifest = read_manifest(tables / "manifest.toml");
  uint64_t rows = 0;
  uint64_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(tables)) bytes += entry.file_size();
  for (auto _ : state) {
    const Imported imported =
        import_tables(manifest, workspace->folder / "imported", {.build = {.replace = true}});
    rows = 0;
    for (const TableReport& table : imported.report.tables) rows += table.rows;
  }
  count_import(state, rows, bytes);
}

// --- open ---

void open_graph(benchmark::State& state, const std::string& name) {
  for (auto _ : state) benchmark::DoNotOptimize(HeteroGraph::open(workspace->folder / name));
  const auto graph = HeteroGraph::open(workspace->folder / name);
  state.counters["edges"] = static_cast<double>(total_edges(graph.schema()));
}

// --- look up all incoming neighbors of random papers ---

constexpr size_t kLookups = 2000;

// The other layout: one CSR per meta relation, each in two files.
struct SeparateLists {
  SeparateLists() {
    const auto graph = HeteroGraph::open(workspace->folder / "graph");
    const NodeType paper = graph.schema().node_type("paper");
    folder = workspace->folder / "separate";
    fs::create_directories(folder);
    for (const Relation relation : graph.schema().incoming(paper)) {
      ArrayStream offsets(folder, fmt::format("{}_offsets.npy", index(relation)), "<i8");
      ArrayStream sources(folder, fmt::format("{}_sources.npy", index(relation)), "<u4");
      for (NodeId node = 0; node < graph.num_nodes(paper); ++node) {
        offsets.append(static_cast<int64_t>(sources.items()));
        sources.append(graph.incoming(relation, node).sources);
      }
      offsets.append(static_cast<int64_t>(sources.items()));
      records.emplace_back(offsets.close(), sources.close());
    }
  }
  Path folder;
  std::vector<std::pair<ArrayRecord, ArrayRecord>> records;
};

const SeparateLists& separate_lists() {
  static const SeparateLists lists;
  return lists;
}

// Forgets the cached pages of a folder's files; works for files that nobody has mapped.
void drop_cache(const Path& folder) {
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const File file = File::open_to_read(entry.path());
    ::posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_DONTNEED);
  }
}

std::vector<NodeId> random_papers(uint64_t papers, uint64_t seed) {
  std::vector<NodeId> nodes(kLookups);
  Draws draws(hash(seed));
  for (NodeId& node : nodes) node = static_cast<NodeId>(draws.below(papers));
  return nodes;
}

uint64_t sum_stored(const HeteroGraph& graph, std::span<const NodeId> nodes) {
  const NodeType paper = graph.schema().node_type("paper");
  uint64_t sum = 0;
  for (const NodeId node : nodes) {
    for (const Relation relation : graph.schema().incoming(paper)) {
      for (const NodeId source : graph.incoming(relation, node).sources) sum += source;
    }
  }
  return sum;
}

using Lists = std::vector<std::pair<MappedArray, MappedArray>>;

Lists open_separate() {
  Lists lists;
  for (const auto& [offsets, sources] : separate_lists().records) {
    lists.emplace_back(MappedArray(separate_lists().folder, offsets),
                       MappedArray(separate_lists().folder, sources));
  }
  return lists;
}

uint64_t sum_separate(const Lists& lists, std::span<const NodeId> nodes) {
  uint64_t sum = 0;
  for (const NodeId node : nodes) {
    for (const auto& [offsets, sources] : lists) {
      const auto at = offsets.as<int64_t>().subspan(node, 2);
      const auto list = sources.as<NodeId>().subspan(static_cast<size_t>(at[0]),
                                                     static_cast<size_t>(at[1] - at[0]));
      for (const NodeId source : list) sum += source;
    }
  }
  return sum;
}

void count_lookups(benchmark::State& state) {
  state.counters["nodes/s"] =
      benchmark::Counter(kLookups, benchmark::Counter::kIsIterationInvariantRate);
}

void lookup_warm(benchmark::State& state) {
  const auto graph = HeteroGraph::open(workspace->folder / "graph");
  const Lists lists = open_separate();
  uint64_t seed = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(sum_stored(graph, random_papers(workspace->papers, ++seed)));
  }
  const auto nodes = random_papers(workspace->papers, 1);
  if (sum_stored(graph, nodes) != sum_separate(lists, nodes)) state.SkipWithError("wrong lists");
  count_lookups(state);
}

void lookup_warm_separate(benchmark::State& state) {
  const Lists lists = open_separate();
  uint64_t seed = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(sum_separate(lists, random_papers(workspace->papers, ++seed)));
  }
  count_lookups(state);
}

void lookup_cold(benchmark::State& state) {
  uint64_t seed = 0;
  for (auto _ : state) {
    state.PauseTiming();
    drop_cache(workspace->folder / "graph");
    const auto nodes = random_papers(workspace->papers, ++seed);
    state.ResumeTiming();
    benchmark::DoNotOptimize(sum_stored(HeteroGraph::open(workspace->folder / "graph"), nodes));
  }
  count_lookups(state);
}

void lookup_cold_separate(benchmark::State& state) {
  uint64_t seed = 0;
  for (auto _ : state) {
    state.PauseTiming();
    drop_cache(separate_lists().folder);
    const auto nodes = random_papers(workspace->papers, ++seed);
    state.ResumeTiming();
    benchmark::DoNotOptimize(sum_separate(open_separate(), nodes));
  }
  count_lookups(state);
}

// --- ratios ---

void register_all() {
  const auto add = [](const char* name, auto function) {
    return benchmark::RegisterBenchmark(name, function)->UseRealTime();
  };
  add("generate", generate)->Unit(benchmark::kMillisecond);
  add("import/academic", import_academic)->Unit(benchmark::kMillisecond);
  add("import/text_ids", import_text_ids)->Unit(benchmark::kMillisecond);
  add("import/obvious_in_memory", import_obvious_in_memory)->Unit(benchmark::kMillisecond);
  add("open", [](benchmark::State& state) {
    open_graph(state, "graph");
  })->Unit(benchmark::kMicrosecond);
  add("open/a_tenth_of_the_edges", [](benchmark::State& state) {
    open_graph(state, "tenth");
  })->Unit(benchmark::kMicrosecond);
  add("lookup/warm", lookup_warm)->Unit(benchmark::kMicrosecond);
  add("lookup/warm/csr_per_relation", lookup_warm_separate)->Unit(benchmark::kMicrosecond);
  add("lookup/cold", lookup_cold)->Unit(benchmark::kMillisecond);
  add("lookup/cold/csr_per_relation", lookup_cold_separate)->Unit(benchmark::kMillisecond);
}

int run(uint64_t papers) {
  Workspace space(papers);
  workspace = &space;
  register_all();
  RatioReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  fmt::print("\nratios of times in this run, {} papers\n", papers);
  reporter.print_ratio("import/obvious_in_memory", "import/text_ids",
                       "obvious in-memory import : ours, text ids");
  reporter.print_ratio("open", "open/a_tenth_of_the_edges",
                       "opening : opening a tenth of the edges");
  reporter.print_ratio("lookup/warm/csr_per_relation", "lookup/warm",
                       "one CSR per relation : one list per node, warm");
  reporter.print_ratio("lookup/cold/csr_per_relation", "lookup/cold",
                       "one CSR per relation : one list per node, cold");
  return reporter.failed() ? 1 : 0;
}

}  // namespace
}  // namespace hgt

int main(int argc, char** argv) {
  uint64_t papers = 200'000;
  const std::string flag = "--papers=";
  if (argc > 1 && std::string(argv[1]).starts_with(flag)) {
    papers = std::strtoull(argv[1] + flag.size(), nullptr, 10);
    std::swap(argv[0], argv[1]);
    --argc;
    ++argv;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  return hgt::run(papers);
}
