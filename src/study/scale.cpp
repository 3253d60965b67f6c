#include "study/scale.h"

#include <algorithm>
#include <cmath>

namespace soft {
namespace {

constexpr double kBackward = 2.0 / 3;  // of a step's computing

}  // namespace

Interconnect network_of(const std::vector<int64_t>& bytes, const std::vector<double>& seconds,
                        int ranks) {
  // seconds = a + b · bytes
  const auto [least, most] = std::minmax_element(bytes.begin(), bytes.end());
  const double first = seconds[least - bytes.begin()], last = seconds[most - bytes.begin()];
  const double b = (last - first) / static_cast<double>(*most - *least);
  const double a = std::max(0.0, first - b * static_cast<double>(*least));
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

int most_nodes(ScaleCase scale, const Interconnect& network, double efficiency) {
  const auto keeps = [&](int nodes) {
    scale.nodes = nodes;
    return cost_of_step(scale, network).efficiency >= efficiency;
  };
  int most = 1;
  while (most < scale.batch && keeps(most + 1)) ++most;
  return most;
}

double ScaleCost::days(double images, int epochs, int64_t batch) const {
  return step * std::floor(images / static_cast<double>(batch)) * epochs / 86'400;
}

}  // namespace soft
