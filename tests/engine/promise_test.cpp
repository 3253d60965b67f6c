// What the engine promises beside the right numbers: the same bits, sharing, bounded memory.
#include <thread>

#include "base/parallel.h"
#include "engine/mini.h"

namespace soft {
namespace {

using namespace test;

class EnginePromise : public testing::Test {
 protected:
  void SetUp() override { set_threads(2); }
  void TearDown() override { set_threads(0); }

  std::vector<float> run(int64_t count, Grid size, uint64_t seed = 7) {
    return logits_of(model_, workspace_, random_pixels(count, size, seed), count, size);
  }

  const Packed model_ = mini();
  Workspace workspace_;
};

TEST_F(EnginePromise, TheSameInputGivesTheSameBits) {
  for (int count : {1, 2, 5}) {
    const auto first = run(count, {64, 96});
    EXPECT_EQ(run(count, {64, 96}), first);
    Workspace fresh;
    const auto pixels = random_pixels(count, {64, 96});
    EXPECT_EQ(logits_of(model_, fresh, pixels, count, {64, 96}), first);
  }
}

TEST_F(EnginePromise, AnImageDoesNotNoticeItsNeighbours) {
  set_threads(1);
  const Grid size{96, 64};
  const auto together = run(5, size);
  const auto pixels = random_pixels(5, size);
  const int64_t floats = 3 * size.size(), classes = model_.spec().classes;
  for (int64_t i = 0; i < 5; ++i) {
    const std::vector<float> own(pixels.begin() + i * floats, pixels.begin() + (i + 1) * floats);
    const std::vector<float> expected(together.begin() + i * classes,
                                      together.begin() + (i + 1) * classes);
    EXPECT_EQ(logits_of(model_, workspace_, own, 1, size), expected);
  }
}

TEST_F(EnginePromise, AnyNumberOfThreadsGivesTheSameBits) {
  const auto expected = run(3, {128, 96});
  for (int count : {1, 3, 4, 7}) {
    set_threads(count);
    EXPECT_EQ(run(3, {128, 96}), expected) << count << " threads";
  }
}

TEST_F(EnginePromise, EightThreadsShareOneModel) {
  constexpr int kThreads = 8;
  const std::vector<Grid> sizes{{64, 64}, {96, 64}, {64, 96}, {80, 80}};
  std::vector<std::vector<float>> expected(kThreads), got(kThreads);
  set_threads(1);
  for (int i = 0; i < kThreads; ++i) expected[i] = run(2, sizes[i % sizes.size()], i);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      set_threads(1);
      Workspace own;
      const Grid size = sizes[i % sizes.size()];
      for (int round = 0; round < 3; ++round) {
        got[i] = logits_of(model_, own, random_pixels(2, size, i), 2, size);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(got, expected);
}

TEST_F(EnginePromise, AWorkspaceKeepsOnlyTheSizesUsedLast) {
  workspace_ = Workspace({2, size_t{1} << 30});
  const auto first = run(1, {64, 64});
  run(1, {64, 96});
  const size_t two = workspace_.bytes();
  run(1, {96, 64});
  EXPECT_EQ(workspace_.cached_sizes(), 2u);
  run(1, {64, 96});  // still there: {64, 64} went
  EXPECT_EQ(workspace_.cached_sizes(), 2u);
  EXPECT_GT(workspace_.bytes(), 0u);
  EXPECT_LT(workspace_.bytes(), 2 * two);
  EXPECT_EQ(run(1, {64, 64}), first);
}

TEST_F(EnginePromise, NothingIsAddedAfterTheFirstRunAtASize) {
  run(4, {64, 64});
  run(1, {64, 64});
  const size_t before = workspace_.bytes();
  for (int i = 0; i < 3; ++i) run(1 + 3 * (i % 2), {64, 64}, i);
  EXPECT_EQ(workspace_.bytes(), before);
}

TEST_F(EnginePromise, OneWorkspaceServesSeveralModels) {
  ModelSpec spec = mini_spec();
  apply_setting(spec, "norm=on");
  const Packed other = mini(spec);
  const auto pixels = random_pixels(1, {64, 64});
  const auto first = run(1, {64, 64});
  const auto second = logits_of(other, workspace_, pixels, 1, {64, 64});
  EXPECT_NE(first, second);
  EXPECT_EQ(run(1, {64, 64}), first);
  EXPECT_EQ(workspace_.cached_sizes(), 2u);
}

TEST_F(EnginePromise, AModelOutlivesItsPackedHandle) {
  const auto pixels = random_pixels(1, {64, 64});
  std::vector<float> first;
  {
    const Packed brief = mini();
    first = logits_of(brief, workspace_, pixels, 1, {64, 64});
  }
  EXPECT_EQ(run(1, {64, 64}), first);
}

TEST_F(EnginePromise, ConstantAndSaturatedImagesGiveFiniteLogits) {
  for (float value : {0.0f, 1.0f, -2.0f, 1000.0f}) {
    const std::vector<float> pixels(3 * 64 * 64, value);
    for (float logit : logits_of(model_, workspace_, pixels, 1, {64, 64})) {
      EXPECT_TRUE(std::isfinite(logit)) << value;
    }
  }
}

TEST_F(EnginePromise, HugeWeightsGiveFiniteLogitsInEveryMode) {
  for (const char* mode : {"newton", "newton-adaptive", "newton-paper", "exact"}) {
    ModelSpec spec = find_model("soft-nano");
    apply_setting(spec, std::string("inverse=") + mode);
    const RandomWeights weights(spec, 3, 100);
    const auto pixels = random_pixels(1, {32, 32});
    for (float logit : logits_of(Packed(weights.get(), spec), workspace_, pixels, 1, {32, 32})) {
      EXPECT_TRUE(std::isfinite(logit)) << mode;
    }
  }
}

TEST_F(EnginePromise, TheTimeOfEveryPhaseIsCounted) {
  run(3, {64, 64});
  Profile profile = workspace_.profile();
  EXPECT_EQ(profile.images, 3);
  EXPECT_GT(profile.at(0, Phase::kEmbed), 0);
  EXPECT_GT(profile.at(2, Phase::kMix), 0);
  EXPECT_GT(profile.at(3, Phase::kHead), 0);
  workspace_.reset_profile();
  EXPECT_EQ(workspace_.profile().images, 0);
}

}  // namespace
}  // namespace soft
