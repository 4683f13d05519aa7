#include "hgt/tables/table_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "hgt/error.h"
#include "hgt/graph/stored_features.h"
#include "hgt/parallel.h"
#include "hgt/tables/npy_matrix.h"
#include "hgt/tables/table_files.h"
#include "hgt/tables/table_rows.h"
#include "hgt/tables/table_scan.h"

namespace hgt {

namespace {

// --- the schema that a manifest declares ---

void declare_node_types(const Manifest& manifest, Schema& schema) {
  std::map<std::string, NodeType> types;
  for (const NodeTable& table : manifest.nodes) {
    const auto found = types.find(table.type);
    const NodeType type =
        found != types.end() ? found->second : schema.add_node_type(table.type, NodeKind::plain);
    types.emplace(table.type, type);
    if (table.time) schema.at(type).kind = NodeKind::event;
    if (table.name) schema.at(type).names = true;
  }
}

// Several tables may feed one relation: it has times or weights if one of them does.
class RelationDeclarations {
 public:
  explicit RelationDeclarations(const Manifest& manifest) : manifest_(manifest) {}

  void add(const EdgeTable& table, const std::string& type) {
    const auto [place, is_new] =
        places_.try_emplace({table.source.type, type, table.target.type}, all_.size());
    if (is_new) {
      all_.push_back({.source = table.source.type,
                      .edge = type,
                      .target = table.target.type,
                      .reverse = table.reverse,
                      .symmetric = table.symmetric});
    }
    RelationDeclaration& declaration = all_[place->second];
    declaration.times = declaration.times || table.time.has_value();
    declaration.weights = declaration.weights || table.weight.has_value();
    declaration.unique = declaration.unique || table.unique;
    if (declaration.symmetric != table.symmetric || declaration.reverse != table.reverse) {
      throw Error(
          fmt::format("{}:{}: edge type '{}' has a different 'reverse' or 'symmetric' in an "
                      "earlier table; repeat the earlier one here",
                      manifest_.file.string(), table.source_table.line, type));
    }
  }
  const std::vector<RelationDeclaration>& all() const { return all_; }

 private:
  const Manifest& manifest_;
  std::map<std::tuple<std::string, std::string, std::string>, size_t> places_;
  std::vector<RelationDeclaration> all_;
};

void declare_relations(const Manifest& manifest, Schema& schema) {
  RelationDeclarations declarations(manifest);
  for (const EdgeTable& table : manifest.edges) {
    for (const std::string& end : {table.source.type, table.target.type}) {
      static_cast<void>(declared_type(manifest, schema, end, table.source_table.line));
    }
    for (const std::string& type : table.edge_types()) declarations.add(table, type);
  }
  for (const RelationDeclaration& declaration : declarations.all()) {
    schema.add_relation(declaration);
  }
}

Schema declare_schema(const Manifest& manifest) {
  Schema schema;
  try {
    declare_node_types(manifest, schema);
    declare_relations(manifest, schema);
    schema.number_relations();
  } catch (const Error& error) {
    const std::string text = error.what();
    const std::string file = manifest.file.string();
    throw Error(text.starts_with(file) ? text : fmt::format("{}: {}", file, text));
  }
  schema.time_unit = manifest.time_unit;
  schema.origin = {{"made_by", "hgt import"}, {"name", manifest.name}};
  return schema;
}

// --- the import ---

// Of the time; the rest is finish().
constexpr double kReadingShare = 0.6;

uint64_t bytes_of(const Path& file) {
  std::error_code unknown;  // of a pipe, say
  const auto bytes = std::filesystem::file_size(file, unknown);
  return unknown ? 0 : bytes;
}

BuildOptions with_progress(const BuildOptions& options, ProgressSink progress) {
  BuildOptions result = options;
  result.progress = std::move(progress);
  return result;
}

class Importer {
 public:
  Importer(const Manifest& manifest, const Path& graph, const ImportOptions& options)
      : manifest_(manifest),
        options_(options),
        graph_(graph),
        folder_(options.tables.value_or(manifest.file.parent_path())),
        work_(options.build.progress),
        builder_(graph, declare_schema(manifest), with_progress(options.build, work_.sink())),
        context_{.manifest = manifest, .builder = builder_} {}

  Imported run() {
    check_all_files();
    check_labels();
    for (const NodeTable& table : manifest_.nodes) import_nodes(table);
    check_losses();  // without these nodes all tables below would lose rows, too
    for (const NodeTable& table : manifest_.nodes) import_matrix(table);
    for (const FeatureTable& table : manifest_.features) {
      scan<FeatureRows>(table, table.source, "features of " + table.type);
    }
    for (const LabelTable& table : manifest_.labels) {
      scan<LabelRows>(table, table.source, "labels of " + table.type);
    }
    for (const ClassTable& table : manifest_.classes) {
      scan<ClassRows>(table, table.source, "classes of " + table.label);
    }
    for (const EdgeTable& table : manifest_.edges) import_edges(table);
    check_losses();
    work_.begin(1 - kReadingShare);
    Schema schema = builder_.finish();
    return {std::move(schema), std::move(report_)};
  }

 private:
  std::vector<Path> files(const TableSource& source) const {
    return expand_files(source, folder_, manifest_.file);
  }

  // Notes that the files are read so often.
  void check_files(const TableSource& source, uint64_t times = 1) {
    for (const Path& file : files(source)) {
      require_outside(graph_, file);
      bytes_to_read_ += times * bytes_of(file);
    }
  }

  void begin_reading(const Path& file) {
    const auto bytes = static_cast<double>(bytes_of(file));
    work_.begin(kReadingShare * bytes / static_cast<double>(std::max<uint64_t>(1, bytes_to_read_)));
  }

  // A missing file should be told before an hour of work, not after.
  void check_all_files() {
    require_outside(graph_, manifest_.file);
    for (const NodeTable& table : manifest_.nodes) {
      check_files(table.source);
      if (!has_matrix(table)) continue;
      const NpyMatrix readable(folder_ / table.features->columns[0]);
      require_outside(graph_, folder_ / table.features->columns[0]);
      bytes_to_read_ += bytes_of(folder_ / table.features->columns[0]);
    }
    for (const auto& table : manifest_.features) check_files(table.source);
    for (const auto& table : manifest_.labels) check_files(table.source);
    for (const auto& table : manifest_.classes) check_files(table.source);
    for (const auto& table : manifest_.edges) {
      check_files(table.source_table, table.split.by == EdgeSplit::By::order ? 2 : 1);
    }
  }

  bool gives_label(const std::string& type, const std::string& label) const {
    const auto in_nodes = [&](const NodeTable& table) {
      return table.type == type &&
             std::any_of(table.labels.begin(), table.labels.end(),
                         [&](const LabelColumnSpec& spec) { return spec.name == label; });
    };
    const auto in_labels = [&](const LabelTable& table) {
      return table.type == type && table.label.name == label;
    };
    return std::any_of(manifest_.nodes.begin(), manifest_.nodes.end(), in_nodes) ||
           std::any_of(manifest_.labels.begin(), manifest_.labels.end(), in_labels);
  }

  void require_label(const std::string& type, const std::string& label, uint64_t line) const {
    if (gives_label(type, label)) return;
    throw Error(
        fmt::format("{}:{}: no table gives the label '{}' of type {}; add labels = {{ {} = "
                    "\"COLUMN\" }} to its [[nodes]], or a [[labels]] table",
                    manifest_.file.string(), line, label, type, label));
  }

  // by_label and [[classes]] must name a label that some table declares.
  void check_labels() const {
    for (const ClassTable& table : manifest_.classes) {
      static_cast<void>(context_.node_type(table.type, table.source));
      require_label(table.type, table.label, table.source.line);
    }
    for (const EdgeTable& table : manifest_.edges) {
      const uint64_t line = table.source_table.line;
      if (table.split.by == EdgeSplit::By::source_label) {
        require_label(table.source.type, table.split.column, line);
      } else if (table.split.by == EdgeSplit::By::target_label) {
        require_label(table.target.type, table.split.column, line);
      }
    }
  }

  static bool has_matrix(const NodeTable& table) {
    return table.features && table.features->form == FeatureColumns::Form::npy;
  }

  void import_nodes(const NodeTable& spec) {
    if (spec.count == 0) return scan<NodeRows>(spec, spec.source, "nodes " + spec.type);
    const NodeType type = context_.node_type(spec.type, spec.source);
    for (uint64_t i = 0; i < spec.count; ++i) builder_.add_node(type, {});
    report_.tables.push_back(
        {.title = "nodes " + spec.type, .rows = spec.count, .kept = spec.count});
  }

  // Reads all files of an entry with one class of table_rows.h.
  template <typename Rows, typename Spec>
  void scan(const Spec& spec, const TableSource& source, const std::string& title) {
    scan_entry(source, title, [&](const Path& file, const ScanOptions& options) {
      scan_table(source, file, options, binding<Rows>(spec, options.log));
    });
  }

  template <typename Rows, typename Spec>
  BindTable binding(const Spec& spec, RowLog& log) {
    return [this, &spec, &log](const RowSource& table) -> UseRow {
      auto rows = std::make_shared<Rows>(context_, spec, table, log);
      return [rows](const Row& row) { return rows->read(row); };
    };
  }

  using ScanFile = std::function<void(const Path& file, const ScanOptions& options)>;

  void scan_entry(const TableSource& source, const std::string& title, const ScanFile& scan_file) {
    TableReport& report = report_.tables.emplace_back(TableReport{
        .title = title, .place = fmt::format("{}:{}", manifest_.file.string(), source.line)});
    DefectLog log(report, options_.strict);
    const auto paths = files(source);
    scan_files(paths, report, log, scan_file);
    if (report.rows == 0 && !source.may_be_empty) {
      throw Error(
          fmt::format("{}: the table has no rows; give a file with data, or write "
                      "may_be_empty = true at {}:{}",
                      paths.front().string(), manifest_.file.string(), source.line));
    }
    if (report.rows > 0 && report.rows == report.filtered && !source.may_be_empty) {
      throw Error(
          fmt::format("{}: 'where' leaves none of the {} rows of {}; correct its values, or write "
                      "may_be_empty = true",
                      report.place, report.rows, paths.front().string()));
    }
  }

  void scan_files(const std::vector<Path>& paths, TableReport& report, DefectLog& log,
                  const ScanFile& scan_file) {
    for (const Path& file : paths) {
      begin_reading(file);
      const ProgressSink progress = work_.sink();
      scan_file(file, {.report = report,
                       .log = log,
                       .progress = progress,
                       .threads = thread_count(options_.build.threads)});
    }
  }

  // A graph without most of its rows would look like a success.
  void check_losses() const {
    std::string text;
    double greatest = 0;
    for (const TableReport& table : report_.tables) {
      if (table.lost_share() <= options_.max_dropped) continue;
      text += describe_losses(table) + "\n";
      greatest = std::max(greatest, table.lost_share());
    }
    if (text.empty()) return;
    throw Error(fmt::format(
        "{}this is more than the {:g}% of the rows of a table that may be lost, so no graph was "
        "made; correct the manifest or the tables, or allow the loss with --max-dropped {:g}",
        text, 100 * options_.max_dropped, std::min(1.0, std::ceil(100 * greatest) / 100)));
  }

  void import_edges(const EdgeTable& spec) {
    std::vector<PositionRange> groups;
    if (spec.split.by == EdgeSplit::By::order) find_positions(spec, groups);
    const auto bind = [&](const RowSource& table) -> ReadEdge {
      auto rows = std::make_shared<EdgeRows>(context_, spec, table, groups);
      return [rows](const Row& row, RowLog& log, std::vector<PlacedEdge>& edges) {
        return rows->read(row, log, edges);
      };
    };
    const auto use = [&](const std::vector<PlacedEdge>& edges) { builder_.add_edges(edges); };
    scan_entry(spec.source_table, "edges " + spec.type,
               [&](const Path& file, const ScanOptions& options) {
                 scan_edges(spec.source_table, file, options, bind, use);
               });
  }

  void find_positions(const EdgeTable& spec, std::vector<PositionRange>& groups) {
    TableReport unused;
    DefectLog log(unused, false);  // the second pass reports the defects
    const auto bind = [&](const RowSource& table) -> UseRow {
      auto rows = std::make_shared<OrderRows>(context_, spec, table, groups);
      return [rows](const Row& row) { return rows->read(row); };
    };
    scan_files(files(spec.source_table), unused, log,
               [&](const Path& file, const ScanOptions& options) {
                 scan_table(spec.source_table, file, options, bind);
               });
  }

  // Features in a .npy file: row i belongs to node i.
  void import_matrix(const NodeTable& spec) {
    if (!has_matrix(spec)) return;
    const NodeType type = context_.node_type(spec.type, spec.source);
    NpyMatrix matrix(folder_ / spec.features->columns[0]);
    if (matrix.rows() != builder_.num_nodes(type)) {
      throw Error(
          fmt::format("{}: has {} rows for {} nodes of type {}; every row of the node table needs "
                      "one (dropped node rows shift them: see the report, or use --strict)",
                      (folder_ / spec.features->columns[0]).string(), matrix.rows(),
                      builder_.num_nodes(type), spec.type));
    }
    std::vector<float> values(matrix.width());
    begin_reading(folder_ / spec.features->columns[0]);
    Progress report{.stage = spec.features->columns[0], .unit = "rows"};
    for (uint64_t row = 0; row < matrix.rows(); ++row) {
      matrix.read_row(row, values);
      if (!features_fit(values, spec.features->type)) {
        throw Error(
            fmt::format("{}: row {} holds numbers that are not finite or do not fit its "
                        "precision",
                        (folder_ / spec.features->columns[0]).string(), row));
      }
      context_.set_features(type, *spec.features, static_cast<NodeId>(row), values);
      if (row % 16384 != 0) continue;
      report.count = row;
      report.fraction = static_cast<double>(row) / static_cast<double>(matrix.rows());
      work_.sink()(report);
    }
  }

  const Manifest& manifest_;
  const ImportOptions& options_;
  Path graph_;
  Path folder_;
  uint64_t bytes_to_read_ = 0;
  WholeWork work_;
  GraphBuilder builder_;
  ImportContext context_;
  ImportReport report_;
};

}  // namespace

Imported import_tables(const Manifest& manifest, const Path& graph, const ImportOptions& options) {
  if (!(options.max_dropped >= 0 && options.max_dropped <= 1)) {
    throw Error(fmt::format("max_dropped is {}; it must be from 0 to 1", options.max_dropped));
  }
  return Importer(manifest, graph, options).run();
}

}  // namespace hgt
