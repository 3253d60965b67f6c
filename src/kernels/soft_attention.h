// SOFT attention of one head of one image, fused: never an n x n array, and no n x m array beyond
// what stays in a core's second-level cache.
//
//   K[i, j] = exp(-½|s·q_i - l_j|²)   n x m, by tiles
//   A       = K of the landmarks      m x m, diagonal 1
//             masked tokens have rows of 0 in K; dropped landmarks have columns of 0 in K and the
//             row and column of the identity in A
//   X       = inv(A), see inverse.h
//   N       = X, or e∘X∘eᵀ: e = D^-½ with D = diag(row sums of A) with kCore, n^-½ (n counts the
//             real tokens) with kMean
//   S = KᵀV,  M = N·S,  Y = K·M
//
// Form kRows divides every row of Ŝ = K·N·Kᵀ by its sum, at the price of two more columns of width
// 1:
//   s = Kᵀ1,  u = N·s,  r = K·u = Ŝ·1,  c = K·1
//   g = √(r² + (δ·c·|u|)² + τ²),  Y = (K·M)/g
// Ŝ is no exact kernel: sums of its rows may vanish or turn slightly negative. |r| <= c·|u|, so the
// second term is small against r unless the sum of a row is nearly all cancellation: there the row
// fades instead of exploding. It shares r's scale, so that neither the scale of K nor that of one
// row matters: on the left K has its rows divided by their largest entries exp(p_i), and on the
// right by the largest of all, exp(p), which changes nothing but that nothing underflows while
// training moves all tokens away from the landmarks. τ is for heads without any token, which give
// 0.
//   K = exp(p_i)·K̂,  right-hand K = f∘K̂ with f_i = exp(p_i - p)
//
// Cost: 2·n·m·(3d) flops and n·m exponentials while K fits in kKeptCross floats, 2·n·m·(4d) and
// twice the exponentials beyond.
//
// Backward, with G = dY and everything but X, S recomputed:
//   T = KᵀG             dN = T·Sᵀ          U = N·T = dS        dV = K·U
//   dK = G·Mᵀ + V·Uᵀ    B = K∘dK, 0 where K = 1 (equal or clamped)
//   dq = s·(B·L - rowsum(B)∘s·q)           dL = Bᵀ·s·q - colsum(B)∘L
//   norm: e = D^-½,  dX = e∘dN∘eᵀ,  de_i = Σ_j (dN_ij + dN_ji)·X_ij·e_j,  dD = -½·e³∘de
//   rows: G <- G/g,  dg = -(dY·Y)/g,  dr = dg·r/g,  dc = dg·δ²·c·|u|²/g
//         du = Kᵀdr + u·Σ dg·δ²·c²/g,  ds = N·du,  dN += du·sᵀ,  dK += dr·uᵀ + 1·dsᵀ + dc·1ᵀ
//         K∘dK = K̂∘(G·Mᵀ + dr·uᵀ + dc·1ᵀ + f∘(V·Uᵀ + 1·dsᵀ)): p_i and p need no gradient
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

constexpr double kCancelled = 1e-3;  // δ
constexpr double kVanished = 1e-15;  // τ

struct SoftOptions {
  InverseOptions inverse;
  Normalise normalise = Normalise::kNone;
};

constexpr int64_t kTokenChunk = 512;      // tokens of one unit of work
constexpr int64_t kKeptCross = 80 << 10;  // floats of K kept between the two passes: 320 KB
constexpr int64_t token_chunks(int64_t tokens) { return (tokens + kTokenChunk - 1) / kTokenChunk; }

// What the phases of one head share. `inverse`, `gathered` and `sums` are what backward wants back;
// point them elsewhere before soft_prepare to have them written there.
struct SoftState {
  Normalise normalise;
  PackedLandmarks packed;
  float* inverse;       // [m, m] X
  float* gathered;      // [m, d] S
  float* sums;          // [m] s, with kRows
  float* core;          // [m, m] N
  float* mixed;         // [m, d] M
  float* spread;        // [padded(m)] u, with kRows
  float* partial;       // [chunks, m, d] KᵀV of each chunk
  float* partial_sums;  // [chunks, padded(m)] Kᵀ1 of each chunk
  float* peaks;         // [chunks + 1] p of each chunk and, last, of the head, with kRows
  float* cross;         // [n, padded(m)] K (K̂ with kRows), or null beyond kKeptCross
  float* scratch;       // for soft_prepare
};

int64_t soft_state_size(const SoftHead& head);              // floats; only the sizes matter
SoftState soft_state(const SoftHead& head, float* memory);  // carves the state out of that many
int64_t soft_tile_size(const SoftHead& head);               // floats of scratch for each thread

// The phases, in this order; the two that take a chunk may run in parallel over 0..token_chunks-1.
InverseReport soft_prepare(const SoftHead& head, const SoftOptions& options, SoftState& state);
void soft_gather(const SoftHead& head, const SoftState& state, int64_t chunk, float* tile);
void soft_mix(const SoftHead& head, const SoftState& state);
void soft_scatter(const SoftHead& head, const SoftState& state, int64_t chunk, Rows y, float* tile);

// u [padded(m)] = N·s, for whoever forms rows of S; s [m]. Returns |u|².
float soft_spread(const SoftHead& head, const float* core, const float* sums, float* spread);
// g of one row from its r and c.
float guarded_sum(float sum, float reach, float spread_square);

// All phases on the calling thread: y [n, d] is written. memory: soft_attention_size floats.
// inverse [m, m], gathered [m, d] and sums [m] receive what backward needs, or are null.
struct SoftSaved {
  float* inverse = nullptr;
  float* gathered = nullptr;
  float* sums = nullptr;
};
int64_t soft_attention_size(const SoftHead& head);
InverseReport soft_attention(const SoftHead& head, const SoftOptions& options, Rows y,
                             float* memory, const SoftSaved& saved = {});

// ---- Backward

struct SoftGradient {
  const float* inverse = nullptr;   // [m, m] X as saved by the forward pass
  const float* gathered = nullptr;  // [m, d] S as saved by the forward pass
  ConstRows y;                      // [n, d] incoming
  Rows q;                           // [n, d] written; of the unscaled q, through K only
  Rows v;                           // [n, d] written
  float* landmark = nullptr;        // [m, d] written
  const float* sums = nullptr;      // [m] s as saved by the forward pass, with kRows
  ConstRows mixed{};                // [n, d] Y of the forward pass, with kRows
};

int64_t soft_backward_size(const SoftHead& head);  // floats of memory
void soft_attention_backward(const SoftHead& head, const SoftOptions& options,
                             const SoftGradient& gradient, float* memory);

}  // namespace soft
