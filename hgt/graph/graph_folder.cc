#include "hgt/graph/graph_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "hgt/disk/json_text.h"
#include "hgt/disk/whole_file.h"
#include "hgt/error.h"

namespace hgt {

namespace fs = std::filesystem;

namespace {

// How the names of files begin that lie beside the folders of node types: the schema and what a
// killed process left of it, what readers remember, locks and marks, walks that are not finished.
constexpr std::array<std::string_view, 5> kFilesOfGraph = {"schema.json", "verified.json",
                                                           ".features.lock", ".hgt-", "walks_"};

[[noreturn]] void refuse_folder(const Path& folder, const std::string& reason) {
  throw Error(fmt::format("{}: is not replaced: {}; choose another name or remove it yourself",
                          folder.string(), reason));
}

// The folders that belong to the graph; throws nlohmann's errors and those of the disk.
std::set<std::string> folders_of_graph(const Path& folder) {
  const auto schema = parse_json<nlohmann::json>(read_text(folder / "schema.json"));
  if (schema.at("format") != kGraphFormat) throw Error("it is not that of a graph");
  std::set<std::string> names = {kTruthFolder};
  for (const auto& type : schema.at("node_types")) names.insert(type.at("name"));
  return names;
}

}  // namespace

void require_only_graph(const Path& folder) {
  std::set<std::string> folders;
  try {
    folders = folders_of_graph(folder);
  } catch (const std::exception&) {
    refuse_folder(folder, "it has no schema.json of a graph, so hgt did not make it");
  }
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const auto begins_name = [&](std::string_view start) { return name.starts_with(start); };
    const bool ours = fs::is_directory(entry.symlink_status())
                          ? folders.contains(name)
                          : std::any_of(kFilesOfGraph.begin(), kFilesOfGraph.end(), begins_name) &&
                                fs::is_regular_file(entry.symlink_status());
    if (!ours) refuse_folder(folder, fmt::format("it also holds {}, which hgt did not make", name));
  }
}

}  // namespace hgt
