// Word vectors that fastText (Bojanowski et al. 2017) learns from the titles of the graph itself.
#pragma once

#include <cstdint>

#include "hgt/features/vocabulary.h"
#include "hgt/features/word_mean.h"
#include "hgt/graph/hetero_graph.h"
#include "hgt/progress.h"

namespace hgt {

// Fewer make vectors that differ too little, more gain nothing (docs/results.md).
constexpr uint64_t kWordsToRead = 4'000'000;

uint64_t fasttext_epochs(uint64_t words);  // that read so many; 5 to 30

struct FasttextOptions {
  uint32_t width = 128;
  uint32_t epochs = 0;   // 0: fasttext_epochs()
  uint32_t threads = 1;  // with more than one, threads race and the result varies
  uint64_t seed = 1;
  Path kept = {};  // what was trained is kept in this file until the caller removes it
};

// Skip-gram with character n-grams over the titles up to `until`, so that every word of the
// vocabulary has a vector, later ones too. Takes options.kept for trained where it is there.
// Throws NoFeatures: no titles up to then.
WordTable train_fasttext(const HeteroGraph& graph, NodeType type, const Vocabulary& vocabulary,
                         Time until, const FasttextOptions& options, const ProgressSink& progress);

}  // namespace hgt
