// Tables -> a graph on disk, as a manifest says. See docs/import.md.
//
//   const Imported done = import_tables(read_manifest("manifest.toml"), "papers.graph");
//   std::cout << done.schema.node_types().size() << " node types\n";
#pragma once

#include <cstdint>
#include <optional>

#include "hgt/graph/graph_builder.h"
#include "hgt/tables/import_report.h"
#include "hgt/tables/manifest.h"

namespace hgt {

struct ImportOptions {
  std::optional<Path> tables = {};  // folder of the tables; default: where the manifest is
  bool strict = false;              // the first defective row is an Error; default: drop and count
  double max_dropped = 0.2;         // a table that loses a greater share of its rows is an Error
  BuildOptions build = {};
};

struct Imported {
  Schema schema;
  ImportReport report;
};

// Peak memory stays below options.build.memory plus about 500 MB, whatever the size of the tables
// (on top of that: four bytes per node and label, eight per node of the end that by_order groups
// by). Throws Error; then no graph is left behind.
Imported import_tables(const Manifest& manifest, const Path& graph,
                       const ImportOptions& options = {});

}  // namespace hgt
