// A dense layer in bytes: activations u8 with one scale for the whole layer, weights s8 with one
// for each output channel. Reads and writes float32 maps [H, W, C]; the sums between are exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/grid.h"
#include "engine/buffer.h"
#include "kernels/int8_gemm.h"
#include "kernels/quantize.h"

namespace soft {

struct DenseShape;  // engine/dense.h

// As a weights file has it.
struct Int8Source {
  const int8_t* weight;  // [out, in, kernel, kernel]
  const float* scale;    // [out], of any sign: a folded norm may turn a channel around
  const float* bias;     // [out]
  ByteScale input;
};

struct Int8Dense {
  Int8Shape shape;
  ByteScale input;
  int depth = 0;
  Buffer packed;                   // bytes; on cache lines, as the kernel likes them best
  std::vector<float> scale, bias;  // [out]; the input's scale and zero are part of them

  const int8_t* weights() const { return reinterpret_cast<const int8_t*>(packed.data()); }
  size_t bytes() const { return packed.bytes() + (scale.size() + bias.size()) * sizeof(float); }
};

Int8Dense pack_int8(const DenseShape& shape, const Int8Source& source);

// Weights [out, in, k, k] in the order in which they are multiplied, [out, k, k, in], and back.
std::vector<int8_t> by_line(const DenseShape& shape, const int8_t* weight);

// One size of map. `bytes` has room for byte_count(); `team` workers share the work. With a `gelu`
// the layer reads gelu(src).
class Int8Plan {
 public:
  Int8Plan(const DenseShape& shape, Grid in);

  int64_t byte_count() const;
  void run(const Int8Dense& dense, bool relu, int team, std::optional<GeluForm> gelu,
           const float* src, uint8_t* bytes, float* dst) const;

 private:
  void fill(const Int8Dense& dense, int team, std::optional<GeluForm> gelu, const float* src,
            uint8_t* bytes) const;

  Grid in_, out_;
  int64_t channels_, stride_, padding_;
};

}  // namespace soft
