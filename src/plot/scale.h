// From values to positions along an axis, and the round numbers that are written beside it.
#pragma once

#include <string>
#include <vector>

#include "plot/chart.h"

namespace soft {

struct Tick {
  double value = 0;
  std::string text;  // empty: a mark without a number
};

class Scale {
 public:
  // Covers `values` and what the axis asks for; begin and end are positions in pixels.
  Scale(const Axis& axis, const std::vector<double>& values);

  void place(double begin, double end);
  double at(double value) const;
  bool shows(double value) const;  // finite, and positive on a log axis
  const std::vector<Tick>& ticks() const { return ticks_; }

 private:
  void make_linear(double low, double high, const Axis& axis);
  void make_log(double low, double high, const Axis& axis);
  double transformed(double value) const;

  bool log_ = false;
  double low_ = 0, high_ = 1;  // transformed
  double begin_ = 0, end_ = 1;
  std::vector<Tick> ticks_;
};

// 1200 -> "1,200", 0.00015 -> "1.5e-04", 2.50 -> "2.5".
std::string short_number(double value);

}  // namespace soft
