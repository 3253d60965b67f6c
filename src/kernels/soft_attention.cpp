#include "kernels/soft_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

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
  state.sums = carver.take(m);
  state.core = carver.take(m * m);
  state.mixed = carver.take(m * d);
  state.spread = carver.take(m);
  state.partial = carver.take(token_chunks(head.tokens) * m * d);
  state.partial_sums = carver.take(token_chunks(head.tokens) * padded(m));
  state.peaks = carver.take(token_chunks(head.tokens) + 1);
  state.cross = keeps_cross(head) ? carver.take(head.tokens * padded(m)) : nullptr;
  state.scratch = carver.take(prepare_scratch(head));
  return state;
}

// At least 1, so that it divides.
float real_tokens(const SoftHead& head) {
  if (head.token_mask == nullptr) return static_cast<float>(head.tokens);
  float real = 0;
  for (int64_t i = 0; i < head.tokens; ++i) real += head.token_mask[i];
  return std::max(real, 1.0f);
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

// K of a tile, and V of one.
int64_t soft_tile_size(const SoftHead& head) {
  return kTokenTile * (padded(head.landmarks) + padded(head.dim));
}

void degree_factors(const SoftHead& head, Normalise normalise, const float* a, float* e) {
  const int64_t m = head.landmarks;
  const float all = normalise == Normalise::kMean ? 1 / std::sqrt(real_tokens(head)) : 1;
  for (int64_t i = 0; i < m; ++i) {
    float degree = 0;
    for (int64_t j = 0; j < m; ++j) degree += a[i * m + j];
    e[i] = normalise == Normalise::kCore ? 1 / std::sqrt(degree) : all;
  }
}

void scale_by_degree(int64_t m, const float* e, const float* x, float* core) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < m; ++j) core[i * m + j] = e[i] * x[i * m + j] * e[j];
  }
}

namespace {

// sum [count] of the chunks' parts, in order; they stand `stride` apart. `share` of each chunk.
template <class Share>
void add_parts(const SoftHead& head, const float* parts, int64_t stride, int64_t count, float* sum,
               const Share& share) {
  std::fill_n(sum, count, 0.0f);
  for (int64_t chunk = 0; chunk < token_chunks(head.tokens); ++chunk) {
    const float factor = share(chunk);
    for (int64_t i = 0; i < count; ++i) sum[i] += factor * parts[chunk * stride + i];
  }
}

float square_of(int64_t count, const float* values) {
  float square = 0;
  for (int64_t i = 0; i < count; ++i) square += values[i] * values[i];
  return square;
}

// y [rows, d] /= g, row by row.
void divide_by_sums(const SoftHead& head, const SoftState& state, int64_t rows, const float* k,
                    Rows y) {
  const float square = square_of(head.landmarks, state.spread);
  float dots[kTokenTile], reach[kTokenTile];
  sum_rows(rows, head.landmarks, k, state.spread, {dots, reach});
  for (int64_t i = 0; i < rows; ++i) {
    const float share = 1 / guarded_sum(dots[i], reach[i], square);
    for (int64_t c = 0; c < head.dim; ++c) y.row(i)[c] *= share;
  }
}

}  // namespace

InverseReport soft_prepare(const SoftHead& head, const SoftOptions& options, SoftState& state) {
  const int64_t m = head.landmarks, d = head.dim;
  float* a = state.scratch;  // [m, m]
  float* scratch = state.scratch + padded(m * m);
  state.packed = pack_landmarks(m, d, {head.landmark, d}, head.scale, head.landmark_mask,
                                state.packed.columns);
  gaussian_self(m, d, {head.landmark, d}, head.landmark_mask, a, scratch);
  const InverseReport report = invert(options.inverse, m, a, state.inverse, scratch);
  state.normalise = options.normalise;
  degree_factors(head, options.normalise, a, scratch);
  scale_by_degree(m, scratch, state.inverse, state.core);
  return report;
}

namespace {

// f of a tile's tokens; what was summed up under a lower peak is brought down to the new one.
void raise_peak(int64_t rows, const float* peaks, float& peak, int64_t count, float* sums,
                int64_t width, float* columns, float* f) {
  const float highest = std::max(peak, *std::max_element(peaks, peaks + rows));
  const float share = below_peak(peak, highest);
  if (share != 1) {
    for (int64_t i = 0; i < count; ++i) sums[i] *= share;
    for (int64_t i = 0; i < width; ++i) columns[i] *= share;
  }
  peak = highest;
  for (int64_t i = 0; i < rows; ++i) f[i] = below_peak(peaks[i], peak);
}

// Form kRows: a chunk's sums are relative to its own peak.
void gather_rows(const SoftHead& head, const SoftState& state, int64_t chunk, float* tile) {
  const int64_t m = head.landmarks, d = head.dim, width = padded(m);
  float* sums = state.partial + chunk * m * d;  // [m, d]
  float* columns = state.partial_sums + chunk * width;
  float* v = tile + kTokenTile * width;  // [rows, d] f∘V
  float& peak = state.peaks[chunk] = -std::numeric_limits<float>::infinity();
  std::fill_n(sums, m * d, 0.0f);
  std::fill_n(columns, width, 0.0f);
  for_each_tile(chunk_begin(chunk), chunk_end(head, chunk), [&](int64_t token, int64_t rows) {
    float* k = state.cross == nullptr ? tile : state.cross + token * width;  // [rows, padded(m)]
    float peaks[kTokenTile], f[kTokenTile];
    cross_tile(head, state.packed, token, rows, k, peaks);
    raise_peak(rows, peaks, peak, m * d, sums, width, columns, f);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t c = 0; c < d; ++c) v[i * d + c] = f[i] * head.v.row(token + i)[c];
    }
    gemm({m, d, rows, 1, 1}, {k, width, true}, {v, d}, sums, d);
    add_columns(rows, m, k, f, columns);
  });
}

}  // namespace

void soft_gather(const SoftHead& head, const SoftState& state, int64_t chunk, float* tile) {
  if (state.normalise == Normalise::kRows) return gather_rows(head, state, chunk, tile);
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
  const int64_t m = head.landmarks, d = head.dim, chunks = token_chunks(head.tokens);
  const bool rows = state.normalise == Normalise::kRows;
  if (rows) state.peaks[chunks] = *std::max_element(state.peaks, state.peaks + chunks);
  const auto share = [&](int64_t chunk) {
    return rows ? below_peak(state.peaks[chunk], state.peaks[chunks]) : 1.0f;
  };
  add_parts(head, state.partial, m * d, m * d, state.gathered, share);
  gemm({m, d, m}, {state.core, m}, {state.gathered, d}, state.mixed, d);
  if (!rows) return;
  add_parts(head, state.partial_sums, padded(m), m, state.sums, share);
  soft_spread(head, state.core, state.sums, state.spread);
}

float soft_spread(const SoftHead& head, const float* core, const float* sums, float* spread) {
  const int64_t m = head.landmarks;
  std::fill_n(spread, padded(m), 0.0f);
  gemm({m, 1, m}, {core, m}, {sums, 1}, spread, 1);
  return square_of(m, spread);
}

float guarded_sum(float sum, float reach, float spread_square) {
  constexpr auto kCancel = static_cast<float>(kCancelled * kCancelled);
  constexpr auto kVanish = static_cast<float>(kVanished * kVanished);
  return std::sqrt(sum * sum + kCancel * reach * reach * spread_square + kVanish);
}

void soft_scatter(const SoftHead& head, const SoftState& state, int64_t chunk, Rows y,
                  float* tile) {
  const int64_t m = head.landmarks, d = head.dim, width = padded(m);
  for_each_tile(chunk_begin(chunk), chunk_end(head, chunk), [&](int64_t token, int64_t rows) {
    float* k = state.cross == nullptr ? tile : state.cross + token * width;  // [rows, padded(m)]
    float peaks[kTokenTile];
    const bool by_rows = state.normalise == Normalise::kRows;
    if (state.cross == nullptr) {
      cross_tile(head, state.packed, token, rows, k, by_rows ? peaks : nullptr);
    }
    gemm({rows, d, m}, {k, width}, {state.mixed, d}, y.row(token), y.stride);
    if (by_rows) {
      divide_by_sums(head, state, rows, k, {y.row(token), y.stride});
    }
  });
}

int64_t soft_attention_size(const SoftHead& head) {
  return soft_state_size(head) + soft_tile_size(head);
}

InverseReport soft_attention(const SoftHead& head, const SoftOptions& options, Rows y,
                             float* memory, const SoftSaved& saved) {
  SoftState state = soft_state(head, memory);
  float* tile = memory + soft_state_size(head);
  if (saved.inverse != nullptr) state.inverse = saved.inverse;
  if (saved.gathered != nullptr) state.gathered = saved.gathered;
  if (saved.sums != nullptr) state.sums = saved.sums;
  const InverseReport report = soft_prepare(head, options, state);
  const int64_t chunks = token_chunks(head.tokens);
  for (int64_t chunk = 0; chunk < chunks; ++chunk) soft_gather(head, state, chunk, tile);
  soft_mix(head, state);
  for (int64_t chunk = 0; chunk < chunks; ++chunk) soft_scatter(head, state, chunk, y, tile);
  return report;
}

}  // namespace soft
