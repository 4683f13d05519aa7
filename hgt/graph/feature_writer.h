// New features for a type of a finished graph, as part of a feature set in the making. Nothing else
// in the folder is rewritten.
//
//   FeatureWriter writer(set, "paper", {.width = 128, .origin = "titles", .key = "..."});
//   while (writer.rows() < nodes) writer.append(rows, missing);
//   writer.finish();
//
// Rows go to "<type>/features.partial". A writer that is not finished, for whatever reason, leaves
// them there, and the next one with the same key continues after them; one with another key starts
// over. finish() flushes them to disk under a unique name and then adds them to the set.
//
// Nodes without features get a row of zeros, and one more column says so: 1 for them, 0 for the
// others. From it a linear layer learns a separate vector for such nodes. If every node has
// features, there is no such column, unless neighbors can be left out of them (FeatureSpec::mean).
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hgt/graph/array_file.h"
#include "hgt/graph/feature_set_writer.h"
#include "hgt/graph/schema.h"
#include "hgt/graph/types.h"

namespace hgt {

class FeatureWriter {
 public:
  // Ignores missing, flagged and file of `spec`; its width is that without the column that flags,
  // and its key must not be empty. The set must outlive the writer. Throws Error if there is no
  // such type.
  FeatureWriter(FeatureSetWriter& set, const std::string& type, FeatureSpec spec);
  FeatureWriter(const FeatureWriter&) = delete;
  FeatureWriter& operator=(const FeatureWriter&) = delete;
  ~FeatureWriter();  // keeps what was written, unless finish() was reached

  uint64_t rows() const { return rows_; }  // written so far, by earlier writers too
  uint64_t nodes() const { return nodes_; }
  uint64_t missing() const;  // of the rows so far; reads them

  // The next rows, [missing.size(), width]; those of missing nodes count as zeros. If the
  // process is killed, only those of the last seconds are lost. Throws Error when a value is not
  // finite as it is stored.
  void append(std::span<const float> rows, const std::vector<bool>& missing);

  // Requires rows() == nodes(). Returns what is in the set now. `counts`, [nodes]: of a mean that
  // neighbors can be left out of, how many count; of others, none.
  FeatureSpec finish(std::span<const uint32_t> counts = {});
  void discard();  // instead of finish(): removes everything written

 private:
  uint64_t row_bytes() const;  // of the partial file, which always has the flag
  void take_up();              // resumes what an earlier writer left
  void save_position();
  Path write_unflagged() const;
  ArrayRecord write_counts(std::span<const uint32_t> counts);

  FeatureSetWriter& set_;
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
