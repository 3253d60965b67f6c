// The kernels as a chain, from queries and values to the output of an attention layer and back,
// against an independent reference.
#include <fstream>

#include "kernel_case.h"
#include "kernels/landmarks.h"
#include "kernels/soft_attention.h"
#include "kernels/value_path.h"
#include "support/support.h"

namespace soft {
namespace {

constexpr int64_t kDim = 32;

struct Layer {
  std::string file;
  Grid grid;
  int64_t ratio, value_kernel;
  SoftOptions options;

  int64_t floats() const { return grid.size() * kDim; }
  int64_t landmarks() const { return grid.h / ratio * (grid.w / ratio); }
};

class GoldenFile {
 public:
  explicit GoldenFile(const Layer& layer)
      : in_(test::golden("kernels/" + layer.file), std::ios::binary) {}

  std::vector<float> read(int64_t count) {
    std::vector<float> values(count);
    in_.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * 4));
    EXPECT_TRUE(in_.good());
    return values;
  }

 private:
  std::ifstream in_;
};

struct Weights {
  std::vector<float> sampler, gamma, beta, value;

  Weights(const Layer& layer, GoldenFile& file) {
    const Grid step{layer.ratio, layer.ratio};
    const auto stored = file.read(kDim * kDim * step.size());
    sampler.resize(stored.size());
    pack_landmark_weight(kDim, step, stored.data(), sampler.data());
    gamma = file.read(kDim);
    beta = file.read(kDim);
    value = file.read(layer.value_kernel * layer.value_kernel);
  }
};

// Everything the forward pass leaves behind.
struct Forward {
  LandmarkConv sampler;
  SoftHead head;
  ValuePath path;
  std::vector<float> sampled, landmarks, inverse, gathered, mix, y;
};

Forward run_forward(const Layer& layer, const Weights& weights, const std::vector<float>& q,
                    const std::vector<float>& v) {
  const int64_t m = layer.landmarks(), n = layer.grid.size();
  const float scale = std::pow(static_cast<float>(kDim), -0.25f);
  Forward f;
  f.sampler = {windows_by_ratio(layer.grid, {layer.ratio, layer.ratio}),
               kDim,
               weights.sampler.data(),
               weights.gamma.data(),
               weights.beta.data(),
               scale};
  f.sampled.resize(m * kDim);
  f.landmarks.resize(m * kDim);
  std::vector<float> scratch(landmark_scratch(f.sampler));
  landmark_conv(f.sampler, {q.data(), kDim}, f.landmarks.data(), f.sampled.data(), scratch.data());

  f.head = {n, m, kDim, {q.data(), kDim}, {v.data(), kDim}, f.landmarks.data(), scale};
  f.inverse.resize(m * m);
  f.gathered.resize(m * kDim);
  f.mix.resize(n * kDim);
  scratch.resize(soft_attention_size(f.head));
  soft_attention(f.head, layer.options, {f.mix.data(), kDim}, scratch.data(),
                 {f.inverse.data(), f.gathered.data()});

  f.path = {layer.grid, 1, kDim, {layer.value_kernel, layer.value_kernel}};
  f.y = f.mix;
  value_path(f.path, weights.value.data(), {v.data(), kDim}, {f.y.data(), kDim}, 0, layer.grid.h);
  return f;
}

void expect_close(const std::vector<float>& result, const std::vector<float>& golden, double part) {
  EXPECT_LT(test::distance(result, golden), part * test::largest_of(golden));
}

void check_forward(const Layer& layer) {
  GoldenFile file(layer);
  const auto q = file.read(layer.floats()), v = file.read(layer.floats());
  const auto landmarks = file.read(layer.landmarks() * kDim);
  const auto mix = file.read(layer.floats()), y = file.read(layer.floats());
  const Weights weights(layer, file);
  test::for_every_target([&] {
    const Forward result = run_forward(layer, weights, q, v);
    expect_close(result.landmarks, landmarks, 1e-4);
    expect_close(result.mix, mix, 1e-4);
    expect_close(result.y, y, 1e-4);
  });
}

TEST(GoldenAttention, IsReproducedWithRatioFour) {
  check_forward({"attention_r4.f32", {12, 16}, 4, 5, {}});
}

TEST(GoldenAttention, IsReproducedNormalisedWithRatioTwo) {
  check_forward(
      {"attention_r2_norm.f32", {8, 10}, 2, 3, {{Inverse::kNewtonAdaptive}, Normalise::kCore}});
}

TEST(GoldenAttention, HasTheGradientsOfTheReference) {
  const Layer layer{"attention_grad.f32", {8, 12}, 4, 5, {}};
  GoldenFile file(layer);
  const int64_t floats = layer.floats();
  const auto q = file.read(floats), v = file.read(floats), y = file.read(floats);
  const auto grad_y = file.read(floats), golden_q = file.read(floats), golden_v = file.read(floats);
  const Weights weights(layer, file);
  test::for_every_target([&] {
    const Forward f = run_forward(layer, weights, q, v);
    expect_close(f.y, y, 1e-4);
    std::vector<float> grad_q(floats), grad_v(floats), grad_landmarks(f.landmarks.size());
    std::vector<float> memory(soft_backward_size(f.head));
    const ConstRows incoming{grad_y.data(), kDim};
    soft_attention_backward(f.head, layer.options,
                            {f.inverse.data(),
                             f.gathered.data(),
                             incoming,
                             {grad_q.data(), kDim},
                             {grad_v.data(), kDim},
                             grad_landmarks.data()},
                            memory.data());
    value_path_backward(f.path, weights.value.data(), incoming, {grad_v.data(), kDim}, 0,
                        layer.grid.h);
    std::vector<float> grad_weight(weights.sampler.size()), grad_gamma(kDim), grad_beta(kDim);
    memory.resize(landmark_scratch(f.sampler));
    landmark_conv_backward(f.sampler, {q.data(), kDim},
                           {f.sampled.data(),
                            grad_landmarks.data(),
                            {grad_q.data(), kDim},
                            grad_weight.data(),
                            grad_gamma.data(),
                            grad_beta.data()},
                           memory.data());
    expect_close(grad_q, golden_q, 1e-3);
    expect_close(grad_v, golden_v, 1e-3);
  });
}

}  // namespace
}  // namespace soft
