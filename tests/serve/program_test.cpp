// `soft serve` from outside: the real program, its sockets, signals and exit codes.
#include "serve/program.h"

#include <filesystem>
#include <future>
#include <thread>

#include "cli/weights_file.h"
#include "serve/fixture.h"

namespace soft {
namespace {

using namespace test;
using testing::HasSubstr;
using testing::Not;

std::string ask(int port, const std::string& request) {
  Client client(port);
  client.send(request);
  return client.receive();
}

TEST(Program, ClassifiesAPictureWithTheModelInTheBox) {
  const Program program;
  const std::string cat = read_file(SOFT_SOURCE_DIR "/data/photos/cat_chelsea.png");
  const std::string response = ask(program.port(), post("/v1/classify?top=1", cat));
  ASSERT_EQ(status_of(response), 200) << response;
  const Json json = Json::parse(body_of(response));
  const Outcome command = run_soft(
      {"classify", "--json", "--top", "1", SOFT_SOURCE_DIR "/data/photos/cat_chelsea.png"});
  EXPECT_EQ(json["top"], Json::parse(command.out)[0]["top"]);
  EXPECT_EQ(status_of(ask(program.port(), get("/"))), 200);
}

TEST(Program, EndsOnASignalWithEveryRequestAnswered) {
  Program program({"--workers", "1", "--max-wait-ms", "0"});
  constexpr int kClients = 40;
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(std::make_unique<Client>(program.port()));
    clients.back()->send(get("/live"));
    ASSERT_EQ(status_of(clients.back()->receive()), 200);
  }
  const std::string request = post("/v1/attend?x=3&y=3&size=64", picture_png());
  for (const auto& client : clients) ASSERT_TRUE(client->send(request));
  clients.front()->receive();  // at least one has gone through the model
  program.signal(SIGTERM);
  for (int i = 1; i < kClients; ++i) {
    const std::string response = clients[i]->receive();
    EXPECT_THAT(status_of(response), testing::AnyOf(200, 503)) << i;
    clients[i]->close();
  }
  clients.front()->close();
  EXPECT_EQ(program.wait(), 0);
}

TEST(Program, EndsInOrderThoughNobodyReadsItsLog) {
  Program program;
  program.close_log();
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait(), 0);
}

TEST(Program, RefusesWhatItsQueueCannotHold) {
  const Program program({"--workers", "1", "--max-queue", "4", "--answer-seconds", "600"});
  constexpr int kClients = 100;
  const std::string slow = post("/v1/attend?x=3&y=3&size=96&layer=all", picture_png());
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(std::make_unique<Client>(program.port()));
    clients.back()->send(slow);
  }
  int answered = 0, refused = 0;
  for (const auto& client : clients) {
    const std::string response = client->receive();
    if (status_of(response) == 200) ++answered;
    if (status_of(response) != 503) continue;
    ++refused;
    EXPECT_THAT(response, HasSubstr("Retry-After: 1"));
  }
  EXPECT_GE(answered, 4);
  EXPECT_GT(refused, 0);
  EXPECT_EQ(answered + refused, kClients);
}

TEST(Program, TurnsAwayPagesAndNamesThatAreNotItsOwn) {
  const Program program({"--allow-origin", "https://page.example"});
  const std::string rest = "\r\nContent-Length: 0\r\n\r\n";
  const auto status = [&](const std::string& headers) {
    return status_of(ask(program.port(), "POST /v1/classify HTTP/1.1\r\n" + headers + rest));
  };
  EXPECT_EQ(status("Host: evil.example"), 403);
  EXPECT_EQ(status("Host: localhost\r\nOrigin: http://evil.example"), 403);
  EXPECT_EQ(status("Host: localhost"), 400);  // let in: there is no picture
  EXPECT_THAT(ask(program.port(),
                  "GET /live HTTP/1.1\r\nHost: localhost\r\n"
                  "Origin: https://page.example\r\n\r\n"),
              HasSubstr("Access-Control-Allow-Origin: https://page.example"));
}

// A pipe holds some 64 KiB. These lines are more, and whoever waited for room in it would hang.
TEST(Program, ServesThoughNobodyReadsItsLog) {
  Program program({"--access-log", "-"});
  Client client(program.port());
  const std::string target = "/live?" + std::string(200, 'x');
  for (int i = 0; i < 1'000; ++i) {
    client.send(get(target));
    ASSERT_EQ(status_of(client.receive()), 200) << i;
  }
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait(), 0);
}

TEST(Program, OpensItsLogAnewOnAHangUp) {
  const TemporaryFolder folder;
  const std::string path = folder.path("access.log");
  Program program({"--access-log", path, "--log-format", "json"});
  EXPECT_EQ(status_of(ask(program.port(), get("/live"))), 200);
  while (read_file(path).empty()) std::this_thread::yield();
  std::filesystem::rename(path, path + ".1");
  program.signal(SIGHUP);
  while (!std::filesystem::exists(path)) std::this_thread::yield();
  EXPECT_EQ(status_of(ask(program.port(), get("/ready"))), 200);
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait(), 0);
  EXPECT_EQ(Json::parse(read_file(path + ".1"))["path"], "/live");
  EXPECT_EQ(Json::parse(read_file(path))["path"], "/ready");
}

TEST(Program, EndsOnAHangUpWhenItKeepsNoLogFiles) {
  Program program;
  program.signal(SIGHUP);
  EXPECT_EQ(program.wait(), 0);
}

TEST(Program, SaysThatItIsOutOfDescriptorsAndServesOn) {
  Program program({}, 32);
  EXPECT_THAT(program.announcement(), HasSubstr("32 descriptors are too few"));
  std::vector<std::unique_ptr<Client>> idle;
  for (int i = 0; i < 60; ++i) idle.push_back(std::make_unique<Client>(program.port()));
  EXPECT_EQ(status_of(ask(program.port(), get("/live"))), 200);
  idle.clear();
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait(), 0);
  const std::string log = program.rest_of_log(),
                    line = "cannot accept connections: Too many open files";
  EXPECT_THAT(log, HasSubstr(line));
  EXPECT_EQ(log.find(line), log.rfind(line)) << "once a minute";
}

// ---- Settings: flags, environment, file

TEST(ServeSettings, AFlagGoesBeforeTheEnvironmentAndThatBeforeTheFile) {
  const TemporaryFolder folder;
  write_file(folder.path("soft.ini"),
             "port=1111\nmax-batch=3\nmax-side=77\nallow-host=a.example b.example\n");
  const Outcome outcome = run_shell("SOFT_SERVE_PORT=2222 SOFT_SERVE_MAX_BATCH=4 " SOFT_BINARY
                                    " serve --config soft.ini --port 3333 --print-config",
                                    folder.path("."));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("\nport=3333\n"), HasSubstr("\nmax-batch=4\n"),
                                 HasSubstr("\nmax-side=77\n"), HasSubstr("\nmax-scans=50\n"),
                                 HasSubstr("\nallow-host=a.example b.example\n")));
}

TEST(ServeSettings, WhatIsPrintedCanBeReadBack) {
  const TemporaryFolder folder;
  const Outcome first =
      run_soft({"serve", "--print-config", "--set", "landmarks=16", "--set", "sampler=avg",
                "--allow-origin", "https://a.example:81", "--access-log", "a file.log",
                "--max-wait-ms", "0.5", "--endpoints", "classify,page", "--host", "::1"});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  write_file(folder.path("soft.ini"), first.out);
  const Outcome second = run_soft({"serve", "--config", folder.path("soft.ini"), "--print-config"});
  EXPECT_EQ(second.exit_code, 0) << second.err;
  EXPECT_EQ(second.out, first.out);
}

TEST(ServeSettings, WhatHasNoValueIsListedAsAComment) {
  const Outcome outcome = run_soft({"serve", "--print-config"});
  for (const char* name : {"weights", "workers", "endpoints", "allow-host", "access-log"}) {
    EXPECT_THAT(outcome.out, HasSubstr(std::string("# ") + name + "=\n"));
  }
}

TEST(ServeSettings, WhatIsWrongIsNamedWithItsSource) {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& line) {
    const Outcome outcome = run_shell(line, folder.path("."));
    EXPECT_EQ(outcome.exit_code, 2) << line;
    return outcome.err;
  };
  write_file(folder.path("a.ini"), "max-bach=3\n");
  write_file(folder.path("b.ini"), "port=70000\n");
  const std::string soft = SOFT_BINARY " serve --print-config";
  EXPECT_THAT(refusal(soft + " --config a.ini"),
              AllOf(HasSubstr("'a.ini' sets 'max-bach'"), HasSubstr("max-batch")));
  EXPECT_THAT(refusal(soft + " --config b.ini"), HasSubstr("'b.ini': "));
  EXPECT_THAT(refusal("SOFT_SERVE_PORT=x " + soft), HasSubstr("SOFT_SERVE_PORT: "));
  EXPECT_THAT(refusal(soft + " --endpoints clasify"), HasSubstr("'clasify' does not exist"));
}

TEST(ServeSettings, EndpointsThatWereNotChosenDoNotExist) {
  const Program program({"--endpoints", "classify,metrics"});
  EXPECT_EQ(status_of(ask(program.port(), get("/"))), 404);
  EXPECT_EQ(status_of(ask(program.port(), get("/metrics"))), 200);
}

TEST(Program, SaysThatItsPortIsTaken) {
  const Program program;
  const Outcome second = run_soft({"serve", "--port", std::to_string(program.port())});
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_THAT(second.err, HasSubstr("Address already in use"));
}

// Weights of a model that only LibTorch runs.
class RivalProgram : public testing::Test {
 protected:
  RivalProgram() {
    ModelSpec spec = find_model("soft-nano");
    apply_setting(spec, "attention=gaussian");
    write_weights(weights(), spec);
  }
  std::string weights() const { return folder_.path("w.safetensors"); }

  const TemporaryFolder folder_;
};

TEST_F(RivalProgram, IsRefusedByTheNativeEngine) {
  const Outcome outcome =
      run_soft({"serve", "--port", "0", "--engine", "native", "--weights", weights()});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("native engine"));
}

#if SOFT_WITH_TORCH
TEST_F(RivalProgram, IsServedByLibTorch) {
  const Program program({"--weights", weights()});
  EXPECT_THAT(program.announcement(), HasSubstr("--engine torch"));
  const std::string png = read_file(photo("cat_chelsea.png"));
  for (const char* target : {"/v1/classify", "/v1/embed", "/v1/attend?x=9&y=9"}) {
    EXPECT_EQ(status_of(ask(program.port(), post(target, png))), 200) << target;
  }
}
#endif

TEST(Program, LeavesLibTorchAlone) {
  const Program program;
  EXPECT_EQ(status_of(ask(program.port(), get("/ready"))), 200);
  const std::string maps = read_file("/proc/" + std::to_string(program.id()) + "/maps");
  EXPECT_THAT(maps, AllOf(HasSubstr("libdnnl"), Not(HasSubstr("libtorch"))));
}

}  // namespace
}  // namespace soft
