#include "kernels/convolution.h"

#include <algorithm>

#include "kernels/large_gemm.h"

namespace soft {
namespace {

constexpr int64_t kScratch = 48 * 1024;  // floats of patches at a time: half of a small L2

int64_t rows_at_a_time(const Convolution& conv) {
  return std::max<int64_t>(1, kScratch / (conv.out().w * conv.patch()));
}

// The pixels under one row of a kernel lie side by side in memory: a run, of which the part inside
// the map counts.
struct Run {
  int64_t offset = 0;  // of that part in the run
  int64_t at = 0;      // its first float in the map
  int64_t count = 0;   // floats; 0 when all is padding
};

Run run_at(const Convolution& conv, int64_t y, int64_t x) {
  const int64_t first = std::max<int64_t>(0, x), last = std::min(conv.in.w, x + conv.kernel);
  if (y < 0 || y >= conv.in.h || first >= last) return {};
  const int64_t c = conv.in_channels;
  return {(first - x) * c, (y * conv.in.w + first) * c, (last - first) * c};
}

// Calls body(where the run stands in the patches, run) for output rows [begin, end).
template <class Body>
void for_each_run(const Convolution& conv, int64_t begin, int64_t end, const Body& body) {
  const int64_t length = conv.kernel * conv.in_channels, width = conv.out().w;
  int64_t at = 0;
  for (int64_t oy = begin; oy < end; ++oy) {
    for (int64_t ox = 0; ox < width; ++ox) {
      for (int64_t ky = 0; ky < conv.kernel; ++ky, at += length) {
        body(at,
             run_at(conv, oy * conv.stride + ky - conv.padding, ox * conv.stride - conv.padding));
      }
    }
  }
}

void gather(const Convolution& conv, const float* map, int64_t begin, int64_t end, float* patches) {
  const int64_t length = conv.kernel * conv.in_channels;
  for_each_run(conv, begin, end, [&](int64_t at, const Run& run) {
    if (run.count < length) std::fill_n(patches + at, length, 0.0f);
    std::copy_n(map + run.at, run.count, patches + at + run.offset);
  });
}

void scatter(const Convolution& conv, const float* patches, int64_t begin, int64_t end,
             float* map) {
  for_each_run(conv, begin, end, [&](int64_t at, const Run& run) {
    const float* from = patches + at + run.offset;
    for (int64_t i = 0; i < run.count; ++i) map[run.at + i] += from[i];
  });
}

// Calls body(first output row, end, output pixels before them, their number).
template <class Body>
void for_each_band(const Convolution& conv, const Body& body) {
  const Grid out = conv.out();
  const int64_t step = rows_at_a_time(conv);
  for (int64_t begin = 0; begin < out.h; begin += step) {
    const int64_t end = std::min(out.h, begin + step);
    body(begin, end, begin * out.w, (end - begin) * out.w);
  }
}

}  // namespace

int64_t convolution_scratch(const Convolution& conv) {
  return rows_at_a_time(conv) * conv.out().w * conv.patch();
}

void convolution(const Convolution& conv, const float* weight, const float* bias, const float* x,
                 float* y, float* scratch) {
  const int64_t patch = conv.patch(), channels = conv.out_channels;
  for_each_band(conv, [&](int64_t begin, int64_t end, int64_t first, int64_t pixels) {
    gather(conv, x, begin, end, scratch);
    float* out = y + first * channels;
    for (int64_t i = 0; i < pixels; ++i) std::copy_n(bias, channels, out + i * channels);
    large_gemm({pixels, channels, patch, 1, 1}, {scratch, patch}, {weight, patch, true}, out,
               channels);
  });
}

void convolution_backward(const Convolution& conv, const float* weight, const float* x,
                          const float* grad_y, float* grad_x, float* grad_weight, float* scratch) {
  const int64_t patch = conv.patch(), channels = conv.out_channels;
  if (grad_x != nullptr) std::fill_n(grad_x, conv.in.size() * conv.in_channels, 0.0f);
  for_each_band(conv, [&](int64_t begin, int64_t end, int64_t first, int64_t pixels) {
    const float* grad = grad_y + first * channels;
    gather(conv, x, begin, end, scratch);
    large_gemm({channels, patch, pixels, 1, 1}, {grad, channels, true}, {scratch, patch},
               grad_weight, patch);
    if (grad_x == nullptr) return;
    large_gemm({pixels, patch, channels}, {grad, channels}, {weight, patch}, scratch, patch);
    scatter(conv, scratch, begin, end, grad_x);
  });
}

}  // namespace soft
