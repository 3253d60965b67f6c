// What `soft eval` found, for people (80 columns), programs (JSON) and as a picture.
#pragma once

#include "base/json.h"
#include "data/dataset.h"
#include "metric/evaluate.h"
#include "plot/matrix.h"

namespace soft {

struct ReportChoice {
  bool per_class = false;
  bool confusion = false;
};

void print_report(const Evaluation& result, const Dataset& dataset, const ReportChoice& choice);
Json json_of(const Evaluation& result, const Dataset& dataset, const ReportChoice& choice);
MatrixChart chart_of(const Evaluation& result, const Dataset& dataset);

}  // namespace soft
