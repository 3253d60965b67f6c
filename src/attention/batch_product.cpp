#include "attention/batch_product.h"

#include <algorithm>

#include "attention/fast_path.h"
#include "attention/torch.h"
#include "base/parallel.h"
#include "kernels/gemm.h"

namespace soft {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The matrices of a batch, where they are; copied only when neither of their axes is dense.
class Matrices {
 public:
  explicit Matrices(const Tensor& t) : t_(is_dense(t) ? t : t.contiguous()) {
    transposed_ = step(t_, -1) != 1;
    stride_ = step(t_, transposed_ ? -1 : -2);
  }

  int64_t rows() const { return t_.size(-2); }
  int64_t cols() const { return t_.size(-1); }
  int64_t count() const { return t_.numel() / (rows() * cols()); }

  Operand at(int64_t index, bool turned = false) const {
    int64_t offset = 0;
    for (int64_t axis = t_.dim() - 3; axis >= 0; --axis) {
      offset += index % t_.size(axis) * t_.stride(axis);
      index /= t_.size(axis);
    }
    return {t_.data_ptr<float>() + offset, stride_, transposed_ != turned};
  }

 private:
  // From one element of an axis to the next; of a single one any would do.
  static int64_t step(const Tensor& t, int64_t axis) {
    return t.size(axis) == 1 ? 1 : t.stride(axis);
  }
  static bool is_dense(const Tensor& t) { return step(t, -1) == 1 || step(t, -2) == 1; }

  Tensor t_;
  bool transposed_;
  int64_t stride_;
};

// c = scale·op(a)·op(b) for every pair; an element's bits do not depend on how the work is shared.
void multiply(const Matrices& a, bool a_turned, const Matrices& b, bool b_turned, double scale,
              const Tensor& c) {
  const int64_t rows = c.size(-2), cols = c.size(-1), count = a.count();
  const int64_t inner = a_turned ? a.rows() : a.cols();
  const int64_t parts = std::min<int64_t>(rows, count < threads() ? threads() : 1);
  parallel_for(count * parts, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t first = unit % parts * rows / parts, last = (unit % parts + 1) * rows / parts;
      Operand left = a.at(unit / parts, a_turned);
      left.data += left.transposed ? first : first * left.stride;
      gemm({last - first, cols, inner, static_cast<float>(scale), 0}, left,
           b.at(unit / parts, b_turned), c.data_ptr<float>() + (unit / parts * rows + first) * cols,
           cols);
    }
  });
}

class FusedProduct : public torch::autograd::Function<FusedProduct> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& a, const Tensor& b, double scale) {
    auto shape = a.sizes().vec();
    shape.back() = b.size(-1);
    const Tensor c = torch::empty(shape, a.options());
    multiply(Matrices(a), false, Matrices(b), false, scale, c);
    context->save_for_backward({a, b});
    context->saved_data["scale"] = scale;
    return c;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor &a = saved[0], &b = saved[1];
    const double scale = context->saved_data["scale"].toDouble();
    const Matrices g(gradients[0]);
    Tensor grad_a, grad_b;
    if (context->needs_input_grad(0)) {
      grad_a = torch::empty(a.sizes(), a.options());
      multiply(g, false, Matrices(b), true, scale, grad_a);  // g·bᵀ
    }
    if (context->needs_input_grad(1)) {
      grad_b = torch::empty(b.sizes(), b.options());
      multiply(Matrices(a), true, g, false, scale, grad_b);  // aᵀ·g
    }
    return {grad_a, grad_b, Tensor()};
  }
};

bool one_for_one(const Tensor& a, const Tensor& b) {
  return a.dim() > 2 && a.dim() == b.dim() && a.numel() > 0 && b.numel() > 0 &&
         a.size(-1) == b.size(-2) &&
         a.sizes().slice(0, a.dim() - 2) == b.sizes().slice(0, b.dim() - 2);
}

}  // namespace

Tensor batch_product(const Tensor& a, const Tensor& b, double scale) {
  if (!one_for_one(a, b) || !fast_path_applies(a) || !fast_path_applies(b)) {
    return torch::matmul(scale == 1 ? a : a * scale, b);
  }
  count_fast_path(FastPath::kProduct);
  return FusedProduct::apply(a, b, scale);
}

}  // namespace soft
