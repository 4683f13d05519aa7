#include "hgt/tables/manifest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "hgt/error.h"
#include "hgt/options/toml_file.h"
#include "hgt/tables/manifest_section.h"

namespace hgt {

namespace {

constexpr uint64_t kMaxFeatureWidth = uint64_t{1} << 20U;  // numbers of one vector

// What the formats want to be told; which of it fits the files shows when their names are known.
RowOptions read_options(ManifestSection& section) {
  RowOptions options;
  options.columns = section.texts("columns");
  for (const FormatOption& option : format_options()) {
    const std::string key(option.key);
    if (!section.has(key)) continue;
    const bool counts = option.kind == FormatOption::Kind::count;
    const std::string value =
        counts ? std::to_string(section.count(key, option.most)) : *section.text(key);
    const std::string text = complaint(option, value);
    if (!text.empty()) section.fail(text);
    options.values.emplace(key, value);
  }
  return options;
}

TableSource read_source(ManifestSection& section) {
  TableSource source;
  source.line = section.line();
  source.files = section.texts("files");
  if (source.files.empty()) section.fail_missing("files");
  if (section.has("format")) source.format = section.word("format", format_names());
  source.options = read_options(section);
  source.where = section.text_map("where");
  source.null_texts = section.texts("null");
  source.may_be_empty = section.flag("may_be_empty");
  return source;
}

TimeFormat read_time_word(ManifestSection& section, TimeUnit unit) {
  std::vector<std::string> words = {"date", "unix", "unix_ms", "number"};
  if (unit >= TimeUnit::hour) std::swap(words[0], words[1]);  // such tables hold unix times
  const std::string given = section.text("time_format").value_or(words.front());
  if (std::find(words.begin(), words.end(), given) != words.end()) return time_format(given);
  section.fail(fmt::format("'time_format' is '{}'; choose {}", given, time_formats_text()));
}

std::optional<TimeColumn> read_time(ManifestSection& section, TimeUnit unit) {
  const auto column = section.text("time");
  const auto format = section.text("time_format");
  const std::string missing = section.word("missing_time", {"drop", "keep"});
  if (!column && (format || section.has("missing_time"))) {
    section.fail("'time_format' and 'missing_time' need 'time'");
  }
  if (!column) return std::nullopt;
  TimeColumn time{.column = *column, .keep_missing = missing == "keep"};
  if (!format || format->find('%') == std::string::npos) {
    time.format = read_time_word(section, unit);
    return time;
  }
  try {
    time.pattern.emplace(*format);
  } catch (const Error& error) {
    section.fail(error.what());
  }
  return time;
}

// What a cell without a number becomes: `missing` of features, `missing_weight` of edges.
MissingNumber read_missing(ManifestSection& section, const std::string& key,
                           const std::vector<std::string>& words) {
  const auto given = section.number_or_word(key, words);
  MissingNumber missing;
  if (const double* number = std::get_if<double>(&given)) {
    missing.policy = MissingNumber::Policy::fill;
    missing.number = static_cast<float>(*number);
    if (!std::isfinite(missing.number)) section.fail(fmt::format("'{}' is too large", key));
  } else if (std::get<std::string>(given) == "flag") {
    missing.policy = MissingNumber::Policy::flag;
  }
  return missing;
}

// Fits `missing` to the form: only single numbers can be missing one by one.
void check_missing(ManifestSection& section, const FeatureColumns& features) {
  using Form = FeatureColumns::Form;
  using Policy = MissingNumber::Policy;
  if (features.missing.policy == Policy::drop || features.form == Form::columns) return;
  const bool fits = features.form == Form::list && features.missing.policy == Policy::fill;
  if (!fits) section.fail("'missing' is for 'columns', or a number for 'list'");
  if (features.width == 0) section.fail("'missing' of a 'list' needs a 'width'");
}

FeatureColumns read_feature_columns(ManifestSection& section) {
  FeatureColumns features;
  features.type = from_word<FeatureType>(section.word("precision", all_words<FeatureType>()));
  features.width = section.count("width", kMaxFeatureWidth);
  features.separator = section.text("separator").value_or(" ");
  if (features.separator.empty()) section.fail("'separator' must not be empty");
  using Form = FeatureColumns::Form;
  std::vector<std::pair<Form, std::vector<std::string>>> given;
  for (const auto& [key, form] : {std::pair{"columns", Form::columns},
                                  {"list", Form::list},
                                  {"sparse", Form::sparse},
                                  {"hashed_words", Form::hashed_words},
                                  {"npy", Form::npy}}) {
    if (section.has(key)) given.emplace_back(form, section.texts(key));
  }
  features.missing = read_missing(section, "missing", {"drop", "flag"});
  section.close();
  if (given.size() != 1 || given[0].second.empty()) {
    section.fail("features need exactly one of 'columns', 'list', 'sparse', 'hashed_words', 'npy'");
  }
  features.form = given[0].first;
  features.columns = std::move(given[0].second);
  if (features.form != Form::columns && features.columns.size() != 1) {
    section.fail("only 'columns' takes several columns");
  }
  const bool needs_width = features.form == Form::sparse || features.form == Form::hashed_words;
  if (needs_width && features.width == 0) section.fail("these features need a 'width'");
  const bool fixed_width = features.form == Form::columns || features.form == Form::npy;
  if (fixed_width && features.width > 0) section.fail("these features do not take a 'width'");
  if (features.form == Form::columns) features.width = features.columns.size();
  check_missing(section, features);
  if (features.missing.policy == MissingNumber::Policy::flag) features.width *= 2;
  if (features.width > kMaxFeatureWidth) {
    section.fail(
        fmt::format("features of {} columns; {} are the most", features.width, kMaxFeatureWidth));
  }
  return features;
}

// Nodes without a table: only their number is known.
NodeTable read_counted_nodes(ManifestSection& section) {
  NodeTable table{.source = {.line = section.line()}, .type = section.required_text("type")};
  table.count = section.count("count", kMaxNodes);
  if (table.count == 0) section.fail(fmt::format("'count' must be from 1 to {}", kMaxNodes));
  if (section.has("features")) {
    ManifestSection features = section.section("features");
    table.features = read_feature_columns(features);
    if (table.features->form != FeatureColumns::Form::npy) {
      section.fail("nodes given by 'count' have no table: their features come from an 'npy' file");
    }
  }
  return table;
}

NodeTable read_nodes(ManifestSection& section, TimeUnit unit) {
  if (section.has("count")) return read_counted_nodes(section);
  NodeTable table{.source = read_source(section),
                  .type = section.required_text("type"),
                  .id = section.required_texts("id")};
  table.name = section.text("name");
  table.time = read_time(section, unit);
  table.ignore_duplicates = section.word("duplicates", {"report", "ignore"}) == "ignore";
  const auto separator = section.text("label_separator");
  for (const auto& [name, columns] : section.text_map("labels")) {
    if (columns.size() != 1) section.fail(fmt::format("label '{}' needs one column", name));
    table.labels.push_back(
        {.name = name, .column = columns[0], .separator = separator.value_or("")});
  }
  if (separator && table.labels.empty()) section.fail("'label_separator' needs 'labels'");
  if (section.has("features")) {
    ManifestSection features = section.section("features");
    table.features = read_feature_columns(features);
  }
  return table;
}

bool read_skip_unknown(ManifestSection& section) {
  return section.word("unknown_ids", {"report", "ignore"}) == "ignore";
}

EdgeEnd read_end(ManifestSection& section, const std::string& key) {
  if (!section.has(key)) {
    section.fail(fmt::format("'{}' is missing: {} = {{ type = ..., column = ... }}", key, key));
  }
  ManifestSection end = section.section(key);
  EdgeEnd result{.type = end.required_text("type"), .columns = end.required_texts("column")};
  end.close();
  return result;
}

void read_split_values(ManifestSection& split, EdgeSplit& into) {
  for (const auto& [value, types] : split.text_map("values")) {
    if (types.size() != 1) split.fail(fmt::format("value '{}' needs one edge type", value));
    into.values[value] = types[0];
  }
  into.other = split.text("other");
  if (into.values.empty() && !into.other) split.fail("'values' is missing: { value = edge type }");
}

EdgeSplit read_split(ManifestSection& section, const std::string& type) {
  EdgeSplit result;
  if (section.has("by_order") + section.has("by_column") + section.has("by_label") > 1) {
    section.fail("only one of 'by_order', 'by_column', 'by_label' can be given");
  }
  if (section.has("by_order")) {
    ManifestSection split = section.section("by_order");
    result.by = EdgeSplit::By::order;
    result.column = split.required_text("column");
    result.within_target = split.word("within", {"target", "source"}) == "target";
    split.close();
    for (const char* place : {"first", "last", "other"}) result.values[place] = type + "_" + place;
  } else if (section.has("by_column")) {
    ManifestSection split = section.section("by_column");
    result.by = EdgeSplit::By::column;
    result.column = split.required_text("column");
    read_split_values(split, result);
    split.close();
  } else if (section.has("by_label")) {
    ManifestSection split = section.section("by_label");
    const bool target = split.word("end", {"target", "source"}) == "target";
    result.by = target ? EdgeSplit::By::target_label : EdgeSplit::By::source_label;
    result.column = split.required_text("label");
    read_split_values(split, result);
    split.close();
  }
  return result;
}

EdgeTable read_edges(ManifestSection& section, TimeUnit unit) {
  EdgeTable table{.source_table = read_source(section),
                  .type = section.required_text("type"),
                  .source = read_end(section, "source"),
                  .target = read_end(section, "target")};
  table.reverse = section.text("reverse").value_or("");
  table.symmetric = section.flag("symmetric");
  table.unique = section.word("duplicates", {"keep", "drop"}) == "drop";
  table.skip_empty = section.word("empty_ids", {"report", "ignore"}) == "ignore";
  table.skip_unknown = read_skip_unknown(section);
  table.time = read_time(section, unit);
  table.weight = section.text("weight");
  table.missing_weight = read_missing(section, "missing_weight", {"drop"});
  if (!table.weight && section.has("missing_weight")) {
    section.fail("'missing_weight' needs 'weight'");
  }
  table.split = read_split(section, table.type);
  if (table.symmetric && !table.reverse.empty()) {
    section.fail("a symmetric edge type cannot have a 'reverse'");
  }
  if (table.split.by != EdgeSplit::By::nothing && !table.reverse.empty()) {
    section.fail(
        "'reverse' cannot be given together with by_...: the reverses are rev_<edge type>");
  }
  return table;
}

LabelTable read_labels(ManifestSection& section) {
  LabelTable table{
      .source = read_source(section),
      .type = section.required_text("type"),
      .id = section.required_texts("id"),
      .label = {.name = section.required_text("label"), .column = section.required_text("column")}};
  table.label.separator = section.text("separator").value_or("");
  table.split = section.word("split", {"", "train", "validation", "test"});
  table.skip_unknown = read_skip_unknown(section);
  return table;
}

}  // namespace

std::vector<std::string> EdgeTable::edge_types() const {
  if (split.by == EdgeSplit::By::nothing) return {type};
  std::set<std::string> types;
  for (const auto& [value, edge_type] : split.values) types.insert(edge_type);
  if (split.other) types.insert(*split.other);
  return {types.begin(), types.end()};
}

Manifest read_manifest(const Path& file) {
  if (!std::filesystem::is_regular_file(file)) {
    throw Error(fmt::format("{}: there is no such manifest file; check its name", file.string()));
  }
  const toml::table table = parse_toml_file(file);
  ManifestSection root(file, "the manifest", table);
  Manifest manifest;
  manifest.file = file;
  manifest.name = root.text("name").value_or(file.stem().string());
  manifest.time_unit = from_word<TimeUnit>(root.word("time_unit", all_words<TimeUnit>()));
  root.each("nodes", [&](ManifestSection& item) {
    manifest.nodes.push_back(read_nodes(item, manifest.time_unit));
  });
  root.each("edges", [&](ManifestSection& item) {
    manifest.edges.push_back(read_edges(item, manifest.time_unit));
  });
  root.each("features", [&](ManifestSection& item) {
    FeatureTable feature{.source = read_source(item),
                         .type = item.required_text("type"),
                         .id = item.required_texts("id"),
                         .features = {}};
    feature.skip_unknown = read_skip_unknown(item);
    if (!item.has("values")) item.fail("'values' is missing: values = { list = ..., ... }");
    ManifestSection values = item.section("values");
    feature.features = read_feature_columns(values);
    if (feature.features.form == FeatureColumns::Form::npy) {
      values.fail("an 'npy' file has no ids: give it as features = { npy = ... } of [[nodes]]");
    }
    manifest.features.push_back(std::move(feature));
  });
  root.each("labels", [&](ManifestSection& item) { manifest.labels.push_back(read_labels(item)); });
  root.each("classes", [&](ManifestSection& item) {
    manifest.classes.push_back({.source = read_source(item),
                                .type = item.required_text("type"),
                                .label = item.required_text("label"),
                                .value = item.required_text("value"),
                                .name = item.required_text("name")});
  });
  root.close();
  if (manifest.nodes.empty()) root.fail("there is no [[nodes]] table: a graph needs nodes");
  return manifest;
}

}  // namespace hgt
