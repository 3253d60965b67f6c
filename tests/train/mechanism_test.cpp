// Every mechanism trains, and a run that was stopped continues as if it had not been.
#include <cmath>

#include "model/checkpoint.h"
#include "model/classifier.h"
#include "train/little_run.h"

namespace soft {
namespace {

using torch::Tensor;

struct Training {
  const char* attention;
  const char* setting;  // makes the mechanism's own state change within the run
};

class EveryMechanism : public test::TrainerTest, public testing::WithParamInterface<Training> {
 protected:
  TrainRequest request(const std::string& name) const {
    TrainRequest request = test::little_run(folder_.path(name));
    request.attention = GetParam().attention;
    request.settings.emplace_back(GetParam().setting);
    return request;
  }
};

TEST_P(EveryMechanism, ResumedEqualsTheUninterruptedRunBitForBit) {
  const TrainOutcome whole = test::train(request("whole"));
  EXPECT_TRUE(std::isfinite(whole.rows.back().train_loss));
  EXPECT_TRUE(test::train_until(request("cut"), 3).interrupted);  // of eight steps
  test::resume(folder_.path("cut"));
  EXPECT_EQ(test::fingerprint(folder_.path("cut")), test::fingerprint(folder_.path("whole")));
}

TEST_P(EveryMechanism, ItsFileAloneIsEnoughToEvaluateIt) {
  TrainRequest once = request("run");
  once.epochs = 1;
  test::train(once);
  const Weights weights = read_weights(folder_.path("run/last.safetensors"));
  Classifier model(card_of(weights).spec);
  load_weights(model, weights);
  model.eval();
  const torch::NoGradGuard no_grad;
  const Tensor images = torch::randn({2, 3, 32, 32});
  const Tensor logits = model.forward(images);
  EXPECT_TRUE(test::all_finite(logits));
  Classifier other(card_of(weights).spec);  // started from other numbers
  load_weights(other, weights);
  other.eval();
  EXPECT_TRUE(torch::equal(other.forward(images), logits));
}

INSTANTIATE_TEST_SUITE_P(
    Trained, EveryMechanism,
    testing::Values(Training{"soft", "sampler=random"}, Training{"softmax", "value_path=on"},
                    Training{"linformer", "value_path=on"}, Training{"performer", "redraw_steps=2"},
                    Training{"nystromformer", "landmarks=4"}, Training{"reformer", "bucket_size=8"},
                    Training{"none", "value_path=on"}),
    [](const auto& info) { return std::string(info.param.attention); });

// Drawn every second step; what is evaluated and stored is the newest draw, not an average of them.
class PerformerTraining : public test::TrainerTest {};

TEST_F(PerformerTraining, StoresTheNewestDrawOfItsFeaturesInTheAverageToo) {
  TrainRequest request = test::little_run(folder_.path("run"));
  request.attention = "performer";
  request.settings.emplace_back("redraw_steps=2");
  request.settings.emplace_back("ema=on");
  test::train_until(request, 1);
  const auto first = StateFolder(folder_.path("run/state")).load();
  test::resume(folder_.path("run"));
  const auto last = StateFolder(folder_.path("run/state")).load();
  const std::string omega = "block1.0.att.mha.attn.omega";
  EXPECT_FALSE(
      torch::equal(first->tensors.at("model." + omega), last->tensors.at("model." + omega)));
  EXPECT_TRUE(torch::equal(last->tensors.at("ema." + omega), last->tensors.at("model." + omega)));
}

}  // namespace
}  // namespace soft
