#include "engine/walk_step.h"

#include <algorithm>
#include <limits>

#include "engine/team.h"
#include "kernels/gelu.h"
#include "kernels/layer_norm.h"

namespace soft {
namespace {

constexpr int64_t kRowsAtOnce = 64;
constexpr int64_t kFloatsAtOnce = 16 << 10;  // a quarter of a second-level cache
constexpr int64_t kQueriesAtOnce = 256;      // a multiple of the kernel's tile

// body(begin, end) over pieces of [0, count), which do not depend on the team.
template <class Body>
void share_pieces(int team, int64_t count, int64_t each, const Body& body) {
  share(team, (count + each - 1) / each,
        [&](int, int64_t piece) { body(piece * each, std::min(count, (piece + 1) * each)); });
}

int64_t rows_of(const View& view) { return view.count() / view.shape.back(); }

int64_t query_pieces(int64_t queries) { return (queries + kQueriesAtOnce - 1) / kQueriesAtOnce; }

}  // namespace

int64_t step_scratch(const Step& step) {
  if (!std::holds_alternative<work::Attend>(step.work)) return 0;
  const View& k = step.inputs[1];
  return softmax_scratch(k.shape[1], k.shape[2]);
}

// [3, H, W] -> [H, W, 3]
void read_pixels(const Arrays& arrays, const float* pixels) {
  const Grid grid = grid_of(arrays.step.output);
  const int64_t channels = arrays.step.output.shape[0];
  share(arrays.team, grid.h, [&](int, int64_t row) {
    float* out = arrays.out + channels * row * grid.w;
    for (int64_t i = row * grid.w; i < (row + 1) * grid.w; ++i) {
      for (int64_t c = 0; c < channels; ++c) *out++ = pixels[c * grid.size() + i];
    }
  });
}

void run_norm(const Arrays& arrays, const Norm& norm) {
  const auto dim = static_cast<int64_t>(norm.gamma.size());
  share_pieces(arrays.team, rows_of(arrays.step.output), kRowsAtOnce,
               [&](int64_t begin, int64_t end) {
                 layer_norm({end - begin, dim, norm.gamma.data(), norm.beta.data(), norm.epsilon},
                            {arrays.in[0] + begin * dim, dim}, {}, {arrays.out + begin * dim, dim},
                            {}, nullptr);
               });
}

void put_token(const Arrays& arrays, const std::vector<float>& token) {
  std::copy(token.begin(), token.end(), arrays.out);
  std::copy_n(arrays.in[0], arrays.step.inputs[0].count(), arrays.out + token.size());
}

void add_rows(const Arrays& arrays, const std::vector<float>& rows) {
  share_pieces(arrays.team, static_cast<int64_t>(rows.size()), kFloatsAtOnce,
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) arrays.out[i] = arrays.in[0][i] + rows[i];
               });
}

SoftmaxHead softmax_head(const Arrays& arrays, const work::Attend& attend, int64_t head) {
  const auto rows = [&](size_t index) {
    const View& view = arrays.step.inputs[index];
    return ConstRows{arrays.in[index] + head * view.strides[0], view.strides[1]};
  };
  const View &q = arrays.step.inputs[0], &k = arrays.step.inputs[1];
  SoftmaxHead softmax{k.shape[1], k.shape[2], rows(0),
                      rows(1),    rows(2),    static_cast<float>(attend.scale)};
  softmax.queries = q.shape[1];
  return softmax;
}

void attend(const Arrays& arrays, const work::Attend& attend) {
  const View &q = arrays.step.inputs[0], &out = arrays.step.output;
  const int64_t heads = q.shape[0], pieces = query_pieces(q.shape[1]);
  share(arrays.team, heads * pieces, [&](int worker, int64_t unit) {
    const int64_t head = unit / pieces, begin = unit % pieces * kQueriesAtOnce;
    SoftmaxHead softmax = softmax_head(arrays, attend, head);
    softmax.queries = std::min(kQueriesAtOnce, softmax.queries - begin);
    softmax.q.data = softmax.q.row(begin);
    float* y = arrays.out + head * out.strides[0] + begin * out.strides[1];
    softmax_attention(softmax, {y, out.strides[1]}, arrays.workers + worker * arrays.worker_floats);
  });
}

void bend(const Arrays& arrays, Curve curve) {
  share_pieces(arrays.team, arrays.step.output.count(), kFloatsAtOnce,
               [&](int64_t begin, int64_t end) {
                 const float* in = arrays.in[0];
                 if (curve == Curve::kRelu) {
                   for (int64_t i = begin; i < end; ++i) arrays.out[i] = std::max(in[i], 0.0f);
                   return;
                 }
                 const GeluForm form = curve == Curve::kErfGelu ? GeluForm::kErf : GeluForm::kTanh;
                 gelu({form, 1, end - begin}, {in + begin, 0}, {arrays.out + begin, 0});
               });
}

void add(const Arrays& arrays, bool relu) {
  const float lowest = relu ? 0 : -std::numeric_limits<float>::infinity();
  share_pieces(arrays.team, arrays.step.output.count(), kFloatsAtOnce,
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   arrays.out[i] = std::max(arrays.in[0][i] + arrays.in[1][i], lowest);
                 }
               });
}

// The rows of tokens, or the cells of a map, which lie alike.
void average(const Arrays& arrays) {
  const int64_t count = arrays.step.inputs[0].count(), dim = arrays.step.output.count();
  std::fill_n(arrays.out, dim, 0.0f);
  for (int64_t i = 0; i < count; i += dim) {
    for (int64_t c = 0; c < dim; ++c) arrays.out[c] += arrays.in[0][i + c];
  }
  const float share = 1 / static_cast<float>(count / dim);
  for (int64_t c = 0; c < dim; ++c) arrays.out[c] *= share;
}

namespace {

// One cell of the output; cells outside the map count as zeros of a mean.
void pool_cell(const Arrays& arrays, const op::WindowPool& pool, Grid cell) {
  const Grid from = grid_of(arrays.step.inputs[0]), to = grid_of(arrays.step.output);
  const int64_t channels = arrays.step.output.shape[0];
  float* out = arrays.out + (cell.h * to.w + cell.w) * channels;
  std::fill_n(out, channels, pool.largest ? -std::numeric_limits<float>::infinity() : 0.0f);
  const int64_t top = cell.h * pool.stride - pool.padding,
                left = cell.w * pool.stride - pool.padding;
  for (int64_t y = std::max<int64_t>(top, 0); y < std::min(top + pool.kernel, from.h); ++y) {
    for (int64_t x = std::max<int64_t>(left, 0); x < std::min(left + pool.kernel, from.w); ++x) {
      const float* in = arrays.in[0] + (y * from.w + x) * channels;
      if (pool.largest) {
        for (int64_t c = 0; c < channels; ++c) out[c] = std::max(out[c], in[c]);
      } else {
        for (int64_t c = 0; c < channels; ++c) out[c] += in[c];
      }
    }
  }
  if (pool.largest) return;
  const float share = 1 / static_cast<float>(pool.kernel * pool.kernel);
  for (int64_t c = 0; c < channels; ++c) out[c] *= share;
}

}  // namespace

void pool_windows(const Arrays& arrays, const op::WindowPool& pool) {
  const Grid to = grid_of(arrays.step.output);
  share(arrays.team, to.h, [&](int, int64_t row) {
    for (int64_t column = 0; column < to.w; ++column) pool_cell(arrays, pool, {row, column});
  });
}

}  // namespace soft
