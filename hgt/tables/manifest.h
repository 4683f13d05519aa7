// The manifest: which table holds which node or edge type, and what its columns mean.
// The format, with examples, is documented in docs/import.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hgt/graph/schema.h"
#include "hgt/graph/time_pattern.h"
#include "hgt/graph/time_text.h"
#include "hgt/graph/types.h"
#include "hgt/tables/row_format.h"

namespace hgt {

// One or several files of the same layout.
struct TableSource {
  std::vector<std::string> files = {};  // names or patterns, relative to the folder of the tables
  std::string format = {};              // of row_format.h; empty: as the file's name says
  RowOptions options = {};
  std::map<std::string, std::vector<std::string>> where = {};  // column -> accepted values
  std::vector<std::string> null_texts = {};  // cells with such a text are empty ones
  bool may_be_empty = false;                 // an empty table is not an error
  uint64_t line = 0;                         // of the entry in the manifest
};

struct TimeColumn {
  std::string column;
  TimeFormat format = TimeFormat::date;
  std::optional<TimePattern> pattern = {};  // instead of a format
  bool keep_missing = false;  // an empty cell is not a defect: the node or edge has no time
};

// What becomes of a row with an empty cell where a number should be.
struct MissingNumber {
  enum class Policy { drop, fill, flag };  // flag: 0, and a second number tells that it is missing
  Policy policy = Policy::drop;
  float number = 0;  // fill: what the cell becomes
};

struct LabelColumnSpec {
  std::string name;
  std::string column;
  std::string separator = {};  // several classes in one cell; empty: one
};

struct FeatureColumns {
  enum class Form { columns, list, sparse, hashed_words, npy };
  Form form = Form::columns;
  std::vector<std::string> columns;  // one for all forms but `columns`; npy: the file
  std::string separator = " ";
  uint64_t width =
      0;  // 0: as many as the first row has; of `columns` with flags twice their number
  MissingNumber missing = {};
  FeatureType type = FeatureType::float32;
};

struct NodeTable {
  TableSource source;
  std::string type;
  std::vector<std::string> id = {};  // columns; several make one id (id_cells.h)
  uint64_t count = 0;  // instead of a table: number of nodes, with the ids 0, 1, 2, ...
  std::optional<std::string> name = {};
  std::optional<TimeColumn> time = {};  // makes the type an event type
  bool ignore_duplicates = false;
  std::vector<LabelColumnSpec> labels = {};
  std::optional<FeatureColumns> features = {};
};

// Features in a table of their own, found by id.
struct FeatureTable {
  TableSource source;
  std::string type;
  std::vector<std::string> id;
  FeatureColumns features;
  bool skip_unknown = false;  // rows for nodes that there are not are not a defect
};

// Classes in a table of their own, found by id; it may say what its nodes are for.
struct LabelTable {
  TableSource source;
  std::string type;
  std::vector<std::string> id;
  LabelColumnSpec label;
  std::string split = {};  // train, validation, test, or empty
  bool skip_unknown = false;
};

// Readable names of classes.
struct ClassTable {
  TableSource source;
  std::string type;
  std::string label;
  std::string value;
  std::string name;
};

struct EdgeEnd {
  std::string type;
  std::vector<std::string> columns;  // with the id
};

// How the rows of one table are divided among several edge types.
struct EdgeSplit {
  enum class By { nothing, order, column, source_label, target_label };
  By by = By::nothing;
  std::string column;          // order, column: of the edge table; labels: name of the label
  bool within_target = false;  // order: positions count within one target (else one source)
  std::map<std::string, std::string> values;  // value -> edge type
  std::optional<std::string> other = {};      // edge type of all other values
};

struct EdgeTable {
  TableSource source_table;
  std::string type;
  EdgeEnd source;
  EdgeEnd target;
  std::string reverse = {};
  bool symmetric = false;
  bool unique = false;        // of edges that agree in both ends and time only one is kept
  bool skip_empty = false;    // rows without an id at one end are not a defect
  bool skip_unknown = false;  // nor are rows with an id that no node has
  std::optional<TimeColumn> time = {};
  std::optional<std::string> weight = {};
  MissingNumber missing_weight = {};
  EdgeSplit split = {};

  std::vector<std::string> edge_types() const;  // all that its rows may become
};

struct Manifest {
  Path file;
  std::string name;
  TimeUnit time_unit = TimeUnit::year;
  std::vector<NodeTable> nodes;
  std::vector<EdgeTable> edges;
  std::vector<FeatureTable> features;
  std::vector<LabelTable> labels;
  std::vector<ClassTable> classes;
};

// Throws Error with file and line: not TOML, an unknown key (lists the known ones), a missing key.
Manifest read_manifest(const Path& file);

}  // namespace hgt
