// From logits to what people read: the most probable classes.
#pragma once

#include <cstdint>
#include <vector>

namespace soft {

struct Ranked {
  int64_t index = 0;
  double probability = 0;
};

// The `count` classes of highest probability, most probable first; ties go to the lower index.
std::vector<Ranked> top_classes(const float* logits, int64_t classes, int64_t count);

}  // namespace soft
