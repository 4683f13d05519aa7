// For the tests of reports: the members that the page expects, and a run that was scored.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "hgt/insight/insight_test_runs.h"
#include "hgt/insight/run_report.h"

namespace hgt {

using Json = nlohmann::json;
using Words = std::vector<std::string>;
using Names = std::set<std::string>;

inline Names members(const Json& json) {
  Names names;
  for (const auto& [name, unused] : json.items()) names.insert(name);
  return names;
}

// Those of an interface of the page that must be there.
inline Names declared(const std::string& interface) {
  const std::string text = read_bytes(Path(HGT_SOURCE_DIR) / "web" / "src" / "model.ts");
  std::istringstream in(text.substr(text.find("export interface " + interface + " {")));
  Names names;
  std::smatch match;
  for (std::string line; std::getline(in, line) && line != "}";) {
    if (std::regex_search(line, match, std::regex("^  (\\w+): "))) names.insert(match[1]);
  }
  EXPECT_FALSE(names.empty()) << interface;
  return names;
}

// Little of everything.
inline ReportOptions quick_report() {
  return {.among = 8, .examples = 20, .classes = 4, .batches = 2};
}

inline Json files_of(const hgt::Run& run) { return Json(RunReport(run).from_files()); }

inline hgt::Run& scored_run() {
  hgt::Run& run = tiny_run();
  if (!std::filesystem::exists(run.folder() / "test.json")) run.evaluate(Split::test, {});
  return run;
}

}  // namespace hgt
