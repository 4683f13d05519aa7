#include "hgt/tables/table_files.h"

#include <fmt/format.h>
#include <glob.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "hgt/error.h"
#include "hgt/tables/row_format.h"

namespace hgt {

namespace {

// The folder is a name, not a pattern.
Path escaped(const Path& folder) {
  std::string text;
  for (const char c : folder.string()) {
    if (std::string_view("*?[\\").find(c) != std::string_view::npos) text.push_back('\\');
    text.push_back(c);
  }
  return text;
}

void check_options(const TableSource& source, const Path& file, const Path& manifest) {
  const std::string text = complaint(row_format_of(file, source.format), source.options);
  if (text.empty()) return;
  throw Error(fmt::format("{}:{}: {}: {}", manifest.string(), source.line, file.string(), text));
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
        fmt::format("{}:{}: no file matches {}; correct 'files', or give the folder of the "
                    "tables with --tables",
                    manifest.string(), source.line, (folder / pattern).string()));
  }
  for (const Path& file : files) check_options(source, file, manifest);
  return files;
}

void require_outside(const Path& graph, const Path& input) {
  namespace fs = std::filesystem;
  std::error_code missing;  // then nothing lies in it, or reading it will tell
  const Path folder = fs::canonical(graph, missing);
  if (missing) return;
  for (Path at = fs::canonical(input, missing); at.has_relative_path(); at = at.parent_path()) {
    if (at.parent_path() != folder) continue;
    throw Error(fmt::format(
        "{}: lies in {}, which would be replaced; give --out another name, or move the file",
        input.string(), graph.string()));
  }
}

}  // namespace hgt
