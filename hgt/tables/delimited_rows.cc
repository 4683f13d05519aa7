#include "hgt/tables/delimited_rows.h"

#include <optional>
#include <string>

#include "hgt/tables/number_text.h"
#include "hgt/tables/table_reader.h"

namespace hgt {

namespace {

std::unique_ptr<RowSource> open_delimited(const Path& file, TableFormat format,
                                          const RowOptions& options) {
  if (const std::string* delimiter = options.find("delimiter")) {
    format.delimiter = delimiter->front();
  }
  if (const std::string* quote = options.find("quote")) {
    format.quote = quote->empty() ? std::nullopt : std::optional(quote->front());
  }
  if (const std::string* lines = options.find("skip_lines")) {
    format.skip_lines = static_cast<uint64_t>(parse_whole(*lines).value());
  }
  format.columns = options.columns;
  return std::make_unique<TableReader>(file, format);
}

}  // namespace

std::vector<FormatOption> delimited_options() {
  const auto one_character = [](std::string_view value) -> std::string_view {
    return value.size() == 1 ? "" : "must be one character";
  };
  const auto at_most_one = [](std::string_view value) -> std::string_view {
    return value.size() <= 1 ? "" : "must be one character or \"\"";
  };
  return {{.key = "delimiter", .complaint = one_character},
          {.key = "quote", .complaint = at_most_one},
          {.key = "skip_lines", .kind = FormatOption::Kind::count}};
}

std::unique_ptr<RowSource> open_tsv(const Path& file, const RowOptions& options) {
  return open_delimited(file, {.delimiter = '\t'}, options);
}

std::unique_ptr<RowSource> open_csv(const Path& file, const RowOptions& options) {
  return open_delimited(file, {.delimiter = ',', .quote = '"'}, options);
}

}  // namespace hgt
