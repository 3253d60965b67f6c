#include "attention/linear.h"

#include "attention/fast_path.h"
#include "attention/torch.h"
#include "kernels/large_gemm.h"

namespace soft {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

Operand operand(const Tensor& t, bool transposed = false) {
  return {t.data_ptr<float>(), t.size(1), transposed};
}

// c = op(a)·op(b) + beta·c, all dense matrices.
void multiply(const Operand& a, const Operand& b, int64_t inner, float beta, const Tensor& c) {
  large_gemm({c.size(0), c.size(1), inner, 1, beta}, a, b, c.data_ptr<float>(), c.size(1));
}

Tensor as_matrix(const Tensor& t) { return t.reshape({-1, t.size(-1)}).contiguous(); }

class FusedLinear : public torch::autograd::Function<FusedLinear> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& input, const Tensor& weight,
                        const Tensor& bias) {
    const Tensor x = as_matrix(input), w = weight.contiguous();
    const Tensor y = torch::empty({x.size(0), w.size(0)}, x.options());
    y.copy_(bias.expand_as(y));
    multiply(operand(x), operand(w, true), x.size(1), 1, y);  // y = b + x·Wᵀ
    context->save_for_backward({x, w});
    auto shape = input.sizes().vec();
    context->saved_data["shape"] = shape;
    shape.back() = w.size(0);
    return y.reshape(shape);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor &x = saved[0], &w = saved[1];
    const Tensor g = as_matrix(gradients[0]);
    Tensor grad_x, grad_w, grad_bias;
    if (context->needs_input_grad(0)) {
      grad_x = torch::empty_like(x);
      multiply(operand(g), operand(w), g.size(1), 0, grad_x);
      grad_x = grad_x.reshape(context->saved_data["shape"].toIntVector());
    }
    if (context->needs_input_grad(1)) {
      grad_w = torch::empty_like(w);
      multiply(operand(g, true), operand(x), g.size(0), 0, grad_w);
    }
    if (context->needs_input_grad(2)) grad_bias = g.sum(0);
    return {grad_x, grad_w, grad_bias};
  }
};

}  // namespace

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const bool empty = x.numel() == 0;  // whose gradients are sums of nothing, which oneDNN refuses
  if (empty || !bias.defined() || !fast_path_applies(x) || !fast_path_applies(weight)) {
    return torch::nn::functional::linear(x, weight, bias);
  }
  count_fast_path(FastPath::kLinear);
  return FusedLinear::apply(x, weight, bias);
}

}  // namespace soft
