#include "attention/value_path.h"

#include "attention/fast_path.h"
#include "attention/torch.h"
#include "base/parallel.h"
#include "kernels/value_path.h"

namespace soft {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// All heads of a token side by side, as the projections write and read them.
Tensor tokens_first(const Tensor& t) { return t.transpose(1, 2).contiguous().transpose(1, 2); }

ValuePath path_of(const Tensor& v, const Tensor& kernel, Grid grid) {
  return {grid, v.size(1), v.size(3), {kernel.size(2), kernel.size(3)}};
}

// The rows of one image that stand on the grid.
Rows grid_rows(const Tensor& t, int64_t image, int64_t prefix) {
  return {t.data_ptr<float>() + image * t.stride(0) + prefix * t.stride(2), t.stride(2)};
}

// Each image's part alone, so that the sum does not depend on the number of threads.
Tensor kernel_gradient(const ValuePath& path, const Tensor& v, const Tensor& grad_y,
                       int64_t prefix) {
  const int64_t batch = v.size(0);
  const Tensor parts =
      torch::zeros({batch, path.heads, 1, path.kernel.h, path.kernel.w}, v.options());
  parallel_for(batch, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      value_path_backward_kernel(path, grid_rows(v, i, prefix), grid_rows(grad_y, i, prefix),
                                 parts[i].data_ptr<float>(), 0, path.heads);
    }
  });
  return parts.sum(0);
}

class ValueMix : public torch::autograd::Function<ValueMix> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& y, const Tensor& v,
                        const Tensor& kernel, const Tokens& tokens) {
    const Tensor values = tokens_first(v), weights = kernel.contiguous();
    const Tensor out = torch::empty_like(values).copy_(y);
    const ValuePath path = path_of(values, weights, tokens.grid);
    for_each_image(values.size(0), path.grid, [&](int64_t i, int64_t begin, int64_t end) {
      value_path(path, weights.data_ptr<float>(), grid_rows(values, i, tokens.prefix),
                 grid_rows(out, i, tokens.prefix), begin, end);
    });
    context->save_for_backward({values, weights});
    context->saved_data["prefix"] = tokens.prefix;
    context->saved_data["height"] = tokens.grid.h;
    context->saved_data["width"] = tokens.grid.w;
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor &v = saved[0], &kernel = saved[1];
    const int64_t prefix = context->saved_data["prefix"].toInt();
    const Grid grid{context->saved_data["height"].toInt(), context->saved_data["width"].toInt()};
    const ValuePath path = path_of(v, kernel, grid);
    const Tensor grad_y = tokens_first(gradients[0]);
    const Tensor grad_v = torch::zeros_like(v);
    for_each_image(v.size(0), grid, [&](int64_t i, int64_t begin, int64_t end) {
      value_path_backward(path, kernel.data_ptr<float>(), grid_rows(grad_y, i, prefix),
                          grid_rows(grad_v, i, prefix), begin, end);
    });
    return {grad_y, grad_v, kernel_gradient(path, v, grad_y, prefix), Tensor()};
  }

 private:
  // Bands of grid rows when there are fewer images than threads.
  template <class Body>
  static void for_each_image(int64_t batch, Grid grid, const Body& body) {
    const int64_t bands = batch < threads() ? std::min<int64_t>(threads(), grid.h) : 1;
    parallel_for(batch * bands, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t band = i % bands;
        body(i / bands, grid.h * band / bands, grid.h * (band + 1) / bands);
      }
    });
  }
};

}  // namespace

Tensor fused_value_path(const Tensor& y, const Tensor& v, const Tensor& kernel,
                        const Tokens& tokens) {
  count_fast_path(FastPath::kValuePath);
  return ValueMix::apply(y, v, kernel, tokens);
}

}  // namespace soft
