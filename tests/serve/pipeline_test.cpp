// Large pictures and attention do not hold up small pictures to classify.
#include "serve/pipeline.h"

#include <future>

#include "serve/fixture.h"
#include "serve/work.h"

namespace soft {
namespace {

using namespace test;
using testing::HasSubstr;

class PipelineTest : public testing::Test {
 protected:
  std::future<Response> submit(const std::string& target, const std::string& body) {
    auto promise = std::make_shared<std::promise<Response>>();
    std::future<Response> future = promise->get_future();
    Ticket ticket{{"POST", target, "", body},
                  [promise](Response response) { promise->set_value(std::move(response)); }};
    if (!pipeline_.take(ticket)) ticket.answer(error_response(503, "full"));
    return future;
  }

  static PipelineOptions options() {
    PipelineOptions options;
    options.classify.workers = 1;
    options.classify.queue = 4;
    return options;
  }

  Metrics metrics_;
  const Api api_{{small_model()}, metrics_};
  Pipeline pipeline_{api_, options(), metrics_};
};

TEST_F(PipelineTest, AnswersAsTheApiDoes) {
  for (const char* target : {"/v1/classify?top=2", "/v1/attend?x=1&y=2", "/v1/classify?top=0"}) {
    const Response response = submit(target, picture_png()).get();
    Json json = json_of(response);
    Json alone = json_of(api_.handle({"POST", target, "", picture_png()}));
    json.erase("cost");
    alone.erase("cost");
    EXPECT_EQ(json, alone);
  }
}

// The only worker for attention is behind with its own queue, which fills up; classify is answered.
TEST_F(PipelineTest, AttentionHasAQueueAndWorkersOfItsOwn) {
  std::vector<std::future<Response>> slow;
  for (int i = 0; i < 12; ++i) {
    slow.push_back(submit("/v1/attend?x=1&y=1&size=96&layer=all&head=all", picture_png()));
    const int status = submit("/v1/classify", picture_png()).get().status;
    if (status == 503) continue;  // the readers' own queue
    EXPECT_EQ(status, 200);
  }
  EXPECT_EQ(submit("/v1/classify", picture_png()).get().status, 200);
  EXPECT_TRUE(std::any_of(slow.begin(), slow.end(), [](std::future<Response>& answer) {
    return answer.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
  }));  // so classify did not wait for all of them
}

TEST_F(PipelineTest, LargePicturesAreDecodedAndAnswered) {
  const Image large(5700, 5700);  // 32.5 million pixels: more than the small ones' readers take
  const std::vector<uint8_t> png = encode_jpeg(large);
  std::future<Response> heavy = submit("/v1/classify", {png.begin(), png.end()});
  EXPECT_EQ(submit("/v1/classify", picture_png()).get().status, 200);
  EXPECT_EQ(heavy.get().status, 200);
}

}  // namespace
}  // namespace soft
