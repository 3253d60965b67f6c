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
  client.send("GET / HTTP/1.1\r\nHost: localhost\r\nCookie: " + std::string(9'000, 'x') +
              "\r\n\r\n");
  EXPECT_EQ(status_of(client.receive()), 431);
}

TEST(Limits, GivesUpOnSlowHeadersAndBodies) {
  Echo echo;
  Client header(echo.port()), body(echo.port()), silent(echo.port());
  header.send("GET / HTTP/1.1\r\nHo");
  body.send("POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nabc");
  EXPECT_THAT(header.receive(), HasSubstr("the headers did not arrive in time"));
  EXPECT_THAT(body.receive(), HasSubstr("the body did not arrive in time"));
  EXPECT_TRUE(silent.closed_by_server());
}

TEST(Limits, RefusesWhatIsNotHttp) {
  Echo echo;
  for (const std::string& garbage :
       {std::string("\x16\x03\x01\x02 hello\r\n\r\n"), std::string("GET\r\n\r\n"),
        std::string("GET / HTTP/1.1\r\n\r\n"),
        std::string("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")}) {
    Client client(echo.port());
    client.send(garbage);
    EXPECT_EQ(status_of(client.receive()), 400) << garbage;
    EXPECT_TRUE(client.closed_by_server());
  }
}

TEST(Limits, ClosesTheIdlestConnectionForANewOne) {
  Limits limits = short_limits();
  limits.connections = 2;
  limits.idle_time = milliseconds(60'000);
  Echo echo(limits);
  Client first(echo.port()), second(echo.port());
  for (Client* client : {&first, &second}) {
    client->send(get("/1"));
    EXPECT_EQ(status_of(client->receive()), 200);
  }
  Client third(echo.port());
  third.send(get("/3"));
  EXPECT_EQ(body_of(third.receive()), "GET /3 (0)");
  EXPECT_TRUE(first.closed_by_server());
  second.send(get("/2"));
  EXPECT_EQ(body_of(second.receive()), "GET /2 (0)");
}

TEST(Limits, ClosesAConnectionThatSendsTooSlowlyForANewOne) {
  Limits limits = short_limits();
  limits.connections = 1;
  limits.header_time = milliseconds(60'000);
  limits.stall_time = milliseconds(50);
  Echo echo(limits);
  Client slow(echo.port());
  slow.send("GET / HT");
  while (echo.metrics.connections == 0) std::this_thread::yield();
  std::this_thread::sleep_for(milliseconds(200));
  Client other(echo.port());
  other.send(get("/a"));
  EXPECT_EQ(body_of(other.receive()), "GET /a (0)");
  EXPECT_TRUE(slow.closed_by_server());
}

TEST(Limits, ClosesAConnectionThatDoesNotReadItsAnswerForANewOne) {
  Limits limits = short_limits();
  limits.connections = 1;
  limits.stall_time = milliseconds(50);
  Echo echo(limits);
  Client deaf(echo.port());
  deaf.send(get("/large"));
  while (echo.metrics.connections == 0) std::this_thread::yield();
  std::this_thread::sleep_for(milliseconds(300));
  Client other(echo.port());
  other.send(get("/a"));
  EXPECT_EQ(body_of(other.receive()), "GET /a (0)");
}

TEST(Limits, AnAnswerThatIsReadComesWholeHoweverLarge) {
  Echo echo;
  Client client(echo.port());
  client.send(get("/large"));
  EXPECT_EQ(body_of(client.receive()).size(), size_t{64} << 20);
  client.send(get("/a"));
  EXPECT_EQ(body_of(client.receive()), "GET /a (0)");
}

TEST(Limits, KeepsAPlaceForHealthChecksWhenAllOthersAreBusy) {
  Limits limits = short_limits();
  limits.connections = 1;
  limits.header_time = milliseconds(60'000);
  Echo echo(limits);
  Client busy(echo.port());
  busy.send(get("/held"));
  echo.await_held();
  Client health(echo.port()), other(echo.port());
  // Both have come in before either speaks: the second must not have taken the first one's place.
  for (int i = 0; i < 500 && echo.metrics.connections < 3; ++i) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  ASSERT_EQ(echo.metrics.connections, 3);
  health.send(get("/live"));
  EXPECT_THAT(health.receive(), AllOf(HasSubstr("GET /live"), HasSubstr("Connection: close")));
  other.send(get("/a"));
  const std::string refused = other.receive();
  EXPECT_EQ(status_of(refused), 503);
  EXPECT_THAT(refused, HasSubstr("too many connections"));
  echo.release();
  EXPECT_EQ(status_of(busy.receive()), 200);
}

TEST(Limits, LetsConnectionsWaitWhenEvenThePlacesForHealthChecksAreTaken) {
  Limits limits = short_limits();
  limits.connections = 1;
  limits.spare_places = 0;
  Echo echo(limits);
  Client busy(echo.port());
  busy.send(get("/held"));
  echo.await_held();
  Client next(echo.port());
  next.send(get("/a"));
  echo.release();
  EXPECT_EQ(status_of(busy.receive()), 200);
  EXPECT_EQ(body_of(next.receive()), "GET /a (0)");  // though the first one stays connected
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
  small.send(chunked(1, 10));
  EXPECT_EQ(status_of(small.receive()), 200);
  echo.release();
  EXPECT_EQ(status_of(first.receive()), 200);
  last.send(post("/b", body));
  EXPECT_EQ(body_of(last.receive()), "POST /b (100000)");
}

TEST(Limits, WhatIsOnlyAnnouncedTakesNoMemoryFromOthers) {
  Limits limits = short_limits();
  limits.all_bodies_bytes = 300'000;
  limits.body_time = milliseconds(60'000);
  Echo echo(limits);
  std::vector<std::unique_ptr<Client>> announcers;
  for (int i = 0; i < 10; ++i) {
    announcers.push_back(std::make_unique<Client>(echo.port()));
    announcers.back()->send(
        "POST /a HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
        "Content-Length: 100000\r\n\r\n");
    EXPECT_EQ(status_of(announcers.back()->receive()), 100);  // it has been read
  }
  Client honest(echo.port());
  honest.send(post("/b", std::string(100'000, 'x')));
  EXPECT_EQ(body_of(honest.receive()), "POST /b (100000)");
}

TEST(Limits, RefusesWhatIsTooLongBehindAChunkedBody) {
  Echo echo;
  std::string text = chunked(1, 10);
  text.resize(text.size() - 2);  // the empty line
  Client one(echo.port()), many(echo.port()), few(echo.port());
  one.send(text + "X: " + std::string(70'000, 'x') + "\r\n\r\n");
  EXPECT_EQ(status_of(one.receive()), 431);
  std::string fields;
  for (int i = 0; i < 10'000; ++i) fields += "X-Field: value\r\n";
  many.send(text + fields + "\r\n");
  EXPECT_EQ(status_of(many.receive()), 431);
  few.send(text + "X: y\r\n\r\n");
  EXPECT_EQ(body_of(few.receive()), "POST /c (10)");
}

TEST(Limits, AnswersForAWorkerThatTakesTooLong) {
  Limits limits = short_limits();
  limits.answer_time = milliseconds(100);
  Echo echo(limits);
  Client client(echo.port());
  client.send(get("/held"));
  const std::string response = client.receive();
  EXPECT_EQ(status_of(response), 503);
  EXPECT_THAT(response, HasSubstr("not answered within"));
  EXPECT_TRUE(echo.given_up());  // so that the worker can stop
  echo.release();                // and what it says now is not heard
  EXPECT_TRUE(client.closed_by_server());
}

}  // namespace
}  // namespace soft
