// How fast something grows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plot/drawing.h"

namespace soft {

// k of the y = c·x^k that fits best (least squares between logarithms). None with fewer than two
// different x, or with a point that no power goes through.
std::optional<double> exponent_of(const std::vector<Point>& points);

// "soft (n^0.90)" for a legend; the name alone where there is no exponent.
std::string with_exponent(const std::string& name, const std::vector<Point>& points);

}  // namespace soft
