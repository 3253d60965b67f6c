// What a training step costs on many machines, from a few measured numbers. A ring of N machines
// sends each number 2 (N - 1) / N times, in 2 (N - 1) turns:
//   exchange = 2 (N - 1) / N · bytes / bandwidth + 2 (N - 1) · latency · buckets
//   step     = compute + exchange - hidden,   hidden = min(backward, exchange of all but one
//   bucket)
#pragma once

#include <cstdint>
#include <vector>

namespace soft {

struct Interconnect {
  double bandwidth = 0;  // bytes per second that one machine sends
  double latency = 0;    // seconds of one turn
};

// From measured sums: so many ranks that need so many seconds for so many bytes each. A straight
// line through the smallest and the largest sum; those between show how well it fits.
Interconnect network_of(const std::vector<int64_t>& bytes, const std::vector<double>& seconds,
                        int ranks);

struct ScaleCase {
  double gradient_bytes = 0;
  double images_per_second = 0;  // of one machine
  int64_t batch = 1024;          // of all machines
  int nodes = 1;
  double bucket_bytes = 25 << 20;
};

struct ScaleCost {
  double compute = 0, exchange = 0, step = 0;  // seconds
  double efficiency = 0;                       // of that many machines' speed

  double days(double images, int epochs, int64_t batch) const;
};

double ring_seconds(const Interconnect& network, double bytes, int nodes, double turns_of = 1);
ScaleCost cost_of_step(const ScaleCase& scale, const Interconnect& network);

// The most machines that keep this efficiency, at most one for each picture of a step.
int most_nodes(ScaleCase scale, const Interconnect& network, double efficiency);

}  // namespace soft
