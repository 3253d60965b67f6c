#include "study/bandwidth.h"

#include "base/parallel.h"

namespace soft {
namespace {

constexpr int64_t kElements = int64_t{16} << 20;  // 64 MB an array

}  // namespace

Triad::Triad() : a_(kElements), b_(kElements, 1.0f), c_(kElements, 2.0f) {}

void Triad::run() {
  parallel_for(kElements, [&](int64_t begin, int64_t end) {
    float* a = a_.data();
    const float* b = b_.data();
    const float* c = c_.data();
    for (int64_t i = begin; i < end; ++i) a[i] = b[i] + 0.5f * c[i];
  });
}

double Triad::gigabytes() { return 3e-9 * static_cast<double>(kElements * sizeof(float)); }

}  // namespace soft
