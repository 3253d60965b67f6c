// A dense layer in bytes: activations u8 with one scale for the whole layer, or in a linear layer
// for each row, weights s8 with one for each output channel. Reads and writes float32 maps [H, W,
// C]; the sums between are exact.
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
  const int8_t* weight;            // [out, in, kernel, kernel]
  const float* scale;              // [out], of any sign: a folded norm may turn a channel around
  const float* bias;               // [out]
  std::optional<ByteScale> input;  // none: each row of a linear layer over its own values
  const float* mean = nullptr;     // [in] that is taken off such a row before, or null
};

struct Int8Dense {
  Int8Shape shape;
  std::optional<ByteScale> input;
  int depth = 0;
  Buffer packed;                   // bytes; on cache lines, as the kernel likes them best
  std::vector<float> scale, bias;  // [out]; an input's scale and zero are part of them
  std::vector<int32_t> sums;       // [out] of the weights, where rows have scales of their own
  std::vector<float> mean;  // [in] that is taken off rows before; what it adds is in the bias

  const int8_t* weights() const { return reinterpret_cast<const int8_t*>(packed.data()); }
  size_t bytes() const {
    return packed.bytes() +
           (scale.size() + bias.size() + sums.size() + mean.size()) * sizeof(float);
  }
};

Int8Dense pack_int8(const DenseShape& shape, const Int8Source& source);

// Weights [out, in, k, k] in the order in which they are multiplied, [out, k, k, in], and back.
std::vector<int8_t> by_line(const DenseShape& shape, const int8_t* weight);

// A layer's input as bytes.
struct Int8Memory {
  std::vector<uint8_t> bytes;
  std::vector<ByteScale> scales;  // of rows that have their own
};

// One size of map. `team` workers share the work. With a `gelu` the layer reads gelu(src), and may
// overwrite it.
class Int8Plan {
 public:
  Int8Plan(const DenseShape& shape, Grid in);

  void reserve(const Int8Dense& dense, Int8Memory& memory) const;
  void run(const Int8Dense& dense, bool relu, int team, std::optional<GeluForm> gelu, float* src,
           Int8Memory& memory, float* dst) const;

 private:
  void fill(ByteScale scale, int team, std::optional<GeluForm> gelu, const float* src,
            uint8_t* bytes) const;
  void fill_rows(const float* mean, int team, std::optional<GeluForm> gelu, float* src,
                 Int8Memory& memory) const;

  Grid in_, out_;
  int64_t channels_, stride_, padding_;
};

}  // namespace soft
