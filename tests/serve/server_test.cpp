// HTTP over real sockets, without a model: the handler says what reached it.
#include "serve/server.h"

#include <fmt/format.h>

#include <future>
#include <thread>

#include "serve/client.h"
#include "support/support.h"

namespace soft {
namespace {

using namespace test;
using std::chrono::milliseconds;
using testing::EndsWith;
using testing::HasSubstr;

Limits short_limits() {
  Limits limits;
  limits.body_bytes = 100'000;
  limits.header_time = limits.body_time = milliseconds(300);
  limits.idle_time = milliseconds(1'000);
  limits.linger_time = milliseconds(1'000);
  return limits;
}

// Answers "METHOD target (bytes of body)". A request for /held waits until release().
class Echo {
 public:
  explicit Echo(const Limits& limits = short_limits())
      : server_({"127.0.0.1", 0}, limits, metrics), port_(server_.port()) {
    thread_ = std::thread([this] {
      server_.run([this](const Request& request, const Reply& reply) { answer(request, reply); });
    });
  }
  ~Echo() {
    release();
    end();
  }

  int port() const { return port_; }
  void drain() { server_.drain_soon(); }
  void wait() { thread_.join(); }
  void end() {
    if (!thread_.joinable()) return;
    drain();
    wait();
  }
  void await_held() { held_.get_future().wait(); }
  // Answers the request that is held, but keeps its reply as a worker does until its batch ends.
  void answer_held() {
    if (reply_ && !answered_) reply_({});
    answered_ = true;
  }
  void release() {
    answer_held();
    reply_ = nullptr;
  }

  Metrics metrics;

 private:
  void answer(const Request& request, const Reply& reply) {
    if (request.path() == "/held") {
      reply_ = reply;
      return held_.set_value();
    }
    Response response;
    response.body = request.method + " " + request.target + " (" +
                    std::to_string(request.body.size()) + ")" + (request.late ? " late" : "");
    reply(response);
  }

  Server server_;
  int port_;
  Reply reply_;
  bool answered_ = false;
  std::promise<void> held_;
  std::thread thread_;
};

std::string chunked(size_t chunks, size_t size) {
  std::string text = "POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (size_t i = 0; i < chunks; ++i) {
    text += fmt::format("{:x}\r\n{}\r\n", size, std::string(size, 'x'));
  }
  return text + "0\r\n\r\n";
}

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
TEST(Server, TellsAClientThatItsBodyIsTooLarge) {
  Echo echo;
  Client client(echo.port());
  client.send(post("/a", std::string(8'000'000, 'x')));
  const std::string response = client.receive();
  EXPECT_EQ(status_of(response), 413);
  EXPECT_THAT(response, AllOf(HasSubstr("Connection: close"), HasSubstr("body_too_large")));
}

TEST(Server, TellsAClientThatItsChunkedBodyIsTooLarge) {
  Echo echo;
  Client client(echo.port());
  client.send(chunked(3000, 1000));
  EXPECT_EQ(status_of(client.receive()), 413);
}

TEST(Server, TakesABodyOfExactlyTheLimit) {
  Echo echo;
  Client client(echo.port());
  client.send(post("/a", std::string(100'000, 'x')));
  EXPECT_EQ(body_of(client.receive()), "POST /a (100000)");
  client.send(post("/a", std::string(100'001, 'x')));
  EXPECT_EQ(status_of(client.receive()), 413);
}

TEST(Server, RefusesLongHeaders) {
  Echo echo;
  Client client(echo.port());
  client.send("GET / HTTP/1.1\r\nHost: x\r\nCookie: " + std::string(9'000, 'x') + "\r\n\r\n");
  EXPECT_EQ(status_of(client.receive()), 431);
}

TEST(Server, GivesUpOnSlowHeadersAndBodies) {
  Echo echo;
  Client header(echo.port()), body(echo.port()), silent(echo.port());
  header.send("GET / HTTP/1.1\r\nHo");
  body.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc");
  EXPECT_THAT(header.receive(), HasSubstr("the headers did not arrive in time"));
  EXPECT_THAT(body.receive(), HasSubstr("the body did not arrive in time"));
  EXPECT_TRUE(silent.closed_by_server());
}

TEST(Server, RefusesWhatIsNotHttp) {
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
  client.send("POST /a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(status_of(client.receive()), 100);
  client.send("abc");
  EXPECT_EQ(body_of(client.receive()), "POST /a (3)");
}

TEST(Server, AnswersHeadWithoutABody) {
  Echo echo;
  Client client(echo.port());
  client.send("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n" + get("/b"));
  EXPECT_THAT(client.receive(false), HasSubstr("Content-Length: 11"));
  EXPECT_EQ(body_of(client.receive()), "GET /b (0)");
}

TEST(Server, LetsFurtherConnectionsWaitTheirTurn) {
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

TEST(Server, RefusesBodiesThatItsMemoryCannotHold) {
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
