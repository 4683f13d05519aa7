#include "hgt/academic/academic_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "hgt/academic/apportionment.h"
#include "hgt/error.h"

namespace hgt {

namespace {

constexpr AcademicSizes kCs = {5'597'605,  5'985'759, 119'537,   27'433,     16'931, 15'571'614,
                               47'462'559, 5'597'606, 7'190'480, 31'441'552, 1900,   2019};
constexpr AcademicSizes kMed = {21'931'587, 28'779'507,  289'930,     25'044,
                                18'256,     85'620'479,  149'728'483, 21'931'588,
                                28'779'507, 165'408'318, 1900,        2019};
constexpr AcademicSizes kOag = {89'606'257,  88'364'081,    615'228,     53'073,
                                25'288,      300'853'688,   657'049'405, 89'606'258,
                                167'449'933, 1'021'237'518, 1900,        2019};

constexpr AcademicSizes with_years(AcademicSizes sizes, Time first, Time last) {
  sizes.first_year = first;
  sizes.last_year = last;
  return sizes;
}

constexpr std::array<AcademicPreset, 4> kPresets = {{
    {"small",
     "20,000 papers of 1990-2019 in the proportions of cs: seconds to make and to train on",
     with_years(kCs, 1990, 2019), 20'000, 64},
    {"cs", "the size of the paper's CS graph: 11.7 million nodes, 107 million edges", kCs,
     kCs.papers, 0},
    {"med", "the size of the paper's Med graph: 51 million nodes, 451 million edges", kMed,
     kMed.papers, 0},
    {"oag", "the size of the whole Open Academic Graph: 179 million nodes, 2.2 billion edges", kOag,
     kOag.papers, 0},
}};

}  // namespace

std::span<const AcademicPreset> academic_presets() { return kPresets; }

AcademicSizes academic_sizes(const AcademicPreset& preset, std::optional<uint64_t> asked) {
  const AcademicSizes& base = preset.base;
  const uint64_t papers = asked.value_or(preset.papers);
  if (papers < kMinPapers) {
    throw Error(
        fmt::format("--papers {} is too few for preset {}; give at least {}, or choose preset "
                    "tiny",
                    papers, preset.name, kMinPapers));
  }
  if (papers > kMaxNodes) {
    throw Error(fmt::format("--papers {} is too many; a node type holds at most {} nodes", papers,
                            kMaxNodes));
  }
  const auto in_proportion = [&](uint64_t count) {
    const uint64_t twice = scaled(2 * count, papers, base.papers);
    return (twice + 1) / 2;
  };
  AcademicSizes sizes = base;
  sizes.papers = papers;
  sizes.authors = in_proportion(base.authors);
  sizes.fields = std::max(in_proportion(base.fields), kMinFields);
  sizes.venues = std::max(in_proportion(base.venues), kMinVenues);
  sizes.institutes = std::max(in_proportion(base.institutes), kMinInstitutes);
  sizes.paper_author = in_proportion(base.paper_author);
  sizes.paper_field = in_proportion(base.paper_field);
  sizes.paper_venue = in_proportion(base.paper_venue);
  sizes.author_institute = in_proportion(base.author_institute);
  sizes.citations = in_proportion(base.citations);
  if (sizes.authors > kMaxNodes) {
    throw Error(fmt::format("--papers {} gives {} authors; a node type holds at most {} nodes",
                            papers, sizes.authors, kMaxNodes));
  }
  return sizes;
}

}  // namespace hgt
