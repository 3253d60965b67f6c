// Landmarks from the map of queries of one head: means of windows, or the r x r convolution of
// stride r with LayerNorm and GELU behind it. Windows do not overlap when made from a ratio; tokens
// right of and below the last whole window take no part.
#pragma once

#include "base/grid.h"
#include "kernels/rows.h"

namespace soft {

// A map cut into out.h x out.w windows. By ratio: window (i, j) starts at (i·step.h, j·step.w).
// Adaptive (step = 0): rows floor(i·H/out.h) .. ceil((i+1)·H/out.h), as torch's adaptive pooling.
struct Windows {
  Grid map;
  Grid out;
  Grid step;

  int64_t count() const { return out.size(); }
};

Windows windows_by_ratio(Grid map, Grid ratio);  // {r, r}, or {r, 1} for sequences
Windows adaptive_windows(Grid map, Grid out);

// out [count, d] = scale · mean of each window of x [H·W, d]. token_mask [H·W] (or null): means
// over real tokens only; a window without any gives 0.
void average_pool(const Windows& windows, int64_t dim, ConstRows x, float scale,
                  const float* token_mask, float* out);

// Adds the gradient of average_pool to grad_x [H·W, d]; grad_out [count, d].
void average_pool_backward(const Windows& windows, int64_t dim, const float* grad_out, float scale,
                           const float* token_mask, Rows grad_x);

// mask [count]: 1 where the window holds a real token.
void window_mask(const Windows& windows, const float* token_mask, float* mask);

// L = gelu_erf(LN(scale · conv(q))), the default sampler.
struct LandmarkConv {
  Windows windows;                    // by ratio
  int64_t dim;                        // d
  const float* weight;                // [step.h, step.w, d in, d out]: see pack_landmark_weight
  const float* gamma;                 // [d]
  const float* beta;                  // [d]
  float scale = 1;                    // d^-1/4, or 1 where the projection already holds it
  const float* token_mask = nullptr;  // [H·W]: queries of padding count as 0; null: all real
  float epsilon = 1e-5f;
};

// Between the stored layout [d out, d in, kh, kw] and the one the kernel reads [kh, kw, d in, d
// out].
void pack_landmark_weight(int64_t dim, Grid step, const float* stored, float* packed);
void unpack_landmark_weight(int64_t dim, Grid step, const float* packed, float* stored);

int64_t landmark_scratch(const LandmarkConv& conv);  // floats

// q [H·W, d] -> landmarks [m, d]. What backward wants back: sampled [m, d], the scaled output of
// the convolution; null when not wanted.
void landmark_conv(const LandmarkConv& conv, ConstRows q, float* landmarks, float* sampled,
                   float* scratch);

struct LandmarkGradient {
  const float* sampled;    // [m, d] of the forward pass
  const float* landmarks;  // [m, d] incoming
  Rows q;                  // [H·W, d] added to; of the unscaled q
  float* weight;           // [step.h, step.w, d in, d out] added to
  float* gamma;            // [d] added to
  float* beta;             // [d] added to
};

void landmark_conv_backward(const LandmarkConv& conv, ConstRows q, const LandmarkGradient& gradient,
                            float* scratch);

}  // namespace soft
