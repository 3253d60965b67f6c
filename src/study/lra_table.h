// Finished runs of `soft lra train` beside the paper's Table 6.
#pragma once

#include <string>

#include "base/json.h"
#include "plot/chart.h"

namespace soft {

// Every result.json below the folder, at any depth; a damaged one is an Error that names it.
Json read_lra_results(const std::string& folder);

// One row for each task, form and number of steps: {"task", "attention", "steps", "seeds",
// "accuracy", "spread", "best_constant", "paper", "step_seconds", "minutes", "peak_mb", "params",
// "macs", "deviations"}. Accuracies are means over seeds in per cent, the spread their sample
// standard deviation (null for one seed). Rows come in the order of the paper.
Json lra_rows(const Json& results);

// Table 6's layout: a line for each attention, two columns for each task, ours and the paper's. Of
// several numbers of steps, the largest stands there.
std::string lra_table(const Json& rows);

BarChart lra_chart(const Json& rows);

}  // namespace soft
