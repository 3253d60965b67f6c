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

std::optional<double> crossing_of(const std::vector<Point>& one, const std::vector<Point>& other) {
  std::vector<Point> gaps;  // log(one / other) against log(x)
  for (const Point& a : one) {
    const auto same = [&](const Point& b) { return b.x == a.x; };
    const auto b = std::find_if(other.begin(), other.end(), same);
    if (b == other.end() || a.y <= 0 || b->y <= 0 || a.x <= 0) continue;
    gaps.push_back({std::log(a.x), std::log(a.y / b->y)});
  }
  std::sort(gaps.begin(), gaps.end(), [](const Point& a, const Point& b) { return a.x < b.x; });
  for (size_t i = gaps.size(); i-- > 1;) {
    const Point &before = gaps[i - 1], &after = gaps[i];
    if (after.y >= 0) return {};
    if (before.y < 0) continue;
    return std::exp(before.x + (after.x - before.x) * before.y / (before.y - after.y));
  }
  return {};
}

}  // namespace soft
