// The small published-style model with golden inputs and outputs, made by an independent reference
// (tests/golden/README.md), and random weights for models of any spec.
#pragma once

#include <cmath>
#include <deque>
#include <string>
#include <vector>

#include "base/random.h"
#include "describe/description.h"
#include "engine/engine.h"
#include "support/support.h"

namespace soft::test {

inline std::vector<float> golden_tensor(const std::string& name) {
  const Weights file = read_weights(golden("mini_io.safetensors"));
  return to_floats(file.tensors.at(name));
}

inline ModelSpec mini_spec() { return card_of(read_weights(golden("mini.safetensors"))).spec; }

inline Packed mini(const ModelSpec& spec = mini_spec(), LinearForm form = LinearForm::kBest) {
  return Packed(read_weights(golden("mini.safetensors")), spec, form);
}

// Values of a plausible size for every tensor of a model, reproducible from the seed.
class RandomWeights {
 public:
  explicit RandomWeights(const ModelSpec& spec, uint64_t seed = 1, double scale = 1) {
    uint64_t stream = 0;
    weights_.path = "random";
    for (const TensorShape& tensor : tensors_of(spec)) {
      Random random(seed, {stream++});
      TensorView view{DType::kF32, tensor.shape, nullptr};
      data_.emplace_back(view.elements());
      const bool positive = tensor.name.find("running_var") != std::string::npos;
      const bool around_one =
          tensor.shape.size() == 1 && tensor.name.find("weight") != std::string::npos;
      for (float& value : data_.back()) {
        const double draw = random.normal() * scale * spread(tensor.shape);
        value = static_cast<float>(positive ? 0.5 + std::abs(draw) : around_one ? 1 + draw : draw);
      }
      view.data = reinterpret_cast<const uint8_t*>(data_.back().data());
      weights_.tensors[tensor.name] = view;
    }
  }

  const Weights& get() const { return weights_; }

 private:
  static double spread(const std::vector<int64_t>& shape) {
    if (shape.size() < 2) return 0.1;
    double inputs = 1;
    for (size_t axis = 1; axis < shape.size(); ++axis) inputs *= static_cast<double>(shape[axis]);
    return shape.size() == 3 ? 0.1 : 1 / std::sqrt(inputs);  // positions, or a layer's fan-in
  }

  Weights weights_;
  std::deque<std::vector<float>> data_;
};

inline std::vector<float> random_pixels(int64_t count, Grid size, uint64_t seed = 7) {
  Random random(seed);
  std::vector<float> pixels(count * 3 * size.size());
  for (float& value : pixels) value = static_cast<float>(random.normal());
  return pixels;
}

inline std::vector<float> logits_of(const Packed& model, Workspace& workspace,
                                    const std::vector<float>& pixels, int64_t count, Grid size) {
  std::vector<float> logits(count * model.spec().classes);
  forward(model, workspace, {pixels.data(), count, size}, logits.data());
  return logits;
}

// The largest difference, as a share of the largest expected value.
inline float relative_error(const std::vector<float>& got, const std::vector<float>& expected) {
  EXPECT_EQ(got.size(), expected.size());
  float error = 0, largest = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!std::isfinite(got[i])) return INFINITY;
    error = std::max(error, std::abs(got[i] - expected[i]));
    largest = std::max(largest, std::abs(expected[i]));
  }
  return error / largest;
}

}  // namespace soft::test
