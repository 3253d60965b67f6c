// What the paper's Table 3 and Figure 1a print of SOFT and its counterparts, in their order.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "plot/drawing.h"

namespace soft {

struct Table3Row {
  std::string group;  // of the table: models of similar size; "figure" for Figure 1a's alone
  std::string model;  // our name
  std::optional<double> mparams, gmacs;
  double top1 = 0;
  bool multi_scale = true;
  std::string note;  // where the printed number is not what can be counted, and why
};

const std::vector<Table3Row>& table3();
std::optional<Table3Row> find_table3(const std::string& model);

// Top-1 as published against parameters, MACs and, where it was measured, images a second; SOFT's
// own rows are highlighted.
Drawing figure_1a(const Json& rows);

}  // namespace soft
