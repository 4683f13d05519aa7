#include "hgt/tables/table_scan.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>

#include "hgt/error.h"

namespace hgt {

namespace {

constexpr uint64_t kRowsBetweenReports = 1U << 15U;

// The folder is a name, not a pattern.
Path escaped(const Path& folder) {
  std::string text;
  for (const char c : folder.string()) {
    if (std::string_view("*?[\\").find(c) != std::string_view::npos) text.push_back('\\');
    text.push_back(c);
  }
  return text;
}

TableFormat table_format(const TableSource& source, const Path& file) {
  TableFormat format = format_from_name(file);
  if (source.delimiter) format.delimiter = *source.delimiter;
  if (source.quote) {
    format.quote = source.quote->empty() ? std::nullopt : std::optional(source.quote->front());
  }
  format.columns = source.columns;
  format.skip_lines = source.skip_lines;
  return format;
}

// The conditions of 'where', with their columns found in one file.
class RowFilter {
 public:
  RowFilter(const TableSource& source, const TableReader& table) {
    for (const auto& [column, values] : source.where) {
      conditions_.emplace_back(table.column(column), &values);
    }
  }

  bool accepts(const TableReader& table) const {
    return std::all_of(conditions_.begin(), conditions_.end(), [&](const auto& condition) {
      const auto& [column, values] = condition;
      return std::find(values->begin(), values->end(), table.cell(column)) != values->end();
    });
  }

 private:
  std::vector<std::pair<size_t, const std::vector<std::string>*>> conditions_;
};

void scan_file(TableReader& table, const RowFilter& filter, const UseRow& use_row,
               TableReport& report, DefectLog& log, const ProgressSink& progress) {
  Progress state{.stage = table.file().filename().string(), .unit = "rows"};
  while (table.next()) {
    ++report.rows;
    if (++state.count % kRowsBetweenReports == 0) {
      state.fraction = static_cast<double>(table.bytes_read()) /
                       static_cast<double>(std::max<uint64_t>(1, table.bytes_total()));
      progress(state);
    }
    if (!table.well_formed()) {
      log.add(Defect::bad_row, table.file(), table.line(), table.defect());
    } else if (!filter.accepts(table)) {
      ++report.filtered;
    } else if (use_row(table)) {
      ++report.kept;
    }
  }
  state.fraction = 1;
  state.finished = true;
  progress(state);
}

}  // namespace

std::vector<Path> expand_files(const TableSource& source, const Path& folder,
                               const Path& manifest) {
  std::vector<Path> files;
  for (const std::string& pattern : source.files) {
    const std::string full = (escaped(folder) / pattern).string();
    glob_t matches{};
    const int result = ::glob(full.c_str(), 0, nullptr, &matches);
    if (result == 0) {
      files.insert(files.end(), matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
    }
    ::globfree(&matches);
    if (result == 0) continue;
    throw Error(
        fmt::format("{}:{}: no file matches {}; mend 'files', or give the folder of the "
                    "tables with --tables",
                    manifest.string(), source.line, (folder / pattern).string()));
  }
  return files;
}

void scan_table(const TableSource& source, const std::vector<Path>& files, TableReport& report,
                DefectLog& log, const ProgressSink& progress, const BindTable& bind) {
  for (const Path& file : files) {
    TableReader table(file, table_format(source, file));
    const RowFilter filter(source, table);
    const UseRow use_row = bind(table);
    scan_file(table, filter, use_row, report, log, progress);
  }
}

}  // namespace hgt
