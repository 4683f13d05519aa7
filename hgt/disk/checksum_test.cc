#include "hgt/disk/checksum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

namespace hgt {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST(ChecksumTest, IsThatOfThePublishedAlgorithm) {
  EXPECT_EQ(text_checksum(""), "2d06800538d394c2");  // XXH3-64 of nothing, without a seed
}

TEST(ChecksumTest, TellsTextsApart) {
  EXPECT_EQ(text_checksum("a"), text_checksum("a"));
  EXPECT_NE(text_checksum("a"), text_checksum("a\n"));
  EXPECT_EQ(text_checksum("").size(), 16U);
}

TEST(ChecksumTest, DoesNotDependOnThePieces) {
  std::string text(10'000, '\0');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * i % 251);
  for (const size_t piece : {1U, 7U, 256U, 1024U, 9999U, 10'000U}) {
    Checksum sum;
    for (size_t at = 0; at < text.size(); at += piece) {
      sum.add(bytes_of(std::string_view(text).substr(at, piece)));
      ASSERT_EQ(sum.value(), checksum(bytes_of(text).first(std::min(at + piece, text.size()))));
    }
  }
  EXPECT_EQ(Checksum().value(), checksum({}));
}

TEST(ChecksumTest, GoesOnWhereItWasMovedFrom) {
  Checksum first;
  first.add(bytes_of("ab"));
  Checksum second = std::move(first);
  second.add(bytes_of("c"));
  EXPECT_EQ(second.value(), checksum(bytes_of("abc")));
}

}  // namespace
}  // namespace hgt
