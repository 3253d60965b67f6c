#include "weights/int8.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>

#include "support/support.h"

namespace soft {
namespace {

using testing::HasSubstr;

// soft-pico with its classifier in bytes.
class Int8File : public testing::Test {
 protected:
  Int8File() : floats_(random_weights(find_model("soft-pico"), 1)) {
    const ModelSpec spec = find_model("soft-pico");
    const int64_t classes = spec.classes, dim = spec.stages.back().dim;
    bytes_.resize(classes * dim);
    for (size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = static_cast<int8_t>(i % 255 - 127);
    scale_.assign(classes, 0.01f);
    scale_[1] = 0.5f;
    range_ = {-2, 3};
  }

  Weights weights() const {
    Weights weights = floats_;
    const auto out = static_cast<int64_t>(scale_.size());
    const auto view = [](DType type, std::vector<int64_t> shape, const void* data) {
      return TensorView{type, std::move(shape), static_cast<const uint8_t*>(data)};
    };
    weights.path = "int8.safetensors";
    weights.tensors["head.weight"] =
        view(DType::kI8, {out, static_cast<int64_t>(bytes_.size()) / out}, bytes_.data());
    weights.tensors["head.weight_scale"] = view(DType::kF32, {out}, scale_.data());
    weights.tensors["head.input_range"] =
        view(DType::kF32, {static_cast<int64_t>(range_.size())}, range_.data());
    return weights;
  }

  void expect_refusal(const Weights& weights, const std::string& part) const {
    try {
      check_fit(weights, find_model("soft-pico"));
      ADD_FAILURE() << "taken, where '" << part << "' was expected";
    } catch (const std::exception& error) {
      EXPECT_THAT(error.what(), HasSubstr(part));
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  }

  Weights floats_;
  std::vector<int8_t> bytes_;
  std::vector<float> scale_, range_;
};

TEST_F(Int8File, FitsItsModelAndStandsForFloats) {
  const Weights weights = this->weights();
  check_fit(weights, find_model("soft-pico"));
  EXPECT_TRUE(has_int8(weights));
  EXPECT_FALSE(has_int8(floats_));
  const Int8Layer layer = int8_layer(weights, "head.weight");
  EXPECT_EQ(layer.range, (InputRange{-2, 3}));
  const Weights plain = dequantized(weights);
  check_fit(plain, find_model("soft-pico"));
  EXPECT_FALSE(has_int8(plain));
  const auto values = to_floats(plain.tensors.at("head.weight"));
  const size_t each = bytes_.size() / scale_.size();
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(values[i], scale_[i / each] * static_cast<float>(bytes_[i]));
  }
}

TEST_F(Int8File, IsReadAsItWasWritten) {
  const test::TemporaryFolder folder;
  const Weights weights = this->weights();
  std::vector<NamedTensor> tensors;
  for (const auto& [name, view] : weights.tensors) {
    tensors.push_back({name, view, name == "head.weight_scale"});
  }
  Card card;
  card.spec = find_model("soft-pico");
  write_safetensors(folder.path("a.safetensors"), tensors, metadata_of(card), {DType::kF16});
  const Weights read = read_weights(folder.path("a.safetensors"));
  EXPECT_EQ(read.tensors.at("head.weight").type, DType::kI8);
  EXPECT_EQ(read.tensors.at("head.weight_scale").type, DType::kF32);
  EXPECT_EQ(read.tensors.at("norm.weight").type, DType::kF16);
  EXPECT_EQ(card_of(read).spec.name, "soft-pico");
  const Int8Layer layer = int8_layer(read, "head.weight");
  EXPECT_EQ(std::vector<int8_t>(layer.weight, layer.weight + bytes_.size()), bytes_);
}

TEST_F(Int8File, WithoutScalesIsRefused) {
  Weights weights = this->weights();
  weights.tensors.erase("head.weight_scale");
  expect_refusal(weights, "missing head.weight_scale");
}

TEST_F(Int8File, WithoutARangeMeansEachRowsOwnInALinearLayerAlone) {
  Weights weights = this->weights();
  weights.tensors.erase("head.input_range");
  check_fit(weights, find_model("soft-pico"));
  EXPECT_FALSE(int8_layer(weights, "head.weight").range);
  std::vector<int64_t>& shape = weights.tensors["head.weight"].shape;
  shape.insert(shape.end(), {1, 1});
  EXPECT_EQ(int8_defect(weights, "head.weight"), "missing head.input_range");
}

// Its bytes are divided among as many rows as its shape says.
TEST_F(Int8File, WithALayerOfNothingIsRefused) {
  for (const bool rows : {true, false}) {
    Weights weights = this->weights();
    std::vector<int64_t>& shape = weights.tensors["head.weight"].shape;
    shape[rows ? 0 : 1] = 0;
    if (rows) weights.tensors["head.weight_scale"].shape = {0};
    EXPECT_EQ(int8_defect(weights, "head.weight"), "head.weight holds nothing");
    EXPECT_THROW(dequantized(weights), std::exception);
  }
}

TEST_F(Int8File, OfRowsMayHaveAMeanThatIsTakenOffThem) {
  Weights weights = this->weights();
  const std::vector<int64_t>& shape = floats_.tensors.at("head.weight").shape;
  std::vector<float> mean(shape[1], 3);
  TensorView& view = weights.tensors["head.input_mean"] = weights.tensors.at("head.input_range");
  view.data = reinterpret_cast<const uint8_t*>(mean.data());
  view.shape = {shape[1]};
  expect_refusal(weights, "head.input_mean");  // not beside a range
  weights.tensors.erase("head.input_range");
  check_fit(weights, find_model("soft-pico"));
  EXPECT_EQ(int8_layer(weights, "head.weight").mean, mean);
  EXPECT_FALSE(has_int8(dequantized(weights)));
  check_fit(dequantized(weights), find_model("soft-pico"));
  for (const float bad : {NAN, INFINITY, -1e10f}) {
    mean[1] = bad;
    expect_refusal(weights, "head.input_mean holds");
  }
  view.shape = {2};
  expect_refusal(weights, "head.input_mean is not");
}

TEST_F(Int8File, WithScalesThatAreNoneIsRefused) {
  for (const float bad : {0.0f, -1.0f, NAN, INFINITY, 1e9f, 1e-38f}) {
    scale_[3] = bad;
    expect_refusal(weights(), "head.weight_scale holds");
  }
  scale_.pop_back();
  scale_[3] = 1;
  Weights weights = this->weights();
  weights.tensors["head.weight"].shape = floats_.tensors.at("head.weight").shape;
  expect_refusal(weights, "head.weight_scale is not 10 floating-point numbers");
}

TEST_F(Int8File, WithARangeThatIsNoneIsRefused) {
  const std::vector<std::vector<float>> bad{{0, 0},   {1, 2},        {-2, -1},    {3, -2},
                                            {NAN, 1}, {0, INFINITY}, {-1e10f, 1}, {0, 1e-30f}};
  for (const auto& range : bad) {
    range_ = range;
    expect_refusal(weights(), "head.input_range holds");
  }
  range_ = {0, 1, 2};
  expect_refusal(weights(), "head.input_range is not 2");
}

TEST_F(Int8File, BytesWhereNoLayerIsAreRefused) {
  Weights weights = this->weights();
  TensorView& norm = weights.tensors["norm.weight"];
  norm.type = DType::kI8;
  expect_refusal(weights, "norm.weight holds I8");
}

}  // namespace
}  // namespace soft
