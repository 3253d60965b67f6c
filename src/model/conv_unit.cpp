#include "model/conv_unit.h"

#include <cmath>
#include <vector>

#include "attention/fast_path.h"
#include "attention/torch.h"
#include "base/error.h"
#include "base/parallel.h"
#include "describe/operation.h"
#include "kernels/batch_norm.h"
#include "kernels/convolution.h"
#include "model/batch_sync.h"

namespace soft {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr auto kNhwc = at::MemoryFormat::ChannelsLast;

// [B, C, H, W] with the floats of a pixel side by side.
Tensor empty_map(int64_t batch, int64_t channels, Grid grid, const Tensor& like) {
  return torch::empty({batch, channels, grid.h, grid.w}, like.options(), kNhwc);
}

float* image_of(const Tensor& map, int64_t i) { return map.data_ptr<float>() + i * map.stride(0); }

Convolution shape_of(const Tensor& map, const Tensor& weight, int64_t stride) {
  const int64_t kernel = weight.size(2);
  return {{map.size(2), map.size(3)}, map.size(1), weight.size(0), kernel, stride, kernel / 2};
}

// Runs body(part, first image, end, scratch): one part of the batch per thread.
template <class Body>
void for_each_part(int64_t parts, int64_t batch, int64_t scratch, const Body& body) {
  parallel_for(parts, [&](int64_t begin, int64_t end) {
    std::vector<float> memory(scratch);
    for (int64_t part = begin; part < end; ++part) {
      body(part, batch * part / parts, batch * (part + 1) / parts, memory.data());
    }
  });
}

int64_t parts_of(const Tensor& map) { return std::min<int64_t>(threads(), map.size(0)); }

Tensor convolution_of(const Tensor& map, const Tensor& weight, const Tensor& bias, int64_t stride) {
  const Convolution conv = shape_of(map, weight, stride);
  const Tensor out = empty_map(map.size(0), conv.out_channels, conv.out(), map);
  for_each_part(parts_of(map), map.size(0), convolution_scratch(conv),
                [&](int64_t /*part*/, int64_t begin, int64_t end, float* scratch) {
                  for (int64_t i = begin; i < end; ++i) {
                    convolution(conv, weight.data_ptr<float>(), bias.data_ptr<float>(),
                                image_of(map, i), image_of(out, i), scratch);
                  }
                });
  return out;
}

struct ConvGradients {
  Tensor map;     // undefined unless wanted
  Tensor weight;  // [C', k, k, C] in memory
};

ConvGradients convolution_gradients(const Tensor& map, const Tensor& weight, int64_t stride,
                                    const Tensor& grad_y, bool want_map) {
  const Convolution conv = shape_of(map, weight, stride);
  const int64_t parts = parts_of(map);
  const Tensor grad_weight = torch::zeros({parts, weight.numel()}, weight.options());
  ConvGradients gradients;
  if (want_map) gradients.map = torch::empty_like(map);
  for_each_part(parts, map.size(0), convolution_scratch(conv),
                [&](int64_t part, int64_t begin, int64_t end, float* scratch) {
                  for (int64_t i = begin; i < end; ++i) {
                    convolution_backward(conv, weight.data_ptr<float>(), image_of(map, i),
                                         image_of(grad_y, i),
                                         want_map ? image_of(gradients.map, i) : nullptr,
                                         grad_weight[part].data_ptr<float>(), scratch);
                  }
                });
  gradients.weight = torch::empty_like(weight);
  gradients.weight.permute({0, 2, 3, 1}).view(-1).copy_(grad_weight.sum(0));
  return gradients;
}

// The pixels of a batch of maps as rows of channels, in blocks.
struct Pixels {
  int64_t rows, channels;

  explicit Pixels(const Tensor& map)
      : rows(map.size(0) * map.size(2) * map.size(3)), channels(map.size(1)) {}

  int64_t blocks() const { return (rows + kNormBlock - 1) / kNormBlock; }

  // Runs body(block, offset of its first float, its rows).
  template <class Body>
  void for_each_block(const Body& body) const {
    parallel_for(blocks(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i * kNormBlock;
        body(i, first * channels, std::min(kNormBlock, rows - first));
      }
    });
  }
};

struct Moments {
  Tensor mean, variance;  // [C] in double
  int64_t rows = 0;       // that they are of
};

// Chan's rule: the squares about each block's mean, and those of the means about the whole's.
Moments moments_of(const Tensor& map) {
  const Pixels pixels(map);
  const Tensor means = torch::empty({pixels.blocks(), pixels.channels});
  const Tensor squares = torch::empty_like(means), counts = torch::empty({pixels.blocks(), 1});
  pixels.for_each_block([&](int64_t i, int64_t at, int64_t rows) {
    channel_moments(rows, pixels.channels, map.data_ptr<float>() + at,
                    means.data_ptr<float>() + i * pixels.channels,
                    squares.data_ptr<float>() + i * pixels.channels);
    counts.data_ptr<float>()[i] = static_cast<float>(rows);
  });
  const Tensor wide = means.to(torch::kFloat64), weights = counts.to(torch::kFloat64);
  const auto total = static_cast<double>(pixels.rows);
  const Tensor mean = (wide * weights).sum(0) / total;
  const Tensor between = ((wide - mean).square() * weights).sum(0);
  return {mean, (squares.to(torch::kFloat64).sum(0) + between) / total, pixels.rows};
}

// Those of the batches of all processes together, where they are to be one.
Moments over_processes(const Moments& own) {
  if (!batches_are_synced()) return own;
  const auto rows = static_cast<double>(own.rows);
  const Tensor count = torch::full({1}, rows, torch::kFloat64);
  const Tensor sums =
      torch::cat({count, own.mean * rows, (own.variance + own.mean.square()) * rows});  // [1 + 2C]
  sum_over_processes(sums);
  const int64_t channels = own.mean.numel();
  const Tensor all = sums / sums[0];
  const Tensor mean = all.narrow(0, 1, channels);
  const Tensor variance = all.narrow(0, 1 + channels, channels) - mean.square();
  return {mean, variance.clamp_min(0), std::llround(sums[0].item<double>())};
}

// A batch's statistics as they enter the running ones.
void update_running(const BatchNorm& norm, const Moments& moments) {
  const double unbiased = static_cast<double>(moments.rows) /
                          static_cast<double>(std::max<int64_t>(1, moments.rows - 1));
  Tensor(norm.mean).lerp_(moments.mean.to(torch::kFloat32), kBatchNormMomentum);
  Tensor(norm.variance)
      .lerp_((moments.variance * unbiased).to(torch::kFloat32), kBatchNormMomentum);
}

BatchNormPoint point_of(const Tensor& mean, const Tensor& scale, const Tensor& beta) {
  return {mean.numel(), mean.data_ptr<float>(), scale.data_ptr<float>(), beta.data_ptr<float>()};
}

class FusedUnit : public torch::autograd::Function<FusedUnit> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& input, const Tensor& weight,
                        const Tensor& bias, const Tensor& gamma, const Tensor& beta,
                        const ConvUnit* unit) {
    const int64_t stride = unit->stride;
    const Tensor map = input.contiguous(kNhwc), kernel = weight.contiguous(kNhwc);
    const Tensor x = convolution_of(map, kernel, bias, stride);
    const Moments moments = over_processes(moments_of(x));
    const Pixels pixels(x);
    update_running(unit->norm, moments);
    const Tensor rstd = (moments.variance + kBatchNormEpsilon).rsqrt();
    const Tensor mean = moments.mean.to(torch::kFloat32);
    const Tensor scale = (gamma * rstd).to(torch::kFloat32), offset = beta.contiguous();
    const Tensor y = torch::empty_like(x);
    const BatchNormPoint point = point_of(mean, scale, offset);
    pixels.for_each_block([&](int64_t /*block*/, int64_t at, int64_t rows) {
      batch_norm_relu(point, rows, x.data_ptr<float>() + at, y.data_ptr<float>() + at);
    });
    context->save_for_backward({map, kernel, x, mean, scale, offset, rstd});
    context->saved_data["stride"] = stride;
    context->saved_data["rows"] = moments.rows;
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor &map = saved[0], &kernel = saved[1];
    Tensor grad_gamma, grad_beta;
    const Tensor grad_x = norm_gradient(saved, context->saved_data["rows"].toInt(), gradients[0],
                                        grad_gamma, grad_beta);
    const ConvGradients conv = convolution_gradients(
        map, kernel, context->saved_data["stride"].toInt(), grad_x, context->needs_input_grad(0));
    return {conv.map, conv.weight, grad_x.sum({0, 2, 3}), grad_gamma, grad_beta, Tensor()};
  }

 private:
  // `rows` are those of the statistics: of all processes together where they are synced.
  static Tensor norm_gradient(const std::vector<Tensor>& saved, int64_t rows,
                              const Tensor& incoming, Tensor& grad_gamma, Tensor& grad_beta) {
    const Tensor &x = saved[2], &rstd = saved[6];
    const Tensor grad_y = incoming.contiguous(kNhwc);
    const Pixels pixels(x);
    const BatchNormPoint point = point_of(saved[3], saved[4], saved[5]);
    const Tensor sums = torch::empty({2, pixels.blocks(), pixels.channels});
    pixels.for_each_block([&](int64_t i, int64_t at, int64_t rows) {
      batch_norm_sums(point, rows, x.data_ptr<float>() + at, grad_y.data_ptr<float>() + at,
                      sums.data_ptr<float>() + i * pixels.channels,
                      sums.data_ptr<float>() + (pixels.blocks() + i) * pixels.channels);
    });
    const Tensor totals = sums.to(torch::kFloat64).sum(1);  // [2, C]
    grad_beta = totals[0].to(torch::kFloat32);
    grad_gamma = (totals[1] * rstd).to(torch::kFloat32);
    sum_over_processes(totals);
    const auto count = static_cast<double>(rows);
    const Tensor sum = (totals[0] / count).to(torch::kFloat32);
    const Tensor product = (totals[1] / count * rstd.square()).to(torch::kFloat32);
    const Tensor grad_x = torch::empty_like(x);
    pixels.for_each_block([&](int64_t /*block*/, int64_t at, int64_t rows) {
      batch_norm_backward(point, rows, x.data_ptr<float>() + at, grad_y.data_ptr<float>() + at,
                          sum.data_ptr<float>(), product.data_ptr<float>(),
                          grad_x.data_ptr<float>() + at);
    });
    return grad_x;
  }
};

}  // namespace

Tensor ConvUnit::convolved(const Tensor& map) const {
  return torch::conv2d(map, weight, bias, stride, padding, 1, groups);
}

Tensor ConvUnit::normed(const Tensor& map) const {
  if (training && batches_are_synced()) {
    fail("sync_bn=on is made for convolutions with ReLU behind, in float32; leave it off");
  }
  return torch::batch_norm(map, norm.weight, norm.bias, norm.mean, norm.variance, training,
                           kBatchNormMomentum, kBatchNormEpsilon, false);
}

Tensor ConvUnit::forward(const Tensor& map) const {
  const bool known_shape = groups == 1 && bias.defined() && padding == weight.size(2) / 2;
  if (!training || !known_shape || !fast_path_applies(map) || !fast_path_applies(weight)) {
    return torch::relu(normed(convolved(map)));
  }
  count_fast_path(FastPath::kConvolution);
  return FusedUnit::apply(map, weight, bias, norm.weight, norm.bias, this);
}

}  // namespace soft
