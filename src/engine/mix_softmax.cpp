// softmax(QK'/sqrt d) V: stage 4 of the released models.
#include <algorithm>
#include <cmath>

#include "engine/mix.h"
#include "kernels/gemm.h"
#include "kernels/softmax_attention.h"

namespace soft {
namespace {

float scale_of(const MixShape& shape) {
  return 1 / std::sqrt(static_cast<float>(shape.head_dim()));
}

}  // namespace

int64_t softmax_needs(const MixShape& shape) {
  return softmax_scratch(shape.tokens(), shape.head_dim());
}

void mix_softmax(const MixShape& shape, const MixJob& job, int64_t head, float* y, float* scratch) {
  const HeadRows rows = head_rows(shape, job, head);
  const SoftmaxHead softmax{shape.tokens(), shape.head_dim(), rows.q,
                            rows.k,         rows.v,           scale_of(shape)};
  softmax_attention(softmax, head_output(shape, y, head), scratch);
}

void softmax_row(const MixShape& shape, const MixJob& job, int64_t head, int64_t token,
                 float* out) {
  const int64_t n = shape.tokens();
  const HeadRows rows = head_rows(shape, job, head);
  gemm({1, n, shape.head_dim(), scale_of(shape)}, {rows.q.row(token), rows.q.stride},
       {rows.k.data, rows.k.stride, true}, out, n);
  const float largest = *std::max_element(out, out + n);
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += out[i] = std::exp(out[i] - largest);
  for (int64_t i = 0; i < n; ++i) out[i] /= sum;
}

}  // namespace soft
