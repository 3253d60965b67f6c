// The API without sockets: requests in, responses out.
#include "serve/api.h"

#include "serve/fixture.h"
#include "serve/work.h"

namespace soft {
namespace {

using namespace test;
using testing::HasSubstr;

class ApiTest : public testing::Test {
 protected:
  Response ask(const std::string& method, const std::string& target, const std::string& type = "",
               const std::string& body = "") {
    return api_.handle({method, target, type, body});
  }
  Response post(const std::string& target, const std::string& body,
                const std::string& type = "image/png") {
    return ask("POST", target, type, body);
  }

  Metrics metrics_;
  const Api api_{{small_model()}, metrics_};
};

void expect_error(const Response& response, int status, const std::string& part) {
  EXPECT_EQ(response.status, status) << response.body;
  const Json error = json_of(response)["error"];
  EXPECT_EQ(error["status"], status);
  EXPECT_THAT(error["message"].get<std::string>(), HasSubstr(part));
}

TEST_F(ApiTest, ClassifyNamesTheMostProbableClassesFirst) {
  const Response response = post("/v1/classify?top=3", picture_png());
  ASSERT_EQ(response.status, 200) << response.body;
  const Json top = json_of(response)["top"];
  ASSERT_EQ(top.size(), 3u);
  EXPECT_EQ(top[0]["name"], "class " + std::to_string(top[0]["class"].get<int>()));
  EXPECT_GE(top[0]["p"], top[1]["p"]);
  EXPECT_GE(top[1]["p"], top[2]["p"]);
}

TEST_F(ApiTest, APictureIsTheSameAsBodyFormOrJson) {
  const Json plain = json_of(post("/v1/classify", picture_png()))["top"];
  EXPECT_EQ(plain.size(), 5u);
  EXPECT_EQ(json_of(post("/v1/classify", picture_png(), ""))["top"], plain);
  EXPECT_EQ(json_of(post("/v1/classify", form({{"image", picture_png()}}), kFormType))["top"],
            plain);
  const std::string json = R"({"image":")" + base64(picture_png()) + R"(","top":5})";
  EXPECT_EQ(json_of(post("/v1/classify", json, "application/json"))["top"], plain);
}

TEST_F(ApiTest, ABatchAnswersEachRequestAsIfItWereAlone) {
  const std::vector<Request> requests{
      {"POST", "/v1/classify", "", picture_png()},
      {"POST", "/v1/classify", "", "no picture"},
      {"POST", "/v1/attend?x=1&y=2", "", picture_png()},
      {"POST", "/v1/classify?top=1", "", picture_png(64)},
      {"POST", "/v1/embed", "", picture_png()},
  };
  std::vector<std::unique_ptr<Work>> works;
  std::vector<Work*> batch;
  for (const Request& request : requests) {
    works.push_back(api_.read(request));
    works.back()->decode();
    if (works.back()->refused()) continue;
    if (works.back()->attends()) {
      works.back()->attend();
    } else {
      batch.push_back(works.back().get());
    }
  }
  ASSERT_EQ(batch.size(), 3u);
  api_.run(batch);
  for (size_t i = 0; i < requests.size(); ++i) {
    const Response response = works[i]->take_response();
    Json together = json_of(response), alone = json_of(api_.handle(requests[i]));
    EXPECT_EQ(response.status, i == 1 ? 422 : 200);
    if (i == 0) {
      EXPECT_EQ(together["cost"]["batch"], 2);
    }
    together.erase("cost");
    alone.erase("cost");
    EXPECT_EQ(together, alone) << i;
  }
}

TEST_F(ApiTest, SeveralPicturesAreAnsweredInOrderEachOnItsOwn) {
  const Json first = json_of(post("/v1/classify", picture_png()))["top"];
  const Json second = json_of(post("/v1/classify", picture_png(64)))["top"];
  const std::string parts =
      form({{"image", picture_png()}, {"image", "no picture"}, {"image", picture_png(64)}});
  const std::string json = R"({"images":[")" + base64(picture_png()) + R"(","bm8=",")" +
                           base64(picture_png(64)) + R"("]})";
  for (const Response& response :
       {post("/v1/classify", parts, kFormType), post("/v1/classify", json, "application/json")}) {
    ASSERT_EQ(response.status, 200) << response.body;
    const Json results = json_of(response)["results"];
    ASSERT_EQ(results.size(), 3u);
    EXPECT_EQ(results[0]["top"], first);
    EXPECT_EQ(results[1]["error"]["status"], 422);
    EXPECT_THAT(results[1]["error"]["message"].get<std::string>(), HasSubstr("'images[1]'"));
    EXPECT_EQ(results[2]["top"], second);
    EXPECT_EQ(json_of(response)["cost"]["batch"], 2);
  }
}

TEST_F(ApiTest, AListOfOnePictureIsAnsweredAsAList) {
  const Json one = json_of(post(
      "/v1/classify", R"({"images":[")" + base64(picture_png()) + R"("]})", "application/json"));
  EXPECT_EQ(one["results"].size(), 1u);
  EXPECT_EQ(json_of(post("/v1/classify", form({{"images", picture_png()}}), kFormType))["results"],
            one["results"]);
}

TEST_F(ApiTest, MorePicturesThanARequestMayHaveAreRefused) {
  std::vector<std::pair<std::string, std::string>> many(33, {"image", "x"});
  expect_error(post("/v1/classify", form(many), kFormType), 400, "more than 32 pictures");
  expect_error(post("/v1/attend?x=1&y=1", form({{"image", "a"}, {"image", "b"}}), kFormType), 400,
               "one picture a request");
}

TEST_F(ApiTest, MorePicturesThanABatchAreRunInSeveral) {
  ApiOptions options;
  options.most_together = 2;
  const Api api({small_model()}, metrics_, options);
  std::vector<std::pair<std::string, std::string>> many;
  for (int i = 0; i < 5; ++i) many.emplace_back("image", picture_png(40 + i));
  const Request request{"POST", "/v1/classify", kFormType, form(many)};
  EXPECT_EQ(json_of(api.handle(request))["results"], json_of(api_.handle(request))["results"]);
}

TEST_F(ApiTest, PicturesThatAreTooMuchWorkAreRefusedWithTheFlag) {
  ApiOptions options;
  options.pictures.decode.side = 50;
  options.pictures.decode.pixels = 1900;
  const Api api({small_model()}, metrics_, options);
  const auto refused = [&](int width) {
    return api.handle({"POST", "/v1/classify", "", picture_png(width)});
  };
  expect_error(refused(51), 422, "a side may have 50 (--max-side)");
  expect_error(refused(48), 422, "more than the 1900 that are read (--max-megapixels)");
  EXPECT_EQ(refused(40).status, 200);
}

TEST_F(ApiTest, TheWorkOfAllPicturesOfARequestIsLimited) {
  ApiOptions options;
  options.pictures.decode.work = 3 * 48 * 40;
  const Api api({small_model()}, metrics_, options);
  std::vector<std::pair<std::string, std::string>> many(5, {"image", picture_png()});
  const Json results =
      json_of(api.handle({"POST", "/v1/classify", kFormType, form(many)}))["results"];
  ASSERT_EQ(results.size(), 5u);
  EXPECT_TRUE(results[2].contains("top"));
  EXPECT_THAT(results[3]["error"]["message"].get<std::string>(), HasSubstr("--max-decode-work"));
}

TEST_F(ApiTest, WorkThatNobodyWaitsForIsGivenUp) {
  Request request{"POST", "/v1/classify", "", picture_png()};
  request.patience = std::make_shared<Patience>(Patience::Clock::now() + std::chrono::hours(1));
  const std::unique_ptr<Work> decoding = api_.read(request), running = api_.read(request);
  running->decode();
  EXPECT_FALSE(running->refused());
  request.patience->abandon();
  decoding->decode();
  expect_error(decoding->take_response(), 422, "not decoded in time");
  api_.run({running.get()});
  expect_error(running->take_response(), 503, "not answered in time");
}

TEST_F(ApiTest, EndpointsThatWereNotChosenDoNotExist) {
  ApiOptions options;
  options.endpoints = {true, false, false, false, false, false};
  const Api api({small_model()}, metrics_, options);
  const auto status = [&](const char* method, const char* path) {
    return api.handle({method, path, "", picture_png()}).status;
  };
  EXPECT_EQ(status("POST", "/v1/classify"), 200);
  for (const char* path :
       {"/v1/embed", "/v1/attend", "/v1/model", "/metrics", "/", "/explorer.js"}) {
    EXPECT_EQ(status("GET", path), 404) << path;
  }
  EXPECT_EQ(status("GET", "/live"), 200);
  EXPECT_EQ(status("GET", "/ready"), 200);
}

TEST_F(ApiTest, AttendGivesOneRowForEachLayerAndHead) {
  const Response response =
      post("/v1/attend?x=10&y=20&stage=2&layer=all&head=all&size=64", picture_png());
  ASSERT_EQ(response.status, 200) << response.body;
  const Json json = json_of(response);
  EXPECT_EQ(json["grid"], (Json{16, 16}));
  ASSERT_EQ(json["rows"].size(), 4u);  // two layers of two heads
  EXPECT_EQ(json["rows"][3]["layer"], 2);
  EXPECT_EQ(json["rows"][3]["head"], 2);
  EXPECT_EQ(json["rows"][3]["row"].size(), 256u);
}

TEST_F(ApiTest, AttendTakesTwoHeadsOfStageTwoUnlessAsked) {
  const Json json = json_of(post("/v1/attend?x=0&y=0", picture_png()));
  ASSERT_EQ(json["rows"].size(), 2u);
  EXPECT_EQ(json["rows"][0]["stage"], 2);
  EXPECT_EQ(json["grid"], (Json{8, 8}));
}

TEST_F(ApiTest, WrongParametersAreNamed) {
  const auto refused = [&](const std::string& target, const std::string& part) {
    expect_error(post(target, picture_png()), 400, part);
  };
  refused("/v1/classify?top=0", "top='0' is no whole number from 1");
  refused("/v1/classify?top=1e3", "top='1e3'");
  refused("/v1/classify?tpo=3", "did you mean 'top'?");
  refused("/v1/classify?top", "'top' has no value");
  refused("/v1/classify?top=1&top=2", "'top' is given twice");
  refused("/v1/classify?top=%f", "without two hexadecimal digits");
  refused("/v1/attend?y=1", "'x' is missing");
  refused("/v1/attend?x=48&y=1", "48,1 is outside the picture");
  refused("/v1/attend?x=1&y=1&stage=5", "stage 5 does not exist");
  refused("/v1/attend?x=1&y=1&head=9", "head 9 does not exist");
  refused("/v1/attend?x=1&y=1&size=16", "size='16'");
  refused("/v1/attend?x=1&y=1&size=16384", "use at most 256");
  refused("/v1/attend?x=1&y=1&size=256", "multiply-adds");
}

TEST_F(ApiTest, ErrorsQuoteTheBeginningOfALongText) {
  const std::string text(1'000'000, 'x');
  for (const std::string& body :
       {R"({"image":"QUJD","top":")" + text + "\"}", R"({"image":"QUJD",")" + text + R"(":"1"})",
        R"({"image":")" + text}) {
    const Response response = post("/v1/classify", body, "application/json");
    EXPECT_EQ(response.status, 400);
    EXPECT_LT(response.body.size(), 1000u);
  }
}

TEST_F(ApiTest, PicturesThatCannotBeUsedAreRefusedWithTheReason) {
  expect_error(post("/v1/classify", "GIF89a......"), 422, "unsupported format GIF");
  expect_error(post("/v1/classify", picture_png().substr(0, 200)), 422, "truncated PNG");
  expect_error(post("/v1/classify", ""), 400, "there is no picture");
}

TEST_F(ApiTest, BadBodiesAreRefusedWithTheReason) {
  const auto refused = [&](const std::string& type, const std::string& body,
                           const std::string& part) {
    expect_error(post("/v1/classify", body, type), 400, part);
  };
  refused("multipart/form-data", "x", "names no boundary");
  refused(kFormType, "x", "closing boundary");
  refused(kFormType, form({{"top", "3"}}), "there is no picture");
  refused("application/json", "{", "the request's body");
  refused("application/json", "[1]", "not an object");
  refused("application/json", R"({"image":7})", "'image' is no string");
  refused("application/json", R"({"image":"?"})", "not base64");
  refused("application/json", R"({"images":"QQ=="})", "'images' is no list");
  refused("application/json", R"({"images":[7]})", "'images' is no string");
  refused("application/json", R"({"images":[]})", "there is no picture");
  refused("application/json", R"({"image":"QQ==","image":"QQ=="})", "image");
  refused("application/json", std::string(40, '[') + std::string(40, ']'), "the request's body");
}

TEST_F(ApiTest, WrongPathsMethodsAndTypesAreRefused) {
  expect_error(ask("GET", "/v2/model"), 404, "nothing at '/v2/model'");
  const Response wrong = ask("GET", "/v1/classify");
  expect_error(wrong, 405, "use POST");
  EXPECT_THAT(wrong.headers, testing::Contains(testing::Pair("Allow", "POST")));
  expect_error(ask("DELETE", "/live"), 405, "use GET");
  expect_error(post("/v1/attend", picture_png(), "text/html"), 415, "'text/html'");
}

TEST_F(ApiTest, ModelTellsItsFacts) {
  const Json facts = json_of(ask("GET", "/v1/model"));
  EXPECT_EQ(facts["name"], "soft-nano");
  EXPECT_EQ(facts["params"], 1290759);
  EXPECT_EQ(facts["stages"].size(), 4u);
  EXPECT_EQ(facts["stages"][1]["grid"], (Json{8, 8}));
  EXPECT_EQ(facts["sizes"][0]["size"], 32);
  for (const Json& size : facts["sizes"]) EXPECT_LE(size["macs"], 40'000'000'000);
}

TEST_F(ApiTest, ReadyEndsWithTheDrainButLiveDoesNot) {
  EXPECT_EQ(ask("GET", "/ready").status, 200);
  metrics_.draining = true;
  EXPECT_EQ(ask("GET", "/ready").status, 503);
  EXPECT_EQ(ask("GET", "/live").status, 200);
}

TEST_F(ApiTest, ThePageAndItsFilesComeWithTheirTypes) {
  const Response page = ask("GET", "/");
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_THAT(page.body, HasSubstr("explorer.js"));
  EXPECT_EQ(ask("GET", "/explorer.js").content_type, "text/javascript; charset=utf-8");
  EXPECT_EQ(ask("GET", "/explorer.css?v=1").content_type, "text/css; charset=utf-8");
  EXPECT_EQ(ask("GET", "/examples/cat.jpg").content_type, "image/jpeg");
  EXPECT_EQ(ask("HEAD", "/").status, 200);
}

}  // namespace
}  // namespace soft
