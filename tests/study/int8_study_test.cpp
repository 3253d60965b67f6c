#include "study/int8_study.h"

#include <gtest/gtest.h>

#include "weights/int8.h"

namespace soft {
namespace {

TEST(Int8Study, ComparesAnswers) {
  const std::vector<float> floats{1, 3, 2, /**/ 5, 0, 1};
  EXPECT_EQ(compare_answers(floats, floats, 3).same, 100);
  EXPECT_EQ(compare_answers(floats, floats, 3).error, 0);
  const std::vector<float> other{1, 3, 4, /**/ 5, 0, 1};
  EXPECT_EQ(compare_answers(floats, other, 3).same, 50);
  EXPECT_NEAR(compare_answers(floats, other, 3).error, 2 / 4.0, 1e-6);  // |2| of sqrt(2 + 14)
}

TEST(Int8Study, CountsRightAnswers) {
  EXPECT_EQ(top1_of({1, 3, 2, 5, 0, 1}, {1, 2}, 3), 50);
  EXPECT_EQ(top1_of({1, 3, 2, 5, 0, 1}, {1, 0}, 3), 100);
}

// Two inputs; the answers suffer from the second alone.
class Choice : public testing::Test {
 protected:
  Choice() : weights_(random_weights(find_model("soft-pico"), 1)) {
    for (const char* layer : {"block1.0.att.ff1", "head"}) {
      LayerInput input;
      input.layers = {layer};
      input.seen = {-1, 1};
      input.counts[1000] = 1;
      inputs_.push_back(input);
    }
    search_.classes = 2;
    search_.floats = search_.few_floats = {0, 1, 1, 0};
    search_.all = search_.few = [](const Weights& weights) {
      const bool wrong = is_int8(weights, "head.weight");
      return std::vector<float>{0, 1, wrong ? 0.0f : 1.0f, wrong ? 1.0f : 0.0f};
    };
    search_.progress = [](const std::string&, double) {};
  }

  Weights weights_;
  std::vector<LayerInput> inputs_;
  Int8Search search_;
};

TEST_F(Choice, NamesTheLayerWhereItIsLost) {
  const QuantizedModel model(weights_, inputs_);
  const Int8Choice choice = choose_int8(model, {}, search_);
  EXPECT_EQ(choice.chosen, (std::set<size_t>{0, 1}));
  EXPECT_EQ(choice.agreement.same, 50);
  EXPECT_EQ(choice.layer_error[0], 0);
  EXPECT_GT(choice.layer_error[1], 0);
}

TEST_F(Choice, GivesBackUntilTheLossIsMet) {
  const QuantizedModel model(weights_, inputs_);
  search_.most_lost = 10;
  const Int8Choice choice = choose_int8(model, {}, search_);
  EXPECT_EQ(choice.chosen, (std::set<size_t>{0}));
  EXPECT_EQ(choice.agreement.same, 100);
}

TEST_F(Choice, LeavesAloneWhatIsKept) {
  const QuantizedModel model(weights_, inputs_);
  const Int8Choice choice = choose_int8(model, {1}, search_);
  EXPECT_EQ(choice.chosen, (std::set<size_t>{0}));
  EXPECT_EQ(choice.agreement.same, 100);
}

}  // namespace
}  // namespace soft
