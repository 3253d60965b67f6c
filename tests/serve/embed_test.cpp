// POST /v1/embed: vectors instead of classes.
#include "facade/input.h"
#include "serve/api.h"
#include "serve/fixture.h"

namespace soft {
namespace {

using namespace test;
using testing::HasSubstr;

class EmbedRoute : public testing::Test {
 protected:
  Response post(const std::string& target, const std::string& body,
                const std::string& type = "image/png") const {
    return api_.handle({"POST", target, type, body});
  }

  Metrics metrics_;
  const ServedModel model_ = small_model();
  const Api api_{{model_}, metrics_};
};

TEST_F(EmbedRoute, GivesWhatTheClassifierReads) {
  const std::string png = picture_png();
  const Image image = decode_image(reinterpret_cast<const uint8_t*>(png.data()), png.size(), "png");
  const std::vector<float> pixels = prepared(image, model_.preprocessing);
  const Json answer = json_of(post("/v1/embed", png));
  EXPECT_EQ(answer.at("vector").get<std::vector<float>>(),
            model_.runner->vectors({pixels.data(), 1, {32, 32}}));
  EXPECT_EQ(answer.at("cost").at("batch"), 1);
}

TEST_F(EmbedRoute, AnswersAListInOrder) {
  const Json alone = json_of(post("/v1/embed", picture_png()));
  const std::string parts = form({{"image", picture_png()}, {"image", "no picture"}});
  const Json results = json_of(post("/v1/embed", parts, kFormType)).at("results");
  EXPECT_EQ(results[0].at("vector"), alone.at("vector"));
  EXPECT_EQ(results[1].at("error").at("status"), 422);
}

TEST_F(EmbedRoute, RefusesWhatItDoesNotTake) {
  const Response unknown = post("/v1/embed?top=3", picture_png());
  EXPECT_EQ(unknown.status, 400);
  EXPECT_THAT(unknown.body, HasSubstr("unknown parameter 'top'"));
  EXPECT_EQ(unknown.route, "/v1/embed");
  EXPECT_EQ(api_.handle({"GET", "/v1/embed"}).status, 405);
  EXPECT_EQ(post("/v1/embed", picture_png(), "text/html").status, 415);
  ApiOptions without;
  without.endpoints.embed = false;
  const Api other({model_}, metrics_, without);
  EXPECT_EQ(other.handle({"POST", "/v1/embed", "image/png", picture_png()}).status, 404);
}

}  // namespace
}  // namespace soft
