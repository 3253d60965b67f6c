#include "attention/fused_softmax.h"

#include <atomic>
#include <cmath>

#include "attention/fast_path.h"
#include "attention/head_rows.h"
#include "attention/torch.h"
#include "kernels/softmax_attention.h"

namespace soft {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// What forward and backward both read.
struct SoftmaxTensors {
  Tensor q, k, v;  // [B, h, n, d] with dense rows
  Tensor mask;     // [B, n] of floats, dense, or undefined
  WeightDropout dropout;

  HeadCount count() const { return {q.size(0), q.size(1)}; }
  int64_t tokens() const { return q.size(2); }
  int64_t dim() const { return q.size(3); }

  SoftmaxHead head(int64_t b, int64_t h) const {
    SoftmaxHead head{tokens(), dim(), rows_of(q, b, h), rows_of(k, b, h), rows_of(v, b, h), 0};
    head.scale = 1 / std::sqrt(static_cast<float>(dim()));
    head.key_mask = mask_of(mask, b);
    head.dropout = static_cast<float>(dropout.rate);
    head.seed = dropout.seed + static_cast<uint64_t>(b * q.size(1) + h) * 0x9e3779b97f4a7c15U;
    return head;
  }
};

// The mask travels beside the tensors that have gradients: it may be undefined.
struct SoftmaxRequest {
  Tensor mask;
  WeightDropout dropout;
};

class SoftmaxMix : public torch::autograd::Function<SoftmaxMix> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& q, const Tensor& k, const Tensor& v,
                        const SoftmaxRequest& request) {
    const auto& [mask, dropout] = request;
    const SoftmaxTensors in{with_dense_rows(q), with_dense_rows(k), with_dense_rows(v), mask,
                            dropout};
    const Tensor y = empty_like_heads(q);
    const Tensor log_sums = torch::empty({q.size(0), q.size(1), q.size(2)}, q.options());
    for_each_head(in.count(), softmax_scratch(in.tokens(), in.dim()),
                  [&](int64_t b, int64_t h, float* memory) {
                    softmax_attention(in.head(b, h), writable_rows_of(y, b, h), memory,
                                      matrix_of(log_sums, b, h));
                  });
    context->save_for_backward({in.q, in.k, in.v, mask, y, log_sums});
    context->saved_data["rate"] = dropout.rate;
    context->saved_data["seed"] = static_cast<int64_t>(dropout.seed);
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const WeightDropout dropout{context->saved_data["rate"].toDouble(),
                                static_cast<uint64_t>(context->saved_data["seed"].toInt())};
    const SoftmaxTensors in{saved[0], saved[1], saved[2], saved[3], dropout};
    const Tensor &y = saved[4], &log_sums = saved[5];
    const Tensor grad_y = with_dense_rows(gradients[0]);
    const Tensor grad_q = empty_like_heads(in.q), grad_k = empty_like_heads(in.q);
    const Tensor grad_v = empty_like_heads(in.q);
    for_each_head(in.count(), softmax_backward_scratch(in.tokens(), in.dim()),
                  [&](int64_t b, int64_t h, float* memory) {
                    softmax_attention_backward(
                        in.head(b, h),
                        {matrix_of(log_sums, b, h), rows_of(y, b, h), rows_of(grad_y, b, h),
                         writable_rows_of(grad_q, b, h), writable_rows_of(grad_k, b, h),
                         writable_rows_of(grad_v, b, h)},
                        memory);
                  });
    return {grad_q, grad_k, grad_v, Tensor()};
  }
};

}  // namespace

bool fused_softmax_applies(const Heads& heads) {
  return fast_path_applies(heads.q) && fast_path_applies(heads.k) && fast_path_applies(heads.v) &&
         heads.v.size(3) == heads.q.size(3);
}

Tensor fused_softmax(const Heads& heads, const Tensor& mask, const WeightDropout& dropout) {
  count_fast_path(FastPath::kSoftmax);
  return SoftmaxMix::apply(heads.q, heads.k, heads.v, SoftmaxRequest{as_floats(mask), dropout});
}

}  // namespace soft
