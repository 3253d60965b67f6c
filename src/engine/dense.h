// Dense layers on oneDNN: convolutions over maps [H, W, C] (NHWC), and linear layers over rows
// [n, C], which are maps n high and 1 wide. Weights stand in the blocked layout that oneDNN prefers
// on this machine; code is compiled for each size. A layer packed as bytes runs on our own kernel.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <vector>

#include "base/grid.h"
#include "engine/engine.h"
#include "engine/int8_dense.h"

namespace soft {

struct DenseShape {
  int64_t in = 0;   // channels
  int64_t out = 0;  // channels
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t padding = 0;
  bool relu = false;
  LinearForm form = LinearForm::kConvolution;  // kMatmul for linear layers only
  bool sum = false;                            // onto what the output holds, before the ReLU

  Grid output(Grid in) const {
    const auto side = [&](int64_t size) { return (size + 2 * padding - kernel) / stride + 1; };
    return {side(in.h), side(in.w)};
  }
};

LinearForm resolve(LinearForm form);  // kBest becomes what is best here

// Weights and bias, const once packed.
struct Dense {
  DenseShape shape;
  dnnl::memory weights;
  dnnl::memory bias;                                          // [out]
  std::shared_ptr<const Int8Dense> int8;                      // instead of the two above
  std::function<void(const float* src, int64_t rows)> watch;  // sees all that the layer reads

  size_t bytes() const {
    if (int8) return int8->bytes();
    return weights.get_desc().get_size() + bias.get_desc().get_size();
  }
};

// weight [out, in, kernel, kernel], bias [out]. The layout is chosen for maps of the `typical`
// size.
Dense pack_dense(const DenseShape& shape, Grid typical, const float* weight, const float* bias);
Dense pack_dense(const DenseShape& shape, const Int8Source& source);

// A dense layer's compiled code for one size of map. Each of its workers may run it at the same
// time as the others, with any weights of that shape.
class DenseRunner {
 public:
  // `threads` work together inside one run.
  DenseRunner(const DenseShape& shape, Grid in, int threads, int workers);

  // To be called once for each layer that will run. A size may want another layout than the packed
  // one; then the runner keeps its own copy.
  void adopt(const Dense& dense);

  void run(int worker, const Dense& dense, const float* src, float* dst) const;

  // The layer over gelu(src); src may be overwritten.
  void run_gelu(int worker, const Dense& dense, GeluForm gelu, float* src, float* dst) const;

 private:
  struct Slot {
    dnnl::stream stream;
    dnnl::memory src, dst, scratch;
    Int8Memory int8;
  };

  void compile();

  DenseShape shape_;
  Grid in_;
  int threads_;
  Int8Plan int8_;
  dnnl::memory::desc weights_;
  dnnl::primitive primitive_;        // empty until a layer in float32 is adopted
  mutable std::vector<Slot> slots_;  // one per worker, touched by that worker only
  std::map<const Dense*, dnnl::memory> own_copies_;
};

// A linear layer over row counts that are known beforehand.
class RowRunner {
 public:
  RowRunner() = default;
  RowRunner(const DenseShape& shape, const std::vector<int64_t>& row_counts, int workers);

  void adopt(const Dense& dense);
  void run(int worker, const Dense& dense, int64_t rows, const float* src, float* dst) const {
    runners_.at(rows).run(worker, dense, src, dst);
  }
  void run_gelu(int worker, const Dense& dense, GeluForm form, int64_t rows, float* src,
                float* dst) const {
    runners_.at(rows).run_gelu(worker, dense, form, src, dst);
  }

 private:
  std::map<int64_t, DenseRunner> runners_;
};

}  // namespace soft
