// oneDNN 3: a primitive's descriptor is made from the parameters themselves.
#include "engine/onednn.h"

namespace soft::onednn {

dnnl::primitive_desc describe(const ConvolutionLayout& layout, const dnnl::primitive_attr& attr,
                              const dnnl::engine& engine) {
  const int64_t s = layout.stride, p = layout.padding;
  return dnnl::convolution_forward::primitive_desc(
      engine, dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, layout.src,
      layout.weights, layout.bias, layout.dst, {s, s}, {p, p}, {p, p}, attr);
}

dnnl::primitive_desc describe(const MatmulLayout& layout, const dnnl::primitive_attr& attr,
                              const dnnl::engine& engine) {
  return dnnl::matmul::primitive_desc(engine, layout.src, layout.weights, layout.bias, layout.dst,
                                      attr);
}

void append_relu(dnnl::post_ops& after) {
  after.append_eltwise(dnnl::algorithm::eltwise_relu, 0, 0);
}

}  // namespace soft::onednn
