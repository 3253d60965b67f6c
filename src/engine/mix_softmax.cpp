// softmax(QK'/sqrt d) V: stage 4 of the released models.
#include <algorithm>
#include <cmath>

#include "engine/mix.h"
#include "kernels/gemm.h"

namespace soft {
namespace {

SoftmaxHead softmax_head(const MixShape& shape, const MixJob& job, int64_t head) {
  const HeadRows rows = head_rows(shape, job, head);
  const float scale = 1 / std::sqrt(static_cast<float>(shape.head_dim()));
  return {shape.tokens(), shape.head_dim(), rows.q, rows.k, rows.v, scale};
}

}  // namespace

int64_t softmax_needs(const MixShape& shape) {
  return softmax_scratch(shape.tokens(), shape.head_dim());
}

void mix_softmax(const MixShape& shape, const MixJob& job, int64_t head, float* y, float* scratch) {
  softmax_attention(softmax_head(shape, job, head), head_output(shape, y, head), scratch);
}

void softmax_row(const MixShape& shape, const MixJob& job, int64_t head, int64_t token,
                 float* out) {
  softmax_row(softmax_head(shape, job, head), token, out);
}

void softmax_row(const SoftmaxHead& head, int64_t token, float* out) {
  const int64_t n = head.tokens;
  gemm({1, n, head.dim, head.scale}, {head.q.row(token), head.q.stride},
       {head.k.data, head.k.stride, true}, out, n);
  const float largest = *std::max_element(out, out + n);
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += out[i] = std::exp(out[i] - largest);
  for (int64_t i = 0; i < n; ++i) out[i] /= sum;
}

}  // namespace soft
