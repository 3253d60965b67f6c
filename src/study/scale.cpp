#include "study/scale.h"

#include <algorithm>
#include <cmath>

namespace soft {
namespace {

constexpr double kBackward = 2.0 / 3;  // of a step's computing

}  // namespace

Interconnect network_of(const std::vector<int64_t>& bytes, const std::vector<double>& seconds,
                        int ranks) {
  // seconds = a + b · bytes, each equation divided by its seconds.
  double aa = 0, ab = 0, bb = 0, ya = 0, yb = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const double one = 1 / seconds[i], x = static_cast<double>(bytes[i]) / seconds[i];
    aa += one * one;
    ab += one * x;
    bb += x * x;
    ya += one;
    yb += x;
  }
  const double determinant = aa * bb - ab * ab;
  const double a = std::max(0.0, (ya * bb - yb * ab) / determinant);
  const double b = (yb * aa - ya * ab) / determinant;
  const double turns = 2.0 * (ranks - 1);
  return {turns / ranks / b, a / turns};
}

double ring_seconds(const Interconnect& network, double bytes, int nodes, double turns_of) {
  const double turns = 2.0 * (nodes - 1);
  return turns / nodes * bytes / network.bandwidth + turns * network.latency * turns_of;
}

ScaleCost cost_of_step(const ScaleCase& scale, const Interconnect& network) {
  ScaleCost cost;
  const double buckets = std::max(1.0, std::ceil(scale.gradient_bytes / scale.bucket_bytes));
  const double alone = static_cast<double>(scale.batch) / scale.images_per_second;
  cost.compute = alone / scale.nodes;
  cost.exchange = ring_seconds(network, scale.gradient_bytes, scale.nodes, buckets);
  const double hidden = std::min(kBackward * cost.compute, cost.exchange * (buckets - 1) / buckets);
  cost.step = cost.compute + cost.exchange - hidden;
  cost.efficiency = cost.compute / cost.step;
  return cost;
}

double ScaleCost::days(double images, int epochs, int64_t batch) const {
  return step * std::floor(images / static_cast<double>(batch)) * epochs / 86'400;
}

}  // namespace soft
