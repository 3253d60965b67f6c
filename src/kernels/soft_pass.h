// What the steps of soft_attention.h's backward pass work on; its equations stand there.
#pragma once

#include "kernels/soft_tile.h"

namespace soft {

constexpr int64_t kRowColumns = 3;  // what kRows adds to dK's product: dr·uᵀ + 1·dsᵀ + dc·1ᵀ

struct SoftPassMemory {
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
  float* cross;        // [n, padded(m)] K (K̂ with kRows), or null when it would exceed kKeptCross
  float* peaks;        // [n], or [tile] without cross: p_i, with kRows
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

// What every step works on.
struct SoftPass {
  SoftHead head;
  SoftGradient gradient;
  Normalise normalise;
  SoftPassMemory memory;
  PackedLandmarks packed;
  int64_t m, d, width;
  float spread_square = 0;  // |u|²

  bool rows() const { return normalise == Normalise::kRows; }
  int64_t inner() const { return 2 * d + (rows() ? kRowColumns : 0); }

  float* kernel_tile(int64_t token) const {  // [rows, padded(m)]
    return memory.cross == nullptr ? memory.k : memory.cross + token * width;
  }
  void fill_kernel(int64_t token, int64_t count, float* k) const {
    cross_tile(head, packed, token, count, k, rows() ? peaks_of(token) : nullptr);
  }
  float* peaks_of(int64_t token) const {  // p_i, of a tile that was filled
    return memory.cross == nullptr ? memory.peaks : memory.peaks + token;
  }
};

// rows -= weight∘from, row by row; [count, d]
inline void subtract_scaled(int64_t count, int64_t d, const float* weight, float factor,
                            ConstRows from, Rows rows) {
  for (int64_t i = 0; i < count; ++i) {
    const float w = factor * weight[i];
    for (int64_t c = 0; c < d; ++c) rows.row(i)[c] -= w * from.row(i)[c];
  }
}

// dL from dN = T·Sᵀ (+ du·sᵀ): through N, inv(A) and A. Adds to the gradient of the landmarks.
void add_core_gradient(const SoftPass& pass);

}  // namespace soft
