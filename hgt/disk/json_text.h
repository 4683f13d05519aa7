// All JSON that hgt reads is read here: nlohmann's parser within limits, so that no file can use up
// the stack or the memory (printing a value is recursive). For sources: nlohmann is not installed.
//
//   const auto json = parse_json(read_text(file));              // throws nlohmann's exceptions
//   const auto json = parse_json(line, /*allow_exceptions=*/false);  // is_discarded() if it is bad
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace hgt {

constexpr size_t kMaxJsonDepth = 64;                // of arrays and objects within each other
constexpr size_t kMaxJsonBytes = size_t{1} << 30U;  // a schema with the names of many classes
// The place where the text goes beyond a limit, and what it says then; empty: nowhere.
struct JsonExcess {
  size_t position = 0;
  std::string what = {};
};
JsonExcess json_excess(std::string_view text);

template <typename Json = nlohmann::json>
Json parse_json(std::string_view text, bool allow_exceptions = true) {
  const JsonExcess excess = json_excess(text);
  if (excess.what.empty()) return Json::parse(text, nullptr, allow_exceptions);
  if (allow_exceptions) {
    throw Json::parse_error::create(101, excess.position, excess.what, nullptr);
  }
  return Json(Json::value_t::discarded);
}

}  // namespace hgt
