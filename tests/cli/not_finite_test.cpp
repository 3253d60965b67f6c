// Answers that are no numbers are no answers: an error that names where they began.
#include <algorithm>
#include <filesystem>

#include "base/npy.h"
#include "cli/photo.h"
#include "cli/weights_file.h"
#include "support/support.h"

namespace soft {
namespace {

using test::Outcome;
using test::run_soft;
using testing::HasSubstr;

// The model in the box with every tensor multiplied by 1e30: finite, until it is used.
void write_swollen(const std::string& path) {
  const Weights weights = read_weights(SOFT_SOURCE_DIR "/models/soft-nano-cifar10.safetensors");
  const Card card = card_of(weights);
  std::vector<std::vector<float>> kept;
  std::vector<NamedTensor> tensors;
  for (const TensorShape& tensor : tensors_of(card.spec)) {
    const TensorView& view = weights.tensors.at(tensor.name);
    kept.push_back(to_floats(view));
    for (float& value : kept.back()) value = std::clamp(value * 1e30f, -3e38f, 3e38f);
    const auto* bytes = reinterpret_cast<const uint8_t*>(kept.back().data());
    tensors.push_back({tensor.name, {DType::kF32, view.shape, bytes}});
  }
  write_safetensors(path, tensors, metadata_of(card));
}

std::vector<std::string> engines() {
  if (SOFT_WITH_TORCH) return {"native", "torch", "torch-plain"};
  return {"native"};
}

class NotFinite : public testing::Test {
 protected:
  void SetUp() override {
    write_swollen(weights_);
    write_npy(batch_, {{1, 3, 32, 32}, std::vector<float>(3 * 32 * 32, 0.5f)});
  }
  Outcome run(std::vector<std::string> arguments, const std::string& engine) {
    arguments.insert(arguments.end(), {"--weights", weights_, "--engine", engine});
    return run_soft(arguments);
  }
  const test::TemporaryFolder folder_;
  const std::string weights_ = folder_.path("w.safetensors");
  const std::string batch_ = folder_.path("x.npy");
  const std::string out_ = folder_.path("y.npy");
};

TEST_F(NotFinite, AnswersAreErrorsThatNameTheFirstLayerInEveryCommandAndEngine) {
  for (const std::string& engine : engines()) {
    for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
             {"classify", "--json", kCat},
             {"eval", "--data", "shapes", "--limit", "3"},
             {"embed", "--out", out_, kCat},
             {"forward", "--input", batch_, "--output", out_},
             {"forward", "--input", batch_, "--output", out_, "--features"},
             {"attend", "--query", "9,9", "--stage", "3", "--layer", "1", "--json", kCat}}) {
      const Outcome outcome = run(command, engine);
      EXPECT_EQ(outcome.exit_code, 1) << command[0] << " " << engine;
      EXPECT_EQ(outcome.out, "") << command[0] << " " << engine;
      if (engine == "torch-plain")
        continue;  // LibTorch's eigh may refuse before there is an answer
      EXPECT_THAT(outcome.err, HasSubstr("of stage 1 is the first to compute NaN or infinity"))
          << command[0] << " " << engine;
      EXPECT_FALSE(std::filesystem::exists(out_)) << command[0] << " " << engine;
    }
  }
}

// Whatever an absurd pixel leads to, both engines say the same about it.
TEST_F(NotFinite, TheEnginesAgreeAboutAnAbsurdPixel) {
  for (const float value : {1e4f, 1e6f, 1e10f, 1e25f, 1e30f}) {
    std::vector<float> pixels(3 * 32 * 32, 0.5f);
    pixels[500] = value;
    write_npy(batch_, {{1, 3, 32, 32}, pixels});
    std::vector<int> codes;
    std::vector<std::vector<float>> logits;
    for (const std::string& engine : engines()) {
      const Outcome outcome = run_soft({"forward", "--input", batch_, "--output", out_, "--engine",
                                        engine, "--model", "soft-pico", "--seed", "3"});
      codes.push_back(outcome.exit_code);
      logits.push_back(outcome.exit_code == 0 ? read_npy(out_).data : std::vector<float>{});
      EXPECT_EQ(codes.back(), codes.front()) << engine << " at " << value << ": " << outcome.err;
      ASSERT_EQ(logits.back().size(), logits.front().size());
      for (size_t i = 0; i < logits.back().size(); ++i) {
        EXPECT_NEAR(logits.back()[i], logits.front()[i], 1e-4) << engine << " at " << value;
      }
    }
  }
}

}  // namespace
}  // namespace soft
