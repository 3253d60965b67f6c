// The backward pass of soft_attention.h; the equations stand there.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "kernels/carver.h"
#include "kernels/gemm.h"
#include "kernels/soft_pass.h"

namespace soft {
namespace {

SoftPassMemory carve(const SoftHead& head, Carver& carver) {
  const int64_t m = head.landmarks, d = head.dim, width = padded(m);
  SoftPassMemory memory{};
  memory.landmarks = carver.take(packed_landmarks_size(m, d));
  memory.a = carver.take(m * m);
  memory.e = carver.take(m);
  memory.core = carver.take(m * m);
  memory.mixed = carver.take(m * d);
  memory.pulled = carver.take(m * d);
  memory.unmixed = carver.take(m * d);
  memory.spread = carver.take(m);
  memory.grad_spread = carver.take(m);
  memory.pair = carver.take((2 * d + kRowColumns) * width);
  memory.cross = keeps_cross(head) ? carver.take(head.tokens * width) : nullptr;
  memory.peaks = carver.take(keeps_cross(head) ? head.tokens : kTokenTile);
  memory.k = carver.take(kTokenTile * width);
  memory.b = carver.take(kTokenTile * width);
  memory.g = carver.take(kTokenTile * d);
  memory.gv = carver.take(kTokenTile * (2 * d + kRowColumns));
  memory.row_sums = carver.take(kTokenTile);
  memory.column_sums = carver.take(width);
  memory.grad_core = carver.take(m * m);
  memory.grad_a = carver.take(m * m);
  memory.scratch = carver.take(std::max(m * m, gaussian_scratch(m, d)));
  return memory;
}

// A, N and M, as in the forward pass.
SoftPass recall(const SoftHead& head, Normalise normalise, const SoftGradient& gradient,
                const SoftPassMemory& memory) {
  const int64_t m = head.landmarks, d = head.dim;
  const ConstRows landmarks{head.landmark, d};
  gaussian_self(m, d, landmarks, head.landmark_mask, memory.a, memory.scratch);
  degree_factors(head, normalise, memory.a, memory.e);
  scale_by_degree(m, memory.e, gradient.inverse, memory.core);
  gemm({m, d, m}, {memory.core, m}, {gradient.gathered, d}, memory.mixed, d);
  SoftPass pass{head,
                gradient,
                normalise,
                memory,
                pack_landmarks(m, d, landmarks, head.scale, head.landmark_mask, memory.landmarks),
                m,
                d,
                padded(m)};
  if (pass.rows()) {
    pass.spread_square = soft_spread(head, memory.core, gradient.sums, memory.spread);
  }
  return pass;
}

// What dividing by the sums of rows means for a tile, with kRows.
struct RowTile {
  float share[kTokenTile];       // 1/g
  float grad_sum[kTokenTile];    // dr
  float grad_reach[kTokenTile];  // dc
  float grad_square = 0;         // d|u|²
};

RowTile row_tile(const SoftPass& p, int64_t token, int64_t rows, const float* k) {
  constexpr auto kCancel = static_cast<float>(kCancelled * kCancelled);
  RowTile tile;
  const SoftGradient& gradient = p.gradient;
  float sum[kTokenTile], reach[kTokenTile], dots[kTokenTile];
  sum_rows(rows, p.m, k, p.memory.spread, {sum, reach});
  dot_rows(rows, p.d, {gradient.y.row(token), gradient.y.stride},
           {gradient.mixed.row(token), gradient.mixed.stride}, dots);
  for (int64_t i = 0; i < rows; ++i) {
    const float share = 1 / guarded_sum(sum[i], reach[i], p.spread_square);
    const float slope = -dots[i] * share * share;  // dg/g
    tile.share[i] = share;
    tile.grad_sum[i] = slope * sum[i];
    tile.grad_reach[i] = slope * kCancel * reach[i] * p.spread_square;
    tile.grad_square += 0.5f * slope * kCancel * reach[i] * reach[i];
  }
  return tile;
}

// G/g of a tile [rows, d].
ConstRows shared_rows(const SoftPass& p, const RowTile& tile, int64_t token, int64_t rows) {
  for (int64_t i = 0; i < rows; ++i) {
    const float* g = p.gradient.y.row(token + i);
    for (int64_t c = 0; c < p.d; ++c) p.memory.g[i * p.d + c] = tile.share[i] * g[c];
  }
  return {p.memory.g, p.d};
}

// The right side of dK's product, zero in the padding.
void pair_columns(const SoftPass& p) {
  const SoftPassMemory& memory = p.memory;
  std::fill_n(memory.pair, p.inner() * p.width, 0.0f);
  transpose(p.m, p.d, memory.mixed, p.d, memory.pair, p.width);
  transpose(p.m, p.d, memory.unmixed, p.d, memory.pair + p.d * p.width, p.width);
  if (!p.rows()) return;
  float* more = memory.pair + 2 * p.d * p.width;
  std::copy_n(memory.spread, p.m, more);
  gemm({p.m, 1, p.m}, {memory.core, p.m}, {memory.grad_spread, 1}, more + p.width, 1);  // ds
  std::fill_n(more + 2 * p.width, p.m, 1.0f);
}

// T = KᵀG and U = N·T; then Mᵀ over Uᵀ, zero in the padding. Returns p, with kRows.
float pull_back(const SoftPass& p) {
  const SoftPassMemory& memory = p.memory;
  float grad_square = 0, highest = -std::numeric_limits<float>::infinity();
  std::fill_n(memory.grad_spread, p.width, 0.0f);
  for_each_tile(0, p.head.tokens, [&](int64_t token, int64_t rows) {
    float* k = p.kernel_tile(token);
    p.fill_kernel(token, rows, k);
    ConstRows g{p.gradient.y.row(token), p.gradient.y.stride};
    if (p.rows()) {
      const RowTile tile = row_tile(p, token, rows, k);
      g = shared_rows(p, tile, token, rows);
      add_columns(rows, p.m, k, tile.grad_sum, memory.grad_spread);
      grad_square += tile.grad_square;
      const float* peaks = p.peaks_of(token);
      highest = std::max(highest, *std::max_element(peaks, peaks + rows));
    }
    gemm({p.m, p.d, rows, 1, token == 0 ? 0.0f : 1.0f}, {k, p.width, true}, {g.data, g.stride},
         memory.pulled, p.d);
  });
  for (int64_t j = 0; j < p.m; ++j) memory.grad_spread[j] += 2 * grad_square * memory.spread[j];
  gemm({p.m, p.d, p.m}, {memory.core, p.m}, {memory.pulled, p.d}, memory.unmixed, p.d);
  pair_columns(p);
  return highest;
}

// What form kRows multiplies a tile's K̂ by.
struct TilePeaks {
  float below[kTokenTile];     // f
  float touching[kTokenTile];  // 1/exp(p_i), K̂ where a token lies on a landmark

  TilePeaks(const SoftPass& p, int64_t token, int64_t rows, float highest) {
    for (int64_t i = 0; i < rows; ++i) {
      below[i] = below_peak(p.peaks_of(token)[i], highest);
      touching[i] = std::exp(-p.peaks_of(token)[i]);
    }
  }
};

// G beside V, so that dK = G·Mᵀ + V·Uᵀ is one product; with kRows dr, 1 and dc beside them, and f
// times what K on the right has.
void pair_rows(const SoftPass& p, const TilePeaks* peaks, int64_t token, int64_t rows,
               const float* k) {
  ConstRows g{p.gradient.y.row(token), p.gradient.y.stride};
  RowTile tile;
  if (p.rows()) {
    tile = row_tile(p, token, rows, k);
    g = shared_rows(p, tile, token, rows);
  }
  for (int64_t i = 0; i < rows; ++i) {
    float* row = p.memory.gv + i * p.inner();
    std::copy_n(g.row(i), p.d, row);
    std::copy_n(p.head.v.row(token + i), p.d, row + p.d);
    if (!p.rows()) continue;
    for (int64_t c = 0; c < p.d; ++c) row[p.d + c] *= peaks->below[i];
    row[2 * p.d] = tile.grad_sum[i];
    row[2 * p.d + 1] = peaks->below[i];
    row[2 * p.d + 2] = tile.grad_reach[i];
  }
}

// dq = s·(B·L - rowsum(B)∘s·q), dV = K·U, dL = Bᵀ·s·q - colsum(B)∘L
void scatter(const SoftPass& p, float highest) {
  const SoftPassMemory& memory = p.memory;
  const float scale = p.head.scale;
  std::fill_n(memory.column_sums, p.width, 0.0f);
  for_each_tile(0, p.head.tokens, [&](int64_t token, int64_t rows) {
    float* k = p.kernel_tile(token);
    if (memory.cross == nullptr) p.fill_kernel(token, rows, k);
    std::optional<TilePeaks> peaks;
    if (p.rows()) peaks.emplace(p, token, rows, highest);
    pair_rows(p, peaks ? &*peaks : nullptr, token, rows, k);
    weigh_tile({rows, p.m, p.inner(), memory.gv, memory.pair, k, memory.b, memory.row_sums,
                memory.column_sums, peaks ? peaks->touching : nullptr});
    const ConstRows q{p.head.q.row(token), p.head.q.stride};
    const Rows grad_q{p.gradient.q.row(token), p.gradient.q.stride};
    gemm({rows, p.d, p.m, scale}, {memory.b, p.width}, {p.head.landmark, p.d}, grad_q.data,
         grad_q.stride);
    subtract_scaled(rows, p.d, memory.row_sums, scale * scale, q, grad_q);
    const Rows grad_v{p.gradient.v.row(token), p.gradient.v.stride};
    gemm({rows, p.d, p.m}, {k, p.width}, {memory.unmixed, p.d}, grad_v.data, grad_v.stride);
    for (int64_t i = 0; peaks && i < rows; ++i) {
      for (int64_t c = 0; c < p.d; ++c) grad_v.row(i)[c] *= peaks->below[i];
    }
    gemm({p.m, p.d, rows, scale, token == 0 ? 0.0f : 1.0f}, {memory.b, p.width, true},
         {q.data, q.stride}, p.gradient.landmark, p.d);
  });
  subtract_scaled(p.m, p.d, memory.column_sums, 1, {p.head.landmark, p.d},
                  {p.gradient.landmark, p.d});
}

}  // namespace

int64_t soft_backward_size(const SoftHead& head) {
  Carver counter(nullptr);
  carve(head, counter);
  return counter.used();
}

void soft_attention_backward(const SoftHead& head, const SoftOptions& options,
                             const SoftGradient& gradient, float* memory) {
  Carver carver(memory);
  const SoftPass pass = recall(head, options.normalise, gradient, carve(head, carver));
  scatter(pass, pull_back(pass));
  add_core_gradient(pass);
}

}  // namespace soft
