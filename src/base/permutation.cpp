#include "base/permutation.h"

#include <numeric>
#include <random>
#include <utility>

namespace soft {

std::vector<int64_t> permutation(int64_t count, uint32_t seed) {
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 generator(seed);
  for (int64_t i = 0; i + 1 < count; ++i) {
    const auto step = static_cast<int64_t>(generator() % static_cast<uint64_t>(count - i));
    std::swap(order[i], order[i + step]);
  }
  return order;
}

}  // namespace soft
