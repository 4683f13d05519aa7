#include "hgt/tables/graph_export.h"

#include <fmt/format.h>

#include <array>
#include <iterator>

#include "hgt/disk/staged_folder.h"
#include "hgt/error.h"
#include "hgt/graph/array_file.h"
#include "hgt/graph/each_row.h"

namespace hgt {

namespace {

constexpr size_t kBufferBytes = size_t{1} << 20U;
constexpr uint64_t kRowsBetweenReports = 1U << 15U;
constexpr std::array<std::string_view, 4> kSplits = {"", "train", "validation", "test"};

// A table with tabs; cells that need it are quoted.
class TableWriter {
 public:
  TableWriter(const Path& folder, const std::string& file) : file_(File::create(folder / file)) {
    buffer_.reserve(kBufferBytes + 4096);
  }

  TableWriter& cell(std::string_view text) {
    separate();
    // A quoted empty cell: a row of one empty cell would otherwise be an empty line.
    if (!text.empty() && text.find_first_of("\t\n\r\"") == std::string_view::npos) {
      buffer_.append(text);
      return *this;
    }
    buffer_.push_back('"');
    for (const char c : text) buffer_.append(c == '"' ? 2 : 1, c);
    buffer_.push_back('"');
    return *this;
  }
  template <typename Number>
  TableWriter& number(Number value) {
    separate();
    fmt::format_to(std::back_inserter(buffer_), "{}", value);
    return *this;
  }
  void end_row() {
    buffer_.push_back('\n');
    row_started_ = false;
    if (buffer_.size() >= kBufferBytes) flush();
  }
  void close() {
    flush();
    file_.close();
  }

 private:
  void separate() {
    if (row_started_) buffer_.push_back('\t');
    row_started_ = true;
  }
  void flush() {
    file_.write(buffer_.data(), buffer_.size());
    buffer_.clear();
  }

  File file_;
  std::string buffer_;
  bool row_started_ = false;
};

// A basic string of TOML.
std::string quote(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '"' || c == '\\') {
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

class Exporter {
 public:
  Exporter(const HeteroGraph& graph, const Path& folder, const ProgressSink& progress)
      : graph_(graph), schema_(graph.schema()), staged_(folder), progress_(progress) {}

  void run() {
    const auto name = schema_.origin.find("name");
    if (name != schema_.origin.end()) manifest_ += fmt::format("name = {}\n", quote(name->second));
    manifest_ += fmt::format("time_unit = '{}'\n", to_string(schema_.time_unit));
    for (size_t type = 0; type < schema_.node_types().size(); ++type) write_nodes(NodeType(type));
    for (size_t type = 0; type < schema_.node_types().size(); ++type) write_labels(NodeType(type));
    for (size_t i = 0; i < schema_.relations().size(); ++i) {
      if (!schema_.relations()[i].reverse) write_edges(Relation(i));
    }
    staged_.write_text("manifest.toml", manifest_);
    staged_.commit();
  }

 private:
  // Starts an entry of the manifest.
  void begin_entry(std::string_view kind, const std::string& file, bool empty) {
    manifest_ += fmt::format("\n[[{}]]\nfiles = '{}'\nquote = '\"'\n", kind, file);
    if (empty) manifest_ += "may_be_empty = true\n";
  }

  void report(const std::string& file, uint64_t row, uint64_t rows) const {
    if (row % kRowsBetweenReports != 0) return;
    progress_({.stage = file,
               .unit = "rows",
               .count = row,
               .fraction = static_cast<double>(row) / static_cast<double>(rows)});
  }

  void write_nodes(NodeType type) {
    const NodeTypeSpec& spec = schema_.at(type);
    const std::string file = fmt::format("nodes_{}.tsv", spec.name);
    begin_entry("nodes", file, spec.nodes == 0);
    manifest_ += fmt::format("type = '{}'\nid = 'id'\n", spec.name);
    TableWriter table(staged_.path(), file);
    table.cell("id");
    const bool event = spec.kind == NodeKind::event;
    if (event) {
      manifest_ += "time = 'time'\ntime_format = 'number'\nmissing_time = 'keep'\n";
      table.cell("time");
    }
    if (spec.names) {
      manifest_ += "name = 'name'\n";
      table.cell("name");
    }
    table.end_row();
    for (uint64_t n = 0; n < spec.nodes; ++n) {
      const auto node = static_cast<NodeId>(n);
      table.cell(graph_.id(type, node));
      if (event) write_time(table, graph_.time(type, node));
      if (spec.names) table.cell(graph_.name(type, node));
      table.end_row();
      report(file, n, spec.nodes);
    }
    table.close();
    write_features(spec);
  }

  static void write_time(TableWriter& table, Time time) {
    if (time == kNoTime) {
      table.cell("");
    } else {
      table.number(time);
    }
  }

  // A feature array is a .npy file already, except in int8.
  void write_features(const NodeTypeSpec& spec) {
    if (!spec.features || spec.nodes == 0) return;
    const std::string file = fmt::format("features_{}.npy", spec.name);
    if (spec.features->type == FeatureType::int8) {
      write_decoded(spec, file);
    } else {
      std::filesystem::copy_file(graph_.folder() / spec.name / spec.features->file,
                                 staged_.path() / file);
    }
    manifest_ += fmt::format("features = {{ npy = '{}', precision = '{}' }}\n", file,
                             to_string(spec.features->type));
  }

  // Storing these numbers in int8 again gives the same bytes.
  void write_decoded(const NodeTypeSpec& spec, const std::string& file) {
    GrowingArray array(staged_.path(), file, dtype_of<float>());
    for_every_row(graph_, schema_.node_type(spec.name),
                  [&](std::span<const float> row) { array.append(row); });
    array.close({spec.nodes, spec.features->width});
  }

  void write_labels(NodeType type) {
    const NodeTypeSpec& spec = schema_.at(type);
    for (uint32_t label = 0; label < spec.labels.size(); ++label) {
      for (size_t split = 0; split < kSplits.size(); ++split) {
        if (split == 0 || spec.labels[label].split) write_label(type, label, Split(split));
      }
      write_class_names(spec, spec.labels[label]);
    }
  }

  // The nodes of one split, one row for each class.
  void write_label(NodeType type, uint32_t label, Split split) {
    const std::string& name = schema_.at(type).labels[label].name;
    const std::string_view split_name = kSplits[static_cast<size_t>(split)];
    const std::string file = fmt::format("label_{}+{}{}{}.tsv", schema_.at(type).name, name,
                                         split_name.empty() ? "" : "+", split_name);
    TableWriter table(staged_.path(), file);
    table.cell("id").cell("class").end_row();
    for (uint64_t n = 0; n < graph_.num_nodes(type); ++n) {
      const auto node = static_cast<NodeId>(n);
      if (graph_.split(type, label, node) != split) continue;
      const auto classes = graph_.label_classes(type, label, node);
      for (const uint32_t number : classes) {
        table.cell(graph_.id(type, node)).cell(schema_.at(type).labels[label].classes[number]);
        table.end_row();
      }
      if (classes.empty() && split != Split::none) {
        table.cell(graph_.id(type, node)).cell("").end_row();
      }
    }
    table.close();
    begin_entry("labels", file, true);
    manifest_ += fmt::format("type = '{}'\nid = 'id'\nlabel = '{}'\ncolumn = 'class'\n",
                             schema_.at(type).name, name);
    if (split != Split::none) manifest_ += fmt::format("split = '{}'\n", split_name);
  }

  void write_class_names(const NodeTypeSpec& spec, const LabelSpec& label) {
    if (label.class_names.empty()) return;
    const std::string file = fmt::format("classes_{}+{}.tsv", spec.name, label.name);
    TableWriter table(staged_.path(), file);
    table.cell("class").cell("name").end_row();
    for (size_t i = 0; i < label.classes.size(); ++i) {
      table.cell(label.classes[i]).cell(label.class_names[i]).end_row();
    }
    table.close();
    begin_entry("classes", file, true);
    manifest_ += fmt::format("type = '{}'\nlabel = '{}'\nvalue = 'class'\nname = 'name'\n",
                             spec.name, label.name);
  }

  void write_edges(Relation relation) {
    const RelationSpec& spec = schema_.at(relation);
    const std::string file = fmt::format("edges_{}+{}+{}.tsv", schema_.at(spec.source).name,
                                         spec.edge, schema_.at(spec.target).name);
    declare_edges(relation, file);
    TableWriter table(staged_.path(), file);
    table.cell("source").cell("target");
    if (spec.times) table.cell("time");
    if (spec.weights) table.cell("weight");
    table.end_row();
    const bool symmetric = schema_.reverse(relation) == relation;
    for (uint64_t n = 0; n < graph_.num_nodes(spec.target); ++n) {
      const auto target = static_cast<NodeId>(n);
      const Neighbors neighbors = graph_.incoming(relation, target);
      for (size_t i = 0; i < neighbors.size(); ++i) {
        const NodeId source = neighbors.sources[i];
        if (symmetric && source > target) continue;  // written from its other end
        table.cell(graph_.id(spec.source, source)).cell(graph_.id(spec.target, target));
        if (spec.times) write_time(table, neighbors.times[i]);
        if (spec.weights) table.number(neighbors.weights[i]);
        table.end_row();
      }
      report(file, n, graph_.num_nodes(spec.target));
    }
    table.close();
  }

  void declare_edges(Relation relation, const std::string& file) {
    const RelationSpec& spec = schema_.at(relation);
    const RelationSpec& reverse = schema_.at(schema_.reverse(relation));
    begin_entry("edges", file, spec.edges == 0);
    manifest_ += fmt::format(
        "type = '{}'\nsource = {{ type = '{}', column = 'source' }}\n"
        "target = {{ type = '{}', column = 'target' }}\n",
        spec.edge, schema_.at(spec.source).name, schema_.at(spec.target).name);
    if (reverse.edge == spec.edge) {
      manifest_ += "symmetric = true\n";
    } else {
      manifest_ += fmt::format("reverse = '{}'\n", reverse.edge);
    }
    if (spec.times) {
      manifest_ += "time = 'time'\ntime_format = 'number'\nmissing_time = 'keep'\n";
    }
    if (spec.weights) manifest_ += "weight = 'weight'\n";
    if (spec.unique) manifest_ += "duplicates = 'drop'\n";
  }

  const HeteroGraph& graph_;
  const Schema& schema_;
  StagedFolder staged_;
  const ProgressSink& progress_;
  std::string manifest_;
};

}  // namespace

void export_tables(const HeteroGraph& graph, const Path& folder, const ProgressSink& progress) {
  Exporter(graph, folder, progress).run();
}

}  // namespace hgt
