// Ordinary attention of one head, Y = softmax(scale·Q·Kᵀ)·V, by tiles of queries and keys: no array
// of tokens times tokens, nor of a tile times all tokens. A row's largest score and its sum are
// carried from one tile of keys to the next:
//   M <- max(M, tile),  f = exp(M_before - M),  Z <- f·Z + Σ exp(s - M),  Y <- f·Y + exp(s - M)·V
// and at the end Y <- Y/Z, L = M + log Z.
// Cost: 4·n²·d flops and n² exponentials; scratch O(n·d).
//
// Backward, with P = exp(s - L) formed again and δ = rowsum(dY∘Y):
//   dV = PᵀdY    dS = P∘(dY·Vᵀ - δ)    dQ = scale·dS·K    dK = scale·dSᵀ·Q
// Dropout multiplies P by keep/(1 - rate) after Z is formed: in Y, in dV and in dY·Vᵀ. Which
// weights are kept follows from the seed and their place alone, so that backward draws the same
// again. Cost: 10·n²·d flops and n² exponentials; scratch O(n·d).
#pragma once

#include "kernels/rows.h"

namespace soft {

struct SoftmaxHead {
  int64_t tokens;                   // n
  int64_t dim;                      // d
  ConstRows q;                      // [n, d]
  ConstRows k;                      // [n, d]
  ConstRows v;                      // [n, d]
  float scale;                      // d^-1/2
  const float* key_mask = nullptr;  // [n], 1 real, 0 padding; null: all real
  float dropout = 0;                // part of the weights that is dropped
  uint64_t seed = 0;                // of the draw; a head's own
  int64_t queries = 0;              // forward alone: rows of q and y where these are not n
};

int64_t softmax_scratch(int64_t tokens, int64_t dim);  // floats

// y [n, d] is written; scratch: softmax_scratch floats. log_sums [n] receives what backward needs,
// or is null.
void softmax_attention(const SoftmaxHead& head, Rows y, float* scratch, float* log_sums = nullptr);

struct SoftmaxGradient {
  const float* log_sums = nullptr;  // [n] L as saved by the forward pass
  ConstRows y;                      // [n, d] Y of the forward pass
  ConstRows grad_y;                 // [n, d] incoming
  Rows q, k, v;                     // [n, d] written
};

int64_t softmax_backward_scratch(int64_t tokens, int64_t dim);  // floats
void softmax_attention_backward(const SoftmaxHead& head, const SoftmaxGradient& gradient,
                                float* scratch);

}  // namespace soft
