// Models that answer, and the workspaces they answer in.
#include "facade/runner.h"

#include <thread>

#include "facade/workspaces.h"
#include "support/support.h"

namespace soft {
namespace {

using testing::HasSubstr;

TEST(Workspaces, AreMadeForCallersAtOnceAndUsedAgainByTheNext) {
  Workspaces workspaces({});
  Workspace *first = nullptr, *second = nullptr;
  workspaces.with_one([&](Workspace& one) {
    first = &one;
    workspaces.with_one([&](Workspace& other) { second = &other; });
  });
  EXPECT_NE(first, second);
  workspaces.with_one([&](Workspace& one) { EXPECT_EQ(&one, first); });
}

TEST(Workspaces, ComeBackWhenTheirCallerFails) {
  Workspaces workspaces({});
  Workspace* first = nullptr;
  const auto failing = [&](Workspace& one) {
    first = &one;
    fail("no");
  };
  EXPECT_THROW(workspaces.with_one(failing), Error);
  workspaces.with_one([&](Workspace& one) { EXPECT_EQ(&one, first); });
}

LoadedModel pico() {
  ModelOptions options;
  options.model = "soft-pico";
  return load_model(options, 3);
}

TEST(Runner, ApartSharesTheWeightsAndGivesTheSameBits) {
  const Runner runner(pico(), Engine::kNative);
  const Runner other = runner.apart();
  const std::vector<float> pixels(2 * 3 * 32 * 32, 0.5f);
  const ImageBatch images{pixels.data(), 2, {32, 32}};
  EXPECT_EQ(runner.logits(images), other.logits(images));
  EXPECT_EQ(&runner.card(), &other.card());
  EXPECT_EQ(runner.weight_bytes(), other.weight_bytes());
  EXPECT_GT(runner.weight_bytes(), 1'000'000u);
}

TEST(Runner, RefusesASizeThatWouldTakeMoreThanItsWorkspaceMay) {
  WorkspaceOptions small;
  small.largest_bytes = 1000;
  const Runner runner(pico(), Engine::kNative, small);
  const std::vector<float> pixels(3 * 32 * 32);
  EXPECT_THAT(test::error_of([&] {
                runner.logits({pixels.data(), 1, {32, 32}});
              }),
              HasSubstr("memory"));
}

TEST(ChooseEngine, TakesTheNativeOneForWhatItRuns) {
  EXPECT_EQ(choose_engine("", find_model("soft-tiny")), Engine::kNative);
  EXPECT_EQ(choose_engine("torch-plain", find_model("soft-tiny")), Engine::kTorchPlain);
  ModelSpec rival = find_model("soft-tiny");
  apply_setting(rival, "attention=linformer");
  EXPECT_EQ(choose_engine("", rival), Engine::kTorch);
  EXPECT_THAT(test::error_of([&] { choose_engine("native", rival); }), HasSubstr("--engine torch"));
  EXPECT_THAT(test::error_of([&] { choose_engine("natve", rival); }), HasSubstr("native"));
}

TEST(ModelName, IsWhateverDoesNotLookLikeAFile) {
  EXPECT_TRUE(is_model_name("soft-tiny"));
  EXPECT_TRUE(is_model_name("soft-tinny"));
  EXPECT_FALSE(is_model_name("soft-tiny.safetensors"));
  EXPECT_FALSE(is_model_name("runs/soft-tiny"));
  EXPECT_FALSE(is_model_name(std::string(5000, '/')));
}

}  // namespace
}  // namespace soft
