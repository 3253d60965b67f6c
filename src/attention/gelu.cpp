#include "attention/gelu.h"

#include <cmath>

#include "attention/fast_path.h"
#include "attention/torch.h"
#include "base/parallel.h"
#include "kernels/gelu.h"

namespace soft {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// y = x Φ(x);  dy/dx = Φ(x) + x φ(x), with Φ and φ the normal distribution and density.
class PlainErfGelu : public torch::autograd::Function<PlainErfGelu> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x) {
    context->save_for_backward({x});
    return 0.5 * x * (1 + torch::erf(x * M_SQRT1_2));
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const Tensor x = context->get_saved_variables()[0];
    const Tensor cumulative = 0.5 * (1 + torch::erf(x * M_SQRT1_2));
    const Tensor density = torch::exp(-0.5 * x * x) * (M_2_SQRTPI * M_SQRT1_2 / 2);
    return {gradients[0] * (cumulative + x * density)};
  }
};

// A dense tensor is cut into rows of this many floats, whatever its shape.
constexpr int64_t kRow = 4096;

template <class Body>
void for_each_row(GeluForm form, int64_t count, const Body& body) {
  parallel_for((count + kRow - 1) / kRow, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      body(Gelu{form, 1, std::min(kRow, count - i * kRow), nullptr}, i * kRow);
    }
  });
}

class FusedGelu : public torch::autograd::Function<FusedGelu> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& input, int64_t form) {
    const Tensor x = input.contiguous(), y = torch::empty_like(x);
    for_each_row(static_cast<GeluForm>(form), x.numel(), [&](const Gelu& shape, int64_t at) {
      gelu(shape, {x.data_ptr<float>() + at, 0}, {y.data_ptr<float>() + at, 0});
    });
    context->save_for_backward({x});
    context->saved_data["form"] = form;
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const Tensor x = context->get_saved_variables()[0], grad_y = gradients[0].contiguous();
    const auto form = static_cast<GeluForm>(context->saved_data["form"].toInt());
    const Tensor grad_x = torch::empty_like(x);
    for_each_row(form, x.numel(), [&](const Gelu& shape, int64_t at) {
      gelu_backward(shape, {x.data_ptr<float>() + at, 0}, {grad_y.data_ptr<float>() + at, 0},
                    {grad_x.data_ptr<float>() + at, 0}, nullptr);
    });
    return {grad_x, Tensor()};
  }
};

Tensor fused_gelu(const Tensor& x, GeluForm form) {
  count_fast_path(FastPath::kGelu);
  return FusedGelu::apply(x, static_cast<int64_t>(form));
}

}  // namespace

Tensor erf_gelu(const Tensor& x) {
  return fast_path_applies(x) ? fused_gelu(x, GeluForm::kErf) : PlainErfGelu::apply(x);
}

Tensor tanh_gelu(const Tensor& x) {
  return fast_path_applies(x) ? fused_gelu(x, GeluForm::kTanh) : torch::gelu(x, "tanh");
}

}  // namespace soft
