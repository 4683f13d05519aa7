#include "hgt/tables/manifest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <set>

#include "hgt/error.h"

namespace hgt {

namespace {

// One table of the manifest. Every key that is asked for becomes a known one; close() complains
// about keys that nobody asked for, which catches misspelled ones.
class Section {
 public:
  Section(const Path& file, std::string title, const toml::table& table)
      : file_(file), title_(std::move(title)), table_(table) {}

  uint64_t line() const { return table_.source().begin.line; }

  [[noreturn]] void fail(const std::string& what, uint64_t line) const {
    throw Error(fmt::format("{}:{}: {}", file_.string(), line, what));
  }
  [[noreturn]] void fail(const std::string& what) const { fail(what, line()); }
  // Lists the keys that are there: the missing one may be among them, misspelled.
  [[noreturn]] void fail_missing(const std::string& key) const {
    std::vector<std::string> keys;
    for (const auto& [name, node] : table_) keys.emplace_back(name.str());
    fail(fmt::format("{} has no '{}'; it has {}", title_, key, fmt::join(keys, ", ")));
  }

  bool has(const std::string& key) {
    known_.insert(key);
    return table_.contains(key);
  }

  std::optional<std::string> text(const std::string& key) {
    return value<std::string>(key, "text");
  }
  std::string required_text(const std::string& key) {
    const auto found = text(key);
    if (!found) fail_missing(key);
    if (found->empty()) fail(fmt::format("'{}' in {} is empty", key, title_));
    return *found;
  }
  bool flag(const std::string& key) { return value<bool>(key, "true or false").value_or(false); }
  uint64_t count(const std::string& key) {
    const int64_t found = value<int64_t>(key, "a whole number").value_or(0);
    if (found < 0) fail(fmt::format("'{}' in {} is negative; it must be 0 or more", key, title_));
    return static_cast<uint64_t>(found);
  }

  // One of the listed words; the first is the default.
  std::string word(const std::string& key, const std::vector<std::string>& words) {
    const std::string found = text(key).value_or(words.front());
    if (std::find(words.begin(), words.end(), found) != words.end()) return found;
    fail(fmt::format("'{}' in {} is '{}'; choose one of {}", key, title_, found,
                     fmt::join(words, ", ")));
  }

  // A text, or an array of texts.
  std::vector<std::string> texts(const std::string& key) {
    if (!has(key)) return {};
    return to_texts(key, *table_.get(key), false);
  }

  // A table of texts or whole numbers, or of arrays of them, in the order of its keys.
  std::map<std::string, std::vector<std::string>> text_map(const std::string& key) {
    std::map<std::string, std::vector<std::string>> result;
    if (!has(key)) return result;
    for (const auto& [name, node] : child(key)) {
      result[std::string(name.str())] = to_texts(key, node, true);
    }
    return result;
  }

  Section section(const std::string& key) {
    known_.insert(key);
    return {file_, fmt::format("'{}' of {}", key, title_), child(key)};
  }

  // Every table of the array [[key]].
  template <typename Read>
  void each(const std::string& key, const Read& read) {
    if (!has(key)) return;
    const toml::array* array = table_.get_as<toml::array>(key);
    if (array == nullptr) fail(fmt::format("'{}' must be written as [[{}]]", key, key));
    for (const toml::node& node : *array) {
      const toml::table* table = node.as_table();
      if (table == nullptr) fail(fmt::format("'{}' must be written as [[{}]]", key, key));
      Section item(file_, fmt::format("[[{}]]", key), *table);
      read(item);
      item.close();
    }
  }

  void close() const {
    for (const auto& [name, node] : table_) {
      if (known_.contains(std::string(name.str()))) continue;
      fail(fmt::format("unknown key '{}' in {}; the known keys are {}", name.str(), title_,
                       fmt::join(known_, ", ")),
           name.source().begin.line);
    }
  }

 private:
  template <typename T>
  std::optional<T> value(const std::string& key, std::string_view kind) {
    if (!has(key)) return std::nullopt;
    const auto found = table_.get(key)->value_exact<T>();
    if (!found) fail(fmt::format("'{}' in {} must be {}", key, title_, kind));
    return found;
  }

  const toml::table& child(const std::string& key) const {
    const toml::table* table = table_.get_as<toml::table>(key);
    if (table == nullptr) fail(fmt::format("'{}' in {} must be a table: {{ ... }}", key, title_));
    return *table;
  }

  // A text; with `numbers` also a whole number, as it would stand in a table.
  static std::optional<std::string> to_text(const toml::node& node, bool numbers) {
    const auto number = node.value_exact<int64_t>();
    return numbers && number ? std::to_string(*number) : node.value_exact<std::string>();
  }

  std::vector<std::string> to_texts(const std::string& key, const toml::node& node,
                                    bool numbers) const {
    if (const auto one = to_text(node, numbers)) return {*one};
    std::vector<std::string> result;
    const toml::array* array = node.as_array();
    const auto bad = [&] {
      fail(fmt::format("'{}' in {} must be text or a list of texts", key, title_));
    };
    if (array == nullptr) bad();
    for (const toml::node& item : *array) {
      const auto text = to_text(item, numbers);
      if (!text) bad();
      result.push_back(*text);
    }
    return result;
  }

  const Path& file_;
  std::string title_;
  const toml::table& table_;
  std::set<std::string> known_;
};

// What the formats want to be told; which of it fits the files shows when their names are known.
RowOptions read_options(Section& section) {
  RowOptions options;
  options.columns = section.texts("columns");
  for (const FormatOption& option : format_options()) {
    const std::string key(option.key);
    if (!section.has(key)) continue;
    const bool counts = option.kind == FormatOption::Kind::count;
    const std::string value = counts ? std::to_string(section.count(key)) : *section.text(key);
    const std::string text = complaint(option, value);
    if (!text.empty()) section.fail(text);
    options.values.emplace(key, value);
  }
  return options;
}

TableSource read_source(Section& section) {
  TableSource source;
  source.line = section.line();
  source.files = section.texts("files");
  if (source.files.empty()) section.fail_missing("files");
  if (section.has("format")) source.format = section.word("format", format_names());
  source.options = read_options(section);
  source.where = section.text_map("where");
  source.may_be_empty = section.flag("may_be_empty");
  return source;
}

std::optional<TimeColumn> read_time(Section& section, TimeUnit unit) {
  const auto column = section.text("time");
  std::vector<std::string> formats = {"date", "unix", "number"};
  if (unit >= TimeUnit::hour) std::swap(formats[0], formats[1]);  // such tables hold unix times
  const std::string format = section.word("time_format", formats);
  const std::string missing = section.word("missing_time", {"drop", "keep"});
  if (!column && (section.has("time_format") || section.has("missing_time"))) {
    section.fail("'time_format' and 'missing_time' need 'time'");
  }
  if (!column) return std::nullopt;
  return TimeColumn{
      .column = *column, .format = time_format(format), .keep_missing = missing == "keep"};
}

FeatureColumns read_feature_columns(Section& section) {
  FeatureColumns features;
  features.type = from_word<FeatureType>(section.word("precision", all_words<FeatureType>()));
  features.width = section.count("width");
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
  return features;
}

// Nodes without a table: only their number is known.
NodeTable read_counted_nodes(Section& section) {
  NodeTable table{.source = {.line = section.line()}, .type = section.required_text("type")};
  table.count = section.count("count");
  if (table.count == 0 || table.count > kMaxNodes) {
    section.fail(fmt::format("'count' must be from 1 to {}", kMaxNodes));
  }
  if (section.has("features")) {
    Section features = section.section("features");
    table.features = read_feature_columns(features);
    if (table.features->form != FeatureColumns::Form::npy) {
      section.fail("nodes given by 'count' have no table: their features come from an 'npy' file");
    }
  }
  return table;
}

NodeTable read_nodes(Section& section, TimeUnit unit) {
  if (section.has("count")) return read_counted_nodes(section);
  NodeTable table{.source = read_source(section),
                  .type = section.required_text("type"),
                  .id = section.required_text("id")};
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
    Section features = section.section("features");
    table.features = read_feature_columns(features);
  }
  return table;
}

EdgeEnd read_end(Section& section, const std::string& key) {
  if (!section.has(key)) {
    section.fail(fmt::format("'{}' is missing: {} = {{ type = ..., column = ... }}", key, key));
  }
  Section end = section.section(key);
  EdgeEnd result{.type = end.required_text("type"), .column = end.required_text("column")};
  end.close();
  return result;
}

void read_split_values(Section& split, EdgeSplit& into) {
  for (const auto& [value, types] : split.text_map("values")) {
    if (types.size() != 1) split.fail(fmt::format("value '{}' needs one edge type", value));
    into.values[value] = types[0];
  }
  into.other = split.text("other");
  if (into.values.empty() && !into.other) split.fail("'values' is missing: { value = edge type }");
}

EdgeSplit read_split(Section& section, const std::string& type) {
  EdgeSplit result;
  if (section.has("by_order") + section.has("by_column") + section.has("by_label") > 1) {
    section.fail("only one of 'by_order', 'by_column', 'by_label' can be given");
  }
  if (section.has("by_order")) {
    Section split = section.section("by_order");
    result.by = EdgeSplit::By::order;
    result.column = split.required_text("column");
    result.within_target = split.word("within", {"target", "source"}) == "target";
    split.close();
    for (const char* place : {"first", "last", "other"}) result.values[place] = type + "_" + place;
  } else if (section.has("by_column")) {
    Section split = section.section("by_column");
    result.by = EdgeSplit::By::column;
    result.column = split.required_text("column");
    read_split_values(split, result);
    split.close();
  } else if (section.has("by_label")) {
    Section split = section.section("by_label");
    const bool target = split.word("end", {"target", "source"}) == "target";
    result.by = target ? EdgeSplit::By::target_label : EdgeSplit::By::source_label;
    result.column = split.required_text("label");
    read_split_values(split, result);
    split.close();
  }
  return result;
}

EdgeTable read_edges(Section& section, TimeUnit unit) {
  EdgeTable table{.source_table = read_source(section),
                  .type = section.required_text("type"),
                  .source = read_end(section, "source"),
                  .target = read_end(section, "target")};
  table.reverse = section.text("reverse").value_or("");
  table.symmetric = section.flag("symmetric");
  table.unique = section.word("duplicates", {"keep", "drop"}) == "drop";
  table.skip_empty = section.word("empty_ids", {"report", "ignore"}) == "ignore";
  table.time = read_time(section, unit);
  table.weight = section.text("weight");
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

LabelTable read_labels(Section& section) {
  LabelTable table{
      .source = read_source(section),
      .type = section.required_text("type"),
      .id = section.required_text("id"),
      .label = {.name = section.required_text("label"), .column = section.required_text("column")}};
  table.label.separator = section.text("separator").value_or("");
  table.split = section.word("split", {"", "train", "validation", "test"});
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
  toml::table table;
  try {
    table = toml::parse_file(file.string());
  } catch (const toml::parse_error& error) {
    throw Error(fmt::format("{}:{}: is not valid TOML: {}", file.string(),
                            error.source().begin.line, error.description()));
  }
  Section root(file, "the manifest", table);
  Manifest manifest;
  manifest.file = file;
  manifest.name = root.text("name").value_or(file.stem().string());
  manifest.time_unit = from_word<TimeUnit>(root.word("time_unit", all_words<TimeUnit>()));
  root.each("nodes",
            [&](Section& item) { manifest.nodes.push_back(read_nodes(item, manifest.time_unit)); });
  root.each("edges",
            [&](Section& item) { manifest.edges.push_back(read_edges(item, manifest.time_unit)); });
  root.each("features", [&](Section& item) {
    FeatureTable feature{.source = read_source(item),
                         .type = item.required_text("type"),
                         .id = item.required_text("id"),
                         .features = {}};
    if (!item.has("values")) item.fail("'values' is missing: values = { list = ..., ... }");
    Section values = item.section("values");
    feature.features = read_feature_columns(values);
    if (feature.features.form == FeatureColumns::Form::npy) {
      values.fail("an 'npy' file has no ids: give it as features = { npy = ... } of [[nodes]]");
    }
    manifest.features.push_back(std::move(feature));
  });
  root.each("labels", [&](Section& item) { manifest.labels.push_back(read_labels(item)); });
  root.each("classes", [&](Section& item) {
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
