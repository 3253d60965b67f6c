// HTTP over real sockets, without a model: the handler says what reached it.
#include "serve/echo.h"

namespace soft {
namespace {

using namespace test;
using std::chrono::milliseconds;
using testing::EndsWith;
using testing::HasSubstr;

TEST(Server, AnswersOneRequestAfterAnotherOnOneConnection) {
  Echo echo;
  Client client(echo.port());
  for (int i = 0; i < 3; ++i) {
    client.send(post("/a?b=c", "hello"));
    const std::string response = client.receive();
    EXPECT_EQ(status_of(response), 200);
    EXPECT_EQ(body_of(response), "POST /a?b=c (5)");
  }
}

TEST(Server, AnswersPipelinedRequestsInOrder) {
  Echo echo;
  Client client(echo.port());
  std::string all;
  for (int i = 0; i < 50; ++i) all += post("/" + std::to_string(i), std::string(i, 'x'));
  client.send(all);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(body_of(client.receive()), fmt::format("POST /{} ({})", i, i));
  }
}

TEST(Server, ReadsChunkedBodies) {
  Echo echo;
  Client client(echo.port());
  client.send(chunked(7, 1000));
  EXPECT_EQ(body_of(client.receive()), "POST /c (7000)");
}

// The client sends everything before it reads: a server that closed at once would make its kernel
// drop the answer.
TEST(Server, AnswersAClientThatWillSendNoMore) {
  Echo echo;
  Client client(echo.port());
  client.send(get("/one") + get("/two"));
  client.half_close();
  EXPECT_THAT(client.receive(), EndsWith("GET /one (0)"));
  EXPECT_THAT(client.receive(), EndsWith("GET /two (0)"));
  EXPECT_TRUE(client.closed_by_server());
}

TEST(Server, SurvivesClientsThatVanish) {
  Echo echo;
  for (int i = 0; i < 20; ++i) {
    Client client(echo.port());
    client.send(i % 2 == 0 ? "POST /a HTTP/1.1\r\nContent-Length: 50\r\n\r\nab" : "GET /a HT");
  }
  Client client(echo.port());
  client.send(get("/b"));
  EXPECT_EQ(status_of(client.receive()), 200);
  client.close();
  while (echo.metrics.connections > 0) std::this_thread::yield();
}

TEST(Server, InvitesABodyThatWaitsForIt) {
  Echo echo;
  Client client(echo.port());
  client.send(
      "POST /a HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(status_of(client.receive()), 100);
  client.send("abc");
  EXPECT_EQ(body_of(client.receive()), "POST /a (3)");
}

TEST(Server, AnswersHeadWithoutABody) {
  Echo echo;
  Client client(echo.port());
  client.send("HEAD /a HTTP/1.1\r\nHost: localhost\r\n\r\n" + get("/b"));
  EXPECT_THAT(client.receive(false), HasSubstr("Content-Length: 11"));
  EXPECT_EQ(body_of(client.receive()), "GET /b (0)");
}

TEST(Server, ForgetsAConnectionThoughAWorkerStillHasItsReply) {
  Echo echo;
  Client client(echo.port());
  client.send(get("/held"));
  echo.await_held();
  echo.answer_held();
  EXPECT_EQ(status_of(client.receive()), 200);
  client.close();
  for (int i = 0; i < 1000 && echo.metrics.connections > 0; ++i) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_EQ(echo.metrics.connections, 0);
}

TEST(Server, AnswersWhatItAcceptedBeforeItEnds) {
  Echo echo;
  Client client(echo.port()), idle(echo.port()), other(echo.port());
  other.send(get("/a"));
  other.receive();
  client.send(get("/held"));
  echo.await_held();
  echo.drain();
  while (!echo.metrics.draining) std::this_thread::yield();
  other.send(get("/b"));
  EXPECT_THAT(other.receive(), AllOf(EndsWith("GET /b (0) late"), HasSubstr("close")));
  Client newcomer(echo.port());  // is told, instead of finding the door shut
  newcomer.send(get("/c"));
  EXPECT_THAT(newcomer.receive(), EndsWith("GET /c (0) late"));
  echo.release();
  const std::string response = client.receive();
  EXPECT_EQ(status_of(response), 200);
  EXPECT_THAT(response, HasSubstr("Connection: close"));
  client.close(), other.close(), newcomer.close();
  echo.wait();
  EXPECT_TRUE(idle.closed_by_server());
  EXPECT_FALSE(Client(echo.port()).connected());
}

TEST(Server, EndsThoughAnAnswerNeverComes) {
  Limits limits = short_limits();
  limits.drain_time = milliseconds(200);
  Echo echo(limits);
  Client client(echo.port());
  client.send(get("/held"));
  echo.await_held();
  echo.end();
  EXPECT_FALSE(echo.answered_all());
}

TEST(Server, TakesTheFormOfAProxy) {
  Echo echo;
  Client client(echo.port());
  client.send("GET http://example.org:81/a?b=c HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(body_of(client.receive()), "GET /a?b=c (0)");
  client.send("GET http://example.org:81/host HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(body_of(client.receive()), "example.org:81");
  client.send("GET https://example.org HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(body_of(client.receive()), "GET / (0)");
}

TEST(Server, SaysWhatTimeItIs) {
  Echo echo;
  Client client(echo.port());
  client.send(get("/a"));
  EXPECT_THAT(client.receive(),
              testing::ContainsRegex("Date: [A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} 20[0-9]{2} "
                                     "[0-9]{2}:[0-9]{2}:[0-9]{2} GMT"));
}

// On a machine without IPv6 that is one family.
TEST(Server, ListensOnBothFamiliesOfLocalhost) {
  const bool has_ipv6 = Client::has_ipv6();
  Echo echo(Address{"localhost", 0});
  for (const bool v6 : {false, true}) {
    if (v6 && !has_ipv6) continue;
    Client client(echo.port(), v6);
    client.send(get("/a"));
    EXPECT_EQ(status_of(client.receive()), 200) << v6;
  }
  for (const char* host : {"::1", "[::1]"}) {
    if (!has_ipv6) continue;
    Echo six(Address{host, 0});
    Client client(six.port(), true);
    client.send(get("/a"));
    EXPECT_EQ(status_of(client.receive()), 200) << host;
  }
}

// Journal lines may come after the answer, so they are waited for.
TEST(Server, NotesEachRequestInItsJournal) {
  const TemporaryFolder folder;
  const std::string path = folder.path("access.log");
  {
    Journal journal({path, "", false});
    Echo echo({"127.0.0.1", 0}, short_limits(), &journal);
    Client client(echo.port());
    client.send(get("/a?b=c") + "nonsense\r\n\r\n");
    client.receive();
    client.receive();
    EXPECT_TRUE(client.closed_by_server());
  }
  EXPECT_THAT(read_file(path),
              testing::MatchesRegex("[0-9T:.-]+Z 127\\.0\\.0\\.1 \"GET /a\\?b=c\" 200 14 [0-9.]+\n"
                                    "[0-9T:.-]+Z 127\\.0\\.0\\.1 \"-\" 400 [0-9]+ [0-9.]+\n"));
}

TEST(Server, CountsWhatItAnswered) {
  Echo echo;
  Client client(echo.port());
  client.send(get("/a") + get("/b") + "nonsense\r\n\r\n");
  for (int i = 0; i < 3; ++i) client.receive();
  EXPECT_TRUE(client.closed_by_server());
  EXPECT_THAT(echo.metrics.text(),
              AllOf(HasSubstr("soft_requests_total{route=\"other\",code=\"200\"} 2"),
                    HasSubstr("soft_requests_total{route=\"other\",code=\"400\"} 1"),
                    HasSubstr("soft_request_seconds_count{route=\"other\"} 3")));
}

TEST(Server, SaysWhyItCannotListen) {
  Echo echo;
  Metrics metrics;
  EXPECT_THAT(error_of([&] {
                Server({"127.0.0.1", echo.port()}, {}, metrics);
              }),
              HasSubstr("Address already in use; choose another --port"));
  EXPECT_THAT(error_of([&] {
                Server({"localhorst", 0}, {}, metrics);
              }),
              HasSubstr("'localhorst' is no IP address"));
}

}  // namespace
}  // namespace soft
