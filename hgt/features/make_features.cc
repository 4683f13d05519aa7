#include "hgt/features/make_features.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "hgt/disk/checksum.h"
#include "hgt/error.h"
#include "hgt/features/fasttext_words.h"
#include "hgt/features/feature_source.h"
#include "hgt/features/neighbor_mean.h"
#include "hgt/features/recipe.h"
#include "hgt/features/vocabulary.h"
#include "hgt/features/walk_vectors.h"
#include "hgt/features/word_mean.h"
#include "hgt/features/word_vectors.h"
#include "hgt/features/xlnet_titles.h"
#include "hgt/graph/array_file.h"
#include "hgt/graph/feature_writer.h"
#include "hgt/graph/time_text.h"
#include "hgt/graph/verified_arrays.h"

namespace hgt {

namespace fs = std::filesystem;

namespace {

// A file outside the graph: its content is too much to read twice.
std::string stamp(const Path& file) {
  std::error_code error;
  const auto size = fs::file_size(file, error);
  const auto time = fs::last_write_time(file, error);
  return error ? "" : fmt::format("{} {}\n", size, time.time_since_epoch().count());
}

// Of what is made; a new one makes all features anew.
constexpr int kVersion = 2;

// All that the features of a type depend on, as text.
std::string ingredients(const FeatureStep& step, const std::string& type, const Schema& schema,
                        const Reach& reach) {
  FeatureStep own = step;
  own.types = {type};
  // The task and the date count by what they forbid, and threads only decide how long it takes.
  std::string text = step_table(own).without({"types", "threads", "task", "until"}).to_toml();
  text += fmt::format("{} {}\n", kVersion, reach.until);
  for (const bool hidden : reach.hidden) text += hidden ? '1' : '0';
  const auto is_features = [&](const std::string& file) {
    return std::any_of(schema.node_types().begin(), schema.node_types().end(),
                       [&](const NodeTypeSpec& spec) {
                         return spec.features && file == spec.name + "/" + spec.features->file &&
                                (step.kind() != StepKind::mean || spec.name != step.mean_of);
                       });
  };
  for (const ArrayRecord& array : schema.arrays) {
    if (!is_features(array.file)) text += fmt::format("{:016x}\n", array.checksum);
  }
  if (!step.vectors.empty()) text += stamp(step.vectors);
  if (step.xlnet.empty()) return text;
  for (const char* file : {"config.json", "model.safetensors", "spiece.model"}) {
    text += stamp(Path(step.xlnet) / file);
  }
  return text;
}

std::string folder_name(const Path& folder) {  // "xlnet/" too
  return (folder.has_filename() ? folder : folder.parent_path()).filename().string();
}

// In words, for people.
std::string describe(const FeatureStep& step, const Schema& schema, const Reach& reach) {
  const std::string until =
      reach.bounded() ? " up to " + format_time(reach.until, schema.time_unit) : "";
  if (step.kind() == StepKind::walks) {
    const size_t others = step.metapath2vec.size() - 1;
    return fmt::format("metapath2vec along {}{}{}", step.metapath2vec.front(),
                       others > 0 ? fmt::format(" and {} more", others) : "", until);
  }
  if (step.kind() == StepKind::mean) return fmt::format("mean of {}{}", step.mean_of, until);
  switch (step.encoder) {
    case TextEncoder::fasttext:
      return "fasttext of names, trained on those" + until;
    case TextEncoder::vectors:
      return fmt::format("word vectors {} of names, weighted by those{}",
                         Path(step.vectors).filename().string(), until);
    case TextEncoder::xlnet:
      return fmt::format("xlnet {} of names", folder_name(step.xlnet));
    default:
      return "hashed words of names";
  }
}

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

// One step on one graph.
class Maker {
 public:
  Maker(const FeatureLock& lock, const FeatureStep& step, const ProgressSink& progress)
      : lock_(lock),
        graph_(open_verified(lock.folder(), progress)),
        plan_(plan_step(step, graph_)),
        step_(plan_.step),
        reach_(plan_.reach),
        progress_(progress) {}

  std::vector<MadeFeatures> make(bool again) {
    std::vector<std::string> to_do;
    for (const std::string& type : step_.types) {
      const auto& has = graph_.schema().at(graph_.schema().node_type(type)).features;
      const bool already = has && has->key == key(type) && !again;
      if (already) made_.push_back({.type = type, .spec = *has, .already = true});
      if (!already) to_do.push_back(type);
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
    return text_checksum(ingredients(step_, type, graph_.schema(), reach_));
  }

  void leave_out(const std::string& type, const std::string& why) {
    made_.push_back({.type = type, .spec = {}, .left_out = why});
  }

  void make_one(const std::string& type) {
    const Path kept = lock_.folder() / type / ("fasttext_" + key(type));
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
    const Path kept = lock_.folder() / ("walks_" + key(joint));
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
    return std::make_unique<NeighborMean>(graph_, relations_used(plan_, type, graph_.schema()),
                                          reach_);
  }

  std::unique_ptr<FeatureSource> text_source(const std::string& type, const Path& kept) const {
    const NodeType number = graph_.schema().node_type(type);
    if (step_.encoder == TextEncoder::hashed) {
      return std::make_unique<HashedWords>(graph_, number, step_.width);
    }
    if (step_.encoder == TextEncoder::xlnet) {
      return std::make_unique<XlnetTitles>(graph_, number, step_.xlnet);
    }
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
    FeatureWriter writer(lock_, type, spec_of(type, source.width()));
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
    return writer.finish();
  }

  FeatureSpec spec_of(const std::string& type, uint64_t width) const {
    const Schema& schema = graph_.schema();
    FeatureSpec spec{.width = width,
                     .type = step_.precision,
                     .origin = describe(step_, schema, reach_),
                     .key = key(type),
                     .edges = edge_types(relations_used(plan_, type, schema), schema)};
    if (knows_others(step_)) spec.until = last_known(schema);
    if (step_.kind() == StepKind::mean) add_source(spec);
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

  // A mean knows all that its source knows.
  void add_source(FeatureSpec& spec) const {
    const FeatureSpec& source =
        *graph_.schema().at(graph_.schema().node_type(step_.mean_of)).features;
    if (spec.until && source.until) spec.until = std::max(*spec.until, *source.until);
    spec.edges.insert(spec.edges.end(), source.edges.begin(), source.edges.end());
    spec.mean_of = step_.mean_of + "/" + source.file;
  }

  [[noreturn]] void report_nothing(const std::string& type) const {
    throw NoFeatures(
        fmt::format("no node of type {} would get features from {}{}", type,
                    describe(step_, graph_.schema(), reach_),
                    reach_.bounded() ? "; give the end of training with --until" : ""));
  }

  const FeatureLock& lock_;
  HeteroGraph graph_;
  PlannedStep plan_;
  const FeatureStep& step_;  // plan_'s
  const Reach& reach_;       // plan_'s
  const ProgressSink& progress_;
  std::vector<MadeFeatures> made_;
};

}  // namespace

std::vector<MadeFeatures> make_features(const FeatureLock& lock, const FeatureStep& step,
                                        bool again, const ProgressSink& progress) {
  return Maker(lock, step, progress).make(again);
}

std::vector<std::string> outdated_means(const Schema& schema) {
  std::vector<std::string> outdated;
  for (const NodeTypeSpec& type : schema.node_types()) {
    if (!type.features || type.features->mean_of.empty()) continue;
    const bool there =
        std::any_of(schema.arrays.begin(), schema.arrays.end(),
                    [&](const ArrayRecord& array) { return array.file == type.features->mean_of; });
    if (!there) outdated.push_back(type.name);
  }
  return outdated;
}

}  // namespace hgt
