// What a client may ask of the server before it is refused.
#include "serve/echo.h"

namespace soft {
namespace {

using namespace test;
using std::chrono::milliseconds;
using testing::HasSubstr;

TEST(Limits, TellsAClientThatItsBodyIsTooLarge) {
  Echo echo;
  Client client(echo.port());
  client.send(post("/a", std::string(8'000'000, 'x')));
  const std::string response = client.receive();
  EXPECT_EQ(status_of(response), 413);
  EXPECT_THAT(response, AllOf(HasSubstr("Connection: close"), HasSubstr("body_too_large")));
}

TEST(Limits, TellsAClientThatItsChunkedBodyIsTooLarge) {
  Echo echo;
  Client client(echo.port());
  client.send(chunked(3000, 1000));
  EXPECT_EQ(status_of(client.receive()), 413);
}

TEST(Limits, TakesABodyOfExactlyTheLimit) {
  Echo echo;
  Client client(echo.port());
  client.send(post("/a", std::string(100'000, 'x')));
  EXPECT_EQ(body_of(client.receive()), "POST /a (100000)");
  client.send(post("/a", std::string(100'001, 'x')));
  EXPECT_EQ(status_of(client.receive()), 413);
}

TEST(Limits, RefusesLongHeaders) {
  Echo echo;
  Client client(echo.port());
  client.send("GET / HTTP/1.1\r\nHost: x\r\nCookie: " + std::string(9'000, 'x') + "\r\n\r\n");
  EXPECT_EQ(status_of(client.receive()), 431);
}

TEST(Limits, GivesUpOnSlowHeadersAndBodies) {
  Echo echo;
  Client header(echo.port()), body(echo.port()), silent(echo.port());
  header.send("GET / HTTP/1.1\r\nHo");
  body.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc");
  EXPECT_THAT(header.receive(), HasSubstr("the headers did not arrive in time"));
  EXPECT_THAT(body.receive(), HasSubstr("the body did not arrive in time"));
  EXPECT_TRUE(silent.closed_by_server());
}

TEST(Limits, RefusesWhatIsNotHttp) {
  Echo echo;
  for (const std::string& garbage :
       {std::string("\x16\x03\x01\x02 hello\r\n\r\n"), std::string("GET\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")}) {
    Client client(echo.port());
    client.send(garbage);
    EXPECT_EQ(status_of(client.receive()), 400) << garbage;
    EXPECT_TRUE(client.closed_by_server());
  }
}

TEST(Limits, LetsFurtherConnectionsWaitTheirTurn) {
  Limits limits = short_limits();
  limits.connections = 2;
  Echo echo(limits);
  Client first(echo.port()), second(echo.port()), third(echo.port());
  first.send(get("/1"));
  EXPECT_EQ(status_of(first.receive()), 200);
  third.send(get("/3"));
  first.close();
  EXPECT_EQ(body_of(third.receive()), "GET /3 (0)");
}

TEST(Limits, RefusesBodiesThatItsMemoryCannotHold) {
  Limits limits = short_limits();
  limits.all_bodies_bytes = 150'000;
  Echo echo(limits);
  const std::string body(100'000, 'x');
  Client first(echo.port()), second(echo.port()), small(echo.port()), last(echo.port());
  first.send(post("/held", body));
  echo.await_held();
  second.send(post("/a", body));
  const std::string refused = second.receive();
  EXPECT_EQ(status_of(refused), 503);
  EXPECT_THAT(refused, AllOf(HasSubstr("Retry-After: 1"), HasSubstr("try again")));
  small.send(chunked(1, 10));  // may become as large as any
  EXPECT_EQ(status_of(small.receive()), 503);
  echo.release();
  EXPECT_EQ(status_of(first.receive()), 200);
  last.send(post("/b", body));
  EXPECT_EQ(body_of(last.receive()), "POST /b (100000)");
}

}  // namespace
}  // namespace soft
