// The plain form of a network's layers, in double precision, straight from the weights file.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/grid.h"
#include "kernels/plain/gemm.h"
#include "kernels/plain/layer_norm.h"
#include "weights/weights.h"

namespace soft::test {

using Doubles = std::vector<double>;

// A map or a sequence of tokens, row-major: [grid, dim] with class tokens in front.
struct PlainTokens {
  Grid grid;
  int64_t dim = 0;
  int64_t prefix = 0;
  Doubles x;

  int64_t count() const { return prefix + grid.size(); }
};

class PlainLayers {
 public:
  explicit PlainLayers(const Weights& weights) : weights_(weights) {}

  Doubles tensor(const std::string& name) const {
    const std::vector<float> floats = to_floats(weights_.tensors.at(name));
    return Doubles(floats.begin(), floats.end());
  }

  Doubles linear(const std::string& name, const Doubles& x) const {
    const Doubles weight = tensor(name + ".weight"), bias = tensor(name + ".bias");
    const auto out = static_cast<int64_t>(bias.size());
    const auto in = static_cast<int64_t>(weight.size()) / out;
    const auto rows = static_cast<int64_t>(x.size()) / in;
    Doubles y(rows * out);
    plain::gemm<double>({rows, out, in}, {x.data(), in}, {weight.data(), in, true}, y.data(), out);
    for (size_t i = 0; i < y.size(); ++i) y[i] += bias[i % out];
    return y;
  }

  Doubles norm(const std::string& name, double epsilon, const Doubles& x) const {
    const Doubles gamma = tensor(name + ".weight"), beta = tensor(name + ".bias");
    const auto dim = static_cast<int64_t>(gamma.size());
    Doubles y(x.size());
    for (size_t i = 0; i < x.size(); i += dim) {
      plain::layer_norm_row(dim, &x[i], gamma.data(), beta.data(), epsilon, &y[i]);
    }
    return y;
  }

  struct Window {
    int64_t kernel, stride, padding;
  };

  PlainTokens convolution(const std::string& name, Window window, const PlainTokens& in) const {
    const Doubles weight = tensor(name + ".weight"), bias = tensor(name + ".bias");
    const auto [k, stride, padding] = window;
    const auto side = [&, w = window](int64_t s) {
      return (s + 2 * w.padding - w.kernel) / w.stride + 1;
    };
    PlainTokens out{{side(in.grid.h), side(in.grid.w)}, static_cast<int64_t>(bias.size()), 0, {}};
    for (int64_t p = 0; p < out.grid.size(); ++p) {
      for (int64_t o = 0; o < out.dim; ++o) {
        double sum = bias[o];
        for (int64_t tap = 0; tap < k * k; ++tap) {
          const int64_t row = p / out.grid.w * stride + tap / k - padding;
          const int64_t column = p % out.grid.w * stride + tap % k - padding;
          if (row < 0 || row >= in.grid.h || column < 0 || column >= in.grid.w) continue;
          for (int64_t i = 0; i < in.dim; ++i) {
            sum += weight[(o * in.dim + i) * k * k + tap] *
                   in.x[(row * in.grid.w + column) * in.dim + i];
          }
        }
        out.x.push_back(sum);
      }
    }
    return out;
  }

  void batch_norm_relu(const std::string& name, PlainTokens& map) const {
    const Doubles gamma = tensor(name + ".weight"), beta = tensor(name + ".bias");
    const Doubles mean = tensor(name + ".running_mean"), variance = tensor(name + ".running_var");
    for (size_t i = 0; i < map.x.size(); ++i) {
      const size_t c = i % map.dim;
      const double normed = (map.x[i] - mean[c]) / std::sqrt(variance[c] + 1e-5);
      map.x[i] = std::max(0.0, normed * gamma[c] + beta[c]);
    }
  }

 private:
  const Weights& weights_;
};

}  // namespace soft::test
