// Who may come in: hosts that are meant, and pages that may ask.
#include "serve/door.h"

#include "support/support.h"

namespace soft {
namespace {

using testing::HasSubstr;

Request from(const std::string& host, const std::string& origin = "",
             const std::string& method = "POST") {
  Request request{method, "/v1/classify"};
  request.host = host;
  request.origin = origin;
  return request;
}

// 0: it may come in.
int status(const Door& door, const Request& request) {
  const std::optional<Response> response = door.turn_away(request);
  return response ? response->status : 0;
}

TEST(Door, OnLoopbackOnlyThisMachinesNamesAreMeant) {
  const Door door(door_of("127.0.0.1", {}, {}));
  for (const char* host :
       {"localhost", "LocalHost:8080", "127.0.0.1:80", "[::1]:8080", "::1", ""}) {
    EXPECT_EQ(status(door, from(host)), 0) << host;
  }
  for (const char* host : {"evil.example", "evil.example:8080", "localhost.evil.example",
                           "10.0.0.1", "[::2]", "127.0.0.1.evil.example"}) {
    EXPECT_EQ(status(door, from(host)), 403) << host;
  }
  EXPECT_THAT(door.turn_away(from("evil.example"))->body, HasSubstr("--allow-host"));
}

TEST(Door, PagesOfOtherOriginsAreTurnedAway) {
  const Door door(door_of("localhost", {}, {}));
  EXPECT_EQ(status(door, from("localhost:8080", "http://localhost:8080")), 0);
  for (const char* origin : {"http://evil.example", "http://localhost:9000", "null", "x"}) {
    EXPECT_EQ(status(door, from("localhost:8080", origin)), 403) << origin;
  }
  EXPECT_THAT(door.turn_away(from("localhost", "http://evil.example"))->body,
              HasSubstr("--allow-origin"));
}

TEST(Door, NamesThatWereGivenAreLetIn) {
  const Door door(door_of("127.0.0.1", {"Soft.Example"}, {"https://page.example"}));
  EXPECT_EQ(status(door, from("soft.example:443")), 0);
  EXPECT_EQ(status(door, from("localhost")), 0);
  EXPECT_EQ(status(door, from("other.example")), 403);
  EXPECT_EQ(status(door, from("localhost", "https://page.example")), 0);
  EXPECT_EQ(status(door, from("localhost", "http://page.example")), 403);
  const Door open(door_of("127.0.0.1", {"*"}, {"*"}));
  EXPECT_EQ(status(open, from("any.example", "https://any.example")), 0);
}

TEST(Door, OnOtherAddressesEveryoneMayComeInUnlessNamesAreGiven) {
  EXPECT_EQ(status(Door(door_of("0.0.0.0", {}, {})), from("any.example", "http://x")), 0);
  EXPECT_EQ(status(Door(door_of("0.0.0.0", {"a.example"}, {})), from("any.example")), 403);
}

TEST(Door, APageThatMayAskMayReadTheAnswerToo) {
  const Door door(door_of("127.0.0.1", {}, {"https://page.example"}));
  const Request question = from("localhost", "https://page.example", "OPTIONS");
  ASSERT_EQ(status(door, question), 204);
  Response response = *door.turn_away(question);
  door.let_read(question.origin, response);
  EXPECT_THAT(response.headers, testing::Contains(testing::Pair("Access-Control-Allow-Origin",
                                                                "https://page.example")));
  EXPECT_THAT(response.headers,
              testing::Contains(testing::Pair("Access-Control-Allow-Methods", "GET, POST")));
  Response other;
  door.let_read("http://evil.example", other);
  EXPECT_TRUE(other.headers.empty());
}

TEST(Door, FindsTheNameInAnAuthority) {
  EXPECT_EQ(host_name("Example.org:80"), "example.org");
  EXPECT_EQ(host_name("example.org"), "example.org");
  EXPECT_EQ(host_name("[::1]:80"), "::1");
  EXPECT_EQ(host_name("[::1"), "::1");
  EXPECT_EQ(host_name("::1"), "::1");
  EXPECT_EQ(host_name(""), "");
}

}  // namespace
}  // namespace soft
