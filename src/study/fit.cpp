#include "study/fit.h"

#include <cmath>

namespace soft {

double exponent_of(const std::vector<Point>& points) {
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

}  // namespace soft
