// Queue and batches, without sockets or a model.
#include "serve/crew.h"

#include <future>

#include "base/error.h"
#include "support/support.h"

namespace soft {
namespace {

using namespace std::chrono_literals;

// A crew whose single worker stops at its first request until it is let go, and notes its batches.
class CrewTest : public testing::Test {
 protected:
  void hire(CrewOptions options) {
    crew_ = std::make_unique<Crew>(options, metrics_, [this]() -> Labour {
      return [this](std::vector<Ticket>& batch) { answer(batch); };
    });
  }

  void answer(std::vector<Ticket>& batch) {
    if (batch.front().request.target == "stop") gate_.get_future().wait();
    if (batch.front().request.target == "throw") fail("no luck");
    std::vector<std::string> targets;
    for (Ticket& ticket : batch) {
      targets.push_back(ticket.request.target);
      ticket.answer({200, "", targets.back()});
    }
    batches_.push_back(targets);
  }

  bool submit(const std::string& target, size_t weight = 1) {
    Ticket ticket{{"POST", target}, nullptr, weight};
    ticket.reply = [this](const Response& response) { replies_.push_back(response.body); };
    return crew_->take(ticket);
  }

  // Submits "stop" and waits until the worker has it.
  void stop_worker() {
    submit("stop");
    while (metrics_.queued > 0) std::this_thread::yield();
  }
  void finish() {
    gate_.set_value();
    while (metrics_.queued > 0) std::this_thread::yield();
    crew_.reset();
  }

  Metrics metrics_;
  std::unique_ptr<Crew> crew_;
  std::promise<void> gate_;
  std::vector<std::vector<std::string>> batches_;
  std::vector<std::string> replies_;
};

using Batches = std::vector<std::vector<std::string>>;

TEST_F(CrewTest, TakesWhatWaitsInBatchesOfAtMostTheGivenSize) {
  hire({1, 3, 0us, 100});
  stop_worker();
  for (const char* target : {"a", "b", "c", "d", "e"}) submit(target);
  finish();
  EXPECT_EQ(batches_, (Batches{{"stop"}, {"a", "b", "c"}, {"d", "e"}}));
  EXPECT_EQ(replies_, (std::vector<std::string>{"stop", "a", "b", "c", "d", "e"}));
}

TEST_F(CrewTest, WaitsForABatchToFill) {
  hire({1, 2, 60s, 100});  // so patient that only a full batch can wake it
  submit("a");
  submit("b");
  while (metrics_.queued > 0) std::this_thread::yield();
  crew_.reset();
  EXPECT_EQ(batches_, (Batches{{"a", "b"}}));
}

TEST_F(CrewTest, DoesNotWaitForever) {
  hire({1, 8, 1ms, 100});
  submit("a");
  while (metrics_.queued > 0) std::this_thread::yield();
  crew_.reset();
  EXPECT_EQ(batches_, (Batches{{"a"}}));
}

TEST_F(CrewTest, CountsPicturesNotRequests) {
  hire({1, 4, 0us, 100});
  stop_worker();
  submit("a"), submit("two", 2), submit("b"), submit("c", 1), submit("many", 9), submit("d");
  finish();
  EXPECT_EQ(batches_, (Batches{{"stop"}, {"a", "two", "b"}, {"c"}, {"many"}, {"d"}}));
}

TEST_F(CrewTest, AQueueOfPicturesIsFullBeforeAQueueOfRequests) {
  hire({1, 1, 0us, 5});
  stop_worker();
  EXPECT_TRUE(submit("a", 4));
  EXPECT_FALSE(submit("b", 2));
  EXPECT_TRUE(submit("c"));
  finish();
}

TEST_F(CrewTest, SaysWhetherSomebodyIsStillAtWorkWhenItCloses) {
  hire({1, 1, 0us, 5});
  stop_worker();
  submit("dropped");
  EXPECT_FALSE(crew_->close());
  EXPECT_FALSE(submit("late"));
  gate_.set_value();
  crew_.reset();
  EXPECT_EQ(batches_, (Batches{{"stop"}}));
}

TEST_F(CrewTest, RefusesWhatDoesNotFitIntoTheQueue) {
  hire({1, 1, 0us, 2});
  stop_worker();
  EXPECT_TRUE(submit("a"));
  EXPECT_TRUE(submit("b"));
  EXPECT_FALSE(submit("c"));
  EXPECT_EQ(metrics_.queued, 2);
  finish();
  EXPECT_EQ(replies_, (std::vector<std::string>{"stop", "a", "b"}));
}

TEST_F(CrewTest, AnswersABatchThatFailedAndGoesOn) {
  hire({1, 2, 0us, 100});
  stop_worker();
  for (const char* target : {"throw", "a", "b"}) submit(target);
  finish();
  ASSERT_EQ(replies_.size(), 4u);
  EXPECT_THAT(replies_[1], testing::HasSubstr("unexpected failure"));
  EXPECT_EQ(replies_[2], replies_[1]);
  EXPECT_EQ(replies_[3], "b");
}

TEST_F(CrewTest, CountsTheSizesOfItsBatches) {
  hire({1, 4, 0us, 100});
  stop_worker();
  for (int i = 0; i < 4; ++i) submit("a");
  finish();
  EXPECT_THAT(metrics_.text(), testing::HasSubstr("soft_batch_size_bucket{le=\"1\"} 1\n"));
  EXPECT_THAT(metrics_.text(), testing::HasSubstr("soft_batch_size_bucket{le=\"4\"} 2\n"));
  EXPECT_THAT(metrics_.text(), testing::HasSubstr("soft_batch_size_sum 5\n"));
}

}  // namespace
}  // namespace soft
