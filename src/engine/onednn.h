// What oneDNN 2 and oneDNN 3 say differently, said once: how a primitive is described. The build
// takes onednn2.cpp or onednn3.cpp, whichever fits the library it found.
#pragma once

#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>

namespace soft::onednn {

struct ConvolutionLayout {
  dnnl::memory::desc src, weights, bias, dst;
  int64_t stride = 1;
  int64_t padding = 0;  // on all four sides
};

struct MatmulLayout {
  dnnl::memory::desc src, weights, bias, dst;
};

dnnl::primitive_desc describe(const ConvolutionLayout& layout, const dnnl::primitive_attr& attr,
                              const dnnl::engine& engine);
dnnl::primitive_desc describe(const MatmulLayout& layout, const dnnl::primitive_attr& attr,
                              const dnnl::engine& engine);

void append_relu(dnnl::post_ops& after);

}  // namespace soft::onednn
