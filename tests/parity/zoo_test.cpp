// Whatever the native engine answers for a family of the zoo is what LibTorch answers.
#include "support/zoo.h"

#include "parity/parity.h"
#include "support/tensors.h"
#include "train/health.h"

namespace soft {
namespace {

using test::Mini;
using torch::Tensor;

constexpr double kZooTolerance = 1e-4;  // of the largest value

Tensor tensor_of(const Array& array) { return torch::tensor(array.data).reshape(array.shape); }

class BothEngines : public testing::TestWithParam<Mini> {
 protected:
  BothEngines()
      : spec_(test::spec_of(GetParam())),
        native_(test::published_weights(GetParam()), spec_),
        torch_(std::make_shared<Classifier>(spec_)) {
    load_weights(*torch_, test::published_weights(GetParam()));
    torch_->eval();
    torch::manual_seed(3);
    images_ = torch::randn({3, 3, 96, 64});
  }

  ImageBatch batch() const { return {images_.data_ptr<float>(), 3, {96, 64}}; }

  const torch::NoGradGuard no_grad_;
  ModelSpec spec_;
  Packed native_;
  std::shared_ptr<Classifier> torch_;
  Tensor images_;
  Workspace workspace_;
};

TEST_P(BothEngines, GiveTheSameVectors) {
  const Tensor expected = torch_->embed(images_);
  Tensor vectors = torch::empty({3, native_.embedding()});
  embed(native_, workspace_, batch(), vectors.data_ptr<float>());
  EXPECT_LT(test::relative_error(vectors, expected), kZooTolerance);
}

TEST_P(BothEngines, GiveTheSameMapsOfEveryStage) {
  const std::vector<Tensor> expected = torch_->features(images_);
  const std::vector<Array> maps = features(native_, workspace_, batch());
  ASSERT_EQ(maps.size(), expected.size());
  for (size_t s = 0; s < maps.size(); ++s) {
    EXPECT_EQ(expected[s].sizes().vec(), maps[s].shape);
    EXPECT_LT(test::relative_error(tensor_of(maps[s]), expected[s]), kZooTolerance);
  }
}

std::vector<Mini> native_minis() {
  std::vector<Mini> native;
  for (const Mini& mini : test::minis()) {
    if (native_obstacle(test::spec_of(mini)).empty()) native.push_back(mini);
  }
  return native;
}

INSTANTIATE_TEST_SUITE_P(Families, BothEngines, testing::ValuesIn(native_minis()),
                         [](const auto& info) { return info.param.file; });

using ZooAttention = BothEngines;

TEST_P(ZooAttention, RowsAndSharesOfTheHeadsAreTheSame) {
  const RowQuery query{0, 1, 5, 2};
  const AttentionRows rows = attention_row(native_, workspace_, batch(), query);
  const Tensor expected = torch_->attention_row(images_, 0, 1, 5, 2, {});
  EXPECT_EQ(expected.sizes().vec(), rows.maps.shape);
  EXPECT_LT(test::relative_error(tensor_of(rows.maps), expected), kZooTolerance);
  const std::vector<HeadShare> native = head_shares(native_, workspace_, batch()),
                               torch = head_shares(*torch_, images_);
  ASSERT_EQ(native.size(), torch.size());
  for (size_t i = 0; i < native.size(); ++i) {
    EXPECT_EQ(native[i].layer, torch[i].layer);
    EXPECT_NEAR(native[i].share, torch[i].share, 1e-4 * torch[i].share);
  }
  ASSERT_EQ(rows.shares.size(), 8u);
  EXPECT_NEAR(rows.shares[0], native[4].share, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Deit, ZooAttention, testing::Values(test::minis()[7]));

TEST(ZooAttention, IsRefusedWhereThereIsNoMatrix) {
  for (const size_t index : {size_t{0}, size_t{12}}) {
    const Mini mini = test::minis()[index];
    const Packed model(test::published_weights(mini), test::spec_of(mini));
    Workspace workspace;
    const std::vector<float> pixels(3 * 64 * 64);
    const ImageBatch batch{pixels.data(), 1, {64, 64}};
    EXPECT_THAT(test::error_of([&] { attention_row(model, workspace, batch, {}); }),
                testing::HasSubstr("no attention matrix"));
    EXPECT_TRUE(head_shares(model, workspace, batch).empty());
  }
}

}  // namespace
}  // namespace soft
