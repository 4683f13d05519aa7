// The words of the synthetic academic graph: titles, and the names of people, places and fields.
//
// Words are made from their number, syllable by syllable, and no two numbers give the same word.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hgt/academic/academic_authors.h"
#include "hgt/academic/academic_draws.h"
#include "hgt/academic/academic_fields.h"
#include "hgt/academic/academic_venues.h"

namespace hgt {

constexpr uint64_t kWordsPerTopic = 30;
constexpr uint64_t kWordsPerL1 = 60;
constexpr uint64_t kGeneralWords = 1000;

class Words {
 public:
  // Keeps a reference to `fields`.
  Words(const FieldTree& fields, uint64_t seed);

  // 5 to 9 words: 45 % of the topic, 20 % of its L1 field, 35 % general ones, each by Zipf's law.
  std::string title(uint64_t paper, uint64_t topic) const;

  std::string field_name(uint64_t field) const;
  std::string venue_name(uint64_t venue, const LatentVenue& latent) const;
  std::string institute_name(uint64_t institute) const;

 private:
  std::string coined(uint64_t number) const;
  void append_coined(uint64_t number, std::string& text) const;
  static void append_general(uint64_t rank, std::string& text);
  uint64_t first_field_word() const;

  const FieldTree& fields_;
  uint64_t seed_;
  Permutation scramble_;
  WeightTable topic_ranks_, l1_ranks_, general_ranks_;
};

// Names of authors. About 30 % take one of a limited pool of common names, each shared by four on
// average; half of these come from the part of the pool that belongs to the author's topic, so that
// some of those who share a name also share a topic. The others have a name of their own.
class AuthorNames {
 public:
  // Keeps a reference to `authors`.
  AuthorNames(const Authors& authors, uint64_t seed);

  uint64_t common_names() const { return pool_; }
  // The number of the author's common name; no value: the name is the author's own.
  std::optional<uint64_t> common_name(uint64_t author, const Career& career) const;
  std::string name(uint64_t author, const Career& career) const;

 private:
  const Authors& authors_;
  uint64_t seed_;
  uint64_t pool_;
  Permutation own_names_;  // author -> number of a name that nobody else has
};

}  // namespace hgt
