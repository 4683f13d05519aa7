#include "cli/learn/node_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "cli/node_words.h"
#include "hgt/error.h"
#include "hgt/graph/time_text.h"
#include "hgt/tables/row_format.h"

namespace hgt::cli {

namespace {

std::optional<size_t> find_column(const RowSource& source, std::string_view name) {
  const auto columns = source.columns();
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found == columns.end()) return std::nullopt;
  return static_cast<size_t>(found - columns.begin());
}

// A file without a header is a list of ids.
std::unique_ptr<RowSource> open_node_rows(const Path& file) {
  auto table = open_rows(file, {});
  if (find_column(*table, "id")) return table;
  if (table->columns().size() > 1) {
    throw Error(fmt::format(
        "{}: no column is called 'id'; the file must be a list of ids, one per line, or a table "
        "whose first line names a column 'id' and perhaps one 'time'",
        file.string()));
  }
  return open_rows(file, {.columns = {"id"}});
}

class NodeRows {
 public:
  NodeRows(const RowSource& source, const HeteroGraph& graph, NodeType type)
      : graph_(graph), type_(type), id_(source.column("id")), time_(find_column(source, "time")) {}

  Seed seed(const Row& row) const {
    if (!row.well_formed()) complain(row, row.defect);
    const std::string_view id = row.cell(id_);
    const auto node = graph_.find(type_, id);
    const std::string& type = graph_.schema().at(type_).name;
    if (!node) complain(row, fmt::format("there is no node of type {} with the id '{}'", type, id));
    Seed seed{.type = type_, .node = *node};
    if (!time_ || row.cell(*time_).empty()) return seed;
    const TimeUnit unit = graph_.schema().time_unit;
    const auto time = parse_time(row.cell(*time_), TimeFormat::date, unit);
    if (!time) report_time(graph_.schema(), to_string(row.position), std::string(row.cell(*time_)));
    const Time own = graph_.time(type_, *node);
    if (own == kNoTime) {
      seed.time = *time;
    } else if (own != *time) {
      complain(row, fmt::format("the time of {} '{}' is {}, so it cannot be asked about at {}",
                                type, id, format_time(own, unit), format_time(*time, unit)));
    }
    return seed;
  }

 private:
  [[noreturn]] static void complain(const Row& row, const std::string& what) {
    throw Error(fmt::format("{}: {}", to_string(row.position), what));
  }

  const HeteroGraph& graph_;
  NodeType type_;
  size_t id_;
  std::optional<size_t> time_;
};

}  // namespace

std::vector<Seed> read_node_file(const Path& file, const HeteroGraph& graph, NodeType type) {
  const auto source = open_node_rows(file);
  const NodeRows rows(*source, graph, type);
  std::vector<Seed> seeds;
  for (Row row; source->next(row);) seeds.push_back(rows.seed(row));
  if (seeds.empty()) throw Error(fmt::format("{}: there is no node in it", file.string()));
  return seeds;
}

}  // namespace hgt::cli
