#include "base/json.h"

#include "support/support.h"

namespace soft {
namespace {

using test::error_of;
using testing::HasSubstr;

std::string refusal_of(const std::string& text) {
  return error_of([&] { parse_json(text, "the header of 'x'", 8); });
}

TEST(Json, KeepsTheOrderOfKeys) {
  EXPECT_EQ(parse_json(R"({"b": 1, "a": {"z": [], "y": null}})", "x").dump(),
            R"({"b":1,"a":{"z":[],"y":null}})");
}

TEST(Json, ADuplicateKeyIsRefusedByNameAtAnyDepth) {
  EXPECT_THAT(refusal_of(R"({"a": 1, "a": 2})"), HasSubstr("key 'a' appears twice"));
  EXPECT_THAT(refusal_of(R"([{"b": {"c": 1, "c": 1}}])"), HasSubstr("key 'c' appears twice"));
}

TEST(Json, TheSameKeyInDifferentObjectsIsFine) {
  EXPECT_EQ(parse_json(R"({"a": {"a": 1}, "b": {"a": 2}})", "x")["b"]["a"], 2);
}

TEST(Json, DeepNestingIsRefused) {
  const auto nested = [](int depth) {
    return std::string(depth, '[') + "1" + std::string(depth, ']');
  };
  EXPECT_NO_THROW(parse_json(nested(7), "x", 8));
  EXPECT_THAT(refusal_of(nested(9)), HasSubstr("deeper than 8"));
  EXPECT_THAT(refusal_of(nested(1'000'000)), HasSubstr("deeper than 8"));
}

TEST(Json, DamageIsRefusedWithTheNameOfTheSource) {
  for (const char* text :
       {"", "{", "{\"a\":}", "{} trailing", "{\"a\": \"\xff\"}", "nul", "[1,]"}) {
    EXPECT_THAT(refusal_of(text), HasSubstr("the header of 'x': not valid JSON")) << text;
  }
}

}  // namespace
}  // namespace soft
