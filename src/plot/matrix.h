// A square matrix of counts as a picture: one cell per pair of classes, the darker the larger its
// share of its row.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plot/drawing.h"

namespace soft {

struct MatrixCell {
  int64_t row = 0, column = 0;
  int64_t count = 0;
};

struct MatrixChart {
  std::string title;
  std::string rows, columns;       // what they are
  std::vector<std::string> names;  // of both
  std::vector<MatrixCell> cells;   // those that are not 0
  std::vector<int64_t> row_sums;   // what a whole row is: 100 %
};

constexpr size_t kLargestMatrix = 2000;  // classes; more would be no picture

Drawing draw(const MatrixChart& chart);

}  // namespace soft
