// Small products, beside the roofline: oneDNN's own 1024³ product on one thread.
#include <fmt/format.h>

#include <memory>
#include <oneapi/dnnl/dnnl.hpp>

#include "engine/onednn.h"
#include "gym.h"
#include "kernels/gemm.h"
#include "kernels/plain/gemm.h"

namespace soft::gym {
namespace {

struct Matrices {
  std::vector<float> a, b, c;
};

void train_gemm(int64_t rows, int64_t inner, int64_t cols, bool transpose_a) {
  const Product product{rows, cols, inner};
  const auto x = std::make_shared<Matrices>(Matrices{normal_floats(rows * inner, 1),
                                                     normal_floats(inner * cols, 2),
                                                     std::vector<float>(rows * cols)});
  const auto body = [=] {
    gemm(product, {x->a.data(), transpose_a ? rows : inner, transpose_a}, {x->b.data(), cols},
         x->c.data(), cols);
  };
  const auto error = [=] {
    std::vector<float> expected(rows * cols);
    plain::gemm<float>(product, {x->a.data(), transpose_a ? rows : inner, transpose_a},
                       {x->b.data(), cols}, expected.data(), cols);
    body();
    return distance(x->c, expected);
  };
  const std::string name =
      fmt::format("gemm/{}x{}x{}{}", rows, inner, cols, transpose_a ? "/transposed" : "");
  train({name, 2.0 * rows * inner * cols, 0, error, 1e-3, body});
}

void train_roofline(int64_t size) {
  using dnnl::memory;
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const memory::desc plain({size, size}, memory::data_type::f32, memory::format_tag::ab);
  const memory::desc any({size, size}, memory::data_type::f32, memory::format_tag::any);
  const dnnl::primitive_desc description =
      onednn::describe(onednn::MatmulLayout{plain, any, {}, plain}, {}, engine);
  const dnnl::primitive matmul(description);
  const memory a(plain, engine), b(description.weights_desc(), engine), c(plain, engine);
  const dnnl::stream stream(engine);
  train_peer(fmt::format("roofline/onednn/{0}x{0}x{0}", size), 2.0 * size * size * size, [=] {
    dnnl::stream s = stream;
    matmul.execute(s, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}});
    s.wait();
  });
}

const bool kRegistered = [] {
  train_roofline(1024);
  train_gemm(49, 49, 49, false);
  for (const int64_t rows : {64, 128, 256}) train_gemm(rows, 32, 49, false);  // q·Lᵀ
  train_gemm(128, 49, 32, false);                                             // K·M
  train_gemm(49, 128, 32, true);                                              // KᵀV
  train_gemm(512, 512, 512, false);
  return true;
}();

}  // namespace
}  // namespace soft::gym
