// Warnings as they stand in a run's files and in reports: [{"kind": ..., "text": ...}].
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hgt/run/warnings.h"

namespace hgt {

inline nlohmann::ordered_json warnings_json(const std::vector<Warning>& warnings) {
  auto json = nlohmann::ordered_json::array();
  for (const Warning& warning : warnings) {
    json.push_back({{"kind", to_string(warning.kind)}, {"text", warning.text}});
  }
  return json;
}

// The member `warnings` of an object; files of earlier versions have none. Kinds of later versions
// are passed over. Throws nlohmann::json::exception: the file is damaged.
inline std::vector<Warning> warnings_of(const nlohmann::ordered_json& object) {
  std::vector<Warning> warnings;
  if (!object.contains("warnings")) return warnings;
  for (const auto& each : object.at("warnings")) {
    const auto kind = find_word<WarningKind>(each.at("kind").get<std::string>());
    if (kind) warnings.push_back({.kind = *kind, .text = each.at("text").get<std::string>()});
  }
  return warnings;
}

}  // namespace hgt
