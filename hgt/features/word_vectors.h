// Pre-trained word vectors from a text file, as GloVe, word2vec and fastText publish them: one line
// per word, which has the word and then its numbers, separated by spaces. A first line of two
// numbers (number of words and width) is skipped. The file may be compressed by gzip or zstd.
#pragma once

#include "hgt/features/vocabulary.h"
#include "hgt/features/word_mean.h"
#include "hgt/graph/types.h"
#include "hgt/progress.h"

namespace hgt {

// The vectors of the words of the vocabulary; others are not kept, so that memory depends on the
// graph and not on the file. A word that the file lacks gets the mean of the vectors of its
// character n-grams (3 to 6 of "<word>"), an n-gram's vector being the mean of those of the file's
// words that contain it; such a word without a known n-gram stays unknown. Reads the file twice
// where words are lacking. Throws Error with file and line: no numbers, differing widths.
WordTable read_word_vectors(const Path& file, const Vocabulary& vocabulary,
                            const ProgressSink& progress);

}  // namespace hgt
