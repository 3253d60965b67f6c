// A model of texts behind the API and behind the real program.
#include <filesystem>
#include <fstream>

#include "serve/fixture.h"
#include "serve/program.h"
#include "serve/work.h"
#include "support/sequence_file.h"

namespace soft {
namespace {

using namespace test;
using testing::HasSubstr;
using testing::Not;

TEST(TextUpload, ATextIsTheSameAsBodyFormOrJson) {
  const auto items = [](const std::string& type, const std::string& body) {
    return read_upload({"POST", "/", type, body}, 3, Wanted::kTexts).items;
  };
  const std::vector<std::string> one{"a film"};
  EXPECT_EQ(items("text/plain; charset=utf-8", "a film"), one);
  EXPECT_EQ(items("", "a film"), one);
  EXPECT_EQ(items("application/json", R"({"text":"a film","top":2})"), one);
  EXPECT_EQ(items(kFormType, form({{"text", "a film"}})), one);
  EXPECT_EQ(items("application/json", R"({"texts":["a","b\u00e9"]})"),
            (std::vector<std::string>{"a", "b\xc3\xa9"}));
}

TEST(TextUpload, RefusesWhatIsNotThereTooMuchOrOfTheOtherKind) {
  const auto refused = [](Wanted wanted, const std::string& json, const std::string& part) {
    EXPECT_THAT(error_of([&] {
                  read_upload({"POST", "/", "application/json", json}, 3, wanted);
                }),
                HasSubstr(part))
        << json;
  };
  refused(Wanted::kTexts, R"({"text":""})", "there is no text");
  refused(Wanted::kTexts, R"({"texts":[]})", "there is no text");
  refused(Wanted::kTexts, "{}", "there is no text");
  refused(Wanted::kTexts, R"({"text":7})", "'text' is no string; put the text there");
  refused(Wanted::kTexts, R"({"texts":"a"})", "'texts' is no list");
  refused(Wanted::kTexts, R"({"texts":["a","b","c","d"]})", "more than 3 texts");
  refused(Wanted::kTexts, R"({"image":"QQ=="})", "this one reads texts: send 'text'");
  refused(Wanted::kPictures, R"({"text":"a"})", "this one reads pictures: send 'image'");
  refused(Wanted::kPictures, R"({"texts":["a"]})", "this one reads pictures: send 'image'");
  EXPECT_THAT(error_of([&] {
                read_upload({"POST", "/", kFormType, form({{"text", "a"}})}, 3, Wanted::kPictures);
              }),
              HasSubstr("this one reads pictures"));
  EXPECT_THAT(type_obstacle("image/png", Wanted::kTexts), HasSubstr("this model reads texts"));
  EXPECT_THAT(type_obstacle("text/plain", Wanted::kPictures), HasSubstr("cannot read a picture"));
  EXPECT_EQ(type_obstacle("text/plain", Wanted::kTexts), "");
}

std::string maps_of(const Program& program) {
  return read_file("/proc/" + std::to_string(program.id()) + "/maps");
}

#if SOFT_WITH_TORCH
ServedModel text_model(const TemporaryFolder& folder, const std::string& task = "text") {
  write_sequence_file(folder.path("model.safetensors"), task);
  ModelOptions options;
  options.weights = folder.path("model.safetensors");
  return ServedModel(open_sequence_runner(options, ""));
}

class TextApi : public testing::Test {
 protected:
  Response post(const std::string& body, const std::string& type = "text/plain",
                const std::string& target = "/v1/classify") const {
    return api_.handle({"POST", target, type, body});
  }
  void expect_error(const Response& response, int status, const std::string& part) const {
    EXPECT_EQ(response.status, status) << response.body;
    EXPECT_THAT(json_of(response)["error"]["message"].get<std::string>(), HasSubstr(part));
  }

  const TemporaryFolder folder_;
  const ServedModel model_ = text_model(folder_);
  Metrics metrics_;
  const Api api_{{model_}, metrics_};
};

TEST_F(TextApi, AnswersWithTheClassesOfTheText) {
  const std::string text = "What a film!";
  const std::vector<int32_t> ids = model_.texts->read_text(text, "text").ids;
  const std::vector<float> logits = model_.texts->logits({&ids});
  const Json answer = json_of(post(text));
  ASSERT_EQ(answer["top"].size(), 2u) << answer;
  const int first = logits[0] > logits[1] ? 0 : 1;
  EXPECT_EQ(answer["top"][0]["class"], first);
  EXPECT_EQ(answer["top"][0]["name"], first == 0 ? "bad" : "good");
  EXPECT_NEAR(answer["top"][0]["p"].get<double>(),
              1 / (1 + std::exp(logits[1 - first] - logits[first])), 1e-6);
  EXPECT_EQ(answer["tokens"], text.size());
  EXPECT_EQ(answer["cut"], false);
  EXPECT_EQ(answer["cost"]["batch"], 1);
  EXPECT_EQ(json_of(post(text, "text/plain", "/v1/classify?top=1"))["top"].size(), 1u);
}

TEST_F(TextApi, SeveralTextsAreAnsweredInOrderEachOnItsOwn) {
  const std::string json = R"({"texts":["What a film!","","good","What a film!"]})";
  const Json results = json_of(post(json, "application/json"))["results"];
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(results[0]["top"][0]["class"], json_of(post("What a film!"))["top"][0]["class"]);
  EXPECT_NEAR(results[0]["top"][0]["p"], json_of(post("What a film!"))["top"][0]["p"], 1e-5);
  EXPECT_EQ(results[1]["error"]["status"], 422);
  EXPECT_THAT(results[1]["error"]["message"].get<std::string>(), HasSubstr("'texts[1]' is empty"));
  EXPECT_EQ(results[2]["tokens"], 4);
  EXPECT_NEAR(results[3]["top"][0]["p"], results[0]["top"][0]["p"], 1e-5);
  EXPECT_EQ(results[3]["tokens"], results[0]["tokens"]);
}

TEST_F(TextApi, ALongTextIsCutAndSaysSo) {
  const std::string text(40, 'a');
  const Json whole = json_of(post(text)), cut = json_of(post(text + "more"));
  EXPECT_EQ(whole["cut"], false);
  EXPECT_EQ(cut["cut"], true);
  EXPECT_EQ(cut["tokens"], 40);
  EXPECT_EQ(cut["top"], whole["top"]);
}

TEST_F(TextApi, WhatItCannotReadIsNamed) {
  expect_error(post(""), 400, "there is no text");
  expect_error(post("caf\xe9"), 422, "'text' is not UTF-8");
  expect_error(post("cut in a character \xc3"), 422, "'text' is not UTF-8");
  expect_error(post(picture_png(), ""), 422, "'text' is not UTF-8");
  expect_error(post("{\"text\":\"caf\xe9\"}", "application/json"), 400, "UTF-8");
  expect_error(post(picture_png(), "image/png"), 415, "this model reads texts");
  expect_error(post(R"({"image":"QQ=="})", "application/json"), 400, "this one reads texts");
  expect_error(post("a", "text/plain", "/v1/classify?size=3"), 400, "unknown parameter 'size'");
  for (const char* path : {"/v1/embed", "/v1/attend?x=1&y=1"}) {
    expect_error(post("a", "text/plain", path), 404, "is for pictures; this model reads texts");
  }
}

TEST_F(TextApi, TellsItsFactsAndHasAPage) {
  const Json facts = json_of(api_.handle({"GET", "/v1/model"}));
  EXPECT_EQ(facts["name"], "lra-text");
  EXPECT_EQ(facts["reads"], "texts");
  EXPECT_EQ(facts["length"], 40);
  EXPECT_EQ(facts["class_names"], (Json{"bad", "good"}));
  EXPECT_THAT(api_.handle({"GET", "/"}).body, HasSubstr("text.js"));
  EXPECT_EQ(api_.handle({"GET", "/text.js"}).status, 200);
}

TEST(TextModel, OfPairsIsNotServed) {
  const TemporaryFolder folder;
  EXPECT_THAT(error_of([&] { text_model(folder, "retrieval"); }),
              HasSubstr("lra-retrieval reads no single text"));
}

TEST(TextModel, OfListOpsReadsItsExpressions) {
  const TemporaryFolder folder;
  const ServedModel model = text_model(folder, "listops");
  EXPECT_EQ(model.texts->read_text("( ( [MIN 4 ) 3 ) ]", "x").ids,
            (std::vector<int32_t>{11, 5, 4, 15}));
  EXPECT_THAT(error_of([&] { model.texts->read_text("( )", "'text'"); }),
              HasSubstr("no token in 'text'"));
  EXPECT_THAT(error_of([&] { model.texts->read_text("[MIN four ]", "'text'"); }),
              HasSubstr("four"));
}

TEST(TextProgram, AnswersAsClassifyDoes) {
  const TemporaryFolder folder;
  const std::string weights = folder.path("model.safetensors"), text = folder.path("a.txt");
  write_sequence_file(weights);
  std::ofstream(text) << "What a film!";
  const Program program({"--weights", weights});
  Client client(program.port());
  client.send(post("/v1/classify", "What a film!"));
  const std::string response = client.receive();
  ASSERT_EQ(status_of(response), 200) << response;
  const Outcome command = run_soft({"classify", "--json", "--weights", weights, text});
  EXPECT_EQ(Json::parse(body_of(response))["top"], Json::parse(command.out)[0]["top"]);
  client.send(post("/v1/classify", std::string(2 << 20, 'a')));
  EXPECT_EQ(status_of(client.receive()), 200);
  Client large(program.port());
  large.send(post("/v1/classify", std::string(21 << 20, 'a')));
  EXPECT_EQ(status_of(large.receive()), 413);
  EXPECT_THAT(maps_of(program), HasSubstr("libtorch"));
}

TEST(TextProgram, OtherSettingsThanTheFilesAreRefused) {
  const TemporaryFolder folder;
  const std::string weights = folder.path("model.safetensors");
  write_sequence_file(weights);
  const auto refused = [&](const char* flag, const char* value, const char* part) {
    const Outcome outcome = run_soft({"serve", "--weights", weights, flag, value});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr(part));
  };
  refused("--engine", "native", "--engine torch");
  refused("--attention", "softmax", "settings are in its file");
}
#endif

TEST(PictureProgram, DoesNotOpenLibTorch) {
  const Program program;
  Client client(program.port());
  client.send(post("/v1/classify", picture_png()));
  ASSERT_EQ(status_of(client.receive()), 200);
  const std::string maps = maps_of(program);
  EXPECT_THAT(maps, HasSubstr("libsoft_inside"));
  EXPECT_THAT(maps, Not(HasSubstr("libtorch")));
}

}  // namespace
}  // namespace soft
