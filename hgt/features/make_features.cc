#include "hgt/features/make_features.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>

#include "hgt/error.h"
#include "hgt/features/fasttext_words.h"
#include "hgt/features/feature_source.h"
#include "hgt/features/neighbour_mean.h"
#include "hgt/features/recipe.h"
#include "hgt/features/vocabulary.h"
#include "hgt/features/walk_vectors.h"
#include "hgt/features/word_mean.h"
#include "hgt/features/word_vectors.h"
#include "hgt/features/xlnet_titles.h"
#include "hgt/graph/array_file.h"
#include "hgt/graph/time_text.h"

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

// All that the features of a type depend on, as text.
std::string ingredients(const FeatureStep& step, const std::string& type, const Schema& schema,
                        const Reach& reach) {
  FeatureStep own = step;
  own.types = {type};
  // The task and the date count by what they forbid, and threads only decide how long it takes.
  std::string text = step_table(own).without({"types", "threads", "task", "until"}).to_toml();
  text += fmt::format("{}\n", reach.until);
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
  if (!step.xlnet.empty()) text += stamp(Path(step.xlnet) / "model.safetensors");
  return text;
}

std::string key_of(const std::string& text) {
  return fmt::format("{:016x}", checksum(std::as_bytes(std::span(text))));
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
      return fmt::format("xlnet {} of names", Path(step.xlnet).filename().string());
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
    if (name.starts_with(prefix) && !name.starts_with(kept)) others.push_back(entry.path());
  }
  for (const Path& other : others) fs::remove(other);
}

// One step on one graph.
class Maker {
 public:
  Maker(const FeatureLock& lock, const FeatureStep& step, const ProgressSink& progress)
      : lock_(lock), graph_(HeteroGraph::open(lock.folder())), step_(step), progress_(progress) {
    check_step(step, graph_.schema());
    reach_ = reach_of(step, graph_);
    if (step_.metapath2vec == std::vector<std::string>{"auto"}) {
      step_.metapath2vec = propose_walks(step_.types, graph_.schema(), reach_);
      if (step_.metapath2vec.empty()) {
        throw Error(fmt::format("no edges that may be used lead to {}, so that no walk meets it",
                                fmt::join(step_.types, " or ")));
      }
    }
  }

  std::vector<MadeFeatures> make(bool again) {
    std::vector<MadeFeatures> made;
    std::vector<std::string> to_do;
    for (const std::string& type : step_.types) {
      const auto& has = graph_.schema().at(graph_.schema().node_type(type)).features;
      const bool already = has && has->key == key(type) && !again;
      if (already) made.push_back({.type = type, .spec = *has, .already = true});
      if (!already) to_do.push_back(type);
    }
    if (to_do.empty()) return made;
    if (step_.kind() == StepKind::walks) {
      make_walks(to_do, made);
    } else {
      for (const std::string& type : to_do) make_one(type, made);
    }
    return made;
  }

 private:
  std::string key(const std::string& type) const {
    return key_of(ingredients(step_, type, graph_.schema(), reach_));
  }

  void make_one(const std::string& type, std::vector<MadeFeatures>& made) {
    const Path kept = lock_.folder() / type / ("fasttext_" + key(type));
    remove_others(kept.parent_path(), "fasttext_", kept.filename().string());
    const auto source =
        step_.kind() == StepKind::mean ? mean_source(type) : text_source(type, kept);
    made.push_back({.type = type, .spec = write(type, *source)});
    fs::remove(kept);
  }

  // All types of a step come from the same walks.
  void make_walks(const std::vector<std::string>& types, std::vector<MadeFeatures>& made) {
    const std::string joint = fmt::format("{}", fmt::join(step_.types, ","));
    const Path kept = lock_.folder() / ("walks_" + key(joint));
    remove_others(kept.parent_path(), "walks_", kept.filename().string());
    WalkTraining training(graph_, step_, reach_, kept, progress_);
    training.train(progress_);
    for (const std::string& type : types) {
      WalkVectors source(training, graph_.schema().node_type(type));
      made.push_back({.type = type, .spec = write(type, source)});
    }
    training.remove_files();
  }

  std::unique_ptr<FeatureSource> mean_source(const std::string& type) const {
    FeatureStep one = step_;
    one.types = {type};
    return std::make_unique<NeighbourMean>(graph_, usable_relations(one, graph_.schema(), reach_),
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
    FeatureSpec spec{.width = source.width(),
                     .type = step_.precision,
                     .origin = describe(step_, graph_.schema(), reach_),
                     .key = key(type)};
    if (reach_.bounded() && knows_others(step_)) spec.until = reach_.until;
    FeatureWriter writer(lock_, type, spec);
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
    if (writer.missing() == writer.nodes()) report_nothing(type);
    return writer.finish();
  }

  [[noreturn]] void report_nothing(const std::string& type) const {
    throw NoFeatures(fmt::format("no {} would get features from {}{}", type,
                                 describe(step_, graph_.schema(), reach_),
                                 reach_.bounded() ? "; say with --until where training ends" : ""));
  }

  const FeatureLock& lock_;
  HeteroGraph graph_;
  FeatureStep step_;
  const ProgressSink& progress_;
  Reach reach_;
};

}  // namespace

std::vector<MadeFeatures> make_features(const FeatureLock& lock, const FeatureStep& step,
                                        bool again, const ProgressSink& progress) {
  return Maker(lock, step, progress).make(again);
}

}  // namespace hgt
