#include "kernels/gaussian.h"

#include <algorithm>
#include <limits>

#include "kernels/gemm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gaussian.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "kernels/gemm-inl.h"
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace soft {
namespace HWY_NAMESPACE {
namespace {

constexpr float kFarAway = std::numeric_limits<float>::infinity();

// ½|scale·x_i|² of each row, infinite where the mask is 0 so that the row's kernel vanishes.
void half_norms(int64_t rows, int64_t dim, ConstRows x, float scale, const float* mask,
                float* norms) {
  for (int64_t i = 0; i < rows; ++i) {
    const bool real = mask == nullptr || mask[i] != 0;
    norms[i] = real ? 0.5f * scale * scale * square_sum(x.row(i), dim) : kFarAway;
  }
}

// At most kStrip rows, whose norms wait on the stack.
constexpr int64_t kStrip = 64;

// finish(exponents) is what is written to k.
template <class Finish>
HWY_INLINE void kernel_strip(const PackedLandmarks& packed, int64_t rows, ConstRows q,
                             const float* token_mask, float* k, const Finish& finish) {
  const FloatTag d;
  const int64_t stride = padded(packed.landmarks);
  float norms[kStrip];
  half_norms(rows, packed.dim, q, packed.scale, token_mask, norms);
  multiply(rows, vectors(packed.landmarks), packed.dim, {q.data, q.stride, 1},
           {packed.columns, stride}, [&](int64_t row, int64_t column, const auto& tile) HWY_ATTR {
             tile.visit([&](int64_t i, int64_t offset, FloatVec product) HWY_ATTR {
               const int64_t j = column + offset;
               const FloatVec far =
                   hn::Add(hn::LoadU(d, packed.half_norms + j), hn::Set(d, norms[row + i]));
               const FloatVec exponent = hn::Min(hn::Zero(d), hn::Sub(product, far));
               hn::StoreU(finish(exponent), d, k + (row + i) * stride + j);
             });
           });
  for (int64_t j = vectors(packed.landmarks) * lanes(); j < stride; j += lanes()) {
    for (int64_t i = 0; i < rows; ++i) hn::StoreU(hn::Zero(d), d, k + i * stride + j);
  }
}

void kernel_tile(const PackedLandmarks& packed, int64_t rows, ConstRows q, const float* token_mask,
                 float* k) {
  for (int64_t row = 0; row < rows; row += kStrip) {
    kernel_strip(packed, std::min(kStrip, rows - row), {q.row(row), q.stride},
                 token_mask == nullptr ? nullptr : token_mask + row,
                 k + row * padded(packed.landmarks),
                 [](FloatVec exponent) HWY_ATTR { return exp_nonpositive(FloatTag(), exponent); });
  }
}

// exponents [columns] become exp(exponent - peak); returns the peak.
float relative_to_peak(int64_t columns, float* exponents) {
  const FloatTag d;
  FloatVec largest = hn::Set(d, -kFarAway);
  for (int64_t j = 0; j < columns; j += lanes()) {
    largest = hn::Max(largest, hn::LoadU(d, exponents + j));
  }
  const float peak = hn::GetLane(hn::MaxOfLanes(d, largest));
  const FloatVec shift = hn::Set(d, peak == -kFarAway ? 0 : peak);
  for (int64_t j = 0; j < columns; j += lanes()) {
    const FloatVec exponent = hn::Sub(hn::LoadU(d, exponents + j), shift);
    hn::StoreU(exp_nonpositive(d, exponent), d, exponents + j);
  }
  return peak;
}

void peaked_tile(const PackedLandmarks& packed, int64_t rows, ConstRows q, const float* token_mask,
                 float* k, float* peaks) {
  const int64_t stride = padded(packed.landmarks), used = vectors(packed.landmarks) * lanes();
  for (int64_t row = 0; row < rows; row += kStrip) {
    const int64_t count = std::min(kStrip, rows - row);
    kernel_strip(packed, count, {q.row(row), q.stride},
                 token_mask == nullptr ? nullptr : token_mask + row, k + row * stride,
                 [](FloatVec exponent) HWY_ATTR { return exponent; });
    for (int64_t i = row; i < row + count; ++i) peaks[i] = relative_to_peak(used, k + i * stride);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace soft
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace soft {

HWY_EXPORT(kernel_tile);
HWY_EXPORT(peaked_tile);
HWY_EXPORT(half_norms);

void gaussian_tile(const PackedLandmarks& packed, int64_t rows, ConstRows q,
                   const float* token_mask, float* k) {
  HWY_DYNAMIC_DISPATCH(kernel_tile)(packed, rows, q, token_mask, k);
}

void gaussian_peaked(const PackedLandmarks& packed, int64_t rows, ConstRows q,
                     const float* token_mask, float* k, float* peaks) {
  HWY_DYNAMIC_DISPATCH(peaked_tile)(packed, rows, q, token_mask, k, peaks);
}

int64_t packed_landmarks_size(int64_t landmarks, int64_t dim) {
  return (dim + 1) * padded(landmarks);
}

PackedLandmarks pack_landmarks(int64_t landmarks, int64_t dim, ConstRows l, float scale,
                               const float* mask, float* memory) {
  const int64_t width = padded(landmarks);
  const PackedLandmarks packed{landmarks, dim, scale, memory, memory + dim * width};
  std::fill_n(packed.columns, dim * width, 0.0f);
  transpose(landmarks, dim, l.data, l.stride, packed.columns, width);
  for (int64_t i = 0; i < dim * width; ++i) packed.columns[i] *= scale;
  std::fill_n(packed.half_norms, width, std::numeric_limits<float>::infinity());
  HWY_DYNAMIC_DISPATCH(half_norms)(landmarks, dim, l, 1, mask, packed.half_norms);
  return packed;
}

namespace {
constexpr int64_t kTileRows = 64;
}

int64_t gaussian_scratch(int64_t landmarks, int64_t dim) {
  return packed_landmarks_size(landmarks, dim) + kTileRows * padded(landmarks);
}

void gaussian(const GaussianShape& shape, ConstRows q, float scale, ConstRows l, Rows k,
              float* scratch) {
  const PackedLandmarks packed =
      pack_landmarks(shape.landmarks, shape.dim, l, scale, nullptr, scratch);
  float* tile = scratch + packed_landmarks_size(shape.landmarks, shape.dim);
  for (int64_t row = 0; row < shape.rows; row += kTileRows) {
    const int64_t rows = std::min(kTileRows, shape.rows - row);
    gaussian_tile(packed, rows, {q.row(row), q.stride}, nullptr, tile);
    for (int64_t i = 0; i < rows; ++i) {
      std::copy_n(tile + i * padded(shape.landmarks), shape.landmarks, k.row(row + i));
    }
  }
}

void gaussian_self(int64_t landmarks, int64_t dim, ConstRows l, const float* mask, float* a,
                   float* scratch) {
  const PackedLandmarks packed = pack_landmarks(landmarks, dim, l, 1, mask, scratch);
  float* tile = scratch + packed_landmarks_size(landmarks, dim);
  for (int64_t row = 0; row < landmarks; row += kTileRows) {
    const int64_t rows = std::min(kTileRows, landmarks - row);
    gaussian_tile(packed, rows, {l.row(row), l.stride}, mask == nullptr ? nullptr : mask + row,
                  tile);
    for (int64_t i = 0; i < rows; ++i) {
      std::copy_n(tile + i * padded(landmarks), landmarks, a + (row + i) * landmarks);
    }
  }
  for (int64_t i = 0; i < landmarks; ++i) a[i * landmarks + i] = 1;
}

}  // namespace soft
#endif
