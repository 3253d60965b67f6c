#include "kernels/gemm.h"

#include <algorithm>

#include "kernels/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "kernels/gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace soft {
namespace HWY_NAMESPACE {
namespace {

// Blocks keep a panel of B in the first-level cache and a block of A in the second.
constexpr int64_t kInnerBlock = 256;
constexpr int64_t kRowBlock = 192;
// B is read in place while the part of it that one panel touches stays this small.
constexpr int64_t kDirectFloats = 4096;

// A piece of the product: everything one panel of B meets.
struct Block {
  int64_t rows;
  int64_t cols;
  int64_t inner;
  float alpha;
  float beta;
};

// in [rows, cols] -> out [cols, rows].
void transpose_blocks(int64_t rows, int64_t cols, const float* in, int64_t stride, float* out,
                      int64_t out_stride) {
  const int64_t whole_rows = rows / 4 * 4, whole_cols = cols / 4 * 4;
  for (int64_t i = 0; i < whole_rows; i += 4) {
    for (int64_t j = 0; j < whole_cols; j += 4) {
      transpose_block(in + i * stride + j, stride, out + j * out_stride + i, out_stride);
    }
  }
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = i < whole_rows ? whole_cols : 0; j < cols; ++j) {
      out[j * out_stride + i] = in[i * stride + j];
    }
  }
}

// op(B) [inner, cols] -> panel [inner, width], zero beyond cols.
void pack_panel(int64_t inner, int64_t cols, const Operand& b, float* panel, int64_t width) {
  if (cols < width) std::fill_n(panel, inner * width, 0.0f);
  if (b.transposed) {
    transpose_blocks(cols, inner, b.data, b.stride, panel, width);
  } else {
    for (int64_t k = 0; k < inner; ++k) {
      for (int64_t j = 0; j < cols; ++j) panel[k * width + j] = b.data[k * b.stride + j];
    }
  }
}

HWY_INLINE void store(FloatVec sum, const Block& block, float* c) {
  const FloatTag d;
  const FloatVec scaled = hn::Mul(sum, hn::Set(d, block.alpha));
  if (block.beta == 0) {
    hn::StoreU(scaled, d, c);
  } else {
    hn::StoreU(hn::MulAdd(hn::Set(d, block.beta), hn::LoadU(d, c), scaled), d, c);
  }
}

// The last `count` columns, less than a vector, of up to kTileRows rows that wait in `buffer`.
void store_tail(const Block& block, int64_t rows, int64_t count, const float* buffer, float* c,
                int64_t c_stride) {
  for (int64_t j = 0; j < count; ++j) {
    for (int64_t i = 0; i < rows; ++i) {
      float& out = c[i * c_stride + j];
      const float scaled = block.alpha * buffer[i * lanes() + j];
      out = block.beta == 0 ? scaled : block.beta * out + scaled;
    }
  }
}

void run_block(const Block& block, const Left& a, const Right& b, float* c, int64_t c_stride) {
  const int64_t whole = block.cols / lanes() * lanes();
  HWY_ALIGN float tail[kTileRows * kPad];
  run_panel<kTileVecs>(vectors(block.cols), block.rows, block.inner, a, b,
                       [&](int64_t row, const auto& tile) HWY_ATTR {
                         float* out = c + row * c_stride;
                         tile.visit([&](int64_t i, int64_t column, FloatVec sum) HWY_ATTR {
                           if (column < whole) {
                             store(sum, block, out + i * c_stride + column);
                           } else {
                             hn::StoreU(sum, FloatTag(), tail + i * lanes());
                           }
                         });
                         store_tail(block, tile.kHeight, block.cols - whole, tail, out + whole,
                                    c_stride);
                       });
}

Operand part(const Operand& x, int64_t row, int64_t column) {
  const int64_t offset = x.transposed ? column * x.stride + row : row * x.stride + column;
  return {x.data + offset, x.stride, x.transposed};
}

void multiply_add(const Block& all, const Operand& a, const Operand& b, float* c,
                  int64_t c_stride) {
  HWY_ALIGN float packed[kInnerBlock * kTileVecs * kPad];
  const Left left{a.data, a.transposed ? 1 : a.stride, a.transposed ? a.stride : 1};
  for (int64_t column = 0; column < all.cols;) {
    const int64_t width = next_part(vectors(all.cols - column), kTileVecs) * lanes();
    const int64_t cols = std::min(width, all.cols - column);
    Right right{b.data + column, b.stride};
    if (b.transposed || cols < width || all.inner * width > kDirectFloats) {
      pack_panel(all.inner, cols, part(b, 0, column), packed, width);
      right = {packed, width};
    }
    run_block({all.rows, cols, all.inner, all.alpha, all.beta}, left, right, c + column, c_stride);
    column += cols;
  }
}

void multiply_blocks(const Product& p, const Operand& a, const Operand& b, float* c,
                     int64_t c_stride) {
  for (int64_t k = 0; k < std::max<int64_t>(p.inner, 1); k += kInnerBlock) {
    const int64_t inner = std::min(kInnerBlock, p.inner - k);
    const float beta = k == 0 ? p.beta : 1;
    for (int64_t row = 0; row < p.rows; row += kRowBlock) {
      const int64_t rows = std::min(kRowBlock, p.rows - row);
      multiply_add({rows, p.cols, inner, p.alpha, beta}, part(a, row, k), part(b, k, 0),
                   c + row * c_stride, c_stride);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace soft
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace soft {

HWY_EXPORT(multiply_blocks);
HWY_EXPORT(transpose_blocks);

void gemm(const Product& product, const Operand& a, const Operand& b, float* c, int64_t c_stride) {
  HWY_DYNAMIC_DISPATCH(multiply_blocks)(product, a, b, c, c_stride);
}

void transpose(int64_t rows, int64_t cols, const float* in, int64_t stride, float* out,
               int64_t out_stride) {
  HWY_DYNAMIC_DISPATCH(transpose_blocks)(rows, cols, in, stride, out, out_stride);
}

}  // namespace soft
#endif
