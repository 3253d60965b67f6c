#include "kernels/softmax_tile.h"

#include <cmath>
#include <limits>

#include "kernels/dropout.h"
#include "kernels/gemm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/softmax_tile.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "kernels/gemm-inl.h"
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace soft {
namespace HWY_NAMESPACE {
namespace {

// weights [rows, kKeyTile] = left [rows, d] · columns [d, kKeyTile]; of a short last tile only the
// vectors that hold a key.
void multiply_columns(const SoftmaxHead& head, const ScoreTile& tile, ConstRows left) {
  const FloatTag d;
  const int64_t keys = std::min(kKeyTile, head.tokens - tile.keys * kKeyTile);
  multiply(tile.rows, vectors(keys), head.dim, {left.data, left.stride, 1},
           {tile.columns, kKeyTile}, [&](int64_t row, int64_t column, const auto& part) HWY_ATTR {
             part.visit([&](int64_t i, int64_t j, FloatVec score) HWY_ATTR {
               hn::StoreU(score, d, tile.weights + (row + i) * kKeyTile + column + j);
             });
           });
}

int64_t used_keys(const SoftmaxHead& head, const ScoreTile& tile) {
  return vectors(std::min(kKeyTile, head.tokens - tile.keys * kKeyTile)) * lanes();
}

ConstRows queries(const SoftmaxHead& head, const ScoreTile& tile) {
  return {head.q.row(tile.first), head.q.stride};
}

void weigh_row(const FloatTag d, int64_t width, const float* bias, float* row, float& largest,
               float& sum, float& factor) {
  FloatVec top = hn::Set(d, largest);
  for (int64_t j = 0; j < width; j += lanes()) {
    const FloatVec score = hn::Add(hn::LoadU(d, row + j), hn::LoadU(d, bias + j));
    hn::StoreU(score, d, row + j);
    top = hn::Max(top, score);
  }
  top = hn::MaxOfLanes(d, top);
  FloatVec total = hn::Zero(d);
  for (int64_t j = 0; j < width; j += lanes()) {
    const FloatVec e = exp_nonpositive(d, hn::Sub(hn::LoadU(d, row + j), top));
    hn::StoreU(e, d, row + j);
    total = hn::Add(total, e);
  }
  const float now = hn::GetLane(top);
  factor = std::exp(largest - now);
  sum = factor * sum + hn::GetLane(hn::SumOfLanes(d, total));
  largest = now;
}

void weigh(const SoftmaxHead& head, const ScoreTile& tile, const float* bias,
           const Running& running) {
  const FloatTag d;
  multiply_columns(head, tile, queries(head, tile));
  const int64_t width = used_keys(head, tile);
  for (int64_t i = 0; i < tile.rows; ++i) {
    weigh_row(d, width, bias + tile.keys * kKeyTile, tile.weights + i * kKeyTile,
              running.largest[i], running.sum[i], running.factor[i]);
  }
}

void recall(const SoftmaxHead& head, const ScoreTile& tile, const float* bias,
            const float* log_sums) {
  const FloatTag d;
  multiply_columns(head, tile, queries(head, tile));
  const int64_t width = used_keys(head, tile);
  bias += tile.keys * kKeyTile;
  for (int64_t i = 0; i < tile.rows; ++i) {
    float* row = tile.weights + i * kKeyTile;
    const FloatVec log_sum = hn::Set(d, log_sums[tile.first + i]);
    for (int64_t j = 0; j < width; j += lanes()) {
      const FloatVec score = hn::Add(hn::LoadU(d, row + j), hn::LoadU(d, bias + j));
      hn::StoreU(exp_nonpositive(d, hn::Sub(score, log_sum)), d, row + j);
    }
  }
}

void finish_gradient(const SoftmaxHead& head, const ScoreTile& tile, const float* p,
                     const float* delta) {
  const FloatTag d;
  const int64_t width = used_keys(head, tile);
  for (int64_t i = 0; i < tile.rows; ++i) {
    float* row = tile.weights + i * kKeyTile;
    const FloatVec own = hn::Set(d, delta[i]);
    for (int64_t j = 0; j < width; j += lanes()) {
      const FloatVec weight = hn::LoadU(d, p + i * kKeyTile + j);
      hn::StoreU(hn::Mul(weight, hn::Sub(hn::LoadU(d, row + j), own)), d, row + j);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace soft
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace soft {
HWY_EXPORT(weigh);
HWY_EXPORT(recall);
HWY_EXPORT(multiply_columns);
HWY_EXPORT(finish_gradient);

void pack_columns(int64_t tokens, int64_t dim, ConstRows rows, float factor, float* packed) {
  const int64_t floats = key_tiles(tokens) * dim * kKeyTile;
  std::fill_n(packed, floats, 0.0f);
  for (int64_t first = 0; first < tokens; first += kKeyTile) {
    transpose(std::min(kKeyTile, tokens - first), dim, rows.row(first), rows.stride,
              packed + first * dim, kKeyTile);
  }
  for (int64_t i = 0; factor != 1 && i < floats; ++i) packed[i] *= factor;
}

void key_bias(const SoftmaxHead& head, float* bias) {
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  std::fill_n(bias, key_tiles(head.tokens) * kKeyTile, kNever);
  for (int64_t j = 0; j < head.tokens; ++j) {
    if (head.key_mask == nullptr || head.key_mask[j] != 0) bias[j] = 0;
  }
}

void weigh_scores(const SoftmaxHead& head, const ScoreTile& tile, const float* bias,
                  const Running& running) {
  HWY_DYNAMIC_DISPATCH(weigh)(head, tile, bias, running);
}

void recall_weights(const SoftmaxHead& head, const ScoreTile& tile, const float* bias,
                    const float* log_sums) {
  HWY_DYNAMIC_DISPATCH(recall)(head, tile, bias, log_sums);
}

void score_gradient(const SoftmaxHead& head, const ScoreTile& tile, ConstRows left, const float* p,
                    const float* delta) {
  HWY_DYNAMIC_DISPATCH(multiply_columns)(head, tile, left);
  drop_weights(head, tile, tile.weights);
  HWY_DYNAMIC_DISPATCH(finish_gradient)(head, tile, p, delta);
}

void drop_weights(const SoftmaxHead& head, const ScoreTile& tile, const float* from) {
  if (head.dropout == 0) return;
  const int64_t first = tile.keys * kKeyTile, keys = std::min(kKeyTile, head.tokens - first);
  for (int64_t i = 0; i < tile.rows; ++i) {
    drop_row({head.dropout, head.seed}, tile.first + i, first, keys, from + i * kKeyTile,
             tile.weights + i * kKeyTile);
  }
}

}  // namespace soft
#endif
