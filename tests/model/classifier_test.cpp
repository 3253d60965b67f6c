#include "model/classifier.h"

#include "describe/cost.h"
#include "model/checkpoint.h"
#include "support/tensors.h"

namespace soft {
namespace {

using test::all_finite;
using test::relative_error;
using torch::Tensor;

// A pyramid small enough to try everything on.
ModelSpec little(const std::vector<std::string>& settings = {}) {
  ModelSpec spec = find_model("soft-tiny");
  spec.name = "little";
  for (const char* setting : {"dims=32,32,64,64", "heads=1,1,2,2", "depths=1,1,2,1", "classes=7",
                              "image_size=64", "stem_dim=8"}) {
    apply_setting(spec, setting);
  }
  for (const std::string& setting : settings) apply_setting(spec, setting);
  return spec;
}

std::shared_ptr<Classifier> evaluating(const ModelSpec& spec, uint64_t seed = 0) {
  torch::manual_seed(seed);
  auto model = std::make_shared<Classifier>(spec);
  model->eval();
  return model;
}

class EverySetting : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(EverySetting, BuildsRunsAndHasTheTensorsAndParametersOfItsSpec) {
  const ModelSpec spec = little(GetParam());
  const auto model = evaluating(spec);
  const torch::NoGradGuard no_grad;
  const Tensor logits = model->forward(torch::randn({2, 3, 64, 64}));
  EXPECT_EQ(logits.sizes(), at::IntArrayRef({2, 7}));
  EXPECT_TRUE(all_finite(logits));
  int64_t parameters = 0;
  for (const Tensor& tensor : model->parameters()) parameters += tensor.numel();
  EXPECT_EQ(parameters, cost_of(spec, {64, 64}).params);
  EXPECT_EQ(weights_of(*model).size(), tensors_of(spec).size());
}

INSTANTIATE_TEST_SUITE_P(
    Ablations, EverySetting,
    testing::Values(
        std::vector<std::string>{}, std::vector<std::string>{"sampler=avg"},
        std::vector<std::string>{"sampler=random"}, std::vector<std::string>{"sampler=biased"},
        std::vector<std::string>{"landmarks=4", "image_size=128"},
        std::vector<std::string>{"overlap=off"}, std::vector<std::string>{"stage4=soft"},
        std::vector<std::string>{"stage4=soft", "class_token=off"},
        std::vector<std::string>{"value_path=off"}, std::vector<std::string>{"norm=on"},
        std::vector<std::string>{"inverse=exact"},
        std::vector<std::string>{"inverse=newton-paper", "newton_steps=10"},
        std::vector<std::string>{"attention=softmax"},
        std::vector<std::string>{"attention=gaussian"},
        std::vector<std::string>{"attention=soft-dense"},
        std::vector<std::string>{"attention=linformer"},
        std::vector<std::string>{"attention=linformer", "landmarks=4", "image_size=128"},
        std::vector<std::string>{"attention=performer"},
        std::vector<std::string>{"attention=performer", "features=20"},
        std::vector<std::string>{"attention=nystromformer"},
        std::vector<std::string>{"attention=reformer"},
        std::vector<std::string>{"attention=reformer", "bucket_size=16", "hash_rounds=2"},
        std::vector<std::string>{"pyramid=off", "dims=64", "heads=2", "depths=2", "layer=pre",
                                 "attention=linformer", "class_token=on"},
        std::vector<std::string>{"pyramid=off", "dims=64", "heads=2", "depths=2", "layer=pre",
                                 "attention=performer", "class_token=on"},
        std::vector<std::string>{"pyramid=off", "dims=64", "heads=2", "depths=2", "layer=pre",
                                 "attention=nystromformer", "class_token=on"},
        std::vector<std::string>{"pyramid=off", "dims=64", "heads=2", "depths=2", "layer=pre",
                                 "attention=reformer", "class_token=on"},
        std::vector<std::string>{"pyramid=off", "dims=64", "heads=2", "depths=2"},
        std::vector<std::string>{"pyramid=off", "dims=64", "heads=2", "depths=2", "class_token=on"},
        std::vector<std::string>{"pyramid=off", "dims=64", "heads=2", "depths=2", "layer=pre",
                                 "attention=softmax", "class_token=on"},
        std::vector<std::string>{"pyramid=off", "dims=64", "heads=2", "depths=2", "layer=pre",
                                 "class_token=on"}));

TEST(Classifier, RunsAtAnySizeFrom32PixelsUp) {
  const auto model = evaluating(little());
  const torch::NoGradGuard no_grad;
  for (const Grid size : {Grid{32, 32}, Grid{33, 47}, Grid{64, 200}, Grid{223, 97}}) {
    EXPECT_TRUE(all_finite(model->forward(torch::randn({1, 3, size.h, size.w})))) << size.h;
  }
}

TEST(Classifier, RefusesWhatItCannotRun) {
  const auto model = evaluating(little());
  const auto message = [&](at::IntArrayRef shape) {
    return test::error_of([&] { model->forward(torch::zeros(shape)); });
  };
  EXPECT_THAT(message({1, 3, 31, 64}), testing::HasSubstr("at least 32"));
  EXPECT_THAT(message({1, 1, 64, 64}), testing::HasSubstr("[N, 3, H, W]"));
  EXPECT_THAT(message({0, 3, 64, 64}), testing::HasSubstr("non-empty"));
}

TEST(Classifier, GivesASampleTheSameLogitsInAnyBatch) {
  const auto model = evaluating(little());
  const torch::NoGradGuard no_grad;
  const Tensor images = torch::randn({4, 3, 64, 64});
  const Tensor together = model->forward(images);
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_LT(relative_error(model->forward(images.narrow(0, i, 1))[0], together[i]), 1e-5);
  }
}

TEST(Classifier, StaysFiniteForConstantAndSaturatedImagesAndHugeWeights) {
  for (const char* inverse : {"newton", "newton-adaptive", "newton-paper", "exact"}) {
    const auto model = evaluating(little({std::string("inverse=") + inverse}));
    for (double scale : {1.0, 100.0}) {
      torch::NoGradGuard no_grad;
      for (Tensor& parameter : model->parameters()) parameter.mul_(scale);
      for (double level : {0.0, 2.6, -2.1}) {
        EXPECT_TRUE(all_finite(model->forward(torch::full({1, 3, 64, 64}, level)))) << inverse;
      }
    }
  }
}

TEST(Classifier, HasFiniteGradientsForConstantImagesInEveryInverse) {
  for (const char* inverse : {"newton", "newton-adaptive", "newton-paper", "exact"}) {
    const auto model = evaluating(little({std::string("inverse=") + inverse}));
    model->forward(torch::full({2, 3, 64, 64}, 0.5)).square().sum().backward();
    for (const auto& item : model->named_parameters()) {
      EXPECT_TRUE(all_finite(item.value().grad())) << inverse << " " << item.key();
    }
  }
}

TEST(Classifier, GivesFourFeatureMapsAtGrowingStrides) {
  const auto model = evaluating(little());
  const torch::NoGradGuard no_grad;
  const auto maps = model->features(torch::randn({2, 3, 96, 64}));
  ASSERT_EQ(maps.size(), 4);
  EXPECT_EQ(maps[0].sizes(), at::IntArrayRef({2, 32, 24, 16}));
  EXPECT_EQ(maps[1].sizes(), at::IntArrayRef({2, 32, 12, 8}));
  EXPECT_EQ(maps[2].sizes(), at::IntArrayRef({2, 64, 6, 4}));
  EXPECT_EQ(maps[3].sizes(), at::IntArrayRef({2, 64, 3, 2}));
}

TEST(Classifier, GivesAttentionRowsOfAnyLayer) {
  const auto model = evaluating(little());
  const Tensor images = torch::randn({1, 3, 64, 64});
  EXPECT_EQ(model->attention_row(images, 0, 0, 17).sizes(), at::IntArrayRef({1, 1, 256}));
  EXPECT_EQ(model->attention_row(images, 2, 1, 3).sizes(), at::IntArrayRef({1, 2, 16}));
  const Tensor softmax = model->attention_row(images, 3, 0, 0);  // class token first
  EXPECT_EQ(softmax.sizes(), at::IntArrayRef({1, 2, 5}));
  EXPECT_TRUE(torch::allclose(softmax.sum(-1), torch::ones({1, 2})));
  EXPECT_THAT(test::error_of([&] { model->attention_row(images, 2, 2, 0); }),
              testing::HasSubstr("layer 3 does not exist"));
}

TEST(Classifier, GivesTheRowsOfSeveralLayersInOneRun) {
  const auto model = evaluating(little());
  const Tensor images = torch::randn({2, 3, 64, 64});
  const Tensor one_by_one =
      torch::cat({model->attention_row(images, 2, 0, 3), model->attention_row(images, 2, 1, 3)}, 1);
  EXPECT_TRUE(torch::equal(model->attention_row(images, 2, 0, 3, 2), one_by_one));
  EXPECT_THAT(test::error_of([&] { model->attention_row(images, 2, 1, 3, 2); }),
              testing::HasSubstr("layer 3 does not exist"));
}

TEST(Classifier, DropsOnlyInTraining) {
  const auto model = evaluating(little());
  model->set_drop_path(0.5);
  const torch::NoGradGuard no_grad;
  const Tensor images = torch::randn({4, 3, 64, 64});
  EXPECT_TRUE(torch::equal(model->forward(images), model->forward(images)));
  model->train();
  EXPECT_FALSE(torch::equal(model->forward(images), model->forward(images)));
}

TEST(Classifier, StartsFromTheDocumentedDistribution) {
  const auto model = evaluating(find_model("soft-nano"));
  for (const auto& item : model->named_parameters()) {
    const std::string& name = item.key();
    if (name.rfind("pos_embed", 0) == 0 || name.find("ff1.weight") != std::string::npos) {
      EXPECT_NEAR(item.value().std().item<double>(), 0.02, 0.002) << name;
    }
    if (name.find("ff1.bias") != std::string::npos) {
      EXPECT_EQ(item.value().abs().max().item<double>(), 0) << name;
    }
  }
}

TEST(Checkpoint, SurvivesAWriteAndARead) {
  const test::TemporaryFolder folder;
  const auto model = evaluating(little(), 1);
  Card card;
  card.spec = model->spec();
  write_safetensors(folder.path("m.safetensors"), weights_of(*model), metadata_of(card));
  const Weights weights = read_weights(folder.path("m.safetensors"));
  const auto other = evaluating(card_of(weights).spec, 2);
  load_weights(*other, weights);
  const torch::NoGradGuard no_grad;
  const Tensor images = torch::randn({1, 3, 64, 64});
  EXPECT_TRUE(torch::equal(model->forward(images), other->forward(images)));
}

}  // namespace
}  // namespace soft
