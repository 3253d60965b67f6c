#include "base/random.h"

#include <cmath>
#include <numeric>
#include <utility>

namespace soft {
namespace {

uint64_t rotate_left(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

// SplitMix64: turns any two words into a well-mixed third.
uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

Random::Random(uint64_t seed, std::initializer_list<uint64_t> streams) : state_{} {
  uint64_t key = mix(seed);
  for (uint64_t stream : streams) key = mix(key ^ mix(stream + 0x632be59bd9b4e019u));
  for (uint64_t& word : state_) word = key = mix(key);
}

uint64_t Random::next() {
  const uint64_t result = rotate_left(state_[1] * 5, 7) * 9;
  const uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = rotate_left(state_[3], 45);
  return result;
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

double Random::uniform(double low, double high) { return low + (high - low) * uniform(); }

int64_t Random::below(int64_t count) {
  const auto range = static_cast<uint64_t>(count);
  const uint64_t usable = UINT64_MAX - UINT64_MAX % range;
  uint64_t bits = next();
  while (bits >= usable) bits = next();
  return static_cast<int64_t>(bits % range);
}

bool Random::chance(double probability) { return uniform() < probability; }

// Box-Muller, one value per call so that the state is the whole story.
double Random::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * M_PI * uniform());
}

// Marsaglia and Tsang; shapes below 1 are boosted.
double Random::gamma(double shape) {
  if (shape < 1) return gamma(shape + 1) * std::pow(1 - uniform(), 1 / shape);
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = normal();
    const double cube = 1 + c * x;
    if (cube <= 0) continue;
    const double v = cube * cube * cube;
    if (std::log(1 - uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

double Random::beta(double a, double b) {
  const double x = gamma(a);
  const double y = gamma(b);
  return x + y > 0 ? x / (x + y) : 0.5;
}

std::vector<int64_t> Random::permutation(int64_t count) {
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = count - 1; i > 0; --i) std::swap(order[i], order[below(i + 1)]);
  return order;
}

}  // namespace soft
