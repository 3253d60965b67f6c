// Products of bytes: activations u8 times weights s8, added up in 32 bits without any loss.
//   y[i, j] = scale[j]·sum_k a[i, k]·w[j, k] + bias[j]
// or, where every row has a scale and a zero of its own,
//   y[i, j] = scale[i]·scale[j]·(sum_k a[i, k]·w[j, k] - zero[i]·sums[j]) + bias[j]
// Without VNNI the fast instruction (vpmaddubsw) adds neighbouring products in 16 bits and
// saturates. Here no sum can: `int8_depth` says how many steps of four inner indices a channel's
// weights may be added in 16 bits for every activation from 0 to 255. The deeper, the fewer
// instructions; depth 0 takes the activations apart into a half and a bit, which is safe for all
// weights. VNNI adds four products to 32 bits at once, whatever they are (kInt8Dots). The integer
// sums, and so the answers, are the same in every form and on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/quantize.h"
#include "kernels/rows.h"

namespace soft {

// The inner index runs over `segments` stretches of `inner` bytes: one for a linear layer, the
// kernel's lines for a convolution over a map [H, W, C].
struct Int8Shape {
  int64_t cols = 0;
  int64_t inner = 0;
  int64_t segments = 1;
};

constexpr int64_t kInt8Limit = 128;  // 255·128 is the largest multiple of 255 below 2^15
constexpr int kInt8Deepest = 2;      // four would be no faster and coarser

// The inner indices whose products are added up in the same 16 bits, for every such sum of a
// segment.
struct Int8Sum {
  int64_t index[2 * kInt8Deepest];
  int count = 0;
};
std::vector<Int8Sum> int8_sums(int64_t inner, int depth);

// Whether a sum stays in its range whatever the activations: they are never negative, so it is
// largest where all positive weights meet 255, and smallest where the others do.
bool int8_fits(const Int8Sum& sum, const int8_t* line);

// 2, 1 or 0; weights [cols, segments, inner].
int int8_depth(const Int8Shape& shape, const int8_t* weights);

constexpr int kInt8Dots = 3;  // no depth: every step at once; as 0 where there is no VNNI
bool int8_has_dots();

// The packed form: 16 columns at a time, four inner indices of each side by side.
int64_t int8_packed_bytes(const Int8Shape& shape);
void int8_pack(const Int8Shape& shape, const int8_t* weights, int8_t* packed);

// Rows of bytes, which may be pixels of a map: `line` of them stand `stride` apart, then the next
// ones begin `next_line` behind the first of these. A row's segments are `segment` apart.
// kInt8Slack bytes behind the last row are read, too, whatever they are.
struct ByteRows {
  const uint8_t* data = nullptr;
  int64_t stride = 0;
  int64_t segment = 0;
  int64_t line = INT64_MAX;
  int64_t next_line = 0;

  const uint8_t* row(int64_t i) const {
    return i < line ? data + i * stride : data + i / line * next_line + i % line * stride;
  }
};
constexpr int64_t kInt8Slack = 16;

struct Int8Weights {
  const int8_t* packed;
  const float* scale;  // [cols]
  const float* bias;   // [cols]
  int depth;           // at most int8_depth of the weights, or kInt8Dots
  bool relu = false;
  const int32_t* sums = nullptr;      // [cols] of the weights, for rows with scales of their own
  const ByteScale* scales = nullptr;  // [rows], of the rows of `a`
};

// Rows [first, first + rows) of a; y's first row is the first of these.
void int8_gemm(const Int8Shape& shape, int64_t first, int64_t rows, const ByteRows& a,
               const Int8Weights& weights, Rows y);

}  // namespace soft
