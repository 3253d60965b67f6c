// What scripts/accuracy trained: one line for each finished cell and seed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"

namespace soft {

// Cell, e.g. "softmax" or "sampler=avg", to the top-1 of its seeds in per cent.
using Accuracies = std::map<std::string, std::vector<double>>;

// From FOLDER/cells.csv; an Error says which line is wrong. Runs of one cell that saw different
// numbers of pictures have no common mean: they are refused, too.
Accuracies read_accuracies(const std::string& folder);

constexpr size_t kSeedsForAMean = 3;

// {"top1", "top1_spread", "seeds"}: mean and sample standard deviation. With fewer than three seeds
// both are null: one or two runs are no average.
Json accuracy_columns(const Accuracies& accuracies, const std::string& cell);

}  // namespace soft
