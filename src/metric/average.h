// A running weighted mean: the loss of an epoch, say.
#pragma once

namespace soft {

class Average {
 public:
  void add(double value, double weight = 1) {
    sum_ += value * weight;
    weight_ += weight;
  }
  double mean() const { return weight_ > 0 ? sum_ / weight_ : 0; }
  double weight() const { return weight_; }

 private:
  double sum_ = 0;
  double weight_ = 0;
};

}  // namespace soft
