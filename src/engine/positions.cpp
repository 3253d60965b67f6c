#include "engine/positions.h"

#include <algorithm>

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

}  // namespace

std::vector<float> positions_for(const PackedStage& stage, Grid grid) {
  if (grid == stage.made_for) return stage.positions;
  const int64_t dim = stage.dim();
  const float* map = stage.positions.data() + stage.prefix * dim;
  const auto rows = between(stage.made_for.h, grid.h), columns = between(stage.made_for.w, grid.w);
  std::vector<float> resized(stage.positions.begin(), stage.positions.begin() + stage.prefix * dim);
  resized.reserve((stage.prefix + grid.size()) * dim);
  for (const Between& y : rows) {
    for (const Between& x : columns) {
      const auto at = [&](int64_t row, int64_t column) {
        return map + (row * stage.made_for.w + column) * dim;
      };
      const float *a = at(y.low, x.low), *b = at(y.low, x.high);
      const float *c = at(y.high, x.low), *d = at(y.high, x.high);
      for (int64_t i = 0; i < dim; ++i) {
        const float above = a[i] + x.weight * (b[i] - a[i]);
        const float below = c[i] + x.weight * (d[i] - c[i]);
        resized.push_back(above + y.weight * (below - above));
      }
    }
  }
  return resized;
}

}  // namespace soft
