// Titles from word vectors: how fast a file of vectors is read for a vocabulary, and how fast
// titles become means of them, beside an obvious version that looks words up in a std::map.
//
//   word_vectors_benchmark [--papers=50000] [--benchmark_filter=...]
//
// The graph is generated; the file has random vectors of 100 numbers for nine of ten words of its
// titles, and as many words that no title has.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp is POSIX

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "benchmarks/flags.h"
#include "benchmarks/ratio_reporter.h"
#include "hgt/academic/academic_generator.h"
#include "hgt/features/vocabulary.h"
#include "hgt/features/word_mean.h"
#include "hgt/features/word_vectors.h"
#include "hgt/graph/words.h"
#include "hgt/random.h"

namespace hgt {
namespace {

constexpr uint64_t kWidth = 100;
constexpr uint64_t kTitlesAtOnce = 4096;
constexpr Time kNoBound = std::numeric_limits<Time>::max();

struct Work {
  HeteroGraph graph;
  NodeType paper;
  Path file;
};

void write_vectors(const Work& work) {
  const Vocabulary vocabulary(work.graph, work.paper, kNoBound, no_progress);
  std::ofstream out(work.file);
  for (uint32_t i = 0; i < 2 * vocabulary.size(); ++i) {
    const bool known = i < vocabulary.size();
    if (known && i % 10 == 0) continue;
    out << (known ? vocabulary.word(i) : fmt::format("other{}", i));
    for (uint64_t j = 0; j < kWidth; ++j) out << fmt::format(" {:.4f}", to_unit(hash(1, i, j)));
    out << '\n';
  }
}

void read_file(benchmark::State& state, const Work& work) {
  const Vocabulary vocabulary(work.graph, work.paper, kNoBound, no_progress);
  for (auto unused : state) {
    benchmark::DoNotOptimize(read_word_vectors(work.file, vocabulary, no_progress));
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * 2 *  // read twice
                          static_cast<int64_t>(std::filesystem::file_size(work.file)));
}

void encode_titles(benchmark::State& state, const Work& work) {
  Vocabulary vocabulary(work.graph, work.paper, kNoBound, no_progress);
  WordTable table = read_word_vectors(work.file, vocabulary, no_progress);
  WordMean mean(work.graph, work.paper, std::move(vocabulary), std::move(table), kNoBound);
  const uint64_t titles = work.graph.num_nodes(work.paper);
  std::vector<float> rows(kTitlesAtOnce * kWidth);
  std::vector<bool> missing(kTitlesAtOnce);
  for (auto unused : state) {
    for (uint64_t first = 0; first + kTitlesAtOnce <= titles; first += kTitlesAtOnce) {
      mean.read(static_cast<NodeId>(first), rows, missing);
    }
  }
  const uint64_t encoded = titles / kTitlesAtOnce * kTitlesAtOnce;
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * encoded));
}

void encode_obviously(benchmark::State& state, const Work& work) {
  std::map<std::string, std::vector<float>> vectors;
  std::ifstream in(work.file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream parts(line);
    std::string word;
    parts >> word;
    for (float value = 0; parts >> value;) vectors[word].push_back(value);
  }
  const uint64_t titles = work.graph.num_nodes(work.paper) / kTitlesAtOnce * kTitlesAtOnce;
  for (auto unused : state) {
    for (uint64_t n = 0; n < titles; ++n) {
      std::vector<double> sum(kWidth);
      for_each_word(work.graph.name(work.paper, static_cast<NodeId>(n)), [&](std::string_view w) {
        const auto found = vectors.find(std::string(w));
        if (found == vectors.end()) return;
        for (uint64_t j = 0; j < kWidth; ++j) sum[j] += found->second[j];
      });
      benchmark::DoNotOptimize(sum.data());
    }
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * titles));
}

int run(const Path& folder, uint64_t papers) {
  generate_academic_graph(folder / "graph", {.preset = "cs", .papers = papers, .features = 0});
  Work work{.graph = HeteroGraph::open(folder / "graph"), .paper = {}, .file = folder / "vectors"};
  work.paper = work.graph.schema().node_type("paper");
  write_vectors(work);
  const auto add = [&](const char* name, void (*measure)(benchmark::State&, const Work&)) {
    benchmark::RegisterBenchmark(name, [measure, &work](benchmark::State& s) { measure(s, work); })
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  };
  add("read_word_vectors", read_file);
  add("titles", encode_titles);
  add("titles_obvious", encode_obviously);
  RatioReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  reporter.print_ratio("titles_obvious", "titles", "obvious : ours");
  return 0;
}

}  // namespace
}  // namespace hgt

int main(int argc, char** argv) {
  const auto papers = hgt::take_flag("papers", argc, argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  std::string folder = (std::filesystem::temp_directory_path() / "hgt-benchmark-XXXXXX").string();
  const std::filesystem::path made = ::mkdtemp(folder.data());
  const int code = hgt::run(made, papers ? std::strtoull(papers->c_str(), nullptr, 10) : 50'000);
  std::filesystem::remove_all(made);
  return code;
}
