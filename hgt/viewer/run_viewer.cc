#include "hgt/viewer/run_viewer.h"

#include <fmt/format.h>

#include <charconv>

#include "hgt/error.h"
#include "hgt/graph/time_text.h"
#include "hgt/insight/explain.h"
#include "hgt/insight/insight_json.h"
#include "hgt/insight/similarity.h"
#include "hgt/model/machine.h"

namespace hgt {

namespace {

using Clock = std::chrono::steady_clock;
using Json = OrderedJson;

constexpr size_t kSearchLimit = 20;
constexpr auto kSearchTime = std::chrono::milliseconds(2000);
constexpr uint64_t kMostSimilar = 50;
constexpr uint64_t kBranches = 4;
constexpr uint32_t kSamples =
    2;  // sub-graphs that an answer is the mean of; hgt explain takes more
// The page brings a stricter policy of its own; this one counts where it is not read.
constexpr const char* kPagePolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src "
    "'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

Answer json_answer(const Json& json) {
  return {.type = "application/json; charset=utf-8", .body = json_text(json)};
}

const std::string& needed(const Query& query, const char* name) {
  const auto found = query.find(name);
  if (found == query.end() || found->second.empty()) {
    throw BadRequest(fmt::format("the parameter '{}' is missing", name));
  }
  return found->second;
}

std::string value_or(const Query& query, const char* name, const char* otherwise) {
  const auto found = query.find(name);
  return found == query.end() ? otherwise : found->second;
}

uint64_t count_of(const std::string& text, uint64_t most) {
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stopped != end || number == 0 || number > most) {
    throw BadRequest(fmt::format("'{}' is not a number from 1 to {}", text, most));
  }
  return number;
}

NodeType type_named(const Schema& schema, const std::string& name) {
  for (size_t i = 0; i < schema.node_types().size(); ++i) {
    if (schema.node_types()[i].name == name) return NodeType(i);
  }
  throw NotFound(fmt::format("there is no node type '{}'", name));
}

}  // namespace

struct RunViewer::State {
  State(const Run& viewed, std::string page_text, const ViewerOptions& how)
      : run(viewed),
        graph(viewed.task().graph()),
        page(std::move(page_text)),
        options(how),
        report(viewed, how.report),
        search(graph) {}

  Seed node_of(const Query& query) const {
    const NodeType type = type_named(graph.schema(), needed(query, "type"));
    const std::string& id = needed(query, "id");
    const auto node = graph.find(type, id);
    if (!node)
      throw NotFound(
          fmt::format("there is no node of type {} with the id '{}'", query.at("type"), id));
    return {.type = type, .node = *node};
  }

  Time time_of(const Query& query, bool has_times) const {
    const std::string text = value_or(query, "at", "");
    if (!has_times) {
      if (text.empty()) return kNoTime;
      throw BadRequest("nodes of this type cannot be given a time; leave it out");
    }
    if (text.empty()) return graph.schema().time_range->second;
    const auto time = parse_time(text, TimeFormat::date, graph.schema().time_unit);
    if (time) return *time;
    throw BadRequest(fmt::format("'{}' is not a time in the unit {}", text,
                                 to_string(graph.schema().time_unit)));
  }

  // Gives up when a request takes too long or nobody waits for its answer.
  ProgressSink limit(const Unwanted& unwanted) const {
    return [this, &unwanted, end = Clock::now() + options.patience](const Progress&) {
      if (unwanted()) throw Busy("the viewer is stopping");
      if (Clock::now() > end) {
        throw Busy(fmt::format(
            "this takes longer than {} s; use `hgt report` or `hgt similar` instead",
            std::chrono::duration_cast<std::chrono::seconds>(options.patience).count()));
      }
    };
  }

  Similarity& similarity(NodeType type) {
    const auto found = similarities.find(type);
    if (found != similarities.end()) return found->second;
    const uint64_t among = graph.num_nodes(type) > options.among ? options.among : 0;
    try {
      return similarities.emplace(type, Similarity(run, type, {.among = among})).first->second;
    } catch (const Error& nothing) {  // the model learned nothing about such nodes
      throw NotFound(nothing.what());
    }
  }

  Json found_json(const FoundNodes& found) const {
    Json nodes = Json::array();
    for (const FoundNode& one : found.nodes) {
      const Time time = graph.time(one.type, one.node);
      nodes.push_back(
          {{"type", graph.schema().at(one.type).name},
           {"id", graph.id(one.type, one.node)},
           {"name", graph.name(one.type, one.node)},
           {"time", time == kNoTime ? "" : format_time(time, graph.schema().time_unit)}});
    }
    return {{"nodes", nodes}, {"stopped_early", found.stopped_early}};
  }

  Json find(const Query& query) const {
    const std::string type = value_or(query, "type", "");
    const auto searched =
        type.empty() ? std::optional<NodeType>() : type_named(graph.schema(), type);
    return found_json(
        search.find(searched, value_or(query, "q", ""), kSearchLimit, Clock::now() + kSearchTime));
  }

  Json node(const Query& query, const ProgressSink& limit) {
    Seed seed = node_of(query);
    const bool plain = graph.times(seed.type).empty();
    if (plain && graph.schema().time_range) seed.time = graph.schema().time_range->second;
    if (!explainer) explainer.emplace(run);
    const ExplainOptions how{.samples = kSamples, .prediction_suffices = true};
    return to_json(explainer->explain(seed, how, limit), graph.schema(), kBranches, WithSvg::yes);
  }

  Json similar(const Query& query, const ProgressSink& limit) {
    const Seed seed = node_of(query);
    const uint64_t top = count_of(value_or(query, "top", "10"), kMostSimilar);
    Similarity& among = similarity(seed.type);
    const Time time = time_of(query, among.has_times());
    Json nearest = Json::array();
    for (const SimilarNode& other : among.nearest(seed.node, time, top, limit)) {
      nearest.push_back({{"id", graph.id(seed.type, other.node)},
                         {"name", graph.name(seed.type, other.node)},
                         {"distance", other.distance},
                         {"similarity", other.similarity}});
    }
    const NearestRows& rows = among.at(time).rows;
    return {{"time", time == kNoTime ? "" : format_time(time, graph.schema().time_unit)},
            {"among", among.describe()},
            {"is_there", among.is_there(seed.node, time)},
            {"recall", rows.is_exact() ? Json(nullptr) : Json(rows.recall())},
            {"nearest", nearest}};
  }

  // Heavy routes run one at a time, so what they keep needs no lock.
  template <typename Make>
  HeavyResponder heavy(Make make) {
    return [this, make](const HttpRequest& request, const Unwanted& unwanted) {
      set_compute_threads(run.options().training.pipeline.threads);  // of this thread's own
      return json_answer(make(request.query, limit(unwanted)));
    };
  }

  template <typename Make>
  void add_section(HttpServer& server, const std::string& path, Make make) {
    server.heavy_route({.path = path}, heavy([this, path, make](const Query&, const auto& limit) {
                         const auto found = sections.find(path);
                         if (found != sections.end()) return found->second;
                         return sections.emplace(path, make(limit)).first->second;
                       }));
  }

  const Run& run;
  HeteroGraph graph;
  std::string page;
  ViewerOptions options;
  RunReport report;
  NodeSearch search;
  std::optional<NodeExplainer> explainer;  // once it is asked for
  std::map<NodeType, Similarity> similarities;
  std::map<std::string, Json> sections;
};

RunViewer::RunViewer(const Run& run, std::string page, const ViewerOptions& options)
    : state_(std::make_unique<State>(run, std::move(page), options)) {}
RunViewer::~RunViewer() = default;

void RunViewer::add_routes(HttpServer& server) {
  State* state = state_.get();
  server.route({.path = "/"}, [state](const HttpRequest&) {
    return Answer{.type = "text/html; charset=utf-8", .body = state->page, .policy = kPagePolicy};
  });
  server.route({.path = "/api/report"}, [state](const HttpRequest&) {
    return json_answer(report_json({state->report.from_files()}, true));
  });
  server.route(
      {.path = "/api/search", .parameters = {"type", "q"}},
      [state](const HttpRequest& request) { return json_answer(state->find(request.query)); });
  server.heavy_route({.path = "/api/node", .parameters = {"type", "id"}},
                     state->heavy([state](const Query& query, const auto& limit) {
                       return state->node(query, limit);
                     }));
  server.heavy_route({.path = "/api/similar", .parameters = {"type", "id", "at", "top"}},
                     state->heavy([state](const Query& query, const auto& limit) {
                       return state->similar(query, limit);
                     }));
  const RunReport& report = state->report;
  const auto add = [&](const char* path, const auto& make) {
    state->add_section(server, path, make);
  };
  add("/api/confusion", [&](const auto& limit) { return report.confusion(limit); });
  add("/api/attention", [&](const auto& limit) { return report.attention(limit); });
  add("/api/evolution", [&](const auto& limit) { return report.evolution(limit); });
  add("/api/balance", [&](const auto& limit) { return report.balance(limit); });
}

}  // namespace hgt
