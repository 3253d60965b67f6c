// Dropout of attention weights, for mechanisms that have a softmax matrix. A scope rather than a
// field of Tokens: the rate belongs to a forward pass of training and to nothing else.
#pragma once

#include <cstdint>

namespace soft {

double weight_dropout();  // of this thread, now; 0 outside every scope

// Of one draw, from the generator that a training state saves: a resumed run drops the same.
uint64_t drawn_seed();

class WeightDropoutScope {
 public:
  explicit WeightDropoutScope(double rate);
  ~WeightDropoutScope();
  WeightDropoutScope(const WeightDropoutScope&) = delete;
  WeightDropoutScope& operator=(const WeightDropoutScope&) = delete;

 private:
  double before_;
};

}  // namespace soft
