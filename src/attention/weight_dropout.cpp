#include "attention/weight_dropout.h"

#include <limits>

#include "attention/torch.h"

namespace soft {
namespace {

thread_local double rate_now = 0;

}  // namespace

double weight_dropout() { return rate_now; }

uint64_t drawn_seed() {
  constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
  return static_cast<uint64_t>(torch::randint(kEnd, {1}, torch::kInt64).item<int64_t>());
}

WeightDropoutScope::WeightDropoutScope(double rate) : before_(rate_now) { rate_now = rate; }

WeightDropoutScope::~WeightDropoutScope() { rate_now = before_; }

}  // namespace soft
