#include "engine/calibrate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/random.h"
#include "engine/quantize_model.h"
#include "mini.h"
#include "weights/int8.h"

namespace soft {
namespace {

// Values spread evenly over [-1, 1), and one far away.
LayerInput with_outlier() {
  LayerInput input;
  input.seen = {-1, 100};
  const float width = 101.0f / LayerInput::kBins;
  for (float x = -1; x < 1; x += 1e-4f) ++input.counts[static_cast<int>((x + 1) / width)];
  for (int64_t& count : input.counts) count *= 100;
  input.counts.back() = 1;
  return input;
}

TEST(LayerInput, MinMaxTakesEverything) {
  const InputRange range = with_outlier().range(RangeRule::kMinMax);
  EXPECT_EQ(range.lowest, -1);
  EXPECT_EQ(range.highest, 100);
}

TEST(LayerInput, PercentileLeavesAnOutlierOut) {
  const InputRange range = with_outlier().range(RangeRule::kPercentile);
  EXPECT_NEAR(range.lowest, -1, 0.1);
  EXPECT_NEAR(range.highest, 1, 0.1);
}

TEST(LayerInput, LeastErrorWeighsAnOutlierAgainstTheOthers) {
  const InputRange range = with_outlier().range(RangeRule::kMse);
  EXPECT_LE(range.lowest, -0.9);
  EXPECT_GT(range.highest, 1);
  EXPECT_LT(range.highest, 60);
}

TEST(LayerInput, OfZerosAloneHasARange) {
  for (const RangeRule rule : kRangeRules) {
    const InputRange range = LayerInput{}.range(rule);
    EXPECT_EQ(range.lowest, 0);
    EXPECT_GT(range.highest, 0);
  }
}

// Threads bring their rows as they come.
TEST(Calibration, TheOrderOfRowsChangesNoBit) {
  constexpr int64_t kChannels = 5, kParts = 40;
  const std::vector<std::string> layers{"layer"};
  std::vector<float> rows(kParts * 7 * kChannels);
  Random random(1);
  for (size_t i = 0; i < rows.size(); ++i) {  // too far apart for doubles to add them exactly
    const double size = std::pow(10, 3 - static_cast<int>(i / kChannels / 7 % 16));
    rows[i] = static_cast<float>(random.normal() * size);
  }
  const auto seen_in_order = [&](int64_t step) {
    Calibration calibration;
    const InputWatch watch = calibration.watch();
    for (int pass = 0; pass < 2; ++pass) {
      for (int64_t i = 0; i < kParts; ++i) {
        watch(layers, rows.data() + i * step % kParts * 7 * kChannels, 7, kChannels);
      }
      calibration.begin_counting();
    }
    return calibration.inputs().front();
  };
  const LayerInput forwards = seen_in_order(1), backwards = seen_in_order(kParts - 1);
  EXPECT_EQ(forwards.sums, backwards.sums);
  EXPECT_EQ(forwards.products, backwards.products);
  EXPECT_EQ(forwards.counts, backwards.counts);
  double sum = 0, square = 0;
  for (size_t i = 0; i < rows.size(); i += kChannels) sum += rows[i];
  for (int64_t part = 0; part < kParts; ++part) {  // one row of four counts
    for (const int64_t row : {0, 4}) {
      const double value = rows[(part * 7 + row) * kChannels];
      square += value * value;
    }
  }
  EXPECT_NEAR(forwards.sums[0], sum, 1e-2);
  EXPECT_NEAR(forwards.products[0], square, 1e-5 * square);
}

std::vector<float> noise(int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

// A whole small model in bytes, calibrated on one batch and asked about another.
class Int8Model : public testing::Test {
 protected:
  Int8Model() : spec_(find_model("soft-pico")), random_(spec_, 3) {
    const Packed watched(random_.get(), spec_, LinearForm::kBest, calibration_.watch());
    answers(watched, noise(8 * pixels(), 1));
    calibration_.begin_counting();
    answers(watched, noise(8 * pixels(), 1));
  }

  int64_t pixels() const { return int64_t{3} * spec_.image_size * spec_.image_size; }

  std::vector<float> answers(const Packed& model, const std::vector<float>& images) const {
    const int64_t count = static_cast<int64_t>(images.size()) / pixels();
    std::vector<float> logits(count * spec_.classes);
    Workspace workspace;
    forward(model, workspace, {images.data(), count, {spec_.image_size, spec_.image_size}},
            logits.data());
    return logits;
  }

  Packed in_bytes(RangeRule rule) const {
    const QuantizedModel model(random_.get(), calibration_.inputs());
    std::set<size_t> all;
    for (size_t i = 0; i < model.inputs().size(); ++i) all.insert(i);
    return Packed(model.weights(rule, all), spec_);
  }

  ModelSpec spec_;
  test::RandomWeights random_;
  Calibration calibration_;
};

TEST_F(Int8Model, SeesTheInputOfEveryLayerOnce) {
  std::set<std::string> names;
  for (const LayerInput& input : calibration_.inputs()) {
    for (const std::string& layer : input.layers) {
      EXPECT_TRUE(names.insert(layer).second) << layer;
      EXPECT_EQ(random_.get().tensors.count(layer + ".weight"), 1);
    }
  }
  EXPECT_EQ(names.count("head"), 1);
  EXPECT_EQ(names.count("patch_embed1.proj.0"), 1);
  EXPECT_EQ(names.count("block1.0.att.mha.W_v"), 1);
  EXPECT_EQ(names.size(), 6 + 4 * 5 + 1);  // convolutions, layers, head
}

TEST_F(Int8Model, AnswersAlmostAsInFloats) {
  const auto images = noise(4 * pixels(), 2);
  const auto floats = answers(Packed(random_.get(), spec_), images);
  double size = 0;
  for (const float value : floats) size = std::max<double>(size, std::abs(value));
  for (const RangeRule rule : kRangeRules) {
    const auto bytes = answers(in_bytes(rule), images);
    EXPECT_NE(bytes, floats);
    for (size_t i = 0; i < floats.size(); ++i) ASSERT_NEAR(bytes[i], floats[i], 0.12 * size);
  }
}

TEST_F(Int8Model, GivesTheSameBitsForEveryRunAndPlaceInABatch) {
  auto images = noise(3 * pixels(), 5);
  const std::vector<float> one(images.begin(), images.begin() + pixels());
  std::copy(one.begin(), one.end(), images.begin() + 2 * pixels());
  for (const RangeRule rule : {RangeRule::kMse, RangeRule::kRows}) {
    const Packed model = in_bytes(rule);
    const auto alone = answers(model, one), together = answers(model, images);
    EXPECT_EQ(answers(model, images), together);
    EXPECT_EQ(std::vector<float>(together.begin(), together.begin() + spec_.classes), alone);
    EXPECT_EQ(std::vector<float>(together.end() - spec_.classes, together.end()), alone);
  }
}

TEST_F(Int8Model, TakesLessMemory) {
  EXPECT_LT(in_bytes(RangeRule::kMse).bytes(), 0.5 * Packed(random_.get(), spec_).bytes());
}

TEST_F(Int8Model, RefusesLayersOfOneInputWithDifferentRanges) {
  const QuantizedModel model(random_.get(), calibration_.inputs());
  std::set<size_t> all;
  for (size_t i = 0; i < model.inputs().size(); ++i) all.insert(i);
  Weights weights = model.weights(RangeRule::kMse, all);
  const std::vector<float> other{-7, 7};
  weights.tensors["block1.0.att.mha.W_v.input_range"].data =
      reinterpret_cast<const uint8_t*>(other.data());
  EXPECT_THROW(Packed(weights, spec_), std::exception);
}

}  // namespace
}  // namespace soft
