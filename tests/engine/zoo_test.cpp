// The families that the native engine walks through, against the public implementations' numbers.
#include "support/zoo.h"

#include "engine/mini.h"

namespace soft {
namespace {

using namespace test;

constexpr float kTolerance = 1e-5f;  // of the largest logit

std::vector<Mini> native_minis() {
  std::vector<Mini> native;
  for (const Mini& mini : minis()) {
    if (native_obstacle(spec_of(mini)).empty()) native.push_back(mini);
  }
  return native;
}

class NativeZoo : public testing::TestWithParam<Mini> {
 protected:
  Packed packed(LinearForm form = LinearForm::kBest) const {
    return Packed(published_weights(GetParam()), spec_of(GetParam()), form);
  }
  TensorView stored(const std::string& name) const {
    return file_.tensors.count(name) == 0 ? TensorView{} : file_.tensors.at(name);
  }
  std::vector<float> answer(const Packed& model, const std::string& input) {
    const TensorView pictures = stored(input);
    return logits_of(model, workspace_, to_floats(pictures), pictures.shape[0],
                     {pictures.shape[2], pictures.shape[3]});
  }

  const Weights file_ = read_weights(golden("zoo/" + GetParam().file + ".safetensors"));
  Workspace workspace_;
};

TEST_P(NativeZoo, LogitsEqualThePublicImplementation) {
  for (const LinearForm form : {LinearForm::kConvolution, LinearForm::kMatmul}) {
    const Packed model = packed(form);
    EXPECT_LT(relative_error(answer(model, "input"), to_floats(stored("logits"))), kTolerance);
    if (file_.tensors.count("input2") == 0) continue;
    EXPECT_LT(relative_error(answer(model, "input2"), to_floats(stored("logits2"))), kTolerance);
  }
}

TEST_P(NativeZoo, APictureIsAnsweredAloneAsInABatchAndTheSameAgain) {
  const Packed model = packed();
  const TensorView pictures = stored("input");
  const Grid size{pictures.shape[2], pictures.shape[3]};
  const std::vector<float> pixels = to_floats(pictures), all = answer(model, "input");
  EXPECT_EQ(all, answer(model, "input"));
  const std::vector<float> first(pixels.begin(), pixels.begin() + 3 * size.size());
  const std::vector<float> alone = logits_of(model, workspace_, first, 1, size);
  EXPECT_LT(relative_error(alone, {all.begin(), all.begin() + model.spec().classes}), kTolerance);
}

INSTANTIATE_TEST_SUITE_P(Families, NativeZoo, testing::ValuesIn(native_minis()),
                         [](const auto& info) { return info.param.file; });

TEST(NativeZoo, RunsResnetDeitAndPvt) {
  std::vector<std::string> files;
  for (const Mini& mini : native_minis()) files.push_back(mini.file);
  EXPECT_THAT(files, testing::ElementsAre("resnet_basic", "resnet_bottleneck", "deit", "pvt"));
}

TEST(NativeZoo, RefusesPictureSizesAndMemoryBeforeAnythingRuns) {
  const ModelSpec spec = find_model("pvt-tiny");
  const RandomWeights weights(spec);
  const Packed model(weights.get(), spec);
  Workspace workspace({4, 1 << 20});
  const auto refusal = [&](Grid size) {
    return error_of([&] { forward(model, workspace, {nullptr, 1, size}, nullptr); });
  };
  EXPECT_THAT(refusal({100, 128}), testing::HasSubstr("try 96x128"));
  EXPECT_THAT(refusal({224, 224}),
              testing::HasSubstr("more than the 1 MB allowed; use a smaller one"));
  EXPECT_EQ(workspace.bytes(), 0u);
}

// Damage inside is named by its place.
TEST(NativeZoo, NamesTheFirstLayerWhoseAnswerIsNotFinite) {
  const Mini mini = minis()[7];
  ASSERT_EQ(mini.file, "deit");
  Weights weights = published_weights(mini);
  std::vector<float> huge(32, 1e38f);
  weights.tensors.at("blocks.1.norm1.weight").data = reinterpret_cast<const uint8_t*>(huge.data());
  const Packed model(weights, spec_of(mini));
  Workspace workspace;
  EXPECT_THAT(error_of([&] {
                logits_of(model, workspace, random_pixels(1, {32, 32}), 1, {32, 32});
              }),
              testing::HasSubstr("layer 2 of stage 1"));
}

}  // namespace
}  // namespace soft
