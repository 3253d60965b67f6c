#include "study/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace soft {
namespace {

bool shows_growth(const std::vector<Point>& points) {
  const auto positive = [](const Point& point) { return point.x > 0 && point.y > 0; };
  const auto elsewhere = [&](const Point& point) { return point.x != points.front().x; };
  return std::all_of(points.begin(), points.end(), positive) &&
         std::any_of(points.begin(), points.end(), elsewhere);
}

}  // namespace

std::optional<double> exponent_of(const std::vector<Point>& points) {
  if (!shows_growth(points)) return {};
  double mean_x = 0, mean_y = 0;
  for (const Point& point : points) {
    mean_x += std::log(point.x) / static_cast<double>(points.size());
    mean_y += std::log(point.y) / static_cast<double>(points.size());
  }
  double covariance = 0, variance = 0;
  for (const Point& point : points) {
    covariance += (std::log(point.x) - mean_x) * (std::log(point.y) - mean_y);
    variance += std::pow(std::log(point.x) - mean_x, 2);
  }
  return covariance / variance;
}

std::string with_exponent(const std::string& name, const std::vector<Point>& points) {
  const std::optional<double> exponent = exponent_of(points);
  return exponent ? fmt::format("{} (n^{:.2f})", name, *exponent) : name;
}

}  // namespace soft
