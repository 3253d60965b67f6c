#include "engine/int8_dense.h"

#include <algorithm>
#include <cstring>

#include "engine/dense.h"
#include "engine/team.h"

namespace soft {
namespace {

constexpr int64_t kRowsAtOnce = 64;  // of a map, for one worker

// The kernel's taps beside each other in a map: whole lines of it.
Int8Shape byte_shape(const DenseShape& shape) {
  return {shape.out, shape.kernel * shape.in, shape.kernel};
}

}  // namespace

std::vector<int8_t> by_line(const DenseShape& shape, const int8_t* weight) {
  const int64_t taps = shape.kernel * shape.kernel;
  std::vector<int8_t> lines(shape.out * taps * shape.in);
  for (int64_t o = 0; o < shape.out; ++o) {
    for (int64_t c = 0; c < shape.in; ++c) {
      const int8_t* from = weight + (o * shape.in + c) * taps;
      for (int64_t tap = 0; tap < taps; ++tap) lines[(o * taps + tap) * shape.in + c] = from[tap];
    }
  }
  return lines;
}

// scale·sum (byte - zero)·w = scale·sum byte·w - scale·zero·sum w
Int8Dense pack_int8(const DenseShape& shape, const Int8Source& source) {
  Int8Dense dense{byte_shape(shape), source.input, 0, {}, {}, {}, {}, {}};
  if (source.mean != nullptr) dense.mean.assign(source.mean, source.mean + shape.in);
  const std::vector<int8_t> lines = by_line(shape, source.weight);
  dense.depth = int8_has_dots() ? kInt8Dots : int8_depth(dense.shape, lines.data());
  constexpr int64_t kFloat = sizeof(float);
  dense.packed = Buffer((int8_packed_bytes(dense.shape) + kFloat - 1) / kFloat);
  int8_pack(dense.shape, lines.data(), reinterpret_cast<int8_t*>(dense.packed.data()));
  const auto each = static_cast<int64_t>(lines.size()) / shape.out;
  for (int64_t o = 0; o < shape.out; ++o) {
    int32_t sum = 0;
    for (int64_t k = 0; k < each; ++k) sum += lines[o * each + k];
    if (!source.input) {
      double of_mean = 0;
      for (size_t k = 0; k < dense.mean.size(); ++k) {
        of_mean += static_cast<double>(dense.mean[k]) * lines[o * each + static_cast<int64_t>(k)];
      }
      dense.scale.push_back(source.scale[o]);
      dense.bias.push_back(static_cast<float>(source.bias[o] + source.scale[o] * of_mean));
      dense.sums.push_back(sum);
      continue;
    }
    const double scale = static_cast<double>(source.scale[o]) * source.input->scale;
    dense.scale.push_back(static_cast<float>(scale));
    dense.bias.push_back(static_cast<float>(source.bias[o] - scale * source.input->zero * sum));
  }
  return dense;
}

// A linear layer's rows are one line, so that they need not be taken one by one.
Int8Plan::Int8Plan(const DenseShape& shape, Grid in)
    : in_(in),
      out_(shape.output(in)),
      channels_(shape.in),
      stride_(shape.stride),
      padding_(shape.padding) {
  if (shape.kernel > 1 || shape.stride > 1 || shape.padding > 0) return;
  in_ = out_ = {1, in.size()};
}

void Int8Plan::reserve(const Int8Dense& dense, Int8Memory& memory) const {
  const auto reach = [](auto& values, int64_t count) {
    if (static_cast<int64_t>(values.size()) < count) values.resize(count);
  };
  reach(memory.bytes, (in_.h + 2 * padding_) * (in_.w + 2 * padding_) * channels_ + kInt8Slack);
  if (!dense.input) reach(memory.scales, in_.size());
}

// The map in bytes, with a border of what stands for 0.
void Int8Plan::fill(ByteScale scale, int team, std::optional<GeluForm> gelu, const float* src,
                    uint8_t* bytes) const {
  const int64_t width = in_.w * channels_, border = padding_ * channels_;
  const int64_t line = width + 2 * border;
  share(team, in_.h, [&](int, int64_t y) {
    uint8_t* out = bytes + (y + padding_) * line;
    std::memset(out, scale.zero, border);
    const ConstRows from{src + y * width, width};
    if (gelu) {
      quantize_gelu(scale, {*gelu, 1, width}, from, out + border, width);
    } else {
      quantize(scale, 1, width, from, out + border, width);
    }
    std::memset(out + border + width, scale.zero, border);
  });
  std::memset(bytes, scale.zero, padding_ * line);
  std::memset(bytes + (in_.h + padding_) * line, scale.zero, padding_ * line);
}

void Int8Plan::fill_rows(const float* mean, int team, std::optional<GeluForm> gelu_form, float* src,
                         Int8Memory& memory) const {
  const int64_t count = in_.size();
  share(team, (count + kRowsAtOnce - 1) / kRowsAtOnce, [&](int, int64_t unit) {
    const int64_t first = unit * kRowsAtOnce, rows = std::min(kRowsAtOnce, count - first);
    const Rows x{src + first * channels_, channels_};
    if (gelu_form) gelu({*gelu_form, rows, channels_}, {x.data, x.stride}, x);
    quantize_rows(rows, channels_, {x.data, x.stride}, mean,
                  memory.bytes.data() + first * channels_, channels_, memory.scales.data() + first);
  });
}

void Int8Plan::run(const Int8Dense& dense, bool relu, int team, std::optional<GeluForm> gelu,
                   float* src, Int8Memory& memory, float* dst) const {
  if (dense.input) {
    fill(*dense.input, team, gelu, src, memory.bytes.data());
  } else {
    fill_rows(dense.mean.empty() ? nullptr : dense.mean.data(), team, gelu, src, memory);
  }
  const int64_t line = (in_.w + 2 * padding_) * channels_;
  const ByteRows rows{memory.bytes.data(), stride_ * channels_, line, out_.w, stride_ * line};
  Int8Weights weights{dense.weights(), dense.scale.data(), dense.bias.data(), dense.depth, relu};
  if (!dense.input) {
    weights.sums = dense.sums.data();
    weights.scales = memory.scales.data();
  }
  const int64_t count = out_.size(), cols = dense.shape.cols;
  const int64_t units = team == 1 ? 1 : (count + kRowsAtOnce - 1) / kRowsAtOnce;
  const int64_t each = (count + units - 1) / units;
  share(team, units, [&](int, int64_t unit) {
    const int64_t first = unit * each, some = std::min(each, count - first);
    if (some > 0) int8_gemm(dense.shape, first, some, rows, weights, {dst + first * cols, cols});
  });
}

}  // namespace soft
