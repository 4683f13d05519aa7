// HGSampling: batches of 256 seed papers at the sizes that the peers were measured at, the parts of
// a batch, the stream, and the growth with the graph. A batch of every size is verified before it
// is timed. Ratios between the times of this run are printed last.
//
//   sampling_benchmark [--papers=200000 | --graph=GRAPH] [--large=GRAPH] [--benchmark_filter=...]
//
// --papers generates a graph with the ratios of the preset cs; --graph takes one that is there.
// With
// --large the batches are also drawn from that graph.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/flags.h"
#include "benchmarks/ratio_reporter.h"
#include "hgt/academic/academic_generator.h"
#include "hgt/disk/file.h"
#include "hgt/error.h"
#include "hgt/graph/array_file.h"
#include "hgt/graph/half.h"
#include "hgt/random.h"
#include "hgt/sampling/adjacency.h"
#include "hgt/sampling/batch_stream.h"
#include "hgt/sampling/budget.h"
#include "hgt/sampling/candidate_reader.h"
#include "hgt/sampling/page_requests.h"
#include "hgt/sampling/sampler.h"
#include "hgt/sampling/subgraph_check.h"
#include "hgt/sampling/visibility.h"
#include "reference/hgsampling_reference.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kSeeds = 256;

struct Size {
  uint32_t width;
  uint32_t depth;
  std::string name() const { return fmt::format("width:{}/depth:{}", width, depth); }
  SamplingOptions options() const { return {.width = width, .depth = depth}; }
};
constexpr std::array<Size, 4> kSizes = {{{128, 3}, {128, 6}, {520, 3}, {520, 6}}};

struct Graphs {
  std::optional<HeteroGraph> graph;
  std::optional<HeteroGraph> large;
};
Graphs graphs;

// Random papers, other ones for each batch.
auto random_papers(const HeteroGraph& graph) {
  const NodeType paper = graph.schema().node_type("paper");
  const uint64_t papers = graph.num_nodes(paper);
  return [=](uint64_t round, uint64_t number) {
    Draws draws(hash(round, number));
    Request request;
    for (uint64_t i = 0; i < kSeeds; ++i) {
      request.seeds.push_back({.type = paper, .node = static_cast<NodeId>(draws.below(papers))});
    }
    return request;
  };
}

// How much was sampled in all, as rates and per batch.
class Counts {
 public:
  void add(const Subgraph& subgraph) {
    instances_ += subgraph.num_rows();
    edges_ += subgraph.num_edges();
    ++batches_;
  }
  void report(benchmark::State& state) const {
    using benchmark::Counter;
    state.counters["instances/s"] = Counter(static_cast<double>(instances_), Counter::kIsRate);
    state.counters["edges/s"] = Counter(static_cast<double>(edges_), Counter::kIsRate);
    state.counters["instances"] = static_cast<double>(instances_) / static_cast<double>(batches_);
    state.counters["edges"] = static_cast<double>(edges_) / static_cast<double>(batches_);
  }

 private:
  uint64_t instances_ = 0;
  uint64_t edges_ = 0;
  uint64_t batches_ = 0;
};

// --- batches ---

// What verify_subgraph says of one batch; "": nothing. Benchmarks are called several times over,
// the answer is kept.
std::string complaint(const HeteroGraph& graph, const SamplingOptions& options) {
  static std::map<std::string, std::string> complaints;
  const std::string what = fmt::format("{} {} {} {}", graph.folder().string(), options.width,
                                       options.depth, options.neighbor_cap);
  const auto [found, is_new] = complaints.emplace(what, "");
  if (!is_new) return found->second;
  try {
    const Request request = random_papers(graph)(1, 0);
    verify_subgraph(graph, request, options, sample(graph, request.seeds, options));
  } catch (const Error& error) {
    found->second = error.what();
  }
  return found->second;
}

void sample_batches(benchmark::State& state, const HeteroGraph& graph,
                    const SamplingOptions& options) {
  const std::string wrong = complaint(graph, options);
  if (!wrong.empty()) {
    state.SkipWithError(wrong.c_str());
    return;
  }
  const auto plan = random_papers(graph);
  Sampler sampler(graph, options);
  Subgraph subgraph;
  for (uint64_t number = 0; number < 5; ++number) {  // warms tables and pages
    sampler.sample(plan(1, number), number, subgraph);
  }
  Counts counts;
  uint64_t number = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const Request request = plan(0, number);
    state.ResumeTiming();
    sampler.sample(request, number++, subgraph);
    counts.add(subgraph);
  }
  counts.report(state);
}

struct Batch {
  Request question = {};
  Subgraph subgraph = {};
  std::vector<std::vector<float>> features = {};  // by type
};

void read_features(const HeteroGraph& graph, const Subgraph& subgraph,
                   std::vector<std::vector<float>>& blocks) {
  blocks.resize(graph.schema().node_types().size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    const NodeType type{static_cast<uint16_t>(i)};
    blocks[i].resize(subgraph.num_rows(type) * graph.features(type).width);
    graph.copy_features(type, subgraph.nodes_of(type), blocks[i]);
  }
}

void stream_batches(benchmark::State& state, Size size, unsigned workers, bool features) {
  const HeteroGraph& graph = *graphs.graph;
  BatchStream<Batch> stream(
      {.graph = graph,
       .sampling = size.options(),
       .range = {.count = UINT64_MAX, .workers = workers}},
      [papers = random_papers(graph)](uint64_t i) {
        return PlannedBatch<Request>{.question = papers(0, i), .random_seed = hash(0, i)};
      },
      [&graph, features](Batch& batch) {
        if (features) read_features(graph, batch.subgraph, batch.features);
      });
  Batch batch;
  for (int i = 0; i < 10; ++i) stream.next(batch);
  Counts counts;
  for (auto _ : state) {
    stream.next(batch);
    counts.add(batch.subgraph);
  }
  counts.report(state);
}

// Instances only: the reference leaves out the edges.
void sample_reference(benchmark::State& state, Size size) {
  const HeteroGraph& graph = *graphs.graph;
  const auto plan = random_papers(graph);
  uint64_t number = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(hgsampling_reference(graph, plan(0, number), size.options(), number));
    ++number;
  }
}

// --- parts of a batch ---

struct Parts {
  explicit Parts(Size size)
      : graph(*graphs.graph),
        options(size.options()),
        visibility(graph, options.hidden),
        pages(graph, memory_here()) {
    subgraph = sample(graph, random_papers(graph)(0, 0).seeds, options);
  }

  // Reads the lists of all instances as the sampler does, a type at a time.
  template <typename Touch, typename Visit>
  void read(CandidateReader& reader, const Touch& touch, const Visit& visit) {
    Draws draws(1);
    for (size_t i = 0; i < graph.schema().node_types().size(); ++i) {
      const NodeType type{static_cast<uint16_t>(i)};
      const size_t first = subgraph.type_offsets[i];
      const size_t count = subgraph.num_rows(type);
      reader.read({.type = type,
                   .nodes = std::span(subgraph.nodes).subspan(first, count),
                   .times = std::span(subgraph.times).subspan(first, count)},
                  {.cap = options.neighbor_cap}, draws, touch, visit);
    }
  }

  const HeteroGraph& graph;
  SamplingOptions options;
  Visibility visibility;
  PageRequests pages;
  Subgraph subgraph;
};

void part_read(benchmark::State& state, Size size) {
  Parts parts(size);
  CandidateReader reader(parts.graph, parts.visibility, parts.pages);
  uint64_t entries = 0;
  for (auto _ : state) {
    parts.read(
        reader, [](const CandidateList&) {},
        [&](const CandidateList& list) { entries += list.nodes.size(); });
  }
  state.counters["entries/s"] =
      benchmark::Counter(static_cast<double>(entries), benchmark::Counter::kIsRate);
  state.counters["entries"] =
      benchmark::Counter(static_cast<double>(entries), benchmark::Counter::kAvgIterations);
}

void part_read_and_add(benchmark::State& state, Size size) {
  Parts parts(size);
  CandidateReader reader(parts.graph, parts.visibility, parts.pages);
  std::vector<Budget> budgets(parts.graph.schema().node_types().size());
  for (auto _ : state) {
    for (Budget& budget : budgets) budget.clear();
    parts.read(
        reader,
        [&](const CandidateList& list) {
          for (size_t i = 0; i < list.nodes.size(); ++i) {
            budgets[index(list.type)].prefetch(list.nodes[i], list.times[i]);
          }
        },
        [&](const CandidateList& list) {
          for (size_t i = 0; i < list.nodes.size(); ++i) {
            budgets[index(list.type)].add(list.nodes[i], list.times[i], list.share);
          }
        });
  }
  double candidates = 0;
  for (const Budget& budget : budgets) candidates += budget.size();
  state.counters["candidates"] = candidates;
}

void part_connect(benchmark::State& state, Size size) {
  Parts parts(size);
  const Subgraph expected = parts.subgraph;
  Adjacency adjacency(parts.graph, parts.visibility, parts.pages, /*same_time=*/false);
  std::vector<uint32_t> rows(parts.subgraph.num_rows());
  for (uint32_t row = 0; row < rows.size(); ++row) rows[row] = row;
  for (auto _ : state) {
    adjacency.clear();
    adjacency.connect(parts.subgraph, rows);
    adjacency.write(parts.subgraph);
  }
  if (parts.subgraph != expected) state.SkipWithError("other edges");
}

void part_features(benchmark::State& state, Size size) {
  const Parts parts(size);
  std::vector<std::vector<float>> blocks;
  for (auto _ : state) read_features(parts.graph, parts.subgraph, blocks);
  uint64_t bytes = 0;
  for (const std::vector<float>& block : blocks) bytes += block.size() * sizeof(float);
  state.counters["GB/s"] = benchmark::Counter(static_cast<double>(bytes) * 1e-9,
                                              benchmark::Counter::kIsIterationInvariantRate);
}

// --- features from the disk and from memory, a row at a time and all at once ---

// Rows of random papers, with the file that they are in.
struct PaperRows {
  explicit PaperRows(const HeteroGraph& opened)
      : graph(opened),
        paper(graph.schema().node_type("paper")),
        width(graph.features(paper).width),
        file(File::open_to_read(graph.folder() / "paper" /
                                graph.schema().at(paper).features->file)) {
    file.sync();  // what has to be written yet cannot be forgotten
  }

  std::vector<NodeId> draw(uint64_t seed) const {
    constexpr uint64_t kRows = 4000;
    Draws draws(seed);
    std::vector<NodeId> nodes;
    for (uint64_t i = 0; i < kRows; ++i) {
      nodes.push_back(static_cast<NodeId>(draws.below(graph.num_nodes(paper))));
    }
    return nodes;
  }

  void forget() const { ::posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_DONTNEED); }

  void read_one_by_one(std::span<const NodeId> nodes, std::vector<float>& rows) const {
    std::vector<uint16_t> halves(width);
    for (size_t i = 0; i < nodes.size(); ++i) {
      file.read_at(halves.data(), width * 2, kArrayHeaderBytes + nodes[i] * width * 2);
      from_halves(halves, rows.data() + i * width);
    }
  }

  const HeteroGraph& graph;
  NodeType paper;
  uint64_t width;
  File file;
};

void read_rows(benchmark::State& state, bool cold, bool at_once) {
  const PaperRows papers(*graphs.graph);
  ::posix_fadvise(papers.file.descriptor(), 0, 0, POSIX_FADV_RANDOM);
  std::vector<float> rows(papers.draw(0).size() * papers.width);
  std::vector<float> expected = rows;
  uint64_t seed = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const std::vector<NodeId> nodes = papers.draw(cold ? seed++ : 0);
    papers.read_one_by_one(nodes, expected);
    if (cold) papers.forget();
    state.ResumeTiming();
    if (at_once) {
      papers.graph.copy_features(papers.paper, nodes, rows);
    } else {
      papers.read_one_by_one(nodes, rows);
    }
    if (rows != expected) state.SkipWithError("other numbers");
  }
  state.counters["rows/s"] = benchmark::Counter(static_cast<double>(rows.size() / papers.width),
                                                benchmark::Counter::kIsIterationInvariantRate);
}

// What a budget cannot do without: one read per entry, at random, of tables of its size.
void bound_random_reads(benchmark::State& state) {
  constexpr uint64_t kBytes = uint64_t{16} << 20U;
  constexpr uint64_t kReads = 1'000'000;
  std::vector<uint64_t> table(kBytes / sizeof(uint64_t), 1);
  uint64_t sum = 0;
  for (auto _ : state) {
    for (uint64_t i = 0; i < kReads; ++i) sum += table[mix64(i) % table.size()];
  }
  benchmark::DoNotOptimize(sum);
  state.counters["reads/s"] = benchmark::Counter(static_cast<double>(kReads),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

std::string rows_name(bool cold, bool at_once) {
  return fmt::format("rows/{}/{}", cold ? "cold" : "warm", at_once ? "at_once" : "one_by_one");
}

// --- all ---

template <typename Function>
void add(const std::string& name, Function function) {
  benchmark::RegisterBenchmark(name.c_str(), function)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

void register_all() {
  for (const Size size : kSizes) {
    add("sample/" + size.name(),
        [=](auto& state) { sample_batches(state, *graphs.graph, size.options()); });
    if (!graphs.large) continue;
    add("sample_large/" + size.name(),
        [=](auto& state) { sample_batches(state, *graphs.large, size.options()); });
  }
  for (const Size size : kSizes) {
    add("reference/" + size.name(), [=](auto& state) { sample_reference(state, size); });
    for (const unsigned workers : {1U, 2U}) {
      add(fmt::format("stream/{}/workers:{}", size.name(), workers),
          [=](auto& state) { stream_batches(state, size, workers, false); });
    }
  }
  add("stream_with_features/" + kSizes[1].name(),
      [=](auto& state) { stream_batches(state, kSizes[1], 1, true); });
  const Size largest = kSizes.back();
  const std::string name = "/" + largest.name();
  add("part/read" + name, [=](auto& state) { part_read(state, largest); });
  add("part/read_and_add" + name, [=](auto& state) { part_read_and_add(state, largest); });
  add("part/connect" + name, [=](auto& state) { part_connect(state, largest); });
  add("part/features" + name, [=](auto& state) { part_features(state, largest); });
  for (const bool cold : {true, false}) {
    for (const bool at_once : {false, true}) {
      add(rows_name(cold, at_once), [=](auto& state) { read_rows(state, cold, at_once); });
    }
  }
  add("bound/a_million_random_reads", bound_random_reads);
  for (const uint32_t cap : {0U, 10U, 200U}) {
    SamplingOptions options = kSizes[1].options();
    options.neighbor_cap = cap;
    add(fmt::format("sample_cap/{}/cap:{}", kSizes[1].name(), cap),
        [=](auto& state) { sample_batches(state, *graphs.graph, options); });
  }
}

int run() {
  register_all();
  RatioReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  fmt::print("\nratios of times in this run\n");
  for (const Size size : kSizes) {
    const std::string name = size.name();
    reporter.print_ratio("reference/" + name, "sample/" + name,
                         "plain loops, instances only : ours with all edges, " + name);
    reporter.print_ratio("stream/" + name + "/workers:1", "stream/" + name + "/workers:2",
                         "one worker : two, " + name);
    reporter.print_ratio("sample_large/" + name, "sample/" + name,
                         "the large graph : the graph, " + name);
  }
  for (const bool cold : {true, false}) {
    reporter.print_ratio(rows_name(cold, false), rows_name(cold, true),
                         fmt::format("{} rows one by one : at once", cold ? "cold" : "warm"));
  }
  const std::string largest = kSizes.back().name();
  for (const char* part : {"read", "read_and_add", "connect"}) {
    reporter.print_ratio(fmt::format("part/{}/{}", part, largest), "sample/" + largest,
                         fmt::format("of a batch is {}, {}", part, largest));
  }
  return reporter.failed() ? 1 : 0;
}

}  // namespace
}  // namespace hgt

int main(int argc, char** argv) {
  const auto papers = hgt::take_flag("papers", argc, argv);
  const auto graph = hgt::take_flag("graph", argc, argv);
  const auto large = hgt::take_flag("large", argc, argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  if (large) hgt::graphs.large = hgt::HeteroGraph::open(*large);
  if (graph) {
    hgt::graphs.graph = hgt::HeteroGraph::open(*graph);
    return hgt::run();
  }
  std::string folder = (std::filesystem::temp_directory_path() / "hgt-benchmark-XXXXXX").string();
  const std::filesystem::path made = ::mkdtemp(folder.data());
  const uint64_t number = papers ? std::strtoull(papers->c_str(), nullptr, 10) : 200'000;
  hgt::generate_academic_graph(made / "graph", {.preset = "cs", .papers = number, .features = 128});
  hgt::graphs.graph = hgt::HeteroGraph::open(made / "graph");
  const int code = hgt::run();
  std::filesystem::remove_all(made);
  return code;
}
