#include "model/drop.h"

#include "attention/fast_path.h"
#include "support/tensors.h"

namespace soft {
namespace {

using torch::Tensor;

Tensor dropped(const std::vector<int64_t>& positions, int64_t epoch = 0, uint64_t seed = 1) {
  const SampleScope scope({seed, epoch, positions});
  return drop_elements(torch::ones({static_cast<int64_t>(positions.size()), 5, 7}), 0.25);
}

TEST(Drop, DependsOnTheSamplesPlaceAndNotOnItsBatch) {
  const Tensor whole = dropped({4, 5, 6, 7});
  EXPECT_TRUE(torch::equal(whole.narrow(0, 2, 2), dropped({6, 7})));
  EXPECT_FALSE(torch::equal(whole[0], whole[1]));
  EXPECT_FALSE(torch::equal(whole, dropped({4, 5, 6, 7}, 1)));
  EXPECT_FALSE(torch::equal(whole, dropped({4, 5, 6, 7}, 0, 2)));
}

TEST(Drop, DrawsAnewForEveryLayer) {
  const SampleScope scope({1, 0, {3}});
  const Tensor ones = torch::ones({1, 10, 10});
  EXPECT_FALSE(torch::equal(drop_elements(ones, 0.5), drop_elements(ones, 0.5)));
}

TEST(Drop, KeepsTheExpectation) {
  std::vector<int64_t> positions(64);
  for (size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<int64_t>(i);
  const SampleScope scope({7, 0, positions});
  const Tensor kept = drop_elements(torch::ones({64, 33, 31}), 0.1);
  EXPECT_NEAR(kept.mean().item<double>(), 1, 0.01);
  EXPECT_NEAR((kept == 0).to(torch::kFloat32).mean().item<double>(), 0.1, 0.005);
  EXPECT_FLOAT_EQ(kept.max().item<float>(), 1 / 0.9F);
}

TEST(Drop, WholeSamplesGoTogether) {
  std::vector<int64_t> positions(200);
  for (size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<int64_t>(i);
  const SampleScope scope({7, 0, positions});
  const Tensor kept = drop_samples(torch::ones({200, 3, 2}), 0.5).view({200, 6});
  EXPECT_TRUE(torch::equal(std::get<0>(kept.min(1)), std::get<0>(kept.max(1))));
  EXPECT_NEAR(kept.mean().item<double>(), 1, 0.3);
}

TEST(Drop, WithoutAScopeTheGeneratorDecidesAndTheWayBackDropsTheSame) {
  const int64_t before = fast_path_calls(FastPath::kDropout);
  const Tensor x = torch::randn({3, 50, 70}).transpose(0, 1).set_requires_grad(true);
  torch::manual_seed(5);
  const Tensor y = drop_elements(x, 0.25);
  EXPECT_EQ(fast_path_calls(FastPath::kDropout), before + 1);
  const Tensor slope = torch::autograd::grad({y.sum()}, {x})[0];
  EXPECT_TRUE(torch::equal(y, x * slope));
  EXPECT_TRUE(((slope == 0) | (slope == 1 / 0.75F)).all().item<bool>());
  EXPECT_NEAR((slope == 0).to(torch::kFloat32).mean().item<double>(), 0.25, 0.02);
  EXPECT_FALSE(torch::equal(drop_elements(x, 0.25), y));
  torch::manual_seed(5);
  EXPECT_TRUE(torch::equal(drop_elements(x, 0.25).detach(), y.detach()));
}

TEST(Drop, RefusesABatchThatIsNotTheOneAnnounced) {
  const SampleScope scope({1, 0, {1, 2}});
  EXPECT_THAT(test::error_of([] {
                drop_elements(torch::ones({3, 2, 2}), 0.5);
              }),
              testing::HasSubstr("3 samples"));
}

}  // namespace
}  // namespace soft
