// Tensors [B, h, n, d] as the kernels read them: one head of one sample at a time, float32 on the
// CPU.
#pragma once

#include <ATen/ops/empty.h>
#include <torch/types.h>

#include <vector>

#include "base/parallel.h"
#include "kernels/rows.h"

namespace soft {

// Rows of one head stand apart, but the floats of a row must not.
inline torch::Tensor with_dense_rows(const torch::Tensor& t) {
  return t.stride(-1) == 1 ? t : t.contiguous();
}

inline torch::Tensor as_floats(const torch::Tensor& mask) {
  return mask.defined() ? mask.to(torch::kFloat32).contiguous() : mask;
}

// Tokens first, heads second in memory, as the output projection reads them.
inline torch::Tensor empty_like_heads(const torch::Tensor& q) {
  return torch::empty({q.size(0), q.size(2), q.size(1), q.size(3)}, q.options()).transpose(1, 2);
}

inline ConstRows rows_of(const torch::Tensor& t, int64_t b, int64_t h) {
  return {t.data_ptr<float>() + b * t.stride(0) + h * t.stride(1), t.stride(2)};
}

inline Rows writable_rows_of(const torch::Tensor& t, int64_t b, int64_t h) {
  return {t.data_ptr<float>() + b * t.stride(0) + h * t.stride(1), t.stride(2)};
}

inline float* matrix_of(const torch::Tensor& t, int64_t b, int64_t h) {
  return t.data_ptr<float>() + b * t.stride(0) + h * t.stride(1);
}

inline const float* mask_of(const torch::Tensor& mask, int64_t b) {
  return mask.defined() ? mask.data_ptr<float>() + b * mask.stride(0) : nullptr;
}

struct HeadCount {
  int64_t batch;
  int64_t heads;
};

// Runs body(b, h, memory) for every head, each thread with `floats` of its own.
template <class Body>
void for_each_head(HeadCount count, int64_t floats, const Body& body) {
  parallel_for(count.batch * count.heads, [&](int64_t begin, int64_t end) {
    std::vector<float> memory(floats);
    for (int64_t i = begin; i < end; ++i) body(i / count.heads, i % count.heads, memory.data());
  });
}

}  // namespace soft
