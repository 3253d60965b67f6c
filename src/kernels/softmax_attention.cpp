#include "kernels/softmax_attention.h"

#include <algorithm>
#include <limits>

#include "kernels/carver.h"
#include "kernels/gemm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/softmax_attention.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "kernels/gemm-inl.h"
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace soft {
namespace HWY_NAMESPACE {
namespace {

// A row of scores becomes exp(score - largest), scaled to sum 1; what lies beyond count is ignored.
void softmax_row(int64_t count, float* row) {
  const FloatTag d;
  const int64_t width = vectors(count) * lanes();
  std::fill(row + count, row + width, -std::numeric_limits<float>::infinity());
  FloatVec largest = hn::LoadU(d, row);
  for (int64_t j = lanes(); j < width; j += lanes())
    largest = hn::Max(largest, hn::LoadU(d, row + j));
  largest = hn::MaxOfLanes(d, largest);
  FloatVec sum = hn::Zero(d);
  for (int64_t j = 0; j < width; j += lanes()) {
    const FloatVec e = exp_nonpositive(d, hn::Sub(hn::LoadU(d, row + j), largest));
    hn::StoreU(e, d, row + j);
    sum = hn::Add(sum, e);
  }
  const FloatVec share = hn::Div(hn::Set(d, 1.0f), hn::SumOfLanes(d, sum));
  for (int64_t j = 0; j < width; j += lanes()) {
    hn::StoreU(hn::Mul(hn::LoadU(d, row + j), share), d, row + j);
  }
}

// weights [rows, padded(n)] = softmax of q [rows, d] · keys [d, padded(n)].
void weigh(int64_t rows, int64_t tokens, int64_t dim, ConstRows q, const float* keys,
           float* weights) {
  const FloatTag d;
  const int64_t width = padded(tokens);
  multiply(rows, vectors(tokens), dim, {q.data, q.stride, 1}, {keys, width},
           [&](int64_t row, int64_t column, const auto& tile) HWY_ATTR {
             tile.visit([&](int64_t i, int64_t j, FloatVec score) HWY_ATTR {
               hn::StoreU(score, d, weights + (row + i) * width + column + j);
             });
           });
  for (int64_t i = 0; i < rows; ++i) softmax_row(tokens, weights + i * width);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace soft
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace soft {
namespace {

constexpr int64_t kRows = 24;  // queries whose weights stay in the first-level cache up to n = 257

struct Memory {
  float* keys;     // [d, padded(n)] scale·Kᵀ
  float* weights;  // [kRows, padded(n)]
};

Memory carve(int64_t tokens, int64_t dim, Carver& carver) {
  float* keys = carver.take(dim * padded(tokens));
  return {keys, carver.take(kRows * padded(tokens))};
}

}  // namespace

HWY_EXPORT(weigh);

int64_t softmax_scratch(int64_t tokens, int64_t dim) {
  Carver counter(nullptr);
  carve(tokens, dim, counter);
  return counter.used();
}

void softmax_attention(const SoftmaxHead& head, Rows y, float* scratch) {
  const int64_t n = head.tokens, d = head.dim, width = padded(n);
  Carver carver(scratch);
  const Memory memory = carve(n, d, carver);
  std::fill_n(memory.keys, d * width, 0.0f);
  transpose(n, d, head.k.data, head.k.stride, memory.keys, width);
  for (int64_t i = 0; i < d * width; ++i) memory.keys[i] *= head.scale;
  for (int64_t row = 0; row < n; row += kRows) {
    const int64_t rows = std::min(kRows, n - row);
    HWY_DYNAMIC_DISPATCH(weigh)
    (rows, n, d, {head.q.row(row), head.q.stride}, memory.keys, memory.weights);
    gemm({rows, d, n}, {memory.weights, width}, {head.v.data, head.v.stride}, y.row(row), y.stride);
  }
}

}  // namespace soft
#endif
