#include "kernels/value_path.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/value_path.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace soft {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Accumulators of a block: pixels times vectors of channels.
#if HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr int kSums = 24;
#else
constexpr int kSums = 12;
#endif

// Part of one output row of the grid, for one head and a group of its channels.
struct Strip {
  Grid grid;
  Grid kernel;
  const float* weight;  // the head's first tap; the next one is `direction` further
  int64_t direction;    // 1, or -1 for the transposed convolution
  ConstRows v;          // tokens, from the group's first channel on
  Rows y;
  int64_t row;
  int64_t x_begin;
  int64_t x_end;

  float weight_at(int64_t ky, int64_t kx) const { return weight[(ky * kernel.w + kx) * direction]; }
  // The kernel rows that meet the grid.
  int64_t ky_begin() const { return std::max<int64_t>(0, kernel.h / 2 - row); }
  int64_t ky_end() const { return std::min(kernel.h, grid.h + kernel.h / 2 - row); }
};

// kPixels neighbours from column x on, for kernel columns [kx_begin, kx_end) that all of them have.
template <int kPixels, int kVecs, class D>
HWY_INLINE void convolve(D d, const Strip& s, int64_t x, int64_t kx_begin, int64_t kx_end) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  float* out = s.y.row(s.row * s.grid.w + x);
  hn::Vec<D> sum[kPixels][kVecs];
  HWY_UNROLL(24)
  for (int p = 0; p < kPixels; ++p) {
    HWY_UNROLL(4)
    for (int j = 0; j < kVecs; ++j) sum[p][j] = hn::LoadU(d, out + p * s.y.stride + j * lanes);
  }
  for (int64_t ky = s.ky_begin(); ky < s.ky_end(); ++ky) {
    const int64_t in_row = s.row + ky - s.kernel.h / 2;
    const float* in = s.v.row(in_row * s.grid.w + x + kx_begin - s.kernel.w / 2);
    for (int64_t kx = kx_begin; kx < kx_end; ++kx, in += s.v.stride) {
      const auto weight = hn::Set(d, s.weight_at(ky, kx));
      HWY_UNROLL(24)
      for (int p = 0; p < kPixels; ++p) {
        HWY_UNROLL(4)
        for (int j = 0; j < kVecs; ++j) {
          sum[p][j] = hn::MulAdd(weight, hn::LoadU(d, in + p * s.v.stride + j * lanes), sum[p][j]);
        }
      }
    }
  }
  HWY_UNROLL(24)
  for (int p = 0; p < kPixels; ++p) {
    HWY_UNROLL(4)
    for (int j = 0; j < kVecs; ++j) hn::StoreU(sum[p][j], d, out + p * s.y.stride + j * lanes);
  }
}

// `pixels` <= kPixels inner pixels.
template <int kPixels, int kVecs, class D>
HWY_INLINE void convolve_inner(D d, const Strip& s, int64_t x, int64_t pixels) {
  if (pixels == kPixels) {
    convolve<kPixels, kVecs>(d, s, x, 0, s.kernel.w);
  } else if constexpr (kPixels > 1) {
    convolve_inner<kPixels - 1, kVecs>(d, s, x, pixels);
  }
}

// Pixels near the left and right edge have fewer taps and go one by one; the others in blocks.
template <int kVecs, class D>
HWY_INLINE void convolve_strip(D d, const Strip& s) {
  constexpr int kPixels = kSums / kVecs > 6 ? 6 : kSums / kVecs;
  const int64_t half = s.kernel.w / 2;
  const int64_t inner_end = std::min(s.x_end, s.grid.w - half);
  for (int64_t x = s.x_begin; x < s.x_end;) {
    if (x < half || x >= inner_end) {
      convolve<1, kVecs>(d, s, x, std::max<int64_t>(0, half - x),
                         std::min(s.kernel.w, s.grid.w + half - x));
      ++x;
    } else {
      const int64_t pixels = std::min<int64_t>(kPixels, inner_end - x);
      convolve_inner<kPixels, kVecs>(d, s, x, pixels);
      x += pixels;
    }
  }
}

// All channels of a head, in the widest groups that fit.
void convolve_head(Strip s, int64_t dim) {
  const hn::ScalableTag<float> whole;
  const hn::CappedTag<float, 1> single;
  const auto lanes = static_cast<int64_t>(hn::Lanes(whole));
  const auto advance = [&](int64_t channels) {
    s.v.data += channels;
    s.y.data += channels;
    dim -= channels;
  };
  for (; dim >= 4 * lanes; advance(4 * lanes)) convolve_strip<4>(whole, s);
  for (; dim >= 2 * lanes; advance(2 * lanes)) convolve_strip<2>(whole, s);
  for (; dim >= lanes; advance(lanes)) convolve_strip<1>(whole, s);
  for (; dim > 0; advance(1)) convolve_strip<1>(single, s);
}

// Output tokens from row begin.h and column begin.w up to, not including, end.h and end.w.
void convolve_area(const ValuePath& path, const float* kernel, int64_t direction, ConstRows v,
                   Rows y, Grid begin, Grid end) {
  const float* first = direction > 0 ? kernel : kernel + path.kernel.size() - 1;
  for (int64_t row = begin.h; row < end.h; ++row) {
    for (int64_t head = 0; head < path.heads; ++head) {
      const int64_t channel = head * path.dim;
      const ConstRows in{v.data + channel, v.stride};
      const Rows out{y.data + channel, y.stride};
      convolve_head({path.grid, path.kernel, first + head * path.kernel.size(), direction, in, out,
                     row, begin.w, end.w},
                    path.dim);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace soft
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace soft {

HWY_EXPORT(convolve_area);

namespace {

// Rows of a sequence {n, 1} are columns of {1, n}, which is the same memory and the shape that the
// code above blocks.
void convolve(ValuePath path, const float* kernel, int64_t direction, ConstRows v, Rows y,
              int64_t row_begin, int64_t row_end) {
  if (path.grid.w == 1 && path.kernel.w == 1) {
    path.grid = {1, path.grid.h};
    path.kernel = {1, path.kernel.h};
    HWY_DYNAMIC_DISPATCH(convolve_area)
    (path, kernel, direction, v, y, {0, row_begin}, {1, row_end});
  } else {
    HWY_DYNAMIC_DISPATCH(convolve_area)
    (path, kernel, direction, v, y, {row_begin, 0}, {row_end, path.grid.w});
  }
}

}  // namespace

void value_path(const ValuePath& path, const float* kernel, ConstRows v, Rows y, int64_t row_begin,
                int64_t row_end) {
  convolve(path, kernel, 1, v, y, row_begin, row_end);
}

void value_path_backward(const ValuePath& path, const float* kernel, ConstRows grad_y, Rows grad_v,
                         int64_t row_begin, int64_t row_end) {
  convolve(path, kernel, -1, grad_y, grad_v, row_begin, row_end);
}

}  // namespace soft
#endif
