// Feature vectors from the cells of a table.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hgt/tables/manifest.h"
#include "hgt/tables/row_source.h"

namespace hgt {

class FeatureParser {
 public:
  // `declared_width`: where the spec leaves the width open, that of earlier tables; 0: taken
  // from the first row. Throws Error for a column that the table does not have.
  FeatureParser(const FeatureColumns& spec, const RowSource& table, uint64_t declared_width = 0);

  // Reads the current row into values(). False: it cannot be read, defect() says why.
  bool parse(const Row& row);
  std::span<const float> values() const { return values_; }
  const std::string& defect() const { return defect_; }
  const std::string& remedy() const { return remedy_; }  // for that defect; may be empty

 private:
  bool parse_form(const Row& row);
  bool parse_columns(const Row& row);
  bool parse_list(std::string_view cell);
  bool parse_sparse(std::string_view cell);
  bool reject(std::string what, std::string remedy = "");

  const FeatureColumns& spec_;
  uint64_t width_;
  std::vector<size_t> columns_;
  std::vector<float> values_;
  std::string defect_;
  std::string remedy_;
};

// Where the numbers came from, in words, for the schema.
std::string describe(const FeatureColumns& spec);

}  // namespace hgt
