// New features for a type of a finished graph. Nothing else in the folder is rewritten.
//
//   const FeatureLock lock("cs.graph");
//   FeatureWriter writer(lock, "paper", {.width = 128, .origin = "titles", .key = "..."});
//   while (writer.rows() < nodes) writer.append(rows, missing);
//   writer.finish();
//
// Rows go to "<type>/features.partial". A writer that is not finished, for whatever reason, leaves
// them there, and the next one with the same key goes on behind them; one with another key starts
// anew. finish() brings them to disk under a name of their own and then replaces schema.json, so
// that at every moment the graph has either the old features or the new ones. Programs that have
// the graph open keep the old ones.
//
// Nodes without features get a row of zeros, and one more column says so: 1 for them, 0 for the
// others. A linear layer learns from it a vector of its own for such nodes. Where no node is
// without features there is no such column.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hgt/graph/array_file.h"
#include "hgt/graph/feature_lock.h"
#include "hgt/graph/schema.h"
#include "hgt/graph/types.h"

namespace hgt {

class FeatureWriter {
 public:
  // Of `spec`, all but missing, flagged and file count; width is that without the column that
  // flags, and the key must not be empty. The lock must outlive the writer. Throws Error: no such
  // type.
  FeatureWriter(const FeatureLock& lock, const std::string& type, FeatureSpec spec);
  FeatureWriter(const FeatureWriter&) = delete;
  FeatureWriter& operator=(const FeatureWriter&) = delete;
  ~FeatureWriter();  // keeps what was written, unless finish() was reached

  uint64_t rows() const { return rows_; }  // written so far, by earlier writers too
  uint64_t nodes() const { return nodes_; }
  uint64_t missing() const;  // of the rows so far; reads them

  // The next rows, [missing.size(), width]; those of missing nodes count as zeros. A writer that is
  // killed has kept all but those of the last seconds. Throws Error when a value is not finite as
  // it is stored.
  void append(std::span<const float> rows, const std::vector<bool>& missing);

  // Requires rows() == nodes(). Returns what stands in the schema now.
  FeatureSpec finish();
  void discard();  // instead: nothing that was written remains

 private:
  uint64_t row_bytes() const;  // of the partial file, which has the flag always
  void take_up();              // what an earlier writer left
  void save_position();
  Path write_unflagged() const;
  void replace_schema(const ArrayRecord& record);

  Path folder_;
  std::string type_;
  Path type_folder_;
  FeatureSpec spec_;
  File file_;
  uint64_t nodes_ = 0;
  uint64_t rows_ = 0;
  uint64_t saved_rows_ = 0;
  std::chrono::steady_clock::time_point saved_at_ = std::chrono::steady_clock::now();
  bool finished_ = false;
};

}  // namespace hgt
