// Random numbers that mean the same on every machine and for any number of workers: a generator is
// made from a seed and a few stream numbers (epoch, sample …), never shared between threads.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace soft {

class Random {
 public:
  // Independent generators for different (seed, streams…): Random(42, {epoch, index}).
  explicit Random(uint64_t seed, std::initializer_list<uint64_t> streams = {});

  uint64_t next();                          // 64 uniform bits (xoshiro256**)
  double uniform();                         // [0, 1)
  double uniform(double low, double high);  // [low, high)
  int64_t below(int64_t count);             // 0 … count-1, unbiased
  bool chance(double probability);
  double normal();  // N(0, 1)
  double gamma(double shape);
  double beta(double a, double b);
  std::vector<int64_t> permutation(int64_t count);

  // The whole state, for checkpoints.
  const std::array<uint64_t, 4>& state() const { return state_; }
  void set_state(const std::array<uint64_t, 4>& state) { state_ = state; }

 private:
  std::array<uint64_t, 4> state_;
};

}  // namespace soft
