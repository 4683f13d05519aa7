// How the instances of a component are drawn, its seeds being in the draft.
#pragma once

#include <cstdint>
#include <span>

#include "hgt/random.h"
#include "hgt/sampling/candidate_reader.h"
#include "hgt/sampling/draft.h"
#include "hgt/sampling/sampler.h"

namespace hgt {

struct HgSamplingSize {
  uint32_t width = 0;         // n of Algorithm 1
  uint32_t depth = 0;         // L of Algorithm 1
  uint32_t neighbor_cap = 0;  // 0: none
};

// Algorithm 1. `trace` may be null.
void draw_hgsampling(Draft& draft, CandidateReader& reader, const HgSamplingSize& size,
                     Draws& draws, SamplingTrace* trace);

struct NeighborHops {
  uint32_t hops = 0;
  std::span<const uint32_t> fanouts;  // by hop; 0, or no such number: all entries
  bool recent = false;
};

// Hop by hop: every new instance draws the fan-out of each of its lists, uniformly or the latest
// (ListCut).
void draw_neighbors(Draft& draft, CandidateReader& reader, const NeighborHops& size, Draws& draws);

}  // namespace hgt
