// Several models behind one API.
#include "cli/boxed_file.h"
#include "serve/api.h"
#include "serve/fixture.h"
#include "serve/program.h"
#include "serve/work.h"

namespace soft {
namespace {

using namespace test;
using testing::HasSubstr;

Json without_cost(const Response& response) {
  Json json = json_of(response);
  EXPECT_EQ(response.status, 200) << response.body;
  json.erase("cost");
  return json;
}

class TwoModels : public testing::Test {
 protected:
  static Request request(const std::string& target) {
    return {"POST", target, "image/png", picture_png()};
  }
  Json answer(const std::string& target) const {
    return without_cost(api_.handle(request(target)));
  }

  Metrics metrics_;
  const Api api_{{small_model("soft-nano", "one"), small_model("soft-pico", "two")}, metrics_};
  const Api alone_{{small_model("soft-pico")}, metrics_};
};

TEST_F(TwoModels, AnswerThoseWhoNameThem) {
  for (const std::string path :
       {"/v1/classify?top=3", "/v1/embed?", "/v1/attend?x=3&y=4&stage=best"}) {
    EXPECT_EQ(answer(path + "&box=two"), without_cost(alone_.handle(request(path)))) << path;
    EXPECT_EQ(answer(path + "&box=one"), answer(path)) << path;
    EXPECT_NE(answer(path + "&box=one"), answer(path + "&box=two")) << path;
  }
}

TEST_F(TwoModels, RunApartInOneBatch) {
  std::vector<std::unique_ptr<Work>> works;
  std::vector<Work*> batch;
  const std::vector<std::string> targets{"/v1/classify?box=two", "/v1/classify",
                                         "/v1/embed?box=two", "/v1/classify?box=two"};
  for (const std::string& target : targets) {
    works.push_back(api_.read(request(target)));
    works.back()->decode();
    batch.push_back(works.back().get());
  }
  api_.run(batch);
  for (size_t i = 0; i < targets.size(); ++i) {
    const Response response = works[i]->take_response();
    EXPECT_EQ(json_of(response)["cost"]["batch"], i == 0 || i == 3 ? 2 : 1);
    EXPECT_EQ(without_cost(response), answer(targets[i])) << i;
  }
}

TEST_F(TwoModels, TellTheirFactsAndOneAnothersNames) {
  const Json first = json_of(api_.handle({"GET", "/v1/model"}));
  const Json second = json_of(api_.handle({"GET", "/v1/model?box=two"}));
  EXPECT_EQ(first["name"], "soft-nano");
  EXPECT_EQ(first["box"], "one");
  EXPECT_EQ(second["name"], "soft-pico");
  EXPECT_EQ(second["box"], "two");
  const Json boxes{{{"name", "one"}, {"about", "about one"}},
                   {{"name", "two"}, {"about", "about two"}}};
  EXPECT_EQ(first["boxes"], boxes);
  EXPECT_EQ(second["boxes"], boxes);
  const Json alone = json_of(alone_.handle({"GET", "/v1/model"}));
  EXPECT_TRUE(alone["box"].is_null());
  EXPECT_EQ(alone["boxes"], Json::array());
}

TEST_F(TwoModels, RefuseANameThatIsNone) {
  for (const Response& response : {api_.handle(request("/v1/classify?box=twoo")),
                                   api_.handle({"GET", "/v1/model?box=twoo"})}) {
    EXPECT_EQ(response.status, 400);
    EXPECT_THAT(response.body,
                HasSubstr("(did you mean 'two'?) is not served; there are: one, two"));
  }
  const Response nameless = alone_.handle(request("/v1/classify?box=one"));
  EXPECT_EQ(nameless.status, 400);
  EXPECT_THAT(nameless.body, HasSubstr("it has no name"));
  EXPECT_EQ(api_.handle({"GET", "/v1/model?bx=one"}).status, 400);
}

TEST_F(TwoModels, AttendCarriesTheShares) {
  const Json json = answer("/v1/attend?x=3&y=4&stage=best&layer=all&head=all");
  for (const Json& row : json["rows"]) {
    EXPECT_GE(row["share"].get<double>(), 0);
    EXPECT_EQ(row["idle"].get<bool>(), row["share"].get<double>() < kIdleShare);
  }
  EXPECT_EQ(json["rows"][0]["stage"], json["best"]["stage"]);
  const Response wrong = api_.handle(request("/v1/attend?x=3&y=4&layer=best"));
  EXPECT_EQ(wrong.status, 400);
}

// `soft serve` with and without --box, from outside.
class ServedBoxes : public testing::Test {
 protected:
  ServedBoxes() {
    box_.add_cifar10();
    box_.add_cue();
  }

  static Json facts(const Program& program) {
    Client client(program.port());
    client.send(get("/v1/model"));
    return Json::parse(body_of(client.receive()));
  }

  const BoxFolder box_;
};

TEST_F(ServedBoxes, AreAllThatAreThere) {
  const Json served = facts(Program());
  EXPECT_EQ(served["box"], "cifar10");
  ASSERT_EQ(served["boxes"].size(), 2u);
  EXPECT_EQ(served["boxes"][1]["name"], "cue");
}

TEST_F(ServedBoxes, AreTheOneThatIsNamedOrChanged) {
  EXPECT_EQ(facts(Program({"--box", "cue"}))["boxes"].size(), 1u);
  const Json cue = facts(Program({"--box", "cue"}));
  EXPECT_EQ(cue["box"], "cue");
  EXPECT_EQ(cue["classes"], 5);
  const Json changed = facts(Program({"--set", "inverse=exact"}));
  EXPECT_EQ(changed["box"], "cifar10");
  EXPECT_EQ(changed["boxes"].size(), 1u);
}

}  // namespace
}  // namespace soft
