#include "kernels/landmarks.h"

#include <algorithm>

#include "kernels/carver.h"
#include "kernels/gelu.h"
#include "kernels/gemm.h"
#include "kernels/layer_norm.h"

namespace soft {
namespace {

struct Memory {
  float* patches;  // [m, kw·d] one row of taps of every window
  float* sampled;  // [m, d]
  float* normed;   // [m, d]
  float* moments;  // [m, 2]
};

Memory carve(const LandmarkConv& conv, Carver& carver) {
  const int64_t m = conv.windows.count(), d = conv.dim;
  Memory memory{};
  memory.patches = carver.take(m * conv.windows.step.w * d);
  memory.sampled = carver.take(m * d);
  memory.normed = carver.take(m * d);
  memory.moments = carver.take(m * 2);
  return memory;
}

// Calls visit(token, its place in patches) for the taps of kernel row ky.
template <class Visit>
void for_each_tap(const LandmarkConv& conv, int64_t ky, const Visit& visit) {
  const auto& [map, out, step] = conv.windows;
  for (int64_t i = 0; i < out.h; ++i) {
    const int64_t row = (i * step.h + ky) * map.w;
    for (int64_t j = 0; j < out.w * step.w; ++j)
      visit(row + j, (i * out.w * step.w + j) * conv.dim);
  }
}

bool real(const LandmarkConv& conv, int64_t token) {
  return conv.token_mask == nullptr || conv.token_mask[token] != 0;
}

void gather_taps(const LandmarkConv& conv, int64_t ky, ConstRows q, float* patches) {
  for_each_tap(conv, ky, [&](int64_t token, int64_t place) {
    if (real(conv, token)) {
      std::copy_n(q.row(token), conv.dim, patches + place);
    } else {
      std::fill_n(patches + place, conv.dim, 0.0f);
    }
  });
}

void scatter_taps(const LandmarkConv& conv, int64_t ky, const float* patches, Rows q) {
  for_each_tap(conv, ky, [&](int64_t token, int64_t place) {
    if (!real(conv, token)) return;
    float* row = q.row(token);
    for (int64_t c = 0; c < conv.dim; ++c) row[c] += patches[place + c];
  });
}

LayerNorm norm_of(const LandmarkConv& conv) {
  return {conv.windows.count(), conv.dim, conv.gamma, conv.beta, conv.epsilon};
}

Gelu gelu_of(const LandmarkConv& conv) { return {GeluForm::kErf, conv.windows.count(), conv.dim}; }

}  // namespace

void pack_landmark_weight(int64_t dim, Grid step, const float* stored, float* packed) {
  const int64_t taps = step.size();
  for (int64_t out = 0; out < dim; ++out) {
    for (int64_t in = 0; in < dim; ++in) {
      for (int64_t tap = 0; tap < taps; ++tap) {
        packed[(tap * dim + in) * dim + out] = stored[(out * dim + in) * taps + tap];
      }
    }
  }
}

void unpack_landmark_weight(int64_t dim, Grid step, const float* packed, float* stored) {
  const int64_t taps = step.size();
  for (int64_t out = 0; out < dim; ++out) {
    for (int64_t in = 0; in < dim; ++in) {
      for (int64_t tap = 0; tap < taps; ++tap) {
        stored[(out * dim + in) * taps + tap] = packed[(tap * dim + in) * dim + out];
      }
    }
  }
}

int64_t landmark_scratch(const LandmarkConv& conv) {
  Carver counter(nullptr);
  carve(conv, counter);
  return counter.used();
}

void landmark_conv(const LandmarkConv& conv, ConstRows q, float* landmarks, float* sampled,
                   float* scratch) {
  const int64_t m = conv.windows.count(), d = conv.dim, inner = conv.windows.step.w * d;
  Carver carver(scratch);
  const Memory memory = carve(conv, carver);
  if (sampled == nullptr) sampled = memory.sampled;
  for (int64_t ky = 0; ky < conv.windows.step.h; ++ky) {
    gather_taps(conv, ky, q, memory.patches);
    gemm({m, d, inner, conv.scale, ky == 0 ? 0.0f : 1.0f}, {memory.patches, inner},
         {conv.weight + ky * inner * d, d}, sampled, d);
  }
  layer_norm(norm_of(conv), {sampled, d}, {}, {landmarks, d}, {}, nullptr);
  gelu(gelu_of(conv), {landmarks, d}, {landmarks, d});
}

void landmark_conv_backward(const LandmarkConv& conv, ConstRows q, const LandmarkGradient& gradient,
                            float* scratch) {
  const int64_t m = conv.windows.count(), d = conv.dim, inner = conv.windows.step.w * d;
  Carver carver(scratch);
  const Memory memory = carve(conv, carver);
  const Rows normed{memory.normed, d}, grad{memory.sampled, d};
  layer_norm(norm_of(conv), {gradient.sampled, d}, {}, normed, {}, memory.moments);
  gelu_backward(gelu_of(conv), normed, {gradient.landmarks, d}, grad, nullptr);
  layer_norm_backward(
      norm_of(conv),
      {{gradient.sampled, d}, memory.moments, grad, grad, gradient.gamma, gradient.beta});
  for (int64_t ky = 0; ky < conv.windows.step.h; ++ky) {
    const int64_t offset = ky * inner * d;
    gather_taps(conv, ky, q, memory.patches);
    gemm({inner, d, m, conv.scale, 1}, {memory.patches, inner, true}, {grad.data, d},
         gradient.weight + offset, d);
    gemm({m, inner, d, conv.scale}, {grad.data, d}, {conv.weight + offset, d, true}, memory.patches,
         inner);
    scatter_taps(conv, ky, memory.patches, gradient.q);
  }
}

}  // namespace soft
