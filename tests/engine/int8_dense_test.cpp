#include "engine/int8_dense.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "base/random.h"
#include "engine/dense.h"
#include "engine/int8_weights.h"

namespace soft {
namespace {

std::vector<float> normals(int64_t count, uint64_t seed, double scale = 1) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(scale * random.normal());
  return values;
}

// One pixel of the output, all in doubles, with the activations that the bytes stand for.
double plain_pixel(const DenseShape& shape, const Int8Source& source, const std::vector<float>& x,
                   Grid in, int64_t oy, int64_t ox, int64_t o) {
  const auto value = [&](int64_t y, int64_t x_at, int64_t c) -> double {
    if (y < 0 || x_at < 0 || y >= in.h || x_at >= in.w) return 0;
    const float* at = &x[(y * in.w + x_at) * shape.in];
    std::vector<float> row(at, at + shape.in);
    const float mean = source.mean == nullptr ? 0 : source.mean[c];
    for (int64_t i = 0; source.mean != nullptr && i < shape.in; ++i) row[i] -= source.mean[i];
    const auto [least, most] = std::minmax_element(row.begin(), row.end());
    const ByteScale input =
        source.input.value_or(byte_scale(std::min(*least, 0.0f), std::max(*most, 0.0f)));
    // As the kernel multiplies, so that what lies between two bytes goes the same way.
    const double byte = std::nearbyint(std::fma(row[c], 1 / input.scale, 1.0f * input.zero));
    return mean + input.scale * (std::clamp(byte, 0.0, 255.0) - input.zero);
  };
  double sum = source.bias[o];
  for (int64_t c = 0; c < shape.in; ++c) {
    for (int64_t ky = 0; ky < shape.kernel; ++ky) {
      for (int64_t kx = 0; kx < shape.kernel; ++kx) {
        const int8_t w =
            source.weight[((o * shape.in + c) * shape.kernel + ky) * shape.kernel + kx];
        sum += static_cast<double>(source.scale[o]) * w *
               value(oy * shape.stride + ky - shape.padding, ox * shape.stride + kx - shape.padding,
                     c);
      }
    }
  }
  return shape.relu ? std::max(sum, 0.0) : sum;
}

// What a layer's bytes cover.
enum class Cover { kOneRange, kOwn, kLessMean };

struct Layer {
  DenseShape shape;
  Int8Channels channels;
  std::vector<float> bias;
  std::optional<ByteScale> input;
  std::vector<float> mean;

  Int8Source source() const {
    return {channels.weight.data(), channels.scale.data(), bias.data(), input,
            mean.empty() ? nullptr : mean.data()};
  }

  void take(Cover cover) {
    if (cover != Cover::kOneRange) input.reset();
    if (cover == Cover::kLessMean) mean = normals(shape.in, 6, 3);
  }
};

Layer random_layer(const DenseShape& shape) {
  const auto weight = normals(shape.out * shape.in * shape.kernel * shape.kernel, 1, 0.2);
  Layer layer{shape,
              quantize_weights(shape, weight.data()),
              normals(shape.out, 2),
              ByteScale{0.02f, 120},
              {}};
  layer.channels.scale[0] *= -1;  // as a folded norm may
  return layer;
}

std::vector<float> run(const Dense& dense, Grid in, int team, const std::vector<float>& x) {
  DenseRunner runner(dense.shape, in, team, 1);
  runner.adopt(dense);
  std::vector<float> y(dense.shape.output(in).size() * dense.shape.out);
  runner.run(0, dense, x.data(), y.data());
  return y;
}

void expect_plain(const DenseShape& shape, Grid in, Cover cover = Cover::kOneRange) {
  Layer layer = random_layer(shape);
  layer.take(cover);
  const Dense dense = pack_dense(shape, layer.source());
  const auto x = normals(in.size() * shape.in, 3);
  const auto y = run(dense, in, 1, x);
  const Grid out = shape.output(in);
  for (int64_t i = 0; i < out.size(); ++i) {
    for (int64_t o = 0; o < shape.out; ++o) {
      const double expected = plain_pixel(shape, layer.source(), x, in, i / out.w, i % out.w, o);
      ASSERT_NEAR(y[i * shape.out + o], expected, 1e-4) << "pixel " << i << " channel " << o;
    }
  }
  EXPECT_EQ(run(dense, in, 2, x), y) << "two workers";
}

TEST(Int8Dense, IsThePlainConvolutionOfItsBytes) {
  expect_plain({16, 24, 3, 1, 1, true}, {9, 11});
  expect_plain({16, 24, 3, 2, 1, false}, {9, 11});
  expect_plain({5, 3, 3, 2, 1, false}, {7, 4});
  expect_plain({6, 17, 2, 2, 0, false}, {8, 6});
}

TEST(Int8Dense, IsThePlainLinearLayerOfItsBytes) {
  expect_plain({32, 48, 1, 1, 0, false}, {13, 1});
  expect_plain({7, 5, 1, 1, 0, false}, {1, 1});
}

TEST(Int8Dense, IsThePlainLinearLayerOfEachRowsOwnBytes) {
  for (const Cover cover : {Cover::kOwn, Cover::kLessMean}) {
    expect_plain({32, 48, 1, 1, 0, false}, {13, 1}, cover);
    expect_plain({32, 48, 1, 1, 0, true}, {150, 1}, cover);
    expect_plain({7, 5, 1, 1, 0, false}, {1, 1}, cover);
  }
}

TEST(Int8Dense, EachRowIsTheSameWhereverItStands) {
  Layer layer = random_layer({32, 40});
  for (const Cover cover : {Cover::kOneRange, Cover::kOwn, Cover::kLessMean}) {
    layer.take(cover);
    const Dense dense = pack_dense(layer.shape, layer.source());
    const auto x = normals(21 * 32, 4);
    const auto all = run(dense, {21, 1}, 1, x);
    for (int64_t i = 0; i < 21; ++i) {
      const auto one = run(dense, {1, 1}, 1, {x.begin() + i * 32, x.begin() + (i + 1) * 32});
      EXPECT_EQ(one, std::vector<float>(all.begin() + i * 40, all.begin() + (i + 1) * 40));
    }
  }
}

TEST(Int8Dense, ReadsGeluByRowsAsByOneRange) {
  for (const Cover cover : {Cover::kOneRange, Cover::kOwn, Cover::kLessMean}) {
    Layer layer = random_layer({40, 9});
    layer.take(cover);
    const Dense dense = pack_dense(layer.shape, layer.source());
    auto x = normals(70 * 40, 4);
    std::vector<float> through(x.size()), y(70 * 9);
    gelu({GeluForm::kTanh, 70, 40}, {x.data(), 40}, {through.data(), 40});
    const auto expected = run(dense, {70, 1}, 1, through);
    DenseRunner runner(dense.shape, {70, 1}, 2, 1);
    runner.adopt(dense);
    runner.run_gelu(0, dense, GeluForm::kTanh, x.data(), y.data());
    EXPECT_EQ(y, expected);
  }
}

TEST(Int8Weights, FitTheDeepestSumsAndStayNearTheirValues) {
  for (const DenseShape& shape :
       {DenseShape{64, 32}, DenseShape{33, 7}, DenseShape{20, 9, 3, 1, 1}}) {
    const int64_t each = shape.in * shape.kernel * shape.kernel;
    const auto weight = normals(shape.out * each, 5);
    const Int8Channels channels = quantize_weights(shape, weight.data());
    const auto lines = by_line(shape, channels.weight.data());
    EXPECT_EQ(int8_depth({shape.out, shape.in * shape.kernel, shape.kernel}, lines.data()), 2);
    for (int64_t o = 0; o < shape.out; ++o) {
      double error = 0, size = 0;
      for (int64_t i = o * each; i < (o + 1) * each; ++i) {
        const double back = static_cast<double>(channels.scale[o]) * channels.weight[i];
        error += (back - weight[i]) * (back - weight[i]);
        size += static_cast<double>(weight[i]) * weight[i];
      }
      EXPECT_LT(std::sqrt(error / size), 0.02);  // weights of 7 bits: 0.012 to 0.016
    }
  }
}

TEST(Int8Weights, OfHardChannelsAreRight) {
  const DenseShape shape{8, 4};
  std::vector<float> weight(32, 0.0f);                                    // channel 0: nothing
  std::fill_n(weight.begin() + 8, 8, 3.0f);                               // all alike
  weight[16] = 1e-30f;                                                    // tiny
  for (int i = 24; i < 32; ++i) weight[i] = i % 2 == 0 ? 1e30f : -1e30f;  // huge
  const Int8Channels channels = quantize_weights(shape, weight.data());
  EXPECT_EQ(channels.scale[0], 1);
  for (size_t i = 0; i < weight.size(); ++i) {
    const double back = static_cast<double>(channels.scale[i / 8]) * channels.weight[i];
    EXPECT_NEAR(back, weight[i], 0.02 * std::abs(weight[i])) << i;
  }
}

}  // namespace
}  // namespace soft
