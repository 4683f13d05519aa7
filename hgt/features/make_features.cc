#include "hgt/features/make_features.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "hgt/error.h"
#include "hgt/features/fasttext_words.h"
#include "hgt/features/feature_plan.h"
#include "hgt/features/feature_source.h"
#include "hgt/features/neighbor_mean.h"
#include "hgt/features/pretrained_titles.h"
#include "hgt/features/recipe.h"
#include "hgt/features/vocabulary.h"
#include "hgt/features/walk_vectors.h"
#include "hgt/features/word_mean.h"
#include "hgt/features/word_vectors.h"
#include "hgt/graph/array_file.h"
#include "hgt/graph/feature_set_writer.h"
#include "hgt/graph/feature_sets.h"
#include "hgt/graph/feature_writer.h"
#include "hgt/graph/verified_arrays.h"

namespace hgt {

namespace fs = std::filesystem;

namespace {

// Whether anything but the node itself goes into its features.
bool knows_others(const FeatureStep& step) {
  return step.kind() != StepKind::text || step.encoder == TextEncoder::fasttext ||
         step.encoder == TextEncoder::vectors;
}

// What steps with other options left unfinished.
void remove_others(const Path& folder, const std::string& prefix, const std::string& kept) {
  std::vector<Path> others;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool ours = name.starts_with(prefix) && entry.is_regular_file();  // types are folders
    if (ours && !name.starts_with(kept)) others.push_back(entry.path());
  }
  for (const Path& other : others) fs::remove(other);
}

// As they were declared, each once.
std::vector<std::string> edge_types(const std::vector<Relation>& relations, const Schema& schema) {
  std::vector<std::string> edges;
  for (const Relation relation : relations) {
    const bool reverse = schema.at(relation).reverse;
    edges.push_back(schema.at(reverse ? schema.reverse(relation) : relation).edge);
  }
  return edges;
}

// One step of a set.
class Maker {
 public:
  Maker(FeatureSetWriter& set, const FeatureStep& step, const ProgressSink& progress)
      : set_(set),
        graph_(set.graph()),
        plan_(plan_step(step, graph_)),
        step_(plan_.step),
        reach_(plan_.reach),
        progress_(progress) {}

  std::vector<MadeFeatures> make(bool again) {
    std::vector<std::string> to_do;
    for (const std::string& type : step_.types) {
      const auto has = features_there(type, again);
      if (has) made_.push_back({.type = type, .spec = *has, .already = true});
      if (!has) to_do.push_back(type);
    }
    if (!to_do.empty() && step_.kind() == StepKind::walks) {
      make_walks(to_do);
    } else {
      for (const std::string& type : to_do) make_one(type);
    }
    for (const std::string& type : plan_.unmet) {
      leave_out(type, fmt::format("no edges that may be used lead to {}", type));
    }
    const bool nothing = std::all_of(made_.begin(), made_.end(),
                                     [](const MadeFeatures& one) { return !one.left_out.empty(); });
    if (nothing) throw NoFeatures(made_.front().left_out);
    return made_;
  }

 private:
  std::string key(const std::string& type) const {
    return key_of_features(plan_, type, graph_.schema());
  }

  // Those that the set has got from this step, or gets from a set that has the same.
  std::optional<FeatureSpec> features_there(const std::string& type, bool again) {
    if (set_.has_made(type)) return graph_.schema().at(graph_.schema().node_type(type)).features;
    if (again) return std::nullopt;
    const auto found = find_features(read_schema(set_.folder()), type, key(type));
    if (found) set_.add(type, *found);
    return found;
  }

  void leave_out(const std::string& type, const std::string& why) {
    made_.push_back({.type = type, .spec = {}, .left_out = why});
  }

  void make_one(const std::string& type) {
    const Path kept = set_.folder() / type / ("fasttext_" + key(type));
    remove_others(kept.parent_path(), "fasttext_", kept.filename().string());
    try {
      const auto source =
          step_.kind() == StepKind::mean ? mean_source(type) : text_source(type, kept);
      made_.push_back({.type = type, .spec = write(type, *source)});
    } catch (const NoFeatures& nothing) {
      leave_out(type, nothing.what());
    }
    fs::remove(kept);
  }

  // All types of a step come from the same walks.
  void make_walks(const std::vector<std::string>& types) {
    const std::string joint = fmt::format("{}", fmt::join(step_.types, ","));
    const Path kept = set_.folder() / ("walks_" + key(joint));
    remove_others(kept.parent_path(), "walks_", kept.filename().string());
    std::optional<WalkTraining> training;
    try {
      training.emplace(graph_, step_, reach_, kept, progress_);
    } catch (const NoFeatures& nothing) {
      for (const std::string& type : types) leave_out(type, nothing.what());
      return;
    }
    training->train(progress_);
    for (const std::string& type : types) {
      WalkVectors source(*training, graph_.schema().node_type(type));
      try {
        made_.push_back({.type = type, .spec = write(type, source)});
      } catch (const NoFeatures& nothing) {
        leave_out(type, nothing.what());
      }
    }
    training->remove_files();
  }

  std::unique_ptr<FeatureSource> mean_source(const std::string& type) const {
    refuse_hidden_source();
    return std::make_unique<NeighborMean>(graph_, relations_used(plan_, type, graph_.schema()),
                                          reach_);
  }

  std::unique_ptr<FeatureSource> text_source(const std::string& type, const Path& kept) const {
    const NodeType number = graph_.schema().node_type(type);
    if (step_.encoder == TextEncoder::hashed) {
      return std::make_unique<HashedWords>(graph_, number, step_.width);
    }
    if (auto titles = open_pretrained(step_, graph_, number)) return titles;
    Vocabulary vocabulary(graph_, number, reach_.until, progress_);
    if (vocabulary.size() == 0) report_nothing(type);
    WordTable table = step_.encoder == TextEncoder::vectors
                          ? read_word_vectors(step_.vectors, vocabulary, progress_)
                          : train_fasttext(graph_, number, vocabulary, reach_.until,
                                           {.width = step_.width,
                                            .epochs = step_.epochs,
                                            .threads = step_.threads,
                                            .seed = step_.seed,
                                            .kept = kept},
                                           progress_);
    return std::make_unique<WordMean>(graph_, number, std::move(vocabulary), std::move(table),
                                      reach_.until);
  }

  FeatureSpec write(const std::string& type, FeatureSource& source) const {
    FeatureWriter writer(set_, type, spec_of(type, source.width()));
    const bool titles = step_.kind() == StepKind::text;
    Progress report{.stage = "features of " + type, .unit = titles ? "titles" : "nodes"};
    const auto tell = [&] {
      report.count = writer.rows();
      report.fraction = static_cast<double>(writer.rows()) / static_cast<double>(writer.nodes());
      report.finished = writer.rows() == writer.nodes();
      progress_(report);
    };
    if (writer.rows() < writer.nodes()) tell();  // where it begins
    std::vector<float> rows;
    std::vector<bool> missing;
    while (writer.rows() < writer.nodes()) {
      missing.assign(std::min(source.rows_at_once(), writer.nodes() - writer.rows()), false);
      rows.assign(missing.size() * source.width(), 0.0F);
      source.read(static_cast<NodeId>(writer.rows()), rows, missing);
      writer.append(rows, missing);
      tell();
    }
    if (writer.missing() == writer.nodes()) {
      writer.discard();
      report_nothing(type);
    }
    const bool counted = is_left_out_of(plan_, type, graph_.schema());
    return writer.finish(counted ? source.counts() : std::vector<uint32_t>());
  }

  FeatureSpec spec_of(const std::string& type, uint64_t width) const {
    const Schema& schema = graph_.schema();
    FeatureSpec spec{.width = width,
                     .type = step_.precision,
                     .origin = describe(plan_, schema),
                     .key = key(type),
                     .edges = edge_types(relations_used(plan_, type, schema), schema)};
    if (knows_others(step_)) spec.until = last_known(schema);
    if (step_.kind() == StepKind::mean) {
      add_source(spec);
      add_mean(type, spec);
    }
    std::sort(spec.edges.begin(), spec.edges.end());
    spec.edges.erase(std::unique(spec.edges.begin(), spec.edges.end()), spec.edges.end());
    return spec;
  }

  // Without a bound it is the last time of the graph: for another task that may be too late.
  std::optional<Time> last_known(const Schema& schema) const {
    if (reach_.bounded()) return reach_.until;
    if (schema.time_range) return schema.time_range->second;
    return std::nullopt;
  }

  // What is hidden can be left out of a mean, but not of what it is a mean of.
  void refuse_hidden_source() const {
    const Schema& schema = graph_.schema();
    const auto& source = schema.at(schema.node_type(step_.mean_of)).features;
    std::vector<Relation> hidden;
    for (size_t i = 0; i < schema.relations().size(); ++i) {
      if (reach_.hidden_by_batch[i]) hidden.push_back(Relation(i));
    }
    for (const std::string& edge : edge_types(hidden, schema)) {
      const bool used = source && std::find(source->edges.begin(), source->edges.end(), edge) !=
                                      source->edges.end();
      if (!used) continue;
      throw Error(fmt::format(
          "features of {0} came by edges of type {1}, which task {2} predicts or hides, so a mean "
          "of them would give answers away; take the mean of another type, or use --metapath2vec",
          step_.mean_of, edge, step_.task));
    }
  }

  void add_mean(const std::string& type, FeatureSpec& spec) const {
    const Schema& schema = graph_.schema();
    if (!is_left_out_of(plan_, type, schema)) return;
    spec.type = FeatureType::float32;
    spec.mean = MeanSpec{.source = step_.mean_of};
    for (const Relation relation : relations_used(plan_, type, schema)) {
      spec.mean->edges.push_back(schema.at(relation).edge);
    }
    if (reach_.bounded()) spec.mean->until = reach_.until;
  }

  // A mean knows all that its source knows.
  void add_source(FeatureSpec& spec) const {
    const FeatureSpec& source =
        *graph_.schema().at(graph_.schema().node_type(step_.mean_of)).features;
    if (spec.until && source.until) spec.until = std::max(*spec.until, *source.until);
    spec.edges.insert(spec.edges.end(), source.edges.begin(), source.edges.end());
    spec.mean_of = step_.mean_of + "/" + source.file;
  }

  [[noreturn]] void report_nothing(const std::string& type) const {
    throw NoFeatures(fmt::format(
        "no node of type {} would get features from {}{}", type, describe(plan_, graph_.schema()),
        reach_.bounded() ? "; give the end of training with --until" : ""));
  }

  FeatureSetWriter& set_;
  HeteroGraph graph_;
  PlannedStep plan_;
  const FeatureStep& step_;  // plan_'s
  const Reach& reach_;       // plan_'s
  const ProgressSink& progress_;
  std::vector<MadeFeatures> made_;
};

// What the steps gave to a set that is there.
std::vector<MadeFeatures> made_as_before(const std::vector<FeatureStep>& steps,
                                         const FeatureSet& set) {
  std::vector<MadeFeatures> made;
  for (const FeatureStep& step : steps) {
    for (const std::string& type : step.types) {
      const auto has = set.types.find(type);
      const bool own = has != set.types.end() && !has->second.key.empty();
      if (own) made.push_back({.type = type, .spec = has->second, .already = true});
    }
  }
  return made;
}

// The set, if it is there and was made in the same way.
const FeatureSet* find_same(const Schema& stored, const FeatureSetOptions& options,
                            const std::string& key) {
  const FeatureSet* has = find_feature_set(stored, options.name);
  return has != nullptr && has->key == key && !options.again ? has : nullptr;
}

std::vector<MadeFeatures> make_step(FeatureSetWriter& set, const FeatureStep& step,
                                    const FeatureSetOptions& options,
                                    const ProgressSink& progress) {
  try {
    return Maker(set, step, progress).make(options.again);
  } catch (const NoFeatures& nothing) {
    if (!options.lenient) throw;
    return {{.type = {}, .spec = {}, .left_out = nothing.what()}};
  }
}

// What one step comes to; `done`: types that an unfinished set has got from it.
void plan_types(const PlannedStep& plan, const std::vector<std::string>& done, bool again,
                const HeteroGraph& base, std::vector<PlannedFeatures>& planned) {
  const Schema stored = read_schema(base.folder());
  const Schema& schema = base.schema();
  bool first = true;
  for (const std::string& type : plan.step.types) {
    PlannedFeatures one{.type = type,
                        .nodes = base.num_nodes(schema.node_type(type)),
                        .origin = describe(plan, schema)};
    one.already = std::find(done.begin(), done.end(), type) != done.end();
    // What a mean is made of may be new itself.
    if (!one.already && !again && plan.step.kind() != StepKind::mean) {
      one.already = find_features(stored, type, key_of_features(plan, type, schema)).has_value();
    }
    if (!one.already) one.seconds = estimate_seconds(plan, type, base, first);
    first = first && one.already;
    planned.push_back(std::move(one));
  }
}

// Types that the step, or a later one, has given features in an unfinished set of this key.
std::vector<std::string> types_done(const Schema& stored, const std::string& name,
                                    const std::string& key, uint64_t step) {
  const FeatureSet* begun = find_feature_set(stored, name + std::string(kUnfinishedEnding));
  std::vector<std::string> done;
  if (begun == nullptr || begun->key != key) return done;
  for (const auto& [type, made_by] : begun->steps) {
    if (made_by >= step) done.push_back(type);
  }
  return done;
}

}  // namespace

FeatureSetPlan plan_feature_set(const Path& folder, const std::vector<FeatureStep>& steps,
                                const FeatureSetOptions& options) {
  const Schema stored = read_schema(folder);
  const HeteroGraph base = HeteroGraph::open(folder, options.base);
  const std::vector<PlannedStep> plans = plan_steps(steps, base);
  const std::string key = key_of_recipe(plans, base.schema());
  if (find_same(stored, options, key) != nullptr) return {.exists = true};
  check_new_feature_set(
      {.name = options.name, .base = options.base, .key = key, .replace = options.replace}, folder);
  FeatureSetPlan plan;
  for (size_t i = 0; i < steps.size(); ++i) {
    plan_types(plans[i], types_done(stored, options.name, key, i + 1), options.again, base,
               plan.types);
  }
  return plan;
}

std::vector<MadeFeatures> make_feature_set(const FeatureLock& lock,
                                           const std::vector<FeatureStep>& steps,
                                           const FeatureSetOptions& options,
                                           const ProgressSink& progress) {
  const HeteroGraph base = open_verified(lock.folder(), progress, options.base);
  const std::string key = key_of_recipe(plan_steps(steps, base), base.schema());
  const Schema stored = read_schema(lock.folder());
  if (const FeatureSet* same = find_same(stored, options, key)) return made_as_before(steps, *same);
  FeatureSetWriter set(
      lock, {.name = options.name, .base = options.base, .key = key, .replace = options.replace});
  std::vector<MadeFeatures> made;
  for (size_t i = 0; i < steps.size(); ++i) {
    set.begin_step(i + 1);
    const auto some = make_step(set, steps[i], options, progress);
    made.insert(made.end(), some.begin(), some.end());
  }
  const bool nothing = std::all_of(made.begin(), made.end(),
                                   [](const MadeFeatures& one) { return !one.left_out.empty(); });
  if (nothing) throw NoFeatures(made.front().left_out);
  set.finish();
  return made;
}

std::vector<std::string> outdated_means(const Schema& schema) {
  std::vector<std::string> outdated;
  for (const NodeTypeSpec& type : schema.node_types()) {
    if (!type.features || type.features->mean_of.empty()) continue;
    if (type.features->mean_of.starts_with(type.name + "/")) continue;  // it took their place
    const bool there =
        std::any_of(schema.arrays.begin(), schema.arrays.end(),
                    [&](const ArrayRecord& array) { return array.file == type.features->mean_of; });
    if (!there) outdated.push_back(type.name);
  }
  return outdated;
}

}  // namespace hgt
