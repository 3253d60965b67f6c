// SOFT where every token is its own landmark (stage4=soft): Y = A·V with A = exp(-½|L_i - L_j|²),
// L = GELU(LN(Linear(Q))). O(n²·d) work, a few rows of A at a time.
#include <algorithm>

#include "engine/mix.h"
#include "engine/sampler.h"
#include "kernels/gaussian.h"
#include "kernels/gemm.h"
#include "kernels/landmarks.h"

namespace soft {
namespace {

constexpr int64_t kTileRows = 64;

struct DenseMemory {
  float* landmarks;  // [n, d]
  float* tile;       // [kTileRows, n]
  float* scratch;
};

// Every token its own landmark.
LandmarkConv landmark_linear(const MixShape& shape, const PackedLayer* layer) {
  return layer_conv(windows_by_ratio({shape.tokens(), 1}, {1, 1}), shape.head_dim(), layer);
}

DenseMemory carve(const MixShape& shape, float* memory) {
  const int64_t landmarks = padded(shape.tokens() * shape.head_dim());
  const int64_t tile = padded(kTileRows * shape.tokens());
  return {memory, memory + landmarks, memory + landmarks + tile};
}

// Rows [begin, begin + rows) of A, [rows, n].
void kernel_rows(const MixShape& shape, const DenseMemory& memory, int64_t begin, int64_t rows,
                 float* out) {
  const int64_t n = shape.tokens(), d = shape.head_dim();
  const ConstRows landmarks{memory.landmarks, d};
  gaussian({rows, n, d}, {landmarks.row(begin), d}, 1, landmarks, {out, n}, memory.scratch);
  for (int64_t i = 0; i < rows; ++i) out[i * n + begin + i] = 1;
}

}  // namespace

int64_t dense_needs(const MixShape& shape) {
  const int64_t n = shape.tokens(), d = shape.head_dim();
  return padded(n * d) + padded(kTileRows * n) +
         std::max(landmark_scratch(landmark_linear(shape, nullptr)), gaussian_scratch(n, d));
}

void mix_dense(const MixShape& shape, const MixJob& job, int64_t head, float* y, float* scratch) {
  const int64_t n = shape.tokens(), d = shape.head_dim();
  const HeadRows rows = head_rows(shape, job, head);
  const Rows out = head_output(shape, y, head);
  const DenseMemory memory = carve(shape, scratch);
  landmark_conv(landmark_linear(shape, &job.layer), rows.q, memory.landmarks, nullptr,
                memory.scratch);
  for (int64_t begin = 0; begin < n; begin += kTileRows) {
    const int64_t count = std::min(kTileRows, n - begin);
    kernel_rows(shape, memory, begin, count, memory.tile);
    gemm({count, d, n}, {memory.tile, n}, {rows.v.data, rows.v.stride}, out.row(begin), out.stride);
  }
  if (!has_value_path(job)) return;
  for (int64_t i = 0; i < shape.prefix;
       ++i) {  // a class token has no neighbours: V itself is added
    for (int64_t c = 0; c < d; ++c) out.row(i)[c] += rows.v.row(i)[c];
  }
  add_value_path(shape, job, head, rows.v, out, 0, shape.grid.h);
}

void dense_row(const MixShape& shape, const MixJob& job, int64_t head, int64_t token, float* out,
               float* scratch) {
  const DenseMemory memory = carve(shape, scratch);
  landmark_conv(landmark_linear(shape, &job.layer), head_rows(shape, job, head).q, memory.landmarks,
                nullptr, memory.scratch);
  kernel_rows(shape, memory, token, 1, out);
}

}  // namespace soft
