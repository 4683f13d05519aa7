// The formats that tables come in. A format is one row of the list in row_format.cc: all code that
// reads manifests, finds files and opens them uses it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hgt/graph/types.h"
#include "hgt/tables/row_source.h"

namespace hgt {

// What a manifest says about how to read a table.
struct RowOptions {
  std::vector<std::string> columns = {};  // names of the columns; empty: as in the table
  std::map<std::string, std::string, std::less<>> values = {};  // of the format's own options

  const std::string* find(std::string_view key) const;  // nullptr: not given
};

// A key of the manifest that some formats understand.
struct FormatOption {
  enum class Kind { text, count };
  std::string_view key;
  Kind kind = Kind::text;
  uint64_t most = 1'000'000'000;  // of a count
  // What is wrong with a value, such as "must be one character"; empty: nothing.
  std::string_view (*complaint)(std::string_view value) = nullptr;
};

struct RowFormat {
  std::string_view name;                  // as in format = "csv"
  std::vector<std::string_view> endings;  // of file names, in lower case, compression left out
  std::vector<FormatOption> options;
  std::unique_ptr<RowSource> (*open)(const Path& file, const RowOptions& options);
};

// The first is the format of files with an unknown ending.
const std::vector<RowFormat>& row_formats();

// Unknown: an Error that lists the formats.
const RowFormat& row_format(std::string_view name);
// The format with this name; without one as the file's ending says, in upper or lower case. A
// compression suffix (.gz, .zst) is ignored.
const RowFormat& row_format_of(const Path& file, std::string_view name = {});

std::vector<std::string> format_names();
// The options of all formats, each key once.
std::vector<FormatOption> format_options();
// What is wrong with a value of an option, such as "'delimiter' must be one character"; empty:
// nothing.
std::string complaint(const FormatOption& option, const std::string& value);
// The same for all options at once; one that the format does not know is also wrong.
std::string complaint(const RowFormat& format, const RowOptions& options);

// `format`: as for row_format_of(). Throws Error: missing or unreadable file, no columns, the
// same column twice, options that the format does not take.
std::unique_ptr<RowSource> open_rows(const Path& file, const RowOptions& options,
                                     std::string_view format = {});

}  // namespace hgt
