#include "attention/gelu.h"

#include <torch/torch.h>

#include <cmath>

namespace soft {
namespace {

// y = x Φ(x);  dy/dx = Φ(x) + x φ(x), with Φ and φ the normal distribution and density.
class Gelu : public torch::autograd::Function<Gelu> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& x) {
    context->save_for_backward({x});
    return 0.5 * x * (1 + torch::erf(x * M_SQRT1_2));
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const torch::Tensor x = context->get_saved_variables()[0];
    const torch::Tensor cumulative = 0.5 * (1 + torch::erf(x * M_SQRT1_2));
    const torch::Tensor density = torch::exp(-0.5 * x * x) * (M_2_SQRTPI * M_SQRT1_2 / 2);
    return {gradients[0] * (cumulative + x * density)};
  }
};

}  // namespace

torch::Tensor erf_gelu(const torch::Tensor& x) { return Gelu::apply(x); }

}  // namespace soft
