#include "engine/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "engine/buffer.h"
#include "engine/dense.h"
#include "engine/team.h"

namespace soft {
namespace {

struct MatrixProduct {
  int64_t rows, inner, columns;
};

double now() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(time).count();
}

double best_seconds(const MatrixProduct& product, LinearForm form, double seconds) {
  DenseShape shape{product.inner, product.columns};
  shape.form = form;
  const Grid rows{product.rows, 1};
  const std::vector<float> weight(product.inner * product.columns, 0.5f);
  const std::vector<float> bias(product.columns);
  const Dense dense = pack_dense(shape, rows, weight.data(), bias.data());
  DenseRunner runner(shape, rows, threads(), 1);
  runner.adopt(dense);
  const Buffer in(product.rows * product.inner), out(product.rows * product.columns);
  std::fill_n(in.data(), product.rows * product.inner, 0.25f);
  double best = 1e9;
  const double end = now() + seconds;
  for (int run = 0; run < 5 || now() < end; ++run) {
    const double start = now();
    runner.run(0, dense, in.data(), out.data());
    best = std::min(best, now() - start);
  }
  return best;
}

}  // namespace

std::vector<RooflinePoint> measure_roofline(double seconds_each) {
  std::vector<RooflinePoint> points;
  for (const MatrixProduct& p :
       {MatrixProduct{1024, 1024, 1024}, {3136, 64, 256}, {784, 128, 512}}) {
    const double seconds = std::min(best_seconds(p, LinearForm::kMatmul, seconds_each / 2),
                                    best_seconds(p, LinearForm::kConvolution, seconds_each / 2));
    const double flops = 2.0 * static_cast<double>(p.rows * p.inner * p.columns);
    points.push_back({fmt::format("{}x{}x{}", p.rows, p.inner, p.columns), 1e-9 * flops / seconds});
  }
  return points;
}

double roofline_gflops(const std::vector<RooflinePoint>& points) {
  double highest = 0;
  for (const RooflinePoint& point : points) highest = std::max(highest, point.gflops);
  return highest;
}

}  // namespace soft
