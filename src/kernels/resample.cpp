#include "kernels/resample.h"

#include <algorithm>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/resample.cpp"
#include <hwy/foreach_target.h>
// After foreach_target, which includes this file once per instruction set.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace soft::HWY_NAMESPACE {
#if HWY_TARGET == HWY_SCALAR

void resample_rows(const uint8_t* in, int rows, int width, const ResampleWindows& windows,
                   uint8_t* out) {
  resample_rows_plain(in, rows, width, windows, out);
}

void resample_columns(const uint8_t* in, size_t row_bytes, const ResampleWindows& windows,
                      uint8_t* out) {
  resample_columns_plain(in, row_bytes, windows, out);
}

#else

namespace hn = hwy::HWY_NAMESPACE;

// Windows as the row pass reads them: pixels are four bytes wide, and a vector holds a few
// neighbouring ones, so windows are padded with zero weights to whole vectors.
struct PaddedWindows {
  static constexpr int kStep = 4;  // the most pixels in a vector (512 bits of 32-bit lanes)
  static constexpr int kSlack = 16;
  int taps;
  std::vector<int32_t> weights;  // [count, taps], and room to load one vector past the end

  explicit PaddedWindows(const ResampleWindows& windows)
      : taps((windows.taps + kStep - 1) / kStep * kStep),
        weights(static_cast<size_t>(windows.count) * taps + kSlack) {
    for (int i = 0; i < windows.count; ++i) {
      std::copy_n(windows.weights + static_cast<size_t>(i) * windows.taps, windows.taps,
                  &weights[static_cast<size_t>(i) * taps]);
    }
  }
};

// RGB -> RGB0.
void widen_pixels(const uint8_t* in, size_t width, uint8_t* out) {
  const hn::ScalableTag<uint8_t> d;
  const size_t step = hn::Lanes(d);
  size_t x = 0;
  for (; x + step <= width; x += step) {
    hn::Vec<decltype(d)> red, green, blue;
    hn::LoadInterleaved3(d, in + 3 * x, red, green, blue);
    hn::StoreInterleaved4(red, green, blue, hn::Zero(d), d, out + 4 * x);
  }
  for (; x < width; ++x) std::copy_n(in + 3 * x, 3, out + 4 * x);
}

// The sum of the four-lane pixels in a vector.
template <class D, class V>
auto sum_of_pixels(D, V pixels) {
  if constexpr (hn::MaxLanes(D()) > 4) {
    const hn::Half<D> half;
    return sum_of_pixels(half, hn::Add(hn::LowerHalf(half, pixels), hn::UpperHalf(half, pixels)));
  } else {
    return pixels;
  }
}

// in [width + slack, 4], of which the first is pixel `begin` of its row -> out [count, 3]
void resample_row(const uint8_t* in, int begin, const ResampleWindows& windows,
                  const PaddedWindows& padded, uint8_t* out) {
  const hn::CappedTag<int32_t, 16> d;  // a few pixels of four channels
  const hn::Rebind<uint8_t, decltype(d)> bytes;
  const hn::FixedTag<int32_t, 4> pixel;
  const hn::Rebind<uint8_t, decltype(pixel)> pixel_bytes;
  const size_t step = hn::Lanes(d) / 4, taps = windows.taps;
  const auto spread = hn::IndicesFromVec(d, hn::ShiftRight<2>(hn::Iota(d, 0)));  // 0000 1111 …
  const auto rounding = hn::Set(pixel, 1 << (kWeightBits - 1));
  const int32_t* weights = padded.weights.data();
  for (int i = 0; i < windows.count; ++i, weights += padded.taps, out += 3) {
    const uint8_t* window = in + size_t{4} * (windows.first[i] - begin);
    auto sum = hn::Zero(d);
    for (size_t t = 0; t < taps; t += step) {
      const auto pixels = hn::PromoteTo(d, hn::LoadU(bytes, window + 4 * t));
      const auto weight = hn::TableLookupLanes(hn::LoadU(d, weights + t), spread);
      sum = hn::Add(sum, hn::Mul(pixels, weight));
    }
    const auto rounded = hn::ShiftRight<kWeightBits>(hn::Add(sum_of_pixels(d, sum), rounding));
    uint8_t rgb0[4];
    hn::StoreU(hn::DemoteTo(pixel_bytes, rounded), pixel_bytes, rgb0);
    std::copy_n(rgb0, 3, out);
  }
}

void resample_rows(const uint8_t* in, int rows, int width, const ResampleWindows& windows,
                   uint8_t* out) {
  const PaddedWindows padded(windows);
  const int begin = windows.first[0];
  const int needed = windows.first[windows.count - 1] + windows.taps - begin;
  std::vector<uint8_t> row(size_t{4} * (needed + PaddedWindows::kStep));
  for (int y = 0; y < rows; ++y) {
    widen_pixels(in + size_t{3} * y * width + size_t{3} * begin, needed, row.data());
    resample_row(row.data(), begin, windows, padded, out + size_t{3} * y * windows.count);
  }
}

// One row of the column pass from `in`, the first row of its window.
void resample_column(const uint8_t* in, size_t row_bytes, const int32_t* weights, int taps,
                     uint8_t* out) {
  const hn::ScalableTag<int32_t> d;
  const hn::Rebind<uint8_t, decltype(d)> bytes;
  const size_t step = hn::Lanes(d);
  const auto rounding = hn::Set(d, 1 << (kWeightBits - 1));
  const auto add = [&](auto sum, const uint8_t* from, int32_t weight) HWY_ATTR {
    return hn::Add(sum, hn::Mul(hn::PromoteTo(d, hn::LoadU(bytes, from)), hn::Set(d, weight)));
  };
  size_t x = 0;
  for (; x + 2 * step <= row_bytes; x += 2 * step) {
    auto sum0 = rounding, sum1 = rounding;
    for (int t = 0; t < taps; ++t) {
      sum0 = add(sum0, in + t * row_bytes + x, weights[t]);
      sum1 = add(sum1, in + t * row_bytes + x + step, weights[t]);
    }
    hn::StoreU(hn::DemoteTo(bytes, hn::ShiftRight<kWeightBits>(sum0)), bytes, out + x);
    hn::StoreU(hn::DemoteTo(bytes, hn::ShiftRight<kWeightBits>(sum1)), bytes, out + x + step);
  }
  for (; x < row_bytes; ++x) out[x] = resample_one(in + x, row_bytes, weights, taps);
}

void resample_columns(const uint8_t* in, size_t row_bytes, const ResampleWindows& windows,
                      uint8_t* out) {
  for (int i = 0; i < windows.count; ++i) {
    resample_column(in + windows.first[i] * row_bytes, row_bytes,
                    windows.weights + static_cast<size_t>(i) * windows.taps, windows.taps,
                    out + i * row_bytes);
  }
}

#endif  // HWY_SCALAR
}  // namespace soft::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace soft {
namespace {

HWY_EXPORT(resample_rows);
HWY_EXPORT(resample_columns);

}  // namespace

void resample_rows(const uint8_t* in, int rows, int width, const ResampleWindows& windows,
                   uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(resample_rows)(in, rows, width, windows, out);
}

void resample_columns(const uint8_t* in, size_t row_bytes, const ResampleWindows& windows,
                      uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(resample_columns)(in, row_bytes, windows, out);
}

void resample_rows_plain(const uint8_t* in, int rows, int width, const ResampleWindows& windows,
                         uint8_t* out) {
  for (int y = 0; y < rows; ++y, in += size_t{3} * width) {
    for (int i = 0; i < windows.count; ++i) {
      const int32_t* weights = windows.weights + static_cast<size_t>(i) * windows.taps;
      for (int channel = 0; channel < 3; ++channel) {
        *out++ =
            resample_one(in + size_t{3} * windows.first[i] + channel, 3, weights, windows.taps);
      }
    }
  }
}

void resample_columns_plain(const uint8_t* in, size_t row_bytes, const ResampleWindows& windows,
                            uint8_t* out) {
  for (int i = 0; i < windows.count; ++i) {
    const int32_t* weights = windows.weights + static_cast<size_t>(i) * windows.taps;
    for (size_t x = 0; x < row_bytes; ++x) {
      *out++ =
          resample_one(in + windows.first[i] * row_bytes + x, row_bytes, weights, windows.taps);
    }
  }
}

}  // namespace soft
#endif  // HWY_ONCE
