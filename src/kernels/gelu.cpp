#include "kernels/gelu.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gelu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "hwy/highway.h"
#include "kernels/gelu-inl.h"
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace soft {
namespace HWY_NAMESPACE {
namespace {

template <class Form, class D, class V = hn::Vec<D>>
HWY_INLINE V slope_of(D d, V x) {
  const Parts<V> parts = Form::parts(d, x);
  const V other = hn::Sub(hn::Set(d, 1.0f), parts.tail);
  return hn::Add(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), parts.tail, other), parts.bump);
}

template <class Form>
void forward(const Gelu& shape, ConstRows x, Rows y) {
  for (int64_t i = 0; i < shape.rows; ++i) {
    const float* in = x.row(i);
    float* out = y.row(i);
    for_each_column(shape.cols, [&](auto d, int64_t j) HWY_ATTR {
      hn::StoreU(value_of<Form>(d, biased(d, in, shape.bias, j)), d, out + j);
    });
  }
}

template <class Form>
void backward(const Gelu& shape, ConstRows x, ConstRows grad_y, Rows grad_x, float* grad_bias) {
  for (int64_t i = 0; i < shape.rows; ++i) {
    const float *in = x.row(i), *incoming = grad_y.row(i);
    float* out = grad_x.row(i);
    for_each_column(shape.cols, [&](auto d, int64_t j) HWY_ATTR {
      const auto slope = slope_of<Form>(d, biased(d, in, shape.bias, j));
      const auto grad = hn::Mul(slope, hn::LoadU(d, incoming + j));
      hn::StoreU(grad, d, out + j);
      if (grad_bias == nullptr) return;
      hn::StoreU(hn::Add(grad, hn::LoadU(d, grad_bias + j)), d, grad_bias + j);
    });
  }
}

void forward_form(const Gelu& shape, ConstRows x, Rows y) {
  shape.form == GeluForm::kErf ? forward<ErfForm>(shape, x, y) : forward<TanhForm>(shape, x, y);
}

void backward_form(const Gelu& shape, ConstRows x, ConstRows grad_y, Rows grad_x,
                   float* grad_bias) {
  shape.form == GeluForm::kErf ? backward<ErfForm>(shape, x, grad_y, grad_x, grad_bias)
                               : backward<TanhForm>(shape, x, grad_y, grad_x, grad_bias);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace soft
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace soft {

HWY_EXPORT(forward_form);
HWY_EXPORT(backward_form);

void gelu(const Gelu& shape, ConstRows x, Rows y) {
  HWY_DYNAMIC_DISPATCH(forward_form)(shape, x, y);
}

void gelu_backward(const Gelu& shape, ConstRows x, ConstRows grad_y, Rows grad_x,
                   float* grad_bias) {
  HWY_DYNAMIC_DISPATCH(backward_form)(shape, x, grad_y, grad_x, grad_bias);
}

}  // namespace soft
#endif
