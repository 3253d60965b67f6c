// What the machine's arithmetic allows: the fastest of oneDNN's float32 matrix products, measured.
#pragma once

#include <string>
#include <vector>

namespace soft {

struct RooflinePoint {
  std::string shape;  // "1024x1024x1024"
  double gflops = 0;  // best of several runs, on threads() cores
};

// 1024³, 3136x64x256 and 784x128x512, each with packed weights in whichever form is faster.
std::vector<RooflinePoint> measure_roofline(double seconds_each = 0.2);

double roofline_gflops(const std::vector<RooflinePoint>& points);  // the highest of them

}  // namespace soft
