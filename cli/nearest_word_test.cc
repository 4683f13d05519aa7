#include "cli/nearest_word.h"

#include <gtest/gtest.h>

namespace hgt::cli {
namespace {

TEST(EditDistance, CountsInsertedRemovedReplacedAndSwappedLetters) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("train", "train"), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("trian", "train"), 1U);  // swapped
  EXPECT_EQ(edit_distance("rain", "train"), 1U);
  EXPECT_EQ(edit_distance("trains", "train"), 1U);
  EXPECT_EQ(edit_distance("brain", "train"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(NearestWord, IsTheOneThatWasProbablyMeant) {
  const std::vector<std::string> verbs = {"generate", "import", "export", "train", "view"};
  EXPECT_EQ(nearest_word("trian", verbs), "train");
  EXPECT_EQ(nearest_word("genrate", verbs), "generate");
  EXPECT_EQ(nearest_word("exprot", verbs), "export");
  EXPECT_EQ(nearest_word("veiw", verbs), "view");
}

TEST(NearestWord, IsEmptyWhereNothingIsNear) {
  const std::vector<std::string> verbs = {"generate", "import", "export", "train", "view"};
  EXPECT_EQ(nearest_word("delete", verbs), "");
  EXPECT_EQ(nearest_word("x", verbs), "");
  EXPECT_EQ(nearest_word("", verbs), "");
  EXPECT_EQ(nearest_word("train", {}), "");
}

}  // namespace
}  // namespace hgt::cli
