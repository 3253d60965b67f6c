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

// The x from which on `one` stays below `other`, where both have points (between logarithms); none
// when it never does at the end, or does from the first point on.
std::optional<double> crossing_of(const std::vector<Point>& one, const std::vector<Point>& other);

}  // namespace soft
