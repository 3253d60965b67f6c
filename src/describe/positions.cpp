#include "describe/positions.h"

#include <algorithm>
#include <cmath>

namespace soft {
namespace {

// Where an output coordinate lies between two input ones.
struct Between {
  int64_t low, high;
  float weight;  // of `high`
};

std::vector<Between> between(int64_t in, int64_t out) {
  const float scale = static_cast<float>(in) / static_cast<float>(out);
  std::vector<Between> places;
  for (int64_t i = 0; i < out; ++i) {
    const float centre = std::max(0.0f, scale * (static_cast<float>(i) + 0.5f) - 0.5f);
    const int64_t low = std::min(static_cast<int64_t>(centre), in - 1);
    places.push_back({low, std::min(low + 1, in - 1), centre - static_cast<float>(low)});
  }
  return places;
}

// [from, C] -> [grid, C], appended to `out`.
struct Resize {
  const float* map;
  Grid from, to;
  int64_t dim;

  const float* at(int64_t row, int64_t column) const { return map + (row * from.w + column) * dim; }
  void bilinear(std::vector<float>& out) const;
  void bicubic(std::vector<float>& out) const;
};

void Resize::bilinear(std::vector<float>& out) const {
  const auto rows = between(from.h, to.h), columns = between(from.w, to.w);
  for (const Between& y : rows) {
    for (const Between& x : columns) {
      const float *a = at(y.low, x.low), *b = at(y.low, x.high);
      const float *c = at(y.high, x.low), *d = at(y.high, x.high);
      for (int64_t i = 0; i < dim; ++i) {
        const float above = a[i] + x.weight * (b[i] - a[i]);
        const float below = c[i] + x.weight * (d[i] - c[i]);
        out.push_back(above + y.weight * (below - above));
      }
    }
  }
}

// Four neighbours and their weights, Keys' cubic with a = -0.75; the edge is repeated.
struct Around {
  int64_t places[4];
  float weights[4];
};

std::vector<Around> around(int64_t in, int64_t out) {
  constexpr float a = -0.75f;
  const auto near = [](float x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  const auto far = [](float x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  const float scale = static_cast<float>(in) / static_cast<float>(out);
  std::vector<Around> all;
  for (int64_t i = 0; i < out; ++i) {
    const float centre = scale * (static_cast<float>(i) + 0.5f) - 0.5f;
    const auto first = static_cast<int64_t>(std::floor(centre));
    const float t = centre - static_cast<float>(first);
    Around here{{}, {far(t + 1), near(t), near(1 - t), far(2 - t)}};
    for (int64_t k = 0; k < 4; ++k) {
      here.places[k] = std::clamp<int64_t>(first - 1 + k, 0, in - 1);
    }
    all.push_back(here);
  }
  return all;
}

void Resize::bicubic(std::vector<float>& out) const {
  const auto rows = around(from.h, to.h), columns = around(from.w, to.w);
  for (const Around& y : rows) {
    for (const Around& x : columns) {
      for (int64_t i = 0; i < dim; ++i) {
        float sum = 0;
        for (int r = 0; r < 4; ++r) {
          float line = 0;
          for (int c = 0; c < 4; ++c) line += x.weights[c] * at(y.places[r], x.places[c])[i];
          sum += y.weights[r] * line;
        }
        out.push_back(sum);
      }
    }
  }
}

}  // namespace

std::vector<float> resized_positions(const std::vector<float>& stored,
                                     const op::Position& position) {
  const auto& [made_for, grid, prefix, cubic, fixed] = position;
  if (grid == made_for) return stored;
  const auto dim = static_cast<int64_t>(stored.size()) / (prefix + made_for.size());
  std::vector<float> resized(stored.begin(), stored.begin() + prefix * dim);
  resized.reserve((prefix + grid.size()) * dim);
  const Resize resize{stored.data() + prefix * dim, made_for, grid, dim};
  cubic ? resize.bicubic(resized) : resize.bilinear(resized);
  return resized;
}

}  // namespace soft
