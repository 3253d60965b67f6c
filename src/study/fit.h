// How fast something grows.
#pragma once

#include <vector>

#include "plot/drawing.h"

namespace soft {

// k of the y = c·x^k that fits best (least squares between logarithms); NaN with fewer than two
// different x.
double exponent_of(const std::vector<Point>& points);

}  // namespace soft
