// How the inputs of a layer vary together, in the form that rounding wants. With H = E[x·xᵀ] an
// error e of one output's weights costs eᵀ·H·e. Written as H = U·D·Uᵀ with U unit upper triangular
// that is a sum of squares, one for each input in turn, and an input's weight can make up for what
// the roundings before it did:
//   ŵ_k = round(w_k + sum_{j<k} (w_j - ŵ_j)·U_jk)
// makes each square as small as one rounding can (known as GPTQ, or LDLQ). Cost: n³/3 once.
#pragma once

#include <cstdint>
#include <vector>

namespace soft {

struct Feedback {
  int64_t inputs = 0;
  std::vector<float> weight;  // U [inputs, inputs]; what is not above its diagonal is not read
};

// products: sums of x_i·x_j over some rows, [inputs, inputs], symmetric; how many they were does
// not matter. Inputs that were never anything but 0 are nobody's concern.
Feedback factor_inputs(int64_t inputs, std::vector<float> products);

}  // namespace soft
