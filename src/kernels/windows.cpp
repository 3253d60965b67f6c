// Windows of a map and their means; see landmarks.h.
#include <algorithm>

#include "base/error.h"
#include "kernels/landmarks.h"

namespace soft {
namespace {

struct Span {
  int64_t begin, end;
};

// The rows (or columns) of window i along an axis of `size` cut into `out`.
Span span_of(int64_t i, int64_t size, int64_t out, int64_t step) {
  if (step > 0) return {i * step, (i + 1) * step};
  return {i * size / out, ((i + 1) * size + out - 1) / out};
}

template <class Visit>
void for_each_token(const Windows& windows, int64_t window, const Visit& visit) {
  const auto& [map, out, step] = windows;
  const Span rows = span_of(window / out.w, map.h, out.h, step.h);
  const Span columns = span_of(window % out.w, map.w, out.w, step.w);
  for (int64_t y = rows.begin; y < rows.end; ++y) {
    for (int64_t x = columns.begin; x < columns.end; ++x) visit(y * map.w + x);
  }
}

bool real(const float* token_mask, int64_t token) {
  return token_mask == nullptr || token_mask[token] != 0;
}

// scale / (number of real tokens), 0 where there are none.
float share_of(const Windows& windows, int64_t window, float scale, const float* token_mask) {
  int64_t count = 0;
  for_each_token(windows, window, [&](int64_t token) { count += real(token_mask, token); });
  return count == 0 ? 0 : scale / static_cast<float>(count);
}

}  // namespace

Windows windows_by_ratio(Grid map, Grid ratio) {
  const Grid out{map.h / ratio.h, map.w / ratio.w};
  if (out.size() == 0) {
    fail("a {}x{} map has no whole {}x{} window; use a larger picture or a smaller ratio", map.h,
         map.w, ratio.h, ratio.w);
  }
  return {map, out, ratio};
}

Windows adaptive_windows(Grid map, Grid out) { return {map, out, {0, 0}}; }

void average_pool(const Windows& windows, int64_t dim, ConstRows x, float scale,
                  const float* token_mask, float* out) {
  for (int64_t window = 0; window < windows.count(); ++window) {
    float* mean = out + window * dim;
    std::fill_n(mean, dim, 0.0f);
    for_each_token(windows, window, [&](int64_t token) {
      if (!real(token_mask, token)) return;
      const float* row = x.row(token);
      for (int64_t c = 0; c < dim; ++c) mean[c] += row[c];
    });
    const float share = share_of(windows, window, scale, token_mask);
    for (int64_t c = 0; c < dim; ++c) mean[c] *= share;
  }
}

void average_pool_backward(const Windows& windows, int64_t dim, const float* grad_out, float scale,
                           const float* token_mask, Rows grad_x) {
  for (int64_t window = 0; window < windows.count(); ++window) {
    const float share = share_of(windows, window, scale, token_mask);
    const float* grad = grad_out + window * dim;
    for_each_token(windows, window, [&](int64_t token) {
      if (!real(token_mask, token)) return;
      float* row = grad_x.row(token);
      for (int64_t c = 0; c < dim; ++c) row[c] += share * grad[c];
    });
  }
}

void window_mask(const Windows& windows, const float* token_mask, float* mask) {
  for (int64_t window = 0; window < windows.count(); ++window) {
    mask[window] = share_of(windows, window, 1, token_mask) > 0 ? 1 : 0;
  }
}

}  // namespace soft
