#include "train/buckets.h"

#include "support/tensors.h"
#include "train/ranks.h"
#include "train/replica.h"

namespace soft {
namespace {

using test::in_ranks;
using torch::Tensor;

// Three matrices in a row; every rank makes the same ones.
std::vector<Tensor> little_net() {
  const auto matrix = [](int64_t rows, int64_t columns, int shift) {
    const Tensor x = torch::arange(rows * columns, torch::kFloat32).view({rows, columns});
    return ((x * 7 + shift).remainder(11) / 11 - 0.5).set_requires_grad(true);
  };
  return {matrix(6, 9, 1), matrix(9, 5, 2), matrix(5, 3, 3)};
}

Tensor input(int64_t first, int64_t count) {
  const Tensor x = torch::arange(first * 6, (first + count) * 6, torch::kFloat32);
  return (x.remainder(13) / 13 - 0.5).view({count, 6});
}

Tensor loss_of(const std::vector<Tensor>& net, const Tensor& x) {
  return torch::tanh(torch::tanh(x.mm(net[0])).mm(net[1])).mm(net[2]).square().sum(1).mean();
}

std::vector<Tensor> whole_gradients(int64_t samples) {
  const auto net = little_net();
  loss_of(net, input(0, samples)).backward();
  return {net[0].grad(), net[1].grad(), net[2].grad()};
}

constexpr int64_t kTiny = 1;  // bytes: each parameter has a bucket of its own

TEST(Buckets, MakeTheGradientOfTheWholeBatch) {
  const auto whole = whole_gradients(12);
  for (const int64_t bytes : {kTiny, int64_t{250}, int64_t{25} << 20}) {
    in_ranks(3, [&](Group& group) {
      const auto net = little_net();
      Buckets buckets(group, net, {bytes, false});
      EXPECT_EQ(buckets.count(), bytes == kTiny ? 3u : bytes == 250 ? 2u : 1u);
      buckets.begin(1);
      loss_of(net, input(4 * group.rank(), 4)).backward();
      buckets.finish();
      EXPECT_EQ(buckets.sent_in_backward(), buckets.count());
      for (int i : {0, 1, 2}) EXPECT_LT(test::relative_error(net[i].grad(), whole[i]), 1e-6);
    });
  }
}

TEST(Buckets, CountSamplesAndNotRanks) {
  const auto whole = whole_gradients(8);
  in_ranks(2, [&](Group& group) {
    const auto net = little_net();
    Buckets buckets(group, net, {kTiny, false});
    const int64_t count = group.first() ? 5 : 3;
    buckets.begin(static_cast<double>(count) / 4);
    loss_of(net, input(group.first() ? 0 : 5, count)).backward();
    buckets.finish();
    for (int i : {0, 1, 2}) EXPECT_LT(test::relative_error(net[i].grad(), whole[i]), 1e-6);
  });
}

TEST(Buckets, AnExchangeIsMadeOnlyForTheLastPart) {
  const auto whole = whole_gradients(8);
  in_ranks(2, [&](Group& group) {
    const auto net = little_net();
    Buckets buckets(group, net, {kTiny, false});
    const int64_t first = 4 * group.rank();
    (loss_of(net, input(first, 2)) / 2).backward();
    EXPECT_EQ(buckets.sent_in_backward(), 0u);
    buckets.begin(1);
    (loss_of(net, input(first + 2, 2)) / 2).backward();
    buckets.finish();
    for (int i : {0, 1, 2}) EXPECT_LT(test::relative_error(net[i].grad(), whole[i]), 1e-6);
  });
}

TEST(Buckets, ParametersWithoutAGradientHangNobody) {
  in_ranks(2, [](Group& group) {
    auto net = little_net();
    const Tensor nobodys = torch::ones({4}).set_requires_grad(true);
    const Tensor anothers = torch::ones({4}).set_requires_grad(true);
    Buckets buckets(group, {nobodys, net[0], anothers, net[1], net[2]}, {kTiny, false});
    for (int step : {0, 1}) {
      anothers.mutable_grad() = Tensor();
      buckets.begin(1);
      Tensor loss = loss_of(net, input(0, 2));
      if (!group.first()) loss = loss + anothers.sum();
      loss.backward();
      buckets.finish();
      EXPECT_FALSE(nobodys.grad().defined()) << step;
      ASSERT_TRUE(anothers.grad().defined()) << step;
      EXPECT_TRUE(torch::equal(anothers.grad(), torch::full({4}, 0.5F))) << step;
    }
  });
}

TEST(Buckets, AGroupOfOneChangesNoBit) {
  const auto whole = whole_gradients(5);
  in_ranks(1, [&](Group& group) {
    const auto net = little_net();
    Buckets buckets(group, net, {250, false});
    buckets.begin(1);
    loss_of(net, input(0, 5)).backward();
    buckets.finish();
    for (int i : {0, 1, 2}) EXPECT_TRUE(torch::equal(net[i].grad(), whole[i])) << i;
  });
}

TEST(Buckets, HalfTheBytesAreAThousandthOff) {
  const auto whole = whole_gradients(12);
  in_ranks(3, [&](Group& group) {
    const auto net = little_net();
    Buckets buckets(group, net, {kTiny, true});
    buckets.begin(1);
    loss_of(net, input(4 * group.rank(), 4)).backward();
    buckets.finish();
    for (int i : {0, 1, 2}) {
      EXPECT_LT(test::relative_error(net[i].grad(), whole[i]), 2e-3);
      EXPECT_GT(test::relative_error(net[i].grad(), whole[i]), 1e-7);
    }
  });
}

TEST(Buckets, HalfPrecisionNeitherOverflowsNorForgetsTheSmall) {
  in_ranks(2, [](Group& group) {
    const Tensor x = torch::ones({2}).set_requires_grad(true);
    Buckets buckets(group, {x}, {kTiny, true});
    buckets.begin(1);
    (x * torch::tensor({1e9F, 1e-7F})).sum().backward();
    buckets.finish();
    EXPECT_TRUE(torch::isfinite(x.grad()).all().item<bool>());
    EXPECT_NEAR(x.grad()[1].item<double>(), 1e-7, 1e-9);
  });
}

// Each rank has every third picture; class k is the right answer to picture k.
TEST(Replica, TotalsOfAllRanksAreThoseOfOne) {
  Dataset dataset;
  dataset.name = "toy";
  for (int i = 0; i < 11; ++i) {
    dataset.classes.push_back(std::to_string(i));
    dataset.labels.push_back(i);
  }
  dataset.load = [](int64_t index) {
    if (index == 7) fail("picture 7 is broken");
    return Image(8, 8);
  };
  const auto logits = [](const Batch& batch) {
    std::vector<float> values(batch.count * 11, 0.0F);
    for (int64_t j = 0; j < batch.count; ++j) {
      const int64_t place = batch.indices[j] % 2 == 0 ? batch.indices[j] : 0;
      values[j * 11 + place] += 0.1F * static_cast<float>(batch.indices[j] + 1);
    }
    return values;
  };
  LoaderOptions options;
  options.batch = 2;
  options.preprocessing.size = 8;
  Loader whole(dataset, options);
  const Evaluation one = evaluate(whole, logits);
  ASSERT_GT(one.first, 0);
  in_ranks(3, [&](Group& group) {
    LoaderOptions share = options;
    share.rank = group.rank();
    share.world = 3;
    Loader loader(dataset, share);
    torch::nn::Module model("none");
    Replica replica(group, model, {{torch::ones({1}).set_requires_grad(true)}, {}}, Recipe{});
    const auto all = replica.total(evaluate(loader, logits), false);
    ASSERT_TRUE(all);
    EXPECT_EQ(all->images, 11);
    EXPECT_EQ(all->broken, 1);
    EXPECT_EQ(all->first, one.first);
    EXPECT_EQ(all->first_five, one.first_five);
    EXPECT_EQ(all->top1, one.top1);
    EXPECT_NEAR(all->loss, one.loss, 1e-12);
    const Evaluation nothing;
    EXPECT_FALSE(replica.total(nothing, group.rank() == 2));  // one was asked to stop
  });
}

}  // namespace
}  // namespace soft
