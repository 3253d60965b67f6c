// How time and memory of attention grow with the number of tokens. A row is what `soft bench
// attention` measures:
// {"attention", "pass": "forward" or "step", "tokens", "ms_median", "mb"}, null where it did not
// fit.
#pragma once

#include <vector>

#include "base/json.h"
#include "plot/drawing.h"

namespace soft {

// A row of exponents for each mechanism and pass, then the tokens from which on SOFT pays against
// exact softmax, where it has not always done so.
Json growth_of(const std::vector<Json>& rows);

// Time against tokens in one pass.
Drawing attention_chart(const std::vector<Json>& rows, const char* pass);

}  // namespace soft
