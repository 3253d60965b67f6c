#include "engine/feedback.h"

#include <algorithm>

#include "base/parallel.h"
#include "kernels/gemm.h"

namespace soft {
namespace {

constexpr int64_t kPanel = 64;     // columns that are taken apart one by one
constexpr float kDamping = 1e-2f;  // of the mean of H's diagonal, added to it

// Columns [begin, end) of H become those of U; they hold what is left once the columns behind them
// have been taken out. Row k of `scaled` is D_k·U_k, transposed.
void take_apart(int64_t n, int64_t begin, int64_t end, std::vector<float>& h,
                std::vector<float>& scaled) {
  for (int64_t k = end; k-- > begin;) {
    float* outer = scaled.data() + (k - begin) * n;
    const float pivot = h[k * n + k];
    for (int64_t i = 0; i < k; ++i) {
      outer[i] = h[i * n + k];
      h[i * n + k] /= pivot;
    }
    for (int64_t i = 0; i < k; ++i) {
      const float factor = h[i * n + k];
      float* row = h.data() + i * n;
      for (int64_t j = begin; j < k; ++j) row[j] -= factor * outer[j];
    }
  }
}

}  // namespace

Feedback factor_inputs(int64_t inputs, std::vector<float> products) {
  const int64_t n = inputs;
  double trace = 0;
  for (int64_t i = 0; i < n; ++i) trace += products[i * n + i];
  const float damping =
      trace > 0 ? kDamping * static_cast<float>(trace / static_cast<double>(n)) : 1;
  for (int64_t i = 0; i < n; ++i) products[i * n + i] += damping;

  std::vector<float> scaled(kPanel * n);
  for (int64_t end = n; end > 0;) {
    const int64_t begin = std::max<int64_t>(0, end - kPanel);
    take_apart(n, begin, end, products, scaled);
    // What is in front of these columns loses U·D·Uᵀ of them.
    parallel_for(begin, [&](int64_t first, int64_t last) {
      float* rows = products.data() + first * n;
      gemm({last - first, begin, end - begin, -1, 1}, {rows + begin, n}, {scaled.data(), n}, rows,
           n);
    });
    end = begin;
  }
  return {n, std::move(products)};
}

}  // namespace soft
