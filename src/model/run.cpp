#include "model/run.h"

#include <algorithm>

#include "attention/batch_product.h"
#include "attention/gelu.h"
#include "attention/linear.h"
#include "attention/torch.h"
#include "attention/weight_dropout.h"
#include "model/conv_unit.h"
#include "model/drop.h"
#include "model/positions.h"
#include "model/run_sequence.h"

namespace soft {
namespace {

using torch::Tensor;

Tensor bent(const Tensor& x, Curve curve) {
  switch (curve) {
    case Curve::kNone:
      return x;
    case Curve::kRelu:
      return torch::relu(x);
    case Curve::kTanhGelu:
      return tanh_gelu(x);
    case Curve::kErfGelu:
      return erf_gelu(x);
    case Curve::kSilu:
      return torch::silu(x);
    case Curve::kSigmoid:
      return torch::sigmoid(x);
  }
  return x;
}

// Every group of channels is a map of its own under one kernel.
Tensor shared_convolution(const op::Convolution& conv, const Tensor& x, const Tensor& weight,
                          const Tensor& bias) {
  const int64_t in = conv.in / conv.groups, out = conv.out / conv.groups, k = conv.kernel;
  const Tensor maps = x.reshape({-1, in, x.size(2), x.size(3)});
  const Tensor y =
      torch::conv2d(maps, weight.reshape({out, in, k, k}), bias, conv.stride, conv.padding);
  return y.reshape({x.size(0), conv.out, y.size(2), y.size(3)});
}

// Rows of a table, linearly resized to another number of them beforehand.
Tensor chosen_rows(const op::Stored& stored, const Tensor& table) {
  Tensor rows = table;
  if (stored.resized > 0 && stored.resized != table.size(0)) {
    rows = torch::upsample_linear1d(table.t().unsqueeze(0), {stored.resized}, false)[0].t();
  }
  if (stored.rows.empty()) return rows;
  return rows.index_select(0, torch::tensor(stored.rows, torch::kInt64));
}

// One overload per operation; the compiler names the one that is missing.
struct Runner {
  const PartRun& at;
  const std::vector<Tensor>& inputs;
  const Input& input;

  const Tensor& x() const { return inputs[0]; }
  Tensor tensor(size_t index) const {
    return index < at.tensors.size() ? at.tensors[index] : Tensor();
  }

  Tensor operator()(const op::Pixels&) const { return input.pixels; }

  Tensor operator()(const op::Convolution& conv) const {
    if (conv.shared) return shared_convolution(conv, x(), tensor(0), tensor(1));
    const size_t norm = conv.bias ? 2 : 1;
    ConvUnit unit{tensor(0), conv.bias ? tensor(1) : Tensor(), conv.stride, conv.padding,
                  conv.groups};
    if (!conv.batch_norm) return bent(unit.convolved(x()), conv.after);
    unit.norm = {tensor(norm), tensor(norm + 1), tensor(norm + 2), tensor(norm + 3)};
    unit.training = at.training;
    if (conv.after == Curve::kRelu) return unit.forward(x());
    return bent(unit.normed(unit.convolved(x())), conv.after);
  }

  // A sequence's head reads one vector, on LibTorch's own product: runs that began with it go on
  // bit for bit.
  Tensor operator()(const op::Linear&) const {
    if (input.is_sequences() && x().dim() == 2) {
      return torch::nn::functional::linear(x(), tensor(0), tensor(1));
    }
    return linear(x(), tensor(0), tensor(1));
  }

  Tensor operator()(const op::LayerNorm& norm) const {
    return torch::layer_norm(x(), {norm.dim}, tensor(0), tensor(1), norm.epsilon);
  }

  Tensor operator()(const op::Flatten&) const { return x().flatten(2).transpose(1, 2); }

  Tensor operator()(const op::Unflatten& map) const { return as_map(x(), map.prefix, map.grid); }

  Tensor operator()(const op::ClassToken&) const {
    if (input.is_sequences()) return with_class_tokens(x(), tensor(0), input.sequences);
    return torch::cat({tensor(0).expand({x().size(0), -1, -1}), x()}, 1);
  }

  Tensor operator()(const op::Position& position) const {
    return x() + resized_positions(tensor(0), position);
  }

  Tensor operator()(const op::Slice& slice) const {
    return x().narrow(slice.axis + 1, slice.begin, slice.length);
  }

  Tensor operator()(const op::Mix& mix) const {
    const WeightDropoutScope weights(mix.dropout);
    if (input.is_sequences() && x().size(1) == 0) return inputs[2];  // no sequence has a token
    if (input.is_sequences()) {
      return mix_each(*at.attention, inputs, mix, input.sequences, at.training);
    }
    const Heads heads = at.attention->split(inputs[0], inputs[1], inputs[2]);
    return at.attention->forward(heads, tokens_of(mix, at.training));
  }

  Tensor operator()(const op::Activate& activate) const { return bent(x(), activate.curve); }

  Tensor operator()(const op::Residual& residual) const {
    const double rate = at.drop.rate * residual.depth;
    if (!at.training || rate <= 0) return x() + inputs[1];
    const bool whole = residual.drops_samples || at.drop.whole_samples;
    return x() + (whole ? drop_samples(inputs[1], rate) : drop_elements(inputs[1], rate));
  }

  Tensor operator()(const op::Pool& pool) const {
    if (input.is_sequences()) return pool_each(x(), pool, input.sequences);
    return pool.first ? x().select(1, 0) : x().mean(1);
  }

  Tensor operator()(const op::Lookup&) const {
    return tensor(0).index_select(0, input.sequences.tokens).unsqueeze(0);  // [1, T, C]
  }

  Tensor operator()(const op::Order&) const { return with_order(x(), tensor(0), input.sequences); }

  Tensor operator()(const op::Dropout& dropout) const {
    return at.training ? drop_elements(x(), dropout.rate) : x();
  }

  Tensor operator()(const op::Pair&) const {
    const auto sides = x().chunk(2, 0);
    const Tensor &a = sides[0], &b = sides[1];
    return torch::cat({a, b, a * b, a - b}, -1);  // [N, 4·C]
  }

  // ---- Other families. What is the same for every sample has a batch of 1.

  Tensor operator()(const op::BatchNorm& norm) const {
    const Tensor y = torch::batch_norm(x(), tensor(0), tensor(1), tensor(2), tensor(3), at.training,
                                       kBatchNormMomentum, kBatchNormEpsilon, true);
    return bent(y, norm.after);
  }

  Tensor operator()(const op::WindowPool& pool) const {
    return pool.largest ? torch::max_pool2d(x(), pool.kernel, pool.stride, pool.padding)
                        : torch::avg_pool2d(x(), pool.kernel, pool.stride, pool.padding);
  }

  Tensor operator()(const op::GlobalMean&) const { return x().mean({2, 3}, true); }

  Tensor operator()(const op::Combine& combine) const {
    switch (combine.how) {
      case How::kPlus:
        return aligned(0) + aligned(1);
      case How::kMinus:
        return aligned(0) - aligned(1);
      case How::kTimes:
        return aligned(0) * aligned(1);
    }
    return x();
  }

  Tensor operator()(const op::Stored& stored) const {
    return chosen_rows(stored, tensor(0)).unsqueeze(0);
  }

  Tensor operator()(const op::Constant& constant) const {
    const Tensor values = torch::tensor(constant.values).to(input.pixels.scalar_type());
    return values.reshape(at.part.shape).unsqueeze(0);
  }

  Tensor operator()(const op::Reshape&) const { return x().reshape(batched(at.part.shape)); }

  Tensor operator()(const op::Permute& permute) const {
    std::vector<int64_t> axes{0};
    for (const int64_t axis : permute.axes) axes.push_back(axis + 1);
    return x().permute(axes);
  }

  Tensor operator()(const op::Join& join) const {
    int64_t batch = 1;
    for (const Tensor& part : inputs) batch = std::max(batch, part.size(0));
    std::vector<Tensor> parts;
    for (const Tensor& part : inputs) {
      std::vector<int64_t> shape = part.sizes().vec();
      shape[0] = batch;
      parts.push_back(part.expand(shape));
    }
    return torch::cat(parts, join.axis + 1);
  }

  Tensor operator()(const op::Pad& pad) const {
    const std::vector<int64_t> sides{pad.left, pad.right, pad.top, pad.bottom};
    return pad.reflect ? torch::reflection_pad2d(x(), sides) : torch::constant_pad_nd(x(), sides);
  }

  Tensor operator()(const op::Unfold& unfold) const {
    return torch::im2col(x(), {unfold.kernel, unfold.kernel}, {1, 1},
                         {unfold.padding, unfold.padding}, {unfold.stride, unfold.stride});
  }

  Tensor operator()(const op::Product& product) const {
    const Tensor second = product.transposed ? inputs[1].transpose(-1, -2) : inputs[1];
    return batch_product(x(), second, product.scale);
  }

  Tensor operator()(const op::Softmax& softmax) const {
    return x().softmax(softmax.axis < 0 ? softmax.axis : softmax.axis + 1);
  }

  Tensor operator()(const op::Reduce& reduce) const {
    return reduce.mean ? x().mean(reduce.axis + 1, true) : x().sum(reduce.axis + 1, true);
  }

 private:
  std::vector<int64_t> batched(std::vector<int64_t> shape) const {
    shape.insert(shape.begin(), x().size(0));
    return shape;
  }

  // Missing axes go behind the batch.
  Tensor aligned(size_t index) const {
    Tensor value = inputs[index];
    while (value.dim() <= static_cast<int64_t>(at.part.shape.size())) value = value.unsqueeze(1);
    return value;
  }
};

}  // namespace

Tokens tokens_of(const op::Mix& mix, bool training) {
  return {mix.grid, mix.prefix, {}, training, {}};
}

Tensor run(const PartRun& part, const std::vector<Tensor>& inputs, const Input& input) {
  return std::visit(Runner{part, inputs, input}, part.part.operation);
}

}  // namespace soft
