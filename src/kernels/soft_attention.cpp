#include "kernels/soft_attention.h"

#include <algorithm>
#include <cmath>

#include "kernels/carver.h"
#include "kernels/gemm.h"
#include "kernels/soft_tile.h"

namespace soft {
namespace {

int64_t prepare_scratch(const SoftHead& head) {
  return padded(head.landmarks * head.landmarks) +
         std::max(gaussian_scratch(head.landmarks, head.dim), inverse_scratch(head.landmarks));
}

// The state, and how many floats it takes.
SoftState carve(const SoftHead& head, Carver& carver) {
  const int64_t m = head.landmarks, d = head.dim;
  SoftState state{};
  state.packed.columns = carver.take(packed_landmarks_size(m, d));
  state.inverse = carver.take(m * m);
  state.gathered = carver.take(m * d);
  state.core = carver.take(m * m);
  state.mixed = carver.take(m * d);
  state.partial = carver.take(token_chunks(head.tokens) * m * d);
  state.cross = keeps_cross(head) ? carver.take(head.tokens * padded(m)) : nullptr;
  state.scratch = carver.take(prepare_scratch(head));
  return state;
}

// Tokens [begin, end) of a chunk.
int64_t chunk_begin(int64_t chunk) { return chunk * kTokenChunk; }
int64_t chunk_end(const SoftHead& head, int64_t chunk) {
  return std::min(head.tokens, (chunk + 1) * kTokenChunk);
}

}  // namespace

int64_t soft_state_size(const SoftHead& head) {
  Carver counter(nullptr);
  carve(head, counter);
  return counter.used();
}

SoftState soft_state(const SoftHead& head, float* memory) {
  Carver carver(memory);
  return carve(head, carver);
}

int64_t soft_tile_size(const SoftHead& head) { return kTokenTile * padded(head.landmarks); }

void degree_factors(int64_t m, bool norm, const float* a, float* e) {
  for (int64_t i = 0; i < m; ++i) {
    float degree = 0;
    for (int64_t j = 0; j < m; ++j) degree += a[i * m + j];
    e[i] = norm ? 1 / std::sqrt(degree) : 1;
  }
}

void scale_by_degree(int64_t m, const float* e, const float* x, float* core) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < m; ++j) core[i * m + j] = e[i] * x[i * m + j] * e[j];
  }
}

InverseReport soft_prepare(const SoftHead& head, const SoftOptions& options, SoftState& state) {
  const int64_t m = head.landmarks, d = head.dim;
  float* a = state.scratch;  // [m, m]
  float* scratch = state.scratch + padded(m * m);
  state.packed = pack_landmarks(m, d, {head.landmark, d}, head.scale, head.landmark_mask,
                                state.packed.columns);
  gaussian_self(m, d, {head.landmark, d}, head.landmark_mask, a, scratch);
  const InverseReport report = invert(options.inverse, m, a, state.inverse, scratch);
  degree_factors(m, options.norm, a, scratch);
  scale_by_degree(m, scratch, state.inverse, state.core);
  return report;
}

void soft_gather(const SoftHead& head, const SoftState& state, int64_t chunk, float* tile) {
  const int64_t m = head.landmarks, d = head.dim, width = padded(m);
  float* sums = state.partial + chunk * m * d;  // [m, d]
  for_each_tile(chunk_begin(chunk), chunk_end(head, chunk), [&](int64_t token, int64_t rows) {
    float* k = state.cross == nullptr ? tile : state.cross + token * width;  // [rows, padded(m)]
    cross_tile(head, state.packed, token, rows, k);
    const float beta = token == chunk_begin(chunk) ? 0 : 1;
    gemm({m, d, rows, 1, beta}, {k, width, true}, {head.v.row(token), head.v.stride}, sums, d);
  });
}

void soft_mix(const SoftHead& head, const SoftState& state) {
  const int64_t m = head.landmarks, d = head.dim;
  std::copy_n(state.partial, m * d, state.gathered);
  for (int64_t chunk = 1; chunk < token_chunks(head.tokens); ++chunk) {
    const float* sums = state.partial + chunk * m * d;
    for (int64_t i = 0; i < m * d; ++i) state.gathered[i] += sums[i];
  }
  gemm({m, d, m}, {state.core, m}, {state.gathered, d}, state.mixed, d);
}

void soft_scatter(const SoftHead& head, const SoftState& state, int64_t chunk, Rows y,
                  float* tile) {
  const int64_t m = head.landmarks, d = head.dim, width = padded(m);
  for_each_tile(chunk_begin(chunk), chunk_end(head, chunk), [&](int64_t token, int64_t rows) {
    float* k = state.cross == nullptr ? tile : state.cross + token * width;  // [rows, padded(m)]
    if (state.cross == nullptr) cross_tile(head, state.packed, token, rows, k);
    gemm({rows, d, m}, {k, width}, {state.mixed, d}, y.row(token), y.stride);
  });
}

int64_t soft_attention_size(const SoftHead& head) {
  return soft_state_size(head) + soft_tile_size(head);
}

InverseReport soft_attention(const SoftHead& head, const SoftOptions& options, Rows y,
                             float* memory, float* inverse, float* gathered) {
  SoftState state = soft_state(head, memory);
  float* tile = memory + soft_state_size(head);
  if (inverse != nullptr) state.inverse = inverse;
  if (gathered != nullptr) state.gathered = gathered;
  const InverseReport report = soft_prepare(head, options, state);
  const int64_t chunks = token_chunks(head.tokens);
  for (int64_t chunk = 0; chunk < chunks; ++chunk) soft_gather(head, state, chunk, tile);
  soft_mix(head, state);
  for (int64_t chunk = 0; chunk < chunks; ++chunk) soft_scatter(head, state, chunk, y, tile);
  return report;
}

}  // namespace soft
