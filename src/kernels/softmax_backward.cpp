// The backward pass of softmax_attention.h; the equations stand there.
#include "kernels/carver.h"
#include "kernels/gemm.h"
#include "kernels/softmax_tile.h"

namespace soft {
namespace {

struct Memory {
  float* keys;     // [tiles, d, kKeyTile] scale·Kᵀ
  float* values;   // [tiles, d, kKeyTile] Vᵀ
  float* bias;     // [tiles · kKeyTile]
  float* delta;    // [n]
  float* p;        // [kQueryTile, kKeyTile] P
  float* dropped;  // [kQueryTile, kKeyTile] P after dropout
  float* ds;       // [kQueryTile, kKeyTile] dS
};

Memory carve(int64_t tokens, int64_t dim, Carver& carver) {
  const int64_t tiles = key_tiles(tokens);
  Memory memory{};
  memory.keys = carver.take(tiles * dim * kKeyTile);
  memory.values = carver.take(tiles * dim * kKeyTile);
  memory.bias = carver.take(tiles * kKeyTile);
  memory.delta = carver.take(tokens);
  memory.p = carver.take(kQueryTile * kKeyTile);
  memory.dropped = carver.take(kQueryTile * kKeyTile);
  memory.ds = carver.take(kQueryTile * kKeyTile);
  return memory;
}

void fill_delta(const SoftmaxHead& head, const SoftmaxGradient& gradient, float* delta) {
  for (int64_t i = 0; i < head.tokens; ++i) {
    const float *y = gradient.y.row(i), *g = gradient.grad_y.row(i);
    delta[i] = 0;
    for (int64_t c = 0; c < head.dim; ++c) delta[i] += g[c] * y[c];
  }
}

// What the queries [first, first + rows) and the keys of tile t have to do with each other.
void run_tile(const SoftmaxHead& head, const SoftmaxGradient& gradient, const Memory& memory,
              int64_t t, int64_t first, int64_t rows) {
  const int64_t d = head.dim, key = t * kKeyTile, keys = std::min(kKeyTile, head.tokens - key);
  const float others = first == 0 ? 0 : 1;  // of these keys, from earlier queries
  const ConstRows g{gradient.grad_y.row(first), gradient.grad_y.stride};
  const ConstRows q{head.q.row(first), head.q.stride}, k{head.k.row(key), head.k.stride};
  recall_weights(head, {first, rows, t, memory.keys + key * d, memory.p}, memory.bias,
                 gradient.log_sums);
  const float* p = memory.p;
  if (head.dropout != 0) {
    drop_weights(head, {first, rows, t, nullptr, memory.dropped}, memory.p);
    p = memory.dropped;
  }
  gemm({keys, d, rows, 1, others}, {p, kKeyTile, true}, {g.data, g.stride}, gradient.v.row(key),
       gradient.v.stride);
  score_gradient(head, {first, rows, t, memory.values + key * d, memory.ds}, g, memory.p,
                 memory.delta + first);
  gemm({rows, d, keys, head.scale, t == 0 ? 0.0f : 1.0f}, {memory.ds, kKeyTile}, {k.data, k.stride},
       gradient.q.row(first), gradient.q.stride);
  gemm({keys, d, rows, head.scale, others}, {memory.ds, kKeyTile, true}, {q.data, q.stride},
       gradient.k.row(key), gradient.k.stride);
}

}  // namespace

int64_t softmax_backward_scratch(int64_t tokens, int64_t dim) {
  Carver counter(nullptr);
  carve(tokens, dim, counter);
  return counter.used();
}

void softmax_attention_backward(const SoftmaxHead& head, const SoftmaxGradient& gradient,
                                float* scratch) {
  const int64_t n = head.tokens, d = head.dim;
  Carver carver(scratch);
  const Memory memory = carve(n, d, carver);
  pack_columns(n, d, head.k, head.scale, memory.keys);
  pack_columns(n, d, head.v, 1, memory.values);
  key_bias(head, memory.bias);
  fill_delta(head, gradient, memory.delta);
  for (int64_t t = 0; t < key_tiles(n); ++t) {
    for (int64_t first = 0; first < n; first += kQueryTile) {
      run_tile(head, gradient, memory, t, first, std::min(kQueryTile, n - first));
    }
  }
}

}  // namespace soft
