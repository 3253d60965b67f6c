#include "describe/description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "describe/builder.h"
#include "support/support.h"
#include "weights/ablations.h"

namespace soft {
namespace {

template <class Op>
std::vector<const Part*> parts_with(const Description& model) {
  std::vector<const Part*> found;
  for (const Part& part : model.parts) {
    if (part.as<Op>() != nullptr) found.push_back(&part);
  }
  return found;
}

Description own_size(const ModelSpec& spec) {
  return describe(spec, {spec.image_size, spec.image_size});
}

TEST(Description, EveryPartComesAfterItsInputsAndEveryTensorHasAPart) {
  for (const ModelSpec& spec : test::models_and_ablations()) {
    const Description model = own_size(spec);
    std::set<int> used;
    for (size_t i = 0; i < model.parts.size(); ++i) {
      for (const int input : model.parts[i].inputs) EXPECT_LT(input, static_cast<int>(i));
      for (const int tensor : model.parts[i].tensors) {
        used.insert(tensor);
        EXPECT_EQ(model.tensors[tensor].place, model.parts[i].place) << spec.name;
      }
    }
    EXPECT_EQ(used.size(), model.tensors.size()) << spec.name;
    EXPECT_EQ(model.head().shape, std::vector<int64_t>{spec.classes}) << spec.name;
  }
}

TEST(Description, TheGridsOfItsConvolutionsAreThoseOfTheSpec) {
  for (const ModelSpec& spec : test::models_and_ablations()) {
    for (const Grid image : {Grid{224, 224}, Grid{97, 130}}) {
      const Description model = describe(spec, image);
      for (size_t s = 0; s < model.stages.size(); ++s) {
        EXPECT_EQ(model.stages[s].grid, stage_grid(spec, static_cast<int>(s), image)) << spec.name;
      }
    }
  }
}

TEST(Description, AnotherImageSizeChangesShapesOnly) {
  const ModelSpec spec = find_model("soft-small");
  const Description a = describe(spec, {224, 224}), b = describe(spec, {160, 192});
  ASSERT_EQ(a.parts.size(), b.parts.size());
  for (size_t i = 0; i < a.parts.size(); ++i) {
    EXPECT_EQ(a.parts[i].name, b.parts[i].name);
    EXPECT_EQ(a.parts[i].inputs, b.parts[i].inputs);
    EXPECT_EQ(a.parts[i].tensors, b.parts[i].tensors);
    EXPECT_EQ(name_of(a.parts[i].operation), name_of(b.parts[i].operation));
  }
  EXPECT_EQ(a.parts[2].shape, (std::vector<int64_t>{32, 112, 112}));
  EXPECT_EQ(b.parts[2].shape, (std::vector<int64_t>{32, 80, 96}));
}

TEST(Description, AMixKnowsItsTensorsByTheirOwnNames) {
  const Description model = own_size(find_model("soft-tiny"));
  const auto mixes = parts_with<op::Mix>(model);
  ASSERT_EQ(mixes.size(), 8u);  // 1 + 2 + 3 + 2 layers
  EXPECT_EQ(mixes.front()->name, "block1.0.att.mha.attn");
  const TensorShape* kernel = model.find(*mixes.front(), kValueKernelName);
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->name, "block1.0.att.mha.attn.conv.weight");
  EXPECT_EQ(model.find(*mixes.back(), kValueKernelName), nullptr);  // a ViT block
  EXPECT_EQ(mixes.front()->inputs[0], mixes.front()->inputs[1]);    // Q and K are one
}

TEST(Description, DropRatesGrowFromNothingToAll) {
  const Description model = own_size(find_model("soft-tiny"));
  const auto residuals = parts_with<op::Residual>(model);
  EXPECT_EQ(residuals.size(), 16u);
  EXPECT_EQ(residuals.front()->as<op::Residual>()->depth, 0);
  EXPECT_EQ(residuals.back()->as<op::Residual>()->depth, 1);
}

TEST(Description, OnlyMatricesAndPositionsDecay) {
  for (const TensorShape& tensor : tensors_of(find_model("soft-tiny"))) {
    const bool matrix = tensor.shape.size() > 1 && tensor.name != "cls_token";
    EXPECT_EQ(tensor.decays, matrix) << tensor.name;
  }
}

TEST(Builder, PartsMayShareTensorsOfOneShapeOnly) {
  Builder net;
  const int x = net.pixels({8, 8});
  const op::Convolution conv{3, 3, 3, 1, 1};
  const int once = net.convolution(x, "shared", conv);
  const int twice = net.convolution(once, "shared", conv);
  EXPECT_EQ(net.result().tensors.size(), 2u);
  EXPECT_EQ(net.result().parts[once].tensors, net.result().parts[twice].tensors);
  EXPECT_THAT(test::error_of([&] {
                net.convolution(x, "shared", {3, 4, 3, 1, 1});
              }),
              testing::HasSubstr("shared.weight"));
}

}  // namespace
}  // namespace soft
