// How large the synthetic academic graphs are: Table 1 of the paper, and smaller ones in
// proportion.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "hgt/graph/types.h"

namespace hgt {

// Nodes per type, edges per kind. The edges of the field hierarchy come on top.
struct AcademicSizes {
  uint64_t papers = 0;
  uint64_t authors = 0;
  uint64_t fields = 0;
  uint64_t venues = 0;
  uint64_t institutes = 0;
  uint64_t paper_author = 0;
  uint64_t paper_field = 0;
  uint64_t paper_venue = 0;
  uint64_t author_institute = 0;
  uint64_t citations = 0;
  Time first_year = 0;
  Time last_year = 0;

  uint64_t years() const {
    return static_cast<uint64_t>(last_year) - static_cast<uint64_t>(first_year) + 1;
  }
};

struct AcademicPreset {
  std::string_view name;
  std::string_view sentence;  // what it is
  AcademicSizes base;         // a row of Table 1 with its range of years
  uint64_t papers = 0;        // unless the user asks for another number
  uint64_t features = 0;      // width of the title vectors; 0: none
};

constexpr uint64_t kMinPapers = 100;
constexpr uint64_t kMinFields = 500;
constexpr uint64_t kMinVenues = 60;
constexpr uint64_t kMinInstitutes = 80;

// All but `tiny`, which has no sizes to plan.
std::span<const AcademicPreset> academic_presets();

// The preset with every count multiplied by papers / base.papers, rounded to the nearest whole
// number, and no fewer fields, venues and institutes than the minimums above.
// Throws Error when `papers` is below kMinPapers or some node type would exceed kMaxNodes.
AcademicSizes academic_sizes(const AcademicPreset& preset, std::optional<uint64_t> papers);

}  // namespace hgt
