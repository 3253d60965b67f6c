// Every family of the zoo against the public implementation of it.
#include "support/zoo.h"

#include <cmath>

#include "model/checkpoint.h"
#include "model/classifier.h"
#include "support/tensors.h"

namespace soft {
namespace {

using test::Mini;
using test::relative_error;
using torch::Tensor;

constexpr double kZooTolerance = 1e-5;  // of the largest logit

std::shared_ptr<Classifier> model_of(const Mini& mini) {
  auto model = std::make_shared<Classifier>(test::spec_of(mini));
  load_weights(*model, test::published_weights(mini));
  model->eval();
  return model;
}

class Zoo : public testing::TestWithParam<Mini> {
 protected:
  test::Tensors io() const {
    return test::golden_tensors("zoo/" + GetParam().file + ".safetensors");
  }
};

TEST_P(Zoo, LogitsEqualThePublicImplementation) {
  const torch::NoGradGuard no_grad;
  const auto model = model_of(GetParam());
  const test::Tensors golden = io();
  EXPECT_LT(relative_error(model->forward(golden.at("input")), golden.at("logits")), kZooTolerance);
  if (golden.count("input2") == 0) return;
  EXPECT_LT(relative_error(model->forward(golden.at("input2")), golden.at("logits2")),
            kZooTolerance);
}

TEST_P(Zoo, APictureIsAnsweredAloneAsInABatch) {
  const torch::NoGradGuard no_grad;
  const auto model = model_of(GetParam());
  const Tensor images = io().at("input");
  const Tensor alone = model->forward(images.narrow(0, 1, 1));
  EXPECT_LT(relative_error(alone, model->forward(images).narrow(0, 1, 1)), kZooTolerance);
}

// The derivative along a random direction of all parameters, beside a difference of losses.
TEST_P(Zoo, GradientsEqualDifferencesOfTheLoss) {
  const auto model = model_of(GetParam());
  model->to(torch::kFloat64);
  const Tensor images = io().at("input").to(torch::kFloat64);
  const auto loss = [&] { return model->forward(images).square().sum(); };
  loss().backward();
  std::vector<Tensor> directions;
  double slope = 0;
  torch::manual_seed(5);
  for (const Tensor& parameter : model->parameters()) {
    directions.push_back(torch::randn_like(parameter));
    if (parameter.grad().defined()) {
      slope += (parameter.grad() * directions.back()).sum().item<double>();
    }
  }
  const torch::NoGradGuard no_grad;
  const auto moved = [&](double step) {
    size_t i = 0;
    for (Tensor parameter : model->parameters()) parameter.add_(directions[i++], step);
    return loss().item<double>();
  };
  constexpr double kStep = 1e-9;
  const double above = moved(kStep), below = moved(-2 * kStep);
  EXPECT_NEAR((above - below) / (2 * kStep) / slope, 1, 1e-4);
}

TEST_P(Zoo, MapsOfEachStageAreThere) {
  const torch::NoGradGuard no_grad;
  const auto model = model_of(GetParam());
  const Tensor images = io().at("input");
  const std::vector<Tensor> maps = model->features(images);
  ASSERT_EQ(maps.size(), model->description().stages.size());
  for (const Tensor& map : maps) {
    EXPECT_EQ(map.dim(), 4);
    EXPECT_EQ(map.size(0), images.size(0));
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Zoo, testing::ValuesIn(test::minis()),
                         [](const auto& info) { return info.param.file; });

}  // namespace
}  // namespace soft
