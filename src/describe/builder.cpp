#include "describe/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "describe/mix.h"

namespace soft {
namespace {

// Published kernels that all groups share are those of a three-dimensional convolution.
std::vector<int64_t> kernel_shape(const op::Convolution& conv, int64_t out, int64_t in) {
  if (conv.shared) return {out, in, 1, conv.kernel, conv.kernel};
  return {out, in, conv.kernel, conv.kernel};
}

int64_t windows_along(int64_t side, int64_t kernel, int64_t stride, int64_t padding) {
  return (side + 2 * padding - kernel) / stride + 1;
}

std::vector<int64_t> broadcast(std::vector<int64_t> a, std::vector<int64_t> b) {
  const size_t axes = std::max(a.size(), b.size());
  a.insert(a.begin(), axes - a.size(), 1);
  b.insert(b.begin(), axes - b.size(), 1);
  for (size_t i = 0; i < axes; ++i) {
    if (a[i] != b[i] && a[i] != 1 && b[i] != 1) fail("axes of {} and {} do not fit", a[i], b[i]);
    a[i] = std::max(a[i], b[i]);
  }
  return a;
}

Wide count(const std::vector<int64_t>& shape) {
  Wide all = 1;
  for (const int64_t side : shape) all *= side;
  return all;
}

}  // namespace

int Builder::add(Part part) {
  part.place = place_;
  part.cost.macs *= times_;
  part.cost.inverse_macs *= times_;
  result_.parts.push_back(std::move(part));
  return static_cast<int>(result_.parts.size()) - 1;
}

int Builder::declare(TensorShape tensor) {
  const auto [found, added] = known_.emplace(tensor.name, static_cast<int>(result_.tensors.size()));
  if (added) {
    tensor.place = place_;
    result_.tensors.push_back(std::move(tensor));
  } else if (result_.tensors[found->second].shape != tensor.shape) {
    fail("two parts share {} and want different shapes of it", tensor.name);
  }
  return found->second;
}

std::vector<int> Builder::declare_linear(const std::string& name, const op::Linear& linear) {
  std::vector<int> tensors{
      declare({name + ".weight", {linear.out, linear.in}, TensorKind::kTrained, linears_})};
  if (linear.bias) {
    tensors.push_back(
        declare({name + ".bias", {linear.out}, TensorKind::kTrained, linear_biases_, false}));
  }
  return tensors;
}

std::vector<int> Builder::declare_norm(const std::string& name, int64_t dim) {
  return {declare({name + ".weight", {dim}, TensorKind::kTrained, Start::kOnes, false}),
          declare({name + ".bias", {dim}, TensorKind::kTrained, Start::kZeros, false})};
}

std::vector<int> Builder::declare_batch_norm(const std::string& name, int64_t dim) {
  std::vector<int> tensors = declare_norm(name, dim);
  const auto statistic = [&](const char* which, Start start) {
    tensors.push_back(declare({name + which, {dim}, TensorKind::kStatistic, start, false}));
  };
  statistic(".running_mean", Start::kZeros);
  statistic(".running_var", Start::kOnes);
  return tensors;
}

std::vector<int> Builder::declare_mix(const std::string& name, const AttentionSpec& spec) {
  std::vector<int> tensors;
  for (TensorShape& tensor : mix_tensors(spec, name + ".")) {
    tensors.push_back(declare(std::move(tensor)));
  }
  return tensors;
}

int Builder::pixels(Grid image) {
  Part part;
  part.operation = op::Pixels{};
  part.shape = {3, image.h, image.w};
  return add(std::move(part));
}

int Builder::convolution(int map, const std::string& name, const op::Convolution& conv,
                         const std::string& norm) {
  const int64_t in = conv.in / conv.groups, k = conv.kernel;
  const int64_t out = conv.shared ? conv.out / conv.groups : conv.out;  // kernels that are stored
  Part part{conv, name, {map}};
  part.tensors.push_back(declare(
      {name + ".weight", kernel_shape(conv, out, in), TensorKind::kTrained, convolutions_}));
  if (conv.bias) {
    const Start start = convolutions_ == Start::kUniform ? Start::kUniform : Start::kZeros;
    part.tensors.push_back(declare({name + ".bias", {out}, TensorKind::kTrained, start, false}));
  }
  if (conv.batch_norm) {
    for (const int tensor : declare_batch_norm(norm, conv.out)) part.tensors.push_back(tensor);
  }
  const auto side = [&](int64_t size) { return windows_along(size, k, conv.stride, conv.padding); };
  const Grid from = grid(map), to{side(from.h), side(from.w)};
  part.shape = {conv.out, to.h, to.w};
  part.cost.macs = Wide{to.size()} * conv.out * in * k * k;
  return add(std::move(part));
}

int Builder::linear(int x, const std::string& name, int64_t out, bool bias) {
  const op::Linear linear{shape(x).back(), out, bias};
  Part part{linear, name, {x}, declare_linear(name, linear), shape(x)};
  part.shape.back() = out;
  part.cost.macs = linear.in;
  for (const int64_t side : part.shape) part.cost.macs *= side;
  return add(std::move(part));
}

int Builder::layer_norm(int x, const std::string& name, double epsilon) {
  const int64_t dim = shape(x).back();
  return add({op::LayerNorm{dim, epsilon}, name, {x}, declare_norm(name, dim), shape(x)});
}

int Builder::flatten(int map) {
  return add({op::Flatten{}, "", {map}, {}, {grid(map).size(), shape(map)[0]}});
}

int Builder::unflatten(int tokens, const op::Unflatten& unflatten) {
  const Grid grid = unflatten.grid;
  return add({unflatten, "", {tokens}, {}, {shape(tokens)[1], grid.h, grid.w}});
}

int Builder::class_token(int tokens, const std::string& name, bool of_sequences) {
  const int64_t count = shape(tokens)[0], dim = shape(tokens)[1];
  const std::vector<int64_t> own =
      of_sequences ? std::vector{dim} : std::vector<int64_t>{1, 1, dim};
  const Start start = of_sequences ? Start::kGaussian : Start::kNormal;
  const int tensor = declare({name, own, TensorKind::kTrained, start, false});
  return add({op::ClassToken{}, name, {tokens}, {tensor}, {count + 1, dim}});
}

int Builder::position(int tokens, const std::string& name, const op::Position& position) {
  const int64_t rows = position.prefix + position.made_for.size();
  const auto kind = position.fixed ? TensorKind::kFixed : TensorKind::kTrained;
  const Start start = position.fixed ? Start::kWaves : Start::kNormal;
  const int tensor = declare({name, {1, rows, shape(tokens)[1]}, kind, start});
  return add({position, name, {tokens}, {tensor}, shape(tokens)});
}

int Builder::slice(int x, const op::Slice& slice) {
  Part part{slice, "", {x}, {}, shape(x)};
  part.shape.at(slice.axis) = slice.length;
  return add(std::move(part));
}

int Builder::mix(const std::vector<int>& query_key_value, const std::string& name,
                 const op::Mix& mix) {
  const std::vector<int64_t> shape_of_query = shape(query_key_value.front());
  return add(
      {mix, name, query_key_value, declare_mix(name, mix.spec), shape_of_query, {}, mix_cost(mix)});
}

int Builder::activate(int x, Curve curve) {
  return add({op::Activate{curve}, "", {x}, {}, shape(x)});
}

int Builder::residual(int x, int branch, const op::Residual& residual) {
  return add({residual, "", {x, branch}, {}, shape(x)});
}

int Builder::pool(int tokens, const op::Pool& pool) {
  return add({pool, "", {tokens}, {}, {shape(tokens)[1]}});
}

int Builder::batch_norm(int map, const std::string& name, Curve after) {
  return add(
      {op::BatchNorm{after}, name, {map}, declare_batch_norm(name, shape(map)[0]), shape(map)});
}

int Builder::window_pool(int map, const op::WindowPool& pool) {
  const auto side = [&](int64_t size) {
    return windows_along(size, pool.kernel, pool.stride, pool.padding);
  };
  return add({pool, "", {map}, {}, {shape(map)[0], side(grid(map).h), side(grid(map).w)}});
}

int Builder::global_mean(int map) {
  return add({op::GlobalMean{}, "", {map}, {}, {shape(map)[0], 1, 1}});
}

int Builder::combine(int a, int b, How how) {
  return add({op::Combine{how}, "", {a, b}, {}, broadcast(shape(a), shape(b))});
}

int Builder::stored(const std::string& name, const std::vector<int64_t>& shape,
                    const op::Stored& stored, Start start) {
  std::vector<int64_t> out = shape;
  if (!stored.rows.empty()) out.front() = static_cast<int64_t>(stored.rows.size());
  const int tensor = declare({name, shape, TensorKind::kTrained, start, false});
  return add({stored, name, {}, {tensor}, std::move(out)});
}

int Builder::constant(const std::vector<float>& values, const std::vector<int64_t>& shape) {
  return add({op::Constant{values}, "", {}, {}, shape});
}

int Builder::reshape(int x, const std::vector<int64_t>& to) {
  if (count(shape(x)) != count(to)) fail("a reshape of other size");
  return add({op::Reshape{}, "", {x}, {}, to});
}

int Builder::permute(int x, const std::vector<int64_t>& axes) {
  std::vector<int64_t> turned;
  for (const int64_t axis : axes) turned.push_back(shape(x).at(axis));
  return add({op::Permute{axes}, "", {x}, {}, std::move(turned)});
}

int Builder::join(const std::vector<int>& parts, int64_t axis) {
  std::vector<int64_t> whole = shape(parts.front());
  whole.at(axis) = 0;
  for (const int part : parts) whole[axis] += shape(part).at(axis);
  return add({op::Join{axis}, "", parts, {}, std::move(whole)});
}

int Builder::pad(int map, const op::Pad& pad) {
  const Grid from = grid(map);
  return add({pad,
              "",
              {map},
              {},
              {shape(map)[0], from.h + pad.top + pad.bottom, from.w + pad.left + pad.right}});
}

int Builder::unfold(int map, const op::Unfold& unfold) {
  const auto side = [&](int64_t size) {
    return windows_along(size, unfold.kernel, unfold.stride, unfold.padding);
  };
  const int64_t cells = side(grid(map).h) * side(grid(map).w);
  return add({unfold, "", {map}, {}, {shape(map)[0] * unfold.kernel * unfold.kernel, cells}});
}

int Builder::product(int a, int b, const op::Product& product) {
  std::vector<int64_t> left = shape(a), right = shape(b);
  if (product.transposed) std::swap(right[right.size() - 1], right[right.size() - 2]);
  const int64_t rows = left[left.size() - 2], inner = left.back(), columns = right.back();
  if (right[right.size() - 2] != inner) fail("a product of {} and {} columns", inner, columns);
  left.resize(left.size() - 2);
  right.resize(right.size() - 2);
  Part part{product, "", {a, b}, {}, broadcast(left, right)};
  part.shape.push_back(rows);
  part.shape.push_back(columns);
  part.cost.macs = count(part.shape) * inner;
  return add(std::move(part));
}

int Builder::softmax(int x, int64_t axis) {
  return add({op::Softmax{axis}, "", {x}, {}, shape(x)});
}

int Builder::reduce(int x, const op::Reduce& reduce, Wide macs) {
  Part part{reduce, "", {x}, {}, shape(x)};
  part.shape.at(reduce.axis) = 1;
  part.cost.macs = macs;
  return add(std::move(part));
}

int Builder::lookup(int64_t length, const std::string& name, const std::vector<int64_t>& table) {
  const int tensor = declare({name, table, TensorKind::kTrained, Start::kGaussian});
  return add({op::Lookup{table[0]}, name, {}, {tensor}, {length, table[1]}});
}

int Builder::order(int tokens, const std::string& name, int64_t rows) {
  const int tensor =
      declare({name, {rows, shape(tokens)[1]}, TensorKind::kTrained, Start::kGaussian});
  return add({op::Order{}, name, {tokens}, {tensor}, shape(tokens)});
}

int Builder::dropout(int x, double rate) {
  return rate > 0 ? add({op::Dropout{rate}, "", {x}, {}, shape(x)}) : x;
}

int Builder::pair(int x) { return add({op::Pair{}, "", {x}, {}, {4 * shape(x)[0]}}); }

}  // namespace soft
