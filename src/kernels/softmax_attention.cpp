#include "kernels/softmax_attention.h"

#include <cmath>

#include "kernels/carver.h"
#include "kernels/gemm.h"
#include "kernels/softmax_tile.h"

namespace soft {
namespace {

struct Memory {
  float* keys;     // [tiles, d, kKeyTile] scale·Kᵀ
  float* bias;     // [tiles · kKeyTile]
  float* weights;  // [kQueryTile, kKeyTile]
  float* y;        // [kQueryTile, d]
  float* largest;  // [kQueryTile]
  float* sum;      // [kQueryTile]
  float* factor;   // [kQueryTile]
};

Memory carve(int64_t tokens, int64_t dim, Carver& carver) {
  const int64_t tiles = key_tiles(tokens);
  Memory memory{};
  memory.keys = carver.take(tiles * dim * kKeyTile);
  memory.bias = carver.take(tiles * kKeyTile);
  memory.weights = carver.take(kQueryTile * kKeyTile);
  memory.y = carver.take(kQueryTile * dim);
  memory.largest = carver.take(kQueryTile);
  memory.sum = carver.take(kQueryTile);
  memory.factor = carver.take(kQueryTile);
  return memory;
}

// y [rows, d] <- factor∘y, row by row.
void scale_rows(int64_t rows, int64_t dim, const float* factor, float* y) {
  for (int64_t i = 0; i < rows; ++i) {
    if (factor[i] == 1) continue;
    for (int64_t c = 0; c < dim; ++c) y[i * dim + c] *= factor[i];
  }
}

// The queries [first, first + rows) against every tile of keys: Y unnormalised into memory.y.
void run_queries(const SoftmaxHead& head, const Memory& memory, int64_t first, int64_t rows) {
  constexpr float kLowest = -1e30f;  // finite, so that a row without a real key stays finite
  const int64_t d = head.dim;
  std::fill_n(memory.largest, rows, kLowest);
  std::fill_n(memory.sum, rows, 0.0f);
  std::fill_n(memory.y, rows * d, 0.0f);
  for (int64_t t = 0; t < key_tiles(head.tokens); ++t) {
    const int64_t key = t * kKeyTile, keys = std::min(kKeyTile, head.tokens - key);
    const ScoreTile tile{first, rows, t, memory.keys + key * d, memory.weights};
    weigh_scores(head, tile, memory.bias, {memory.largest, memory.sum, memory.factor});
    drop_weights(head, tile, tile.weights);
    scale_rows(rows, d, memory.factor, memory.y);
    gemm({rows, d, keys, 1, 1}, {memory.weights, kKeyTile}, {head.v.row(key), head.v.stride},
         memory.y, d);
  }
}

}  // namespace

int64_t softmax_scratch(int64_t tokens, int64_t dim) {
  Carver counter(nullptr);
  carve(tokens, dim, counter);
  return counter.used();
}

void softmax_attention(const SoftmaxHead& head, Rows y, float* scratch, float* log_sums) {
  const int64_t n = head.tokens, d = head.dim;
  Carver carver(scratch);
  const Memory memory = carve(n, d, carver);
  pack_columns(n, d, head.k, head.scale, memory.keys);
  key_bias(head, memory.bias);
  const int64_t queries = head.queries > 0 ? head.queries : n;
  for (int64_t first = 0; first < queries; first += kQueryTile) {
    const int64_t rows = std::min(kQueryTile, queries - first);
    run_queries(head, memory, first, rows);
    for (int64_t i = 0; i < rows; ++i) {
      const float sum = memory.sum[i], share = sum > 0 ? 1 / sum : 0;
      for (int64_t c = 0; c < d; ++c) y.row(first + i)[c] = share * memory.y[i * d + c];
      if (log_sums == nullptr) continue;
      log_sums[first + i] = sum > 0 ? memory.largest[i] + std::log(sum) : 0;
    }
  }
}

}  // namespace soft
