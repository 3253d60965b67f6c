#include "base/finite.h"

#include <cmath>

#include "base/error.h"

namespace soft {

bool all_finite(const float* values, int64_t count) {
  bool finite = true;
  for (int64_t i = 0; i < count; ++i) finite &= std::isfinite(values[i]);
  return finite;
}

std::string embedding_place(int stage) {
  return fmt::format("the patch embedding of stage {}", stage + 1);
}

std::string layer_place(int stage, int layer) {
  return fmt::format("layer {} of stage {}", layer + 1, stage + 1);
}

std::string attention_place(int stage, int layer) {
  return fmt::format("the attention of {}", layer_place(stage, layer));
}

std::string classifier_place() { return "the classifier"; }

void fail_not_finite(const std::string& place) {
  fail(
      "the model's answer is not finite: {} is the first to compute NaN or infinity; its weights "
      "are broken, or the input is far from a normalised picture",
      place);
}

}  // namespace soft
