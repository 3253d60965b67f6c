// SOFT attention of one head of one image, fused: never an n x n array, and no n x m array beyond
// what stays in a core's second-level cache.
//
//   K[i, j] = exp(-½|s·q_i - l_j|²)   n x m, by tiles
//   A       = K of the landmarks      m x m, diagonal 1
//             masked tokens have rows of 0 in K; dropped landmarks have columns of 0 in K and the
//             row and column of the identity in A
//   X       = inv(A), see inverse.h
//   N       = X, or D^-½·X·D^-½ with D = diag(row sums of A) when `norm`
//   S = KᵀV,  M = N·S,  Y = K·M
//
// Cost: 2·n·m·(3d) flops and n·m exponentials while K fits in kKeptCross floats, 2·n·m·(4d) and
// twice the exponentials beyond.
//
// Backward, with G = dY and everything but X, S recomputed:
//   T = KᵀG             dN = T·Sᵀ          U = N·T = dS        dV = K·U
//   dK = G·Mᵀ + V·Uᵀ    B = K∘dK, 0 where K = 1 (equal or clamped)
//   dq = s·(B·L - rowsum(B)∘s·q)           dL = Bᵀ·s·q - colsum(B)∘L
//   norm: e = D^-½,  dX = e∘dN∘eᵀ,  de_i = Σ_j (dN_ij + dN_ji)·X_ij·e_j,  dD = -½·e³∘de
//   dA = -X·dX·X (+ dD along each row)     one-shot: the derivative of the converged inverse
//   C = A∘(dA + dAᵀ), 0 where A = 1 or dropped;   dL += C·L - rowsum(C)∘L
//
// Work is split into chunks of kTokenChunk tokens, each with its own partial sums that are added in
// order: the same bits for any number of threads, and for any amount of padding behind a mask.
#pragma once

#include "kernels/gaussian.h"
#include "kernels/inverse.h"
#include "kernels/rows.h"

namespace soft {

struct SoftHead {
  int64_t tokens = 0;                    // n
  int64_t landmarks = 0;                 // m
  int64_t dim = 0;                       // d
  ConstRows q;                           // [n, d], multiplied by `scale` on the fly
  ConstRows v;                           // [n, d]
  const float* landmark = nullptr;       // [m, d], of the scaled q
  float scale = 1;                       // d^-1/4, or 1 where the projection already holds it
  const float* token_mask = nullptr;     // [n], 1 real, 0 padding; null: all real
  const float* landmark_mask = nullptr;  // [m], 1 real, 0 dropped; null: all real
};

struct SoftOptions {
  InverseOptions inverse;
  bool norm = false;
};

constexpr int64_t kTokenChunk = 512;      // tokens of one unit of work
constexpr int64_t kKeptCross = 80 << 10;  // floats of K kept between the two passes: 320 KB
constexpr int64_t token_chunks(int64_t tokens) { return (tokens + kTokenChunk - 1) / kTokenChunk; }

// What the phases of one head share. `inverse` and `gathered` are what backward wants back; point
// them elsewhere before soft_prepare to have them written there.
struct SoftState {
  PackedLandmarks packed;
  float* inverse;   // [m, m] X
  float* gathered;  // [m, d] S
  float* core;      // [m, m] N
  float* mixed;     // [m, d] M
  float* partial;   // [chunks, m, d] KᵀV of each chunk
  float* cross;     // [n, padded(m)] K, or null when it would exceed kKeptCross
  float* scratch;   // for soft_prepare
};

int64_t soft_state_size(const SoftHead& head);              // floats; only the sizes matter
SoftState soft_state(const SoftHead& head, float* memory);  // carves the state out of that many
int64_t soft_tile_size(const SoftHead& head);               // floats of scratch for each thread

// The phases, in this order; the two that take a chunk may run in parallel over 0..token_chunks-1.
InverseReport soft_prepare(const SoftHead& head, const SoftOptions& options, SoftState& state);
void soft_gather(const SoftHead& head, const SoftState& state, int64_t chunk, float* tile);
void soft_mix(const SoftHead& head, const SoftState& state);
void soft_scatter(const SoftHead& head, const SoftState& state, int64_t chunk, Rows y, float* tile);

// All phases on the calling thread: y [n, d] is written. memory: soft_attention_size floats.
// inverse [m, m] and gathered [m, d] receive what backward needs, or are null.
int64_t soft_attention_size(const SoftHead& head);
InverseReport soft_attention(const SoftHead& head, const SoftOptions& options, Rows y,
                             float* memory, float* inverse = nullptr, float* gathered = nullptr);

// ---- Backward

struct SoftGradient {
  const float* inverse = nullptr;   // [m, m] X as saved by the forward pass
  const float* gathered = nullptr;  // [m, d] S as saved by the forward pass
  ConstRows y;                      // [n, d] incoming
  Rows q;                           // [n, d] written; of the unscaled q, through K only
  Rows v;                           // [n, d] written
  float* landmark = nullptr;        // [m, d] written
};

int64_t soft_backward_size(const SoftHead& head);  // floats of memory
void soft_attention_backward(const SoftHead& head, const SoftOptions& options,
                             const SoftGradient& gradient, float* memory);

}  // namespace soft
