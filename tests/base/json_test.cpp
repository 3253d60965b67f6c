#include "base/json.h"

#include "support/support.h"

namespace soft {
namespace {

using test::error_of;
using testing::HasSubstr;

std::string json_refusal(const std::string& text) {
  return error_of([&] { parse_json(text, "the header of 'x'", 8); });
}

TEST(Json, KeepsTheOrderOfKeys) {
  EXPECT_EQ(parse_json(R"({"b": 1, "a": {"z": [], "y": null}})", "x").dump(),
            R"({"b":1,"a":{"z":[],"y":null}})");
}

TEST(Json, ADuplicateKeyIsRefusedByNameAtAnyDepth) {
  EXPECT_THAT(json_refusal(R"({"a": 1, "a": 2})"), HasSubstr("key 'a' appears twice"));
  EXPECT_THAT(json_refusal(R"([{"b": {"c": 1, "c": 1}}])"), HasSubstr("key 'c' appears twice"));
}

TEST(Json, TheSameKeyInDifferentObjectsIsFine) {
  EXPECT_EQ(parse_json(R"({"a": {"a": 1}, "b": {"a": 2}})", "x")["b"]["a"], 2);
}

TEST(Json, DeepNestingIsRefused) {
  const auto nested = [](int depth) {
    return std::string(depth, '[') + "1" + std::string(depth, ']');
  };
  EXPECT_NO_THROW(parse_json(nested(7), "x", 8));
  EXPECT_THAT(json_refusal(nested(9)), HasSubstr("deeper than 8"));
  EXPECT_THAT(json_refusal(nested(1'000'000)), HasSubstr("deeper than 8"));
}

// What is complete must not be looked at again: with a walk for each of these, the test would take
// longer than ctest waits.
TEST(Json, AMillionSmallObjectsAreReadOnce) {
  std::string text = R"({"image":[)";
  for (int i = 0; i < 900'000; ++i) text += "{},";
  EXPECT_EQ(parse_json(text + "{}]}", "x")["image"].size(), 900'001u);
}

TEST(Json, MoreValuesThanAnyoneNeedsAreRefused) {
  std::string text = "[[1";
  for (int i = 0; i < 1'000'000; ++i) text += ",1";
  EXPECT_THAT(json_refusal(text + "]]"), HasSubstr("more than 1000000 values"));
}

TEST(Json, AnObjectWithTooManyKeysIsRefused) {
  std::string text = R"({"k":0)";
  for (int i = 0; i < 10'000; ++i) text += ",\"k" + std::to_string(i) + "\":0";
  EXPECT_THAT(json_refusal(text + "}"), HasSubstr("more than 10000 keys"));
}

TEST(Json, EveryKindOfValueIsKept) {
  const std::string text = R"([null,true,false,-1,18446744073709551615,0.5,"a\u00e9",{},[]])";
  EXPECT_EQ(parse_json(text, "x"), Json::parse(text));
  EXPECT_EQ(parse_json("7", "x"), 7);
}

TEST(Json, ACountIsWholeAndInItsRange) {
  EXPECT_EQ(count_at({{"n", 0}}, "n"), 0);
  EXPECT_EQ(count_at(parse_json(R"({"n":9223372036854775807})", "x"), "n"), INT64_MAX);
  EXPECT_EQ(count_at({{"n", 7}}, "n", 7), 7);
  for (const char* wrong : {"-1", "1.5", "1e300", "9223372036854775808", "null", "true", "\"1\""}) {
    const Json object = parse_json(std::string("{\"n\":") + wrong + "}", "x");
    EXPECT_THROW(count_at(object, "n"), Error) << wrong;
  }
  EXPECT_THROW(count_at({{"n", 8}}, "n", 7), Error);
}

TEST(Json, DamageIsRefusedWithTheNameOfTheSource) {
  for (const char* text :
       {"", "{", "{\"a\":}", "{} trailing", "{\"a\": \"\xff\"}", "nul", "[1,]"}) {
    EXPECT_THAT(json_refusal(text), HasSubstr("the header of 'x': not valid JSON")) << text;
  }
}

}  // namespace
}  // namespace soft
