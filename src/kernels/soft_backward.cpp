// The backward pass of soft_attention.h; the equations stand there.
#include <algorithm>

#include "kernels/carver.h"
#include "kernels/gemm.h"
#include "kernels/soft_tile.h"

namespace soft {
namespace {

constexpr int64_t kRowColumns = 3;  // what kRows adds to dK's product: dr·uᵀ + 1·dsᵀ + dc·1ᵀ

struct Memory {
  float* landmarks;    // packed
  float* a;            // [m, m]
  float* e;            // [m] D^-½
  float* core;         // [m, m] N
  float* mixed;        // [m, d] M
  float* pulled;       // [m, d] T
  float* unmixed;      // [m, d] U
  float* spread;       // [padded(m)] u
  float* grad_spread;  // [padded(m)] du
  float* pair;         // [inner, padded(m)] Mᵀ over Uᵀ (over u, ds and 1)
  float* cross;        // [n, padded(m)] K, or null when it would exceed kKeptCross
  float* k;            // [tile, padded(m)]
  float* b;            // [tile, padded(m)] B
  float* g;            // [tile, d] G/g
  float* gv;           // [tile, inner] G beside V (beside dr, 1 and dc)
  float* row_sums;     // [tile] of B
  float* column_sums;  // [padded(m)] of B
  float* grad_core;    // [m, m] dN
  float* grad_a;       // [m, m] dA
  float* scratch;      // [m, m], or what gaussian_self wants
};

Memory carve(const SoftHead& head, Carver& carver) {
  const int64_t m = head.landmarks, d = head.dim, width = padded(m);
  Memory memory{};
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

// What every step below works on.
struct Pass {
  SoftHead head;
  SoftGradient gradient;
  Normalise normalise;
  Memory memory;
  PackedLandmarks packed;
  int64_t m, d, width;
  float spread_square = 0;  // |u|²

  bool rows() const { return normalise == Normalise::kRows; }
  int64_t inner() const { return 2 * d + (rows() ? kRowColumns : 0); }

  float* kernel_tile(int64_t token) const {  // [rows, padded(m)]
    return memory.cross == nullptr ? memory.k : memory.cross + token * width;
  }
};

// A, N and M, as in the forward pass.
Pass recall(const SoftHead& head, Normalise normalise, const SoftGradient& gradient,
            const Memory& memory) {
  const int64_t m = head.landmarks, d = head.dim;
  const ConstRows landmarks{head.landmark, d};
  gaussian_self(m, d, landmarks, head.landmark_mask, memory.a, memory.scratch);
  degree_factors(head, normalise, memory.a, memory.e);
  scale_by_degree(m, memory.e, gradient.inverse, memory.core);
  gemm({m, d, m}, {memory.core, m}, {gradient.gathered, d}, memory.mixed, d);
  Pass pass{head,
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

RowTile row_tile(const Pass& p, int64_t token, int64_t rows, const float* k) {
  constexpr auto kCancel = static_cast<float>(kCancelled * kCancelled);
  RowTile tile;
  float sum[kTokenTile], reach[kTokenTile];
  sum_rows(rows, p.m, k, p.memory.spread, {sum, reach});
  for (int64_t i = 0; i < rows; ++i) {
    const float *g = p.gradient.y.row(token + i), *y = p.gradient.mixed.row(token + i);
    float dot = 0;
    for (int64_t c = 0; c < p.d; ++c) dot += g[c] * y[c];
    const float share = 1 / guarded_sum(sum[i], reach[i], p.spread_square);
    const float slope = -dot * share * share;  // dg/g
    tile.share[i] = share;
    tile.grad_sum[i] = slope * sum[i];
    tile.grad_reach[i] = slope * kCancel * reach[i] * p.spread_square;
    tile.grad_square += 0.5f * slope * kCancel * reach[i] * reach[i];
  }
  return tile;
}

// G/g of a tile [rows, d].
ConstRows shared_rows(const Pass& p, const RowTile& tile, int64_t token, int64_t rows) {
  for (int64_t i = 0; i < rows; ++i) {
    const float* g = p.gradient.y.row(token + i);
    for (int64_t c = 0; c < p.d; ++c) p.memory.g[i * p.d + c] = tile.share[i] * g[c];
  }
  return {p.memory.g, p.d};
}

// The right side of dK's product, zero in the padding.
void pair_columns(const Pass& p) {
  const Memory& memory = p.memory;
  std::fill_n(memory.pair, p.inner() * p.width, 0.0f);
  transpose(p.m, p.d, memory.mixed, p.d, memory.pair, p.width);
  transpose(p.m, p.d, memory.unmixed, p.d, memory.pair + p.d * p.width, p.width);
  if (!p.rows()) return;
  float* more = memory.pair + 2 * p.d * p.width;
  std::copy_n(memory.spread, p.m, more);
  gemm({p.m, 1, p.m}, {memory.core, p.m}, {memory.grad_spread, 1}, more + p.width, 1);  // ds
  std::fill_n(more + 2 * p.width, p.m, 1.0f);
}

// T = KᵀG and U = N·T; then Mᵀ over Uᵀ, zero in the padding.
void pull_back(const Pass& p) {
  const Memory& memory = p.memory;
  float grad_square = 0;
  std::fill_n(memory.grad_spread, p.width, 0.0f);
  for_each_tile(0, p.head.tokens, [&](int64_t token, int64_t rows) {
    float* k = p.kernel_tile(token);
    cross_tile(p.head, p.packed, token, rows, k);
    ConstRows g{p.gradient.y.row(token), p.gradient.y.stride};
    if (p.rows()) {
      const RowTile tile = row_tile(p, token, rows, k);
      g = shared_rows(p, tile, token, rows);
      add_columns(rows, p.m, k, tile.grad_sum, memory.grad_spread);
      grad_square += tile.grad_square;
    }
    gemm({p.m, p.d, rows, 1, token == 0 ? 0.0f : 1.0f}, {k, p.width, true}, {g.data, g.stride},
         memory.pulled, p.d);
  });
  for (int64_t j = 0; j < p.m; ++j) memory.grad_spread[j] += 2 * grad_square * memory.spread[j];
  gemm({p.m, p.d, p.m}, {memory.core, p.m}, {memory.pulled, p.d}, memory.unmixed, p.d);
  pair_columns(p);
}

// G beside V, so that dK = G·Mᵀ + V·Uᵀ is one product; with kRows dr, 1 and dc beside them.
void pair_rows(const Pass& p, int64_t token, int64_t rows, const float* k) {
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
    row[2 * p.d] = tile.grad_sum[i];
    row[2 * p.d + 1] = 1;
    row[2 * p.d + 2] = tile.grad_reach[i];
  }
}

// rows -= weight∘from, row by row; [count, d]
void subtract_scaled(int64_t count, int64_t d, const float* weight, float factor, ConstRows from,
                     Rows rows) {
  for (int64_t i = 0; i < count; ++i) {
    const float w = factor * weight[i];
    for (int64_t c = 0; c < d; ++c) rows.row(i)[c] -= w * from.row(i)[c];
  }
}

// dq = s·(B·L - rowsum(B)∘s·q), dV = K·U, dL = Bᵀ·s·q - colsum(B)∘L
void scatter(const Pass& p) {
  const Memory& memory = p.memory;
  const float scale = p.head.scale;
  std::fill_n(memory.column_sums, p.width, 0.0f);
  for_each_tile(0, p.head.tokens, [&](int64_t token, int64_t rows) {
    float* k = p.kernel_tile(token);
    if (memory.cross == nullptr) cross_tile(p.head, p.packed, token, rows, k);
    pair_rows(p, token, rows, k);
    weigh_tile({rows, p.m, p.inner(), memory.gv, memory.pair, k, memory.b, memory.row_sums,
                memory.column_sums});
    const ConstRows q{p.head.q.row(token), p.head.q.stride};
    const Rows grad_q{p.gradient.q.row(token), p.gradient.q.stride};
    gemm({rows, p.d, p.m, scale}, {memory.b, p.width}, {p.head.landmark, p.d}, grad_q.data,
         grad_q.stride);
    subtract_scaled(rows, p.d, memory.row_sums, scale * scale, q, grad_q);
    gemm({rows, p.d, p.m}, {k, p.width}, {memory.unmixed, p.d}, p.gradient.v.row(token),
         p.gradient.v.stride);
    gemm({p.m, p.d, rows, scale, token == 0 ? 0.0f : 1.0f}, {memory.b, p.width, true},
         {q.data, q.stride}, p.gradient.landmark, p.d);
  });
  subtract_scaled(p.m, p.d, memory.column_sums, 1, {p.head.landmark, p.d},
                  {p.gradient.landmark, p.d});
}

// dA += dD along each row, with dD = -½·e³∘de and de_i = Σ_j (dN_ij + dN_ji)·X_ij·e_j.
void add_degree_gradient(const Pass& p) {
  const float *e = p.memory.e, *x = p.gradient.inverse, *grad_core = p.memory.grad_core;
  for (int64_t i = 0; i < p.m; ++i) {
    float grad_e = 0;
    for (int64_t j = 0; j < p.m; ++j) {
      grad_e += (grad_core[i * p.m + j] + grad_core[j * p.m + i]) * x[i * p.m + j] * e[j];
    }
    const float grad_degree = -0.5f * e[i] * e[i] * e[i] * grad_e;
    for (int64_t j = 0; j < p.m; ++j) p.memory.grad_a[i * p.m + j] += grad_degree;
  }
}

// dA = -X·dX·X from dN = T·Sᵀ, and through D with kCore.
void invert_gradient(const Pass& p) {
  const Memory& memory = p.memory;
  const int64_t m = p.m;
  const Operand x{p.gradient.inverse, m};
  gemm({m, m, p.d}, {memory.pulled, p.d}, {p.gradient.gathered, p.d, true}, memory.grad_core, m);
  if (p.rows()) {  // dN += du·sᵀ
    gemm({m, m, 1, 1, 1}, {memory.grad_spread, 1}, {p.gradient.sums, m}, memory.grad_core, m);
  }
  scale_by_degree(m, memory.e, memory.grad_core, memory.grad_a);  // dX
  gemm({m, m, m, -1}, x, {memory.grad_a, m}, memory.scratch, m);  // -X·dX
  gemm({m, m, m}, {memory.scratch, m}, x, memory.grad_a, m);
  if (p.normalise == Normalise::kCore) add_degree_gradient(p);
}

// dL += C·L - rowsum(C)∘L with C = A∘(dA + dAᵀ), 0 where A = 1.
void landmark_gradient(const Pass& p) {
  const Memory& memory = p.memory;
  const int64_t m = p.m;
  float *c = memory.scratch, *sums = memory.e;  // [m, m], [m]; e has done its work
  for (int64_t i = 0; i < m; ++i) {
    sums[i] = 0;
    for (int64_t j = 0; j < m; ++j) {
      const float a = memory.a[i * m + j];
      const float both = memory.grad_a[i * m + j] + memory.grad_a[j * m + i];
      c[i * m + j] = a == 1 ? 0 : a * both;
      sums[i] += c[i * m + j];
    }
  }
  gemm({m, p.d, m, 1, 1}, {c, m}, {p.head.landmark, p.d}, p.gradient.landmark, p.d);
  subtract_scaled(m, p.d, sums, 1, {p.head.landmark, p.d}, {p.gradient.landmark, p.d});
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
  const Pass pass = recall(head, options.normalise, gradient, carve(head, carver));
  pull_back(pass);
  scatter(pass);
  invert_gradient(pass);
  landmark_gradient(pass);
}

}  // namespace soft
