// sample: one sub-graph, shown.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/graph/sample_report.h"
#include "cli/node_words.h"
#include "cli/program.h"
#include "cli/progress_bar.h"
#include "cli/verbs.h"
#include "hgt/error.h"
#include "hgt/graph/hetero_graph.h"
#include "hgt/graph/time_text.h"
#include "hgt/graph/verified_arrays.h"
#include "hgt/random.h"
#include "hgt/sampling/sampler.h"
#include "hgt/sampling/subgraph_check.h"
#include "hgt/sampling/time_split.h"
#include "hgt/sampling/uniform_choice.h"

namespace hgt::cli {

namespace {

using Clock = std::chrono::steady_clock;

// Tells the draws of --random from those of the sampler.
constexpr uint64_t kSeedStream = 0x5eed;

struct SampleFlags {
  std::string graph;
  std::vector<std::string> nodes;
  std::string random;
  std::string split = "any";
  std::string strategy = "hgsampling";
  std::string time_bound = "split";
  std::string train_end;
  std::string validation_end;
  std::vector<std::string> hide;
  SamplingOptions options;
  uint64_t rows = 20;
  bool verify = false;
  bool json = false;
};

// --- the words of the command line ---

std::optional<uint64_t> positive_number(const std::string& text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && number > 0 ? std::optional(number) : std::nullopt;
}

// CLI11 takes a text for a complaint, an empty one for none.
std::string check_node_word(const std::string& word) {
  return divide(word) ? "" : fmt::format("'{}' is not TYPE:ID or TYPE:ID@TIME", word);
}

std::string check_random_word(const std::string& word) {
  const auto parts = divide(word);
  const bool good = parts && positive_number(parts->second);
  return good ? "" : fmt::format("'{}' is not TYPE:N with a number N of nodes", word);
}

// --- seeds ---

// "any" is Split::none.
Split named_split(const std::string& name) { return find_word<Split>(name).value_or(Split::none); }

std::vector<NodeId> nodes_in(const HeteroGraph& graph, NodeType type, const TimeSplit& time_split,
                             Split split) {
  std::vector<NodeId> nodes;
  const auto times = graph.times(type);
  for (size_t node = 0; node < times.size(); ++node) {
    if (time_split.split_of(times[node]) == split) nodes.push_back(static_cast<NodeId>(node));
  }
  return nodes;
}

std::vector<Seed> draw_seeds(const HeteroGraph& graph, const SampleFlags& flags,
                             const TimeSplit& time_split) {
  const auto [type_name, number] = divide(flags.random).value();
  const NodeType type = graph.schema().node_type(type_name);
  const uint64_t wanted = positive_number(number).value();
  const Split split = named_split(flags.split);
  const bool any = split == Split::none;
  if (!any && graph.times(type).empty()) {
    throw Error(fmt::format("--split {}: nodes of type {} have no time, so they belong to no split",
                            flags.split, type_name));
  }
  const auto nodes = any ? std::vector<NodeId>() : nodes_in(graph, type, time_split, split);
  const uint64_t available = any ? graph.num_nodes(type) : nodes.size();
  if (wanted > available) {
    throw Error(fmt::format("--random {}: there are only {}{}", flags.random, available,
                            any ? "" : " in the split " + flags.split));
  }
  std::vector<Seed> seeds;
  Draws draws(hash(flags.options.seed, kSeedStream));
  UniformChoice().choose(available, wanted, draws, [&](uint64_t position) {
    seeds.push_back({.type = type, .node = any ? static_cast<NodeId>(position) : nodes[position]});
  });
  return seeds;
}

std::vector<Seed> choose_seeds(const HeteroGraph& graph, const SampleFlags& flags,
                               const TimeSplit& time_split) {
  if (!flags.random.empty()) return draw_seeds(graph, flags, time_split);
  std::vector<Seed> seeds;
  for (const std::string& word : flags.nodes) seeds.push_back(parse_seed(graph, word));
  return seeds;
}

// --- bound and hidden edges ---

TimeSplit read_time_split(const Schema& schema, const SampleFlags& flags) {
  TimeSplit split = default_time_split(schema.time_unit);
  const auto read = [&](const char* option, const std::string& text, Time& end) {
    if (text.empty()) return;
    const auto time = parse_end(text, schema.time_unit);
    if (!time) report_time(schema, option, text);
    end = *time;
  };
  read("--train-end", flags.train_end, split.train_end);
  read("--validation-end", flags.validation_end, split.validation_end);
  check_time_split(split, schema.time_unit);
  return split;
}

// The split in which the latest seed lies; none: no seed has a time.
Split latest_split(const HeteroGraph& graph, const std::vector<Seed>& seeds,
                   const TimeSplit& time_split) {
  Time latest = kNoTime;
  for (const Seed& seed : seeds) {
    const Time own = graph.time(seed.type, seed.node);
    latest = std::max(latest, own == kNoTime ? seed.time : own);
  }
  return time_split.split_of(latest);
}

// The relations of an edge type. Their reverses are hidden with them.
std::vector<Relation> relations_of(const Schema& schema, const std::string& edge) {
  std::vector<Relation> found;
  for (size_t i = 0; i < schema.relations().size(); ++i) {
    if (schema.relations()[i].edge == edge) found.push_back(Relation(i));
  }
  if (!found.empty()) return found;
  std::vector<std::string> known;
  for (const EdgeTypeSpec& spec : schema.edge_types()) known.push_back(spec.name);
  throw Error(fmt::format("there is no edge type '{}'; the edge types are {}", edge,
                          fmt::join(known, ", ")));
}

// --- the verb ---

// An option without effect is a misunderstanding.
void refuse_idle_options(const CLI::App& verb, const SampleFlags& flags) {
  const auto refuse = [&](const char* option, bool has_effect, const char* reason) {
    if (!has_effect && verb.count(option) > 0) throw CLI::ValidationError(option, reason);
  };
  const bool hgsampling = flags.strategy == "hgsampling";
  const bool neighbors = flags.strategy == "neighbors";
  const bool splits = flags.time_bound == "split" || flags.split != "any";
  refuse("--width", hgsampling, "only --strategy hgsampling has a width");
  refuse("--neighbor-cap", hgsampling, "only --strategy hgsampling has a cap");
  refuse("--depth", !neighbors, "--strategy neighbors goes as many hops as --fanout has numbers");
  refuse("--fanout", neighbors, "only --strategy neighbors has fan-outs");
  refuse("--recent", neighbors, "only --strategy neighbors takes entries of lists");
  refuse("--seed-width", hgsampling && flags.time_bound == "seed",
         "only --strategy hgsampling with --time-bound seed has it");
  refuse("--split", !flags.random.empty(), "it chooses among the nodes of --random");
  refuse("--train-end", splits, "neither --time-bound nor --split needs it");
  refuse("--validation-end", splits, "neither --time-bound nor --split needs it");
}

void run_sample(const SampleFlags& flags) {
  ProgressBar bar(false);
  SampleResult result{.graph = open_verified(flags.graph, bar.sink()), .options = flags.options};
  const Schema& schema = result.graph.schema();
  result.options.strategy = from_word<Strategy>(flags.strategy);
  result.options.time_bound = from_word<TimeBound>(flags.time_bound);
  result.time_split = read_time_split(schema, flags);
  const Request request{.seeds = choose_seeds(result.graph, flags, result.time_split)};
  result.split = latest_split(result.graph, request.seeds, result.time_split);
  if (result.options.time_bound == TimeBound::split) {
    result.options.split_end = result.time_split.last_time(result.split);
  }
  result.hidden = flags.hide;
  for (const std::string& edge : flags.hide) {
    const auto relations = relations_of(schema, edge);
    auto& hidden = result.options.hidden.at_seeds;
    hidden.insert(hidden.end(), relations.begin(), relations.end());
  }
  const auto start = Clock::now();
  result.subgraph = sample(result.graph, request.seeds, result.options);
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (flags.verify) verify_subgraph(result.graph, request, result.options, result.subgraph);
  result.verified = flags.verify;
  fmt::print("{}", flags.json ? sample_json(result) : sample_text(result, flags.rows));
}

void add_seed_options(CLI::App& verb, SampleFlags& flags) {
  CLI::Option* node =
      verb.add_option(
              "--node", flags.nodes,
              "Seed node by its id, such as venue:KDD@2010; can be repeated. Without a time, "
              "event nodes have their own time and other nodes have none")
          ->allow_extra_args(false)
          ->check(check_node_word, "")
          ->type_name("TYPE:ID[@TIME]");
  CLI::Option* random =
      verb.add_option("--random", flags.random, "Draw N random seed nodes of a type")
          ->check(check_random_word, "")
          ->type_name("TYPE:N");
  node->excludes(random);
  verb.add_option("--split", flags.split, "Split that --random draws nodes from")
      ->check(CLI::IsMember({"train", "validation", "test", "any"}))
      ->capture_default_str();
}

void add_size_options(CLI::App& verb, SampleFlags& flags) {
  verb.add_option(
          "--strategy", flags.strategy,
          "How to sample: hgsampling = the paper's algorithm, neighbors = a fixed number of "
          "neighbors per hop, full = all neighbors")
      ->check(CLI::IsMember(all_words<Strategy>()))
      ->capture_default_str();
  verb.add_option("--width", flags.options.width,
                  "Nodes sampled per node type and step (only with --strategy hgsampling)")
      ->capture_default_str();
  verb.add_option("--depth", flags.options.depth,
                  "Sampling steps with --strategy hgsampling, hops with --strategy full")
      ->capture_default_str();
  verb.add_option(
          "--neighbor-cap", flags.options.neighbor_cap,
          "Look at no more than this many random neighbors in each list (0 = all; only with "
          "--strategy hgsampling)")
      ->capture_default_str()
      ->group(kAdvanced);
  verb.add_option(
          "--fanout", flags.options.fanout,
          "Neighbors drawn from each list, one number per hop (0 = all; only with --strategy "
          "neighbors)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("10,5")
      ->group(kAdvanced);
  verb.add_flag("--recent", flags.options.recent,
                "Take the latest neighbors of each list instead of random ones (only with "
                "--strategy neighbors)")
      ->group(kAdvanced);
  verb.add_flag("--same-time", flags.options.same_time,
                "Nodes without a time of their own are read only by nodes of the time that they "
                "were drawn at, instead of by all their neighbors")
      ->group(kAdvanced);
  verb.add_option(
          "--seed-width", flags.options.seed_width,
          "Nodes sampled per node type and step for the seeds of one time, at least (only with "
          "--time-bound seed and --strategy hgsampling)")
      ->capture_default_str()
      ->group(kAdvanced);
  verb.add_option("--seed", flags.options.seed,
                  "Seed of all random numbers; the same seed gives the same sub-graph")
      ->capture_default_str();
}

void add_bound_options(CLI::App& verb, SampleFlags& flags) {
  verb.add_option("--time-bound", flags.time_bound,
                  "Latest time that the sub-graph may contain: split = the end of the split of the "
                  "latest seed, seed = the time of each seed, none = no limit")
      ->check(CLI::IsMember({"split", "seed", "none"}))
      ->capture_default_str()
      ->group(kAdvanced);
  verb.add_option("--train-end", flags.train_end,
                  "Last time that belongs to training (default: 2014)")
      ->type_name("TIME")
      ->group(kAdvanced);
  verb.add_option(
          "--validation-end", flags.validation_end,
          "Last time that belongs to validation; later nodes are for testing (default: 2016)")
      ->type_name("TIME")
      ->group(kAdvanced);
  verb.add_option(
          "--hide", flags.hide,
          "Hide the edges of this type that begin or end at a seed, in both directions; can "
          "be repeated")
      ->allow_extra_args(false)
      ->type_name("EDGE")
      ->group(kAdvanced);
}

}  // namespace

void add_sample(CLI::App& verb) {
  auto flags = std::make_shared<SampleFlags>();
  verb.add_option("graph", flags->graph, "Folder of the graph")->required()->type_name("GRAPH");
  add_seed_options(verb, *flags);
  add_size_options(verb, *flags);
  add_bound_options(verb, *flags);
  verb.add_flag("--verify", flags->verify, "Check that the sub-graph agrees with the graph")
      ->group(kAdvanced);
  CLI::Option* json = verb.add_flag("--json", flags->json,
                                    "Print JSON with all instances and edges instead of text");
  verb.add_option("--rows", flags->rows, "Number of instances to list (0 = none)")
      ->capture_default_str()
      ->excludes(json);
  verb.callback([flags, &verb] {
    if (flags->nodes.empty() && flags->random.empty()) {
      throw CLI::RequiredError("--node or --random");
    }
    refuse_idle_options(verb, *flags);
    run_sample(*flags);
  });
}

}  // namespace hgt::cli
