#include "hgt/disk/json_text.h"

#include <gtest/gtest.h>

#include <string>

namespace hgt {
namespace {

std::string nested(size_t depth, char open, char close) {
  return std::string(depth, open) + std::string(depth, close);
}

TEST(JsonText, IsParsedUpToItsDepth) {
  EXPECT_TRUE(parse_json(nested(kMaxJsonDepth, '[', ']')).is_array());
  EXPECT_TRUE(parse_json("{\"a\": [1, \"[[[\", {\"b\\\"[\": null}]}").is_object());
  for (const size_t depth : {kMaxJsonDepth + 1, size_t{100'000}, size_t{5'000'000}}) {
    const std::string text = nested(depth, '[', ']');
    EXPECT_TRUE(parse_json(text, false).is_discarded());
    EXPECT_THROW(parse_json(text), nlohmann::json::exception);
  }
}

TEST(JsonText, SaysWhereItIsTooDeep) {
  std::string text = "{\"a\": 1, \"b\": ";
  for (int i = 0; i < 100'000; ++i) text += "{\"b\":";
  try {
    parse_json(text);
    ADD_FAILURE();
  } catch (const nlohmann::json::exception& error) {
    EXPECT_NE(std::string(error.what()).find("deeper than 64 levels"), std::string::npos)
        << error.what();
  }
}

TEST(JsonText, CountsOnlyWhatIsOpen) {
  std::string text = "[";
  for (int i = 0; i < 1000; ++i) text += "[[]],";
  EXPECT_TRUE(parse_json(text + "1]").is_array());
  const std::string brackets(1000, '[');
  EXPECT_EQ(parse_json("\"" + brackets + "\"").get<std::string>(), brackets);
}

TEST(JsonText, ThatIsBadIsBadAsBefore) {
  EXPECT_TRUE(parse_json("]]]", false).is_discarded());
  EXPECT_TRUE(parse_json("", false).is_discarded());
  EXPECT_TRUE(parse_json("\"\\", false).is_discarded());
  EXPECT_THROW(parse_json("{"), nlohmann::json::exception);
  EXPECT_TRUE(parse_json<nlohmann::ordered_json>("{}").is_object());
}

}  // namespace
}  // namespace hgt
