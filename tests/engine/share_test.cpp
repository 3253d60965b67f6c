// What heads add beside what their values hold. tests/parity compares with LibTorch's numbers.
#include <cmath>

#include "base/parallel.h"
#include "engine/mini.h"

namespace soft {
namespace {

using namespace test;

constexpr Grid kSize{64, 96};

class EngineShare : public testing::Test {
 protected:
  std::vector<HeadShare> shares(const Packed& model, int64_t first, int64_t count) {
    return head_shares(model, workspace_,
                       {pixels_.data() + first * 3 * kSize.size(), count, kSize});
  }

  const std::vector<float> pixels_ = random_pixels(3, kSize);
  Workspace workspace_;
};

TEST_F(EngineShare, IsTheSameOnTheWayToARowAndThroughTheWholeModel) {
  const Packed model = mini();
  const ModelSpec& spec = model.spec();
  const std::vector<HeadShare> all = shares(model, 0, 1);
  size_t at = 0;
  for (int s = 0; s < 4; ++s) {
    const AttentionRows rows = attention_row(model, workspace_, {pixels_.data(), 1, kSize},
                                             {s, 0, 0, spec.stages[s].depth});
    for (size_t i = 0; i < rows.shares.size(); ++i, ++at) {
      const int head = static_cast<int>(i) % spec.stages[s].heads;
      EXPECT_EQ(all.at(at).stage, s + 1);
      EXPECT_EQ(all.at(at).layer, static_cast<int>(i) / spec.stages[s].heads + 1);
      EXPECT_EQ(all.at(at).head, head + 1);
      EXPECT_EQ(all.at(at).share, rows.shares[i]);
      EXPECT_GT(all.at(at).share, 0);
    }
  }
  EXPECT_EQ(at, all.size());
}

// Means of squares, not of shares: between the largest and the smallest of the pictures' own.
TEST_F(EngineShare, OfSeveralPicturesLiesBetweenTheirOwn) {
  const Packed model = mini();
  const auto a = shares(model, 0, 1), b = shares(model, 1, 1), both = shares(model, 0, 2);
  for (size_t i = 0; i < both.size(); ++i) {
    const auto [least, most] = std::minmax(a[i].share, b[i].share);
    EXPECT_GE(both[i].share, least * (1 - 1e-12));
    EXPECT_LE(both[i].share, most * (1 + 1e-12));
  }
}

TEST_F(EngineShare, LeavesTheLogitsAndTheValuePathAlone) {
  const Packed model = mini();
  const auto before = logits_of(model, workspace_, pixels_, 3, kSize);
  shares(model, 0, 3);
  EXPECT_EQ(logits_of(model, workspace_, pixels_, 3, kSize), before);
}

TEST_F(EngineShare, OfNoAttentionIsNone) {
  ModelSpec spec = find_model("soft-pico");
  apply_setting(spec, "attention=none");
  const RandomWeights weights(spec);
  const Packed model(weights.get(), spec);
  for (const HeadShare& head : shares(model, 0, 1)) {
    if (head.stage == 4) continue;  // softmax
    EXPECT_EQ(head.share, 0) << head.stage;
  }
}

// V = 0 everywhere: nothing to compare with.
TEST_F(EngineShare, OfEmptyValuesIsNoNumber) {
  const ModelSpec spec = find_model("soft-pico");
  RandomWeights random(spec);
  Weights weights = random.get();
  const std::vector<float> zeros(size_t{1} * spec.stages[0].dim * spec.stages[0].dim);
  for (auto& [name, view] : weights.tensors) {
    const bool value = name.rfind("block1.0.att.mha.W_v", 0) == 0;
    if (value) view.data = reinterpret_cast<const uint8_t*>(zeros.data());
  }
  const Packed model(weights, spec);
  EXPECT_TRUE(std::isnan(shares(model, 0, 1).front().share));
}

}  // namespace
}  // namespace soft
