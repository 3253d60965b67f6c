// `soft serve` from outside: the real program, its sockets, signals and exit codes.
#include "serve/program.h"

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
  const Program program({"--workers", "1", "--max-batch", "1"});
  constexpr int kClients = 200;
  // The first request keeps the only worker busy while the others pile up.
  const std::string slow = post("/v1/attend?x=3&y=3&size=128", picture_png());
  const std::string quick = post("/v1/classify", picture_png());
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(std::make_unique<Client>(program.port()));
    clients.back()->send(i == 0 ? slow : quick);
  }
  int answered = 0, refused = 0;
  for (const auto& client : clients) {
    const std::string response = client->receive();
    if (status_of(response) == 200) ++answered;
    if (status_of(response) != 503) continue;
    ++refused;
    EXPECT_THAT(response, HasSubstr("Retry-After: 1"));
  }
  EXPECT_GE(answered, 100);
  EXPECT_GT(refused, 0);
  EXPECT_EQ(answered + refused, kClients);
}

TEST(Program, SaysThatItsPortIsTaken) {
  const Program program;
  const Outcome second = run_soft({"serve", "--port", std::to_string(program.port())});
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_THAT(second.err, HasSubstr("Address already in use"));
}

TEST(Program, RefusesAModelThatOnlyLibTorchRuns) {
  const TemporaryFolder folder;
  ModelSpec spec = find_model("soft-nano");
  apply_setting(spec, "attention=gaussian");
  write_weights(folder.path("w.safetensors"), spec);
  const Outcome outcome =
      run_soft({"serve", "--port", "0", "--weights", folder.path("w.safetensors")});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("native engine"));
}

TEST(Program, LeavesLibTorchAlone) {
  const Program program;
  EXPECT_EQ(status_of(ask(program.port(), get("/ready"))), 200);
  const std::string maps = read_file("/proc/" + std::to_string(program.id()) + "/maps");
  EXPECT_THAT(maps, AllOf(HasSubstr("libdnnl"), Not(HasSubstr("libtorch"))));
}

}  // namespace
}  // namespace soft
