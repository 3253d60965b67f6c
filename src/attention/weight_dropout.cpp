#include "attention/weight_dropout.h"

namespace soft {
namespace {

thread_local double rate_now = 0;

}  // namespace

double weight_dropout() { return rate_now; }

WeightDropoutScope::WeightDropoutScope(double rate) : before_(rate_now) { rate_now = rate; }

WeightDropoutScope::~WeightDropoutScope() { rate_now = before_; }

}  // namespace soft
