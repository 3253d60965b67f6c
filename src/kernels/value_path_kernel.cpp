// The gradient of the value path's kernels: for every tap, grad_y times V shifted by that tap,
// summed over tokens and channels.
#include <algorithm>

#include "kernels/value_path.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/value_path_kernel.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace soft {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int kGroup = 3;  // neighbouring taps that share the loads of grad_y

// A few rows of the grid, of which tokens in columns [x_begin, x_end) meet some neighbouring taps.
struct Patch {
  const float* g;  // grad_y of the first row, from the first channel of the head on
  const float* v;  // V at that place, shifted by the first tap
  int64_t g_stride, v_stride;
  int64_t width;  // tokens from one grid row to the next
  int64_t rows;
  int64_t x_begin, x_end;
};

// sums[t] += Σ g·(v shifted by t more tokens) over the patch and over kVecs vectors of channels.
template <int kTaps, int kVecs, class D>
HWY_INLINE void add_products(D d, const Patch& patch, int64_t channel, float* sums) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<D> sum[kTaps][kVecs];
  HWY_UNROLL(3)
  for (int t = 0; t < kTaps; ++t) {
    HWY_UNROLL(4)
    for (int j = 0; j < kVecs; ++j) sum[t][j] = hn::Zero(d);
  }
  for (int64_t row = 0; row < patch.rows; ++row) {
    for (int64_t x = patch.x_begin; x < patch.x_end; ++x) {
      const int64_t token = row * patch.width + x;
      const float* g = patch.g + token * patch.g_stride + channel;
      const float* v = patch.v + token * patch.v_stride + channel;
      HWY_UNROLL(4)
      for (int j = 0; j < kVecs; ++j) {
        const auto incoming = hn::LoadU(d, g + j * lanes);
        HWY_UNROLL(3)
        for (int t = 0; t < kTaps; ++t) {
          const auto value = hn::LoadU(d, v + t * patch.v_stride + j * lanes);
          sum[t][j] = hn::MulAdd(incoming, value, sum[t][j]);
        }
      }
    }
  }
  HWY_UNROLL(3)
  for (int t = 0; t < kTaps; ++t) {
    HWY_UNROLL(4)
    for (int j = 1; j < kVecs; ++j) sum[t][0] = hn::Add(sum[t][0], sum[t][j]);
    sums[t] += hn::GetLane(hn::SumOfLanes(d, sum[t][0]));
  }
}

// All channels of a head.
template <int kTaps>
void add_all_channels(const Patch& patch, int64_t dim, float* sums) {
  const hn::ScalableTag<float> whole;
  const hn::CappedTag<float, 1> single;
  const auto lanes = static_cast<int64_t>(hn::Lanes(whole));
  int64_t c = 0;
  for (; c + 4 * lanes <= dim; c += 4 * lanes) add_products<kTaps, 4>(whole, patch, c, sums);
  for (; c + lanes <= dim; c += lanes) add_products<kTaps, 1>(whole, patch, c, sums);
  for (; c < dim; ++c) add_products<kTaps, 1>(single, patch, c, sums);
}

void add_group(int taps, const Patch& patch, int64_t dim, float* sums) {
  if (patch.x_begin >= patch.x_end) return;
  if (taps == 3) add_all_channels<3>(patch, dim, sums);
  if (taps == 2) add_all_channels<2>(patch, dim, sums);
  if (taps == 1) add_all_channels<1>(patch, dim, sums);
}

// `taps` taps from column kx on: together where all of them lie inside the grid, one by one near
// the edges.
void add_taps(int taps, int64_t kx, const ValuePath& path, Patch patch, float* sums) {
  const int64_t half = path.kernel.w / 2, width = path.grid.w;
  const auto begin_of = [&](int64_t tap) { return std::clamp<int64_t>(half - tap, 0, width); };
  const auto end_of = [&](int64_t tap) {
    return std::clamp<int64_t>(width + half - tap, 0, width);
  };
  const int64_t common_begin = begin_of(kx);
  const int64_t common_end = std::max(common_begin, end_of(kx + taps - 1));
  patch.v += (kx - half) * patch.v_stride;
  patch.x_begin = common_begin;
  patch.x_end = common_end;
  add_group(taps, patch, path.dim, sums);
  for (int t = 0; t < taps; ++t, patch.v += patch.v_stride) {
    patch.x_begin = begin_of(kx + t);
    patch.x_end = std::min(common_begin, end_of(kx + t));
    add_group(1, patch, path.dim, sums + t);
    patch.x_begin = std::max(common_end, begin_of(kx + t));
    patch.x_end = end_of(kx + t);
    add_group(1, patch, path.dim, sums + t);
  }
}

// Grid rows [row_begin, row_end) against all taps; sums [kh, kw].
void add_rows(const ValuePath& path, ConstRows v, ConstRows g, int64_t row_begin, int64_t row_end,
              float* sums) {
  for (int64_t ky = 0; ky < path.kernel.h; ++ky) {
    const int64_t shift = ky - path.kernel.h / 2;
    const int64_t first = std::max(row_begin, -shift);
    const int64_t rows = std::min(row_end, path.grid.h - shift) - first;
    if (rows <= 0) continue;
    const Patch patch{g.row(first * path.grid.w),
                      v.row((first + shift) * path.grid.w),
                      g.stride,
                      v.stride,
                      path.grid.w,
                      rows,
                      0,
                      0};
    for (int64_t kx = 0; kx < path.kernel.w; kx += kGroup) {
      const auto taps = static_cast<int>(std::min<int64_t>(kGroup, path.kernel.w - kx));
      add_taps(taps, kx, path, patch, sums + ky * path.kernel.w + kx);
    }
  }
}

// Few rows at a time, so that they are still in the first-level cache when the next tap wants them.
void add_head(const ValuePath& path, ConstRows v, ConstRows g, float* sums) {
  constexpr int64_t kCached = 2048;  // floats of grad_y
  const int64_t rows = std::max<int64_t>(1, kCached / (path.grid.w * path.dim));
  for (int64_t row = 0; row < path.grid.h; row += rows) {
    add_rows(path, v, g, row, std::min(row + rows, path.grid.h), sums);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace soft
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace soft {

HWY_EXPORT(add_head);

void value_path_backward_kernel(const ValuePath& path, ConstRows v, ConstRows grad_y,
                                float* grad_kernel, int64_t head_begin, int64_t head_end) {
  for (int64_t head = head_begin; head < head_end; ++head) {
    const int64_t channel = head * path.dim;
    HWY_DYNAMIC_DISPATCH(add_head)
    (path, {v.data + channel, v.stride}, {grad_y.data + channel, grad_y.stride},
     grad_kernel + head * path.kernel.size());
  }
}

}  // namespace soft
#endif
