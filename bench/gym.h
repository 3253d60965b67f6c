// What one exercise of the gym is: a kernel with its work, its check and its body.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace soft::gym {

struct Exercise {
  std::string name;
  double flops = 0;               // per call of `body`; 0: count bytes instead
  double bytes = 0;               // moved per call, when that is the honest measure
  std::function<double()> error;  // distance from the plain form
  double tolerance = 1e-5;
  std::function<void()> body;
};

// Registers the exercise once for each instruction set; one that fails its check is not timed.
void train(const Exercise& exercise);

// The same for code that has only one form (another library's).
void train_peer(const std::string& name, double flops, const std::function<void()>& body);

std::vector<float> normal_floats(int64_t count, uint64_t seed, double scale = 1);
double distance(const std::vector<float>& a, const std::vector<float>& b);

}  // namespace soft::gym
