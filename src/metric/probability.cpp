#include "metric/probability.h"

#include <algorithm>
#include <cmath>

namespace soft {

std::vector<Ranked> top_classes(const float* logits, int64_t classes, int64_t count) {
  const float largest = *std::max_element(logits, logits + classes);
  std::vector<Ranked> ranked(classes);
  double total = 0;
  for (int64_t i = 0; i < classes; ++i) {
    ranked[i] = {i, std::exp(static_cast<double>(logits[i]) - largest)};
    total += ranked[i].probability;
  }
  for (Ranked& entry : ranked) entry.probability /= total;
  const auto more_probable = [](const Ranked& a, const Ranked& b) {
    return a.probability != b.probability ? a.probability > b.probability : a.index < b.index;
  };
  count = std::min(count, classes);
  std::partial_sort(ranked.begin(), ranked.begin() + count, ranked.end(), more_probable);
  ranked.resize(count);
  return ranked;
}

}  // namespace soft
