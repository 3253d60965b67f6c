// Products of bytes beside the same in float32, at the sizes of soft-tiny's layers.
#include <fmt/format.h>

#include <memory>

#include "base/random.h"
#include "engine/dense.h"
#include "gym.h"
#include "kernels/int8_gemm.h"
#include "kernels/plain/int8_gemm.h"

namespace soft::gym {
namespace {

struct Bytes {
  Int8Shape shape;
  int64_t rows;
  std::vector<uint8_t> a;
  std::vector<int8_t> w, packed;
  std::vector<float> scale, bias, y;
};

// Weights of at most `largest`, so that they may be added at some depth.
std::shared_ptr<Bytes> make_bytes(const Int8Shape& shape, int64_t rows, int64_t largest) {
  auto x = std::make_shared<Bytes>(Bytes{shape, rows, {}, {}, {}, {}, {}, {}});
  Random random(1);
  x->a.resize(rows * shape.inner + kInt8Slack);
  for (uint8_t& value : x->a) value = static_cast<uint8_t>(random.below(256));
  x->w.resize(shape.cols * shape.inner);
  for (int8_t& value : x->w) {
    value = static_cast<int8_t>(static_cast<int64_t>(random.below(2 * largest + 1)) - largest);
  }
  x->packed.resize(int8_packed_bytes(shape));
  int8_pack(shape, x->w.data(), x->packed.data());
  x->scale.assign(shape.cols, 0.01f);
  x->bias.assign(shape.cols, 1.0f);
  x->y.resize(rows * shape.cols);
  return x;
}

void train_bytes(int64_t rows, int64_t inner, int64_t cols, int depth) {
  const int64_t largest = depth == 0 || depth == kInt8Dots ? 127 : 64 / depth;
  const auto x = make_bytes({cols, inner, 1}, rows, largest);
  const Int8Weights weights{x->packed.data(), x->scale.data(), x->bias.data(), depth};
  const auto body = [=] {
    int8_gemm(x->shape, 0, rows, {x->a.data(), inner}, weights, {x->y.data(), cols});
  };
  const auto error = [=] {
    body();
    std::vector<float> expected(rows * cols);
    plain::int8_gemm(x->shape, rows, {x->a.data(), inner}, x->w.data(), x->scale.data(),
                     x->bias.data(), false, {expected.data(), cols});
    return distance(x->y, expected);
  };
  train({fmt::format("int8/depth={}/{}x{}x{}", depth, rows, inner, cols), 2.0 * rows * inner * cols,
         0, error, 0.05, body});
}

void train_floats(int64_t rows, int64_t inner, int64_t cols) {
  struct Floats {
    Dense dense;
    DenseRunner runner;
    std::vector<float> x, y;
  };
  const DenseShape shape{inner, cols, 1, 1, 0, false, resolve(LinearForm::kBest)};
  const auto weight = normal_floats(inner * cols, 1), bias = normal_floats(cols, 2);
  const auto f = std::make_shared<Floats>(Floats{
      pack_dense(shape, {rows, 1}, weight.data(), bias.data()), DenseRunner(shape, {rows, 1}, 1, 1),
      normal_floats(rows * inner, 3), std::vector<float>(rows * cols)});
  f->runner.adopt(f->dense);
  train_peer(fmt::format("int8/float32/{}x{}x{}", rows, inner, cols), 2.0 * rows * inner * cols,
             [=] { f->runner.run(0, f->dense, f->x.data(), f->y.data()); });
}

const bool kRegistered = [] {
  const int64_t sizes[][3] = {{192, 64, 256},  {192, 256, 64},  {96, 128, 512},  {96, 512, 128},
                              {38, 320, 1280}, {38, 1280, 320}, {25, 512, 2048}, {25, 2048, 512}};
  for (const auto& size : sizes) {
    train_floats(size[0], size[1], size[2]);
    for (const int depth : {0, 1, 2, kInt8Dots}) train_bytes(size[0], size[1], size[2], depth);
  }
  return true;
}();

}  // namespace
}  // namespace soft::gym
