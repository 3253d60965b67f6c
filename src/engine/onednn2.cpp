// oneDNN 2: an operation descriptor first, then the primitive's.
#include "engine/onednn.h"

namespace soft::onednn {

dnnl::primitive_desc describe(const ConvolutionLayout& layout, const dnnl::primitive_attr& attr,
                              const dnnl::engine& engine) {
  const int64_t s = layout.stride, p = layout.padding;
  const dnnl::convolution_forward::desc operation(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, layout.src,
      layout.weights, layout.bias, layout.dst, {s, s}, {p, p}, {p, p});
  return dnnl::convolution_forward::primitive_desc(operation, attr, engine);
}

dnnl::primitive_desc describe(const MatmulLayout& layout, const dnnl::primitive_attr& attr,
                              const dnnl::engine& engine) {
  const dnnl::matmul::desc operation(layout.src, layout.weights, layout.bias, layout.dst);
  return dnnl::matmul::primitive_desc(operation, attr, engine);
}

void append_relu(dnnl::post_ops& after) {
  after.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
}

}  // namespace soft::onednn
