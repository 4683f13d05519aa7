// What hangs on the papers of the synthetic academic graph, drawn in chunks.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "hgt/academic/academic_plan.h"
#include "hgt/academic/academic_schema.h"
#include "hgt/academic/quota_chunks.h"
#include "hgt/graph/graph_builder.h"

namespace hgt {

// Authors, fields, venues, references: in the order of PaperWeights.
using PaperQuotas = Quotas<4>;

struct DrawnPapers {
  struct Mention {
    NodeId paper = 0;
    NodeId author = 0;
    uint64_t name = 0;
  };
  uint64_t papers = 0;
  std::vector<PlacedEdge> edges;
  std::vector<Mention> mentions;  // of authors with a shared name
};

// Chunks of whole blocks, because authors wait for their first paper within a block. Calls
// advance(papers) after every few papers.
std::vector<QuotaChunk<4>> plan_paper_edges(const AcademicPlan& plan, unsigned threads,
                                            const std::function<void(const Range&)>& advance);

// Draws one chunk. `sharers`: how many authors have each common name.
void draw_papers(const AcademicPlan& plan, const AcademicNumbers& numbers,
                 const std::vector<uint8_t>& sharers, const Range& papers, PaperQuotas& quotas,
                 DrawnPapers& drawn);

}  // namespace hgt
